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

	"github.com/agent-reviewer/reviewer/cmd/reviewer/auditcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/configcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/reviewcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sessioncmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func main() {
	// A hook lives for one call and a few megabytes: collecting four times
	// later saves a tenth of its time (reference: GOGC=400 against 100).
	debug.SetGCPercent(400)
	a := &cli.App{Streams: term.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv}}
	os.Exit(run(context.Background(), a, os.Args[1:]))
}

// run executes a command line and returns its exit code. A panic ends it as the
// runtime would, with 2, which is a denial for the hook; but what the runtime
// prints can hold secrets.
func run(ctx context.Context, a *cli.App, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintln(a.Stderr, "reviewer:", a.Crashed(p))
			code = cli.ExitFindings
		}
	}()
	root := rootCommand(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return cli.ExitOK
	}
	if cmd, rest, _ := root.Find(args); cmd != nil && cmd.Name() == "hook" {
		return hookFailed(a, rest, err)
	}
	code = cli.ExitFailed
	var e *cli.ExitError
	if errors.As(err, &e) {
		code, err = e.Code, e.Err
	}
	if err != nil {
		fmt.Fprintln(a.Stderr, "reviewer:", cli.Masked(err.Error()))
	}
	return code
}

func rootCommand(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:           "reviewer",
		Short:         "Policy for coding agents",
		Long:          "reviewer reviews each tool call of a coding agent before and after it runs,\ndecides by policy as code, and records every decision so that it can be computed again.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(cli.FlagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.PersistentFlags().StringVar(&a.Home, "home", "",
		"state directory (default $REVIEWER_HOME, else reviewer below the XDG state directory)")
	root.AddCommand(
		installCommand(a), uninstallCommand(a), doctorCommand(a),
		sessioncmd.Command(a), denialsCommand(a), allowCommand(a), auditcmd.Command(a), policyCommand(a), configcmd.Command(a),
		reviewcmd.Command(a), hookCommand(a), trashCommand(a), versionCommand(a),
	)
	return root
}
