package engine

// Place is the part of a call in which a detector searches a string.
type Place string

// The places. Before a call there are arguments and contents, after it results.
const (
	PlaceArguments Place = "arguments" // texts of the tool's input other than contents: commands, paths, queries
	PlaceContents  Place = "contents"  // texts that the tool writes, sends or passes on
	PlaceResults   Place = "results"   // results, errors included
)

// Places lists every Place.
func Places() []string {
	return []string{string(PlaceArguments), string(PlaceContents), string(PlaceResults)}
}

// Limits of what detectors may report, since a record's line is limited.
const (
	MaxDetected   = 12 // ids in one record
	MaxDetectorID = 40 // bytes of an id
)
