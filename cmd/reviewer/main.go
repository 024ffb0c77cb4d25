// Command reviewer is policy for coding agents: it reviews each tool call of
// an agent before and after it runs, records it, and answers the agent.
//
// This package wires the others together, one file per command. It holds no
// rule and no number of the policy.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Exit codes of every command but hook, where 2 is a denial.
const (
	exitOK       = 0
	exitFailed   = 1 // could not run: usage, files, policy that does not compile
	exitFindings = 2 // ran, and found what it looks for
)

// app is what the commands share: the process's surroundings as values, so
// that tests can give others.
type app struct {
	streams
	home string // --home
}

// exitError carries an exit code to main.
type exitError struct {
	code int
	err  error // nil: nothing more to say
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// findings is the result of a command that found what it looks for.
func findings(format string, args ...any) error {
	return &exitError{exitFindings, fmt.Errorf(format, args...)}
}

func main() {
	// A hook lives for one call and a few megabytes: collecting four times
	// later saves a tenth of its time (reference: GOGC=400 against 100).
	debug.SetGCPercent(400)
	a := &app{streams: streams{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv}}
	os.Exit(a.run(context.Background(), os.Args[1:]))
}

// run executes a command line and returns its exit code. A panic ends it as the
// runtime would, with 2, which is a denial for the hook; but what the runtime
// prints can hold secrets.
func (a *app) run(ctx context.Context, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintln(a.stderr, "reviewer:", a.crashed(p))
			code = exitFindings
		}
	}()
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if cmd, rest, _ := root.Find(args); cmd != nil && cmd.Name() == "hook" {
		return a.hookFailed(rest, err)
	}
	code = exitFailed
	var e *exitError
	if errors.As(err, &e) {
		code, err = e.code, e.err
	}
	if err != nil {
		fmt.Fprintln(a.stderr, "reviewer:", told(err.Error()))
	}
	return code
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "reviewer",
		Short:         "Policy for coding agents",
		Long:          "reviewer reviews each tool call of a coding agent before and after it runs,\ndecides by policy as code, and records every decision so that it can be computed again.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.PersistentFlags().StringVar(&a.home, "home", "", "state directory (default $REVIEWER_HOME, else reviewer below the XDG state directory)")
	root.AddCommand(
		a.installCommand(), a.uninstallCommand(), a.doctorCommand(),
		a.sessionCommand(), a.allowCommand(), a.auditCommand(), a.policyCommand(), a.configCommand(),
		a.reviewCommand(), a.hookCommand(), a.trashCommand(), a.versionCommand(),
	)
	return root
}

// group makes a command of commands. By itself it shows its help; a name that
// is none of theirs is an error, which it is not for cobra.
func group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
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
	return withNear(err, args[0], names)
}
