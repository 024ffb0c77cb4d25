package cli

import (
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagError adds the expected value to an error about a flag.
func FlagError(cmd *cobra.Command, err error) error {
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return WithNear(fmt.Errorf("%w (`%s --help` lists the flags)", err, cmd.CommandPath()), "--"+unknown.GetSpecifiedName(), names)
	}
	if wrong := (*pflag.InvalidValueError)(nil); errors.As(err, &wrong) {
		if usage := (*term.UsageError)(nil); errors.As(wrong.Unwrap(), &usage) {
			return usage
		}
		if expected, there := flagValues[wrong.GetFlag().Value.Type()]; there {
			return fmt.Errorf("--%s %s: expected %s", wrong.GetFlag().Name, wrong.GetValue(), expected)
		}
	}
	if alone := (*pflag.ValueRequiredError)(nil); errors.As(err, &alone) {
		return fmt.Errorf("--%s needs a value (`%s --help` lists the flags)", alone.GetFlag().Name, cmd.CommandPath())
	}
	return err
}

// flagValues describes the values of flags, by pflag's names of their types.
var flagValues = map[string]string{
	"bool": "true or false", "int": "a whole number", "float64": "a number", "duration": "a time such as 5s or 1m30s",
}

// WithNear adds a suggestion: the name that was probably meant.
func WithNear(err error, word string, names []string) error {
	near := engine.Nearest(word, names)
	if near == "" {
		return err
	}
	return fmt.Errorf("%w; did you mean %q?", err, near)
}
