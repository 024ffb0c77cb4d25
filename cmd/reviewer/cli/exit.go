package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// Exit codes of every command. `reviewer hook` alone ends with 2 for every failure
// before a tool call, since clients let the call run after 1 and 3.
const (
	ExitOK       = 0
	ExitFailed   = 1
	ExitFindings = 2
	ExitUsage    = 3
)

// ExitMeaning is an exit code and its meaning.
type ExitMeaning struct {
	Code    int
	Meaning string
}

// ExitMeanings lists the exit codes; docs/output.md contains the same table.
func ExitMeanings() []ExitMeaning {
	return []ExitMeaning{
		{ExitOK, "success"},
		{ExitFailed, "could not run"},
		{ExitFindings, "findings"},
		{ExitUsage, "usage error"},
	}
}

// ExitHelp is the sentence about exit codes in the help of a group of commands.
func ExitHelp() string {
	var list []string
	for _, m := range ExitMeanings() {
		list = append(list, fmt.Sprintf("%d %s", m.Code, m.Meaning))
	}
	return "Exit codes: " + strings.Join(list, ", ") + "."
}

// ExitError carries an exit code to main.
type ExitError struct {
	Code int
	Err  error // nil: already reported
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the message.
func (e *ExitError) Unwrap() error { return e.Err }

// Findings is the error of a command that found problems.
func Findings(format string, args ...any) error {
	return &ExitError{ExitFindings, fmt.Errorf(format, args...)}
}

// Usage is an error about the command line.
func Usage(format string, args ...any) error {
	return &term.UsageError{Err: fmt.Errorf(format, args...)}
}

// ExitCode maps an error to the exit code of the process, and returns the message to
// print, nil for none. No other code does. An error that is neither an ExitError nor a
// UsageError means that the command could not run.
func ExitCode(err error) (int, error) {
	var exit *ExitError
	var usage *term.UsageError
	switch {
	case err == nil:
		return ExitOK, nil
	case errors.As(err, &exit):
		return exit.Code, messageOf(err, exit)
	case errors.As(err, &usage):
		return ExitUsage, err
	}
	return ExitFailed, err
}

// messageOf returns the message of an error that wraps an ExitError: nil if that is
// all and it is silent.
func messageOf(err error, exit *ExitError) error {
	if exit.Err == nil && err.Error() == exit.Error() {
		return nil
	}
	return err
}

// UsageBeforeRun converts every error before a command begins to run to a UsageError:
// unknown commands and flags, missing arguments, flags that exclude each other. With
// -f json, an error of the run itself is written as a document.
func (a *App) UsageBeforeRun(root *cobra.Command) (wrap func(error) error) {
	began := false
	var mark func(*cobra.Command)
	mark = func(cmd *cobra.Command) {
		if run := cmd.RunE; run != nil {
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				began = true
				err := a.quietly(cmd, func() error { return run(cmd, args) })
				return errors.Join(err, a.writeFailure(cmd, err))
			}
		}
		for _, c := range cmd.Commands() {
			mark(c)
		}
	}
	root.InitDefaultCompletionCmd() // whose errors are those of a command as well
	mark(root)
	failed := helpErrors(root)
	return func(err error) error {
		if err == nil {
			err = *failed
		}
		if err == nil || began {
			return err
		}
		return &term.UsageError{Err: plainFlags(err)}
	}
}

// helpErrors makes two failures of help errors that cobra ignores: --help after an unknown
// subcommand, for which it prints the help of the group as if the subcommand existed, and output
// that cannot be written. The error is set by the run.
func helpErrors(root *cobra.Command) *error {
	var failed error
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.HasSubCommands() {
			if failed = cmd.ValidateArgs(cmd.Flags().Args()); failed != nil {
				return
			}
		}
		var text bytes.Buffer
		out := cmd.OutOrStdout()
		cmd.SetOut(&text)
		help(cmd, args)
		cmd.SetOut(out)
		if _, err := out.Write(plainSwitches(text.Bytes())); err != nil {
			failed = &ExitError{ExitFailed, err}
		}
	})
	return &failed
}

// plainSwitches leaves out the values that pflag lists for each switch, and keeps the columns.
func plainSwitches(help []byte) []byte {
	const values = "[=true|false]"
	return bytes.ReplaceAll(help, []byte(values), bytes.Repeat([]byte(" "), len(values)))
}
