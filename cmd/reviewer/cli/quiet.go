package cli

import (
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// quietly runs a command; with --quiet it drops output for people: the text on
// standard output, warnings and progress on standard error. Results for a program or a
// file are kept, and so is the output of a command without formats, which is its
// purpose.
func (a *App) quietly(cmd *cobra.Command, run func() error) error {
	if !a.Quiet || cmd.Flags().Lookup("format") == nil {
		return run()
	}
	streams := a.Streams
	defer func() { a.Streams = streams }()
	a.Stderr = io.Discard
	if term.TextOnScreen(cmd) {
		a.Stdout = io.Discard
	}
	return run()
}
