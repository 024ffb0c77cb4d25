// Package cli is what every command is handed: the process's surroundings as
// values, the state directory, the policy that a flag or a reference names,
// whether a person is at work, and how a command ends.
//
// Not its business: any one command. A process that answers a hook imports it, so
// nothing that opens a connection or reads a signing key may be imported here.
package cli

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// Exit codes of every command but hook, where 2 is a denial.
const (
	ExitOK       = 0
	ExitFailed   = 1 // could not run: usage, files, policy that does not compile
	ExitFindings = 2 // ran, and found what it looks for
)

// App is what the commands share: the process's surroundings as values, so
// that tests can give others.
type App struct {
	term.Streams
	Home string // --home
}

// ExitError carries an exit code to main.
type ExitError struct {
	Code int
	Err  error // nil: nothing more to say
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns what there is to say.
func (e *ExitError) Unwrap() error { return e.Err }

// Findings is the result of a command that found what it looks for.
func Findings(format string, args ...any) error {
	return &ExitError{ExitFindings, fmt.Errorf(format, args...)}
}

// Group makes a command of commands. By itself it shows its help; a name that
// is none of theirs is an error, which it is not for cobra.
func Group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = noCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
}

// noCommand refuses what is none of a group's commands, and says what was meant.
func noCommand(cmd *cobra.Command, args []string) error {
	err := cobra.NoArgs(cmd, args)
	if err == nil {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return WithNear(err, args[0], names)
}
