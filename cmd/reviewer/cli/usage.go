package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

// plainArguments rewords the errors of a check of arguments, which cobra's own checks give
// without the usage of the command.
func plainArguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil {
			return nil
		}
		counts := receivedCount().FindStringSubmatch(err.Error())
		switch {
		case counts != nil:
			most, _ := strconv.Atoi(counts[1])
			return countError(cmd, args, most)
		case strings.HasPrefix(err.Error(), "unknown command ") && !cmd.HasSubCommands():
			return countError(cmd, args, 0)
		}
		return err
	}
}

// receivedCount matches cobra's errors about the number of arguments.
var receivedCount = engine.Regexp(`^accepts (?:at most |between \d+ and )?(\d+) arg\(s\), received \d+$`)

// countError is the error for too many arguments, or else for too few.
func countError(cmd *cobra.Command, args []string, most int) error {
	if len(args) > most {
		return fmt.Errorf("unexpected argument %q; usage: %s", args[most], usageLine(cmd))
	}
	return fmt.Errorf("an argument is missing; usage: %s", usageLine(cmd))
}

// flagGroup matches cobra's error about flags that exclude each other.
var flagGroup = engine.Regexp(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)

// plainFlags rewords the errors about flags that do not fit together.
func plainFlags(err error) error {
	both := flagGroup().FindStringSubmatch(err.Error())
	if both == nil {
		return err
	}
	return errors.New("--" + strings.ReplaceAll(both[1], " ", " and --") + " exclude each other: give one of them")
}

// WithoutCall returns the reason of an error about a file, without the system call and the path,
// for messages that name the path as it was given.
func WithoutCall(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}
