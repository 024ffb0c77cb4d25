package impact

// Options control the presentation of a report. The zero value produces the same bytes for the same
// Impact everywhere.
type Options struct {
	Colour  bool   // pretty: for a terminal
	Width   int    // pretty: columns of the terminal; 0: lines are neither cut nor broken
	Latency string // pretty: the speed, in a line; empty: not shown
	Verbose bool   // pretty: lists in full
	Show    bool   // html, github, sarif: commands and paths of people too
	Version string // of the program, for sarif

	Exceeded []string // the budgets that are exceeded, and by how much
}
