package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Argument is a positional argument.
type Argument struct {
	Name string // as in the usage line
	What string // what to give for it
}

// Needs requires one argument for each of these, and its error explains what to give.
func Needs(arguments ...Argument) cobra.PositionalArgs { return AtMost(len(arguments), arguments...) }

// AtMost accepts up to a number of arguments, of which those that are described are required.
func AtMost(most int, required ...Argument) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > most {
			return fmt.Errorf("unexpected argument %q; usage: %s", args[most], usageLine(cmd))
		}
		return AtLeast(required...)(cmd, args)
	}
}

// AtLeast is Needs, but accepts further arguments.
func AtLeast(arguments ...Argument) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(arguments) {
			missing := arguments[len(args)]
			return fmt.Errorf("%s is missing: give %s; usage: %s", missing.Name, missing.What, usageLine(cmd))
		}
		return nil
	}
}

func usageLine(cmd *cobra.Command) string { return strings.TrimSuffix(cmd.UseLine(), " [flags]") }

// SessionID is the argument that names a session.
func SessionID() Argument {
	return Argument{"ID", "a session's id or a prefix of it (`reviewer session list` lists them), or last"}
}

// OrLast returns the session or record that a command line names, or the latest
// session.
func OrLast(args []string) string {
	if len(args) == 0 {
		return "last"
	}
	return args[0]
}
