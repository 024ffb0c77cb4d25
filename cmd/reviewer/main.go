// Command reviewer enforces policy on coding agents: it reviews each tool call of
// an agent before and after it runs, records it, and answers the agent.
//
// This package wires the others together, one file per command. It contains no
// rules and no numbers of the policy.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	_ "time/tzdata" // settings name time zones, and not every machine has them

	"github.com/agent-reviewer/reviewer/cmd/reviewer/approvalscmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/auditcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/checkpointcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/configcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/incidentcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/notifycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/releasecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/reviewcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/runcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sessioncmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/simulatecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/suggest"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/uicmd"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/spf13/cobra"
)

func main() {
	collectLater()
	streams := term.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv}
	a := &cli.App{Streams: streams, Detach: cli.Detach, Installed: signed.Installed, Resident: serve.Listener, MadeBy: inputMaker}
	os.Exit(run(context.Background(), a, os.Args[1:]))
}

// collectLater lets the heap grow to 64 MB before garbage is collected for the first time, since
// a hook usually ends before that. From then on, the heap grows to five times what is in use.
func collectLater() {
	const first, usual = 1600, 400 // percent; the heap begins with 4 MB
	debug.SetGCPercent(first)
	garbage := &struct{ p *int }{}
	runtime.AddCleanup(garbage, func(percent int) { debug.SetGCPercent(percent) }, usual)
}

// run executes a command line and returns its exit code. A panic of the hook exits with 2, as
// the runtime does, which is a denial; other commands exit with 1, since 2 means findings. The
// runtime's output, which can contain secrets, is not printed.
func run(ctx context.Context, a *cli.App, args []string) (code int) {
	root := commandsFor(a, args)
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintln(a.Stderr, "reviewer:", a.Crashed(p))
			if code = cli.ExitFailed; forHook(root, args) {
				code = cli.ExitFindings
			}
		}
	}()
	usage := a.UsageBeforeRun(root)
	root.SetArgs(args)
	err := usage(root.ExecuteContext(ctx))
	if forHook(root, args) {
		return hookFailed(a, args, err)
	}
	code, err = cli.ExitCode(err)
	if err != nil {
		fmt.Fprintln(a.Stderr, "reviewer:", cli.Masked(err.Error()))
	}
	return code
}

// commandsFor returns the commands among which a command line chooses. A hook waits for no others than its own.
func commandsFor(a *cli.App, args []string) *cobra.Command {
	if len(args) == 0 || args[0] != "hook" {
		return rootCommand(a)
	}
	root := bareCommand(a)
	root.AddCommand(hookCommand(a))
	return root
}

// bareCommand is the program without commands.
func bareCommand(a *cli.App) *cobra.Command {
	return a.Program(&cobra.Command{
		Use:     "reviewer",
		Short:   "Policy for coding agents",
		Long:    "reviewer reviews each tool call of a coding agent before and after it runs,\ndecides according to policy as code, and records every decision so that it can be reproduced.\n\n" + cli.ExitHelp() + " See docs/output.md.",
		Example: "  reviewer install claude-code --enforcement observe\n  reviewer doctor\n  reviewer session list",
	})
}

func rootCommand(a *cli.App) *cobra.Command {
	root := bareCommand(a)
	cli.Section(root, "setup", "Setup:", installCommand(a), uninstallCommand(a), doctorCommand(a), agentsCommand(a),
		configcmd.Command(a, notifycmd.UnusableChannels))
	cli.Section(root, "work", "Working with agents:", runcmd.Command(a, recordPrompt), runcmd.WatchCommand(a),
		sessioncmd.Command(a), incidentcmd.Command(a),
		checkpointcmd.Command(a), notifycmd.Command(a), approvalscmd.Command(a, suggest.Propose, overrides()), denialsCommand(a),
		allowCommand(a), trashCommand(a), explaincmd.InstructionsCommand(a), uicmd.Command(a))
	cli.Section(root, "policy", "Writing and shipping policies:", policyCommand(a), reviewcmd.Command(a), schemaCommand(a))
	cli.Section(root, "log", "Reading the log:", auditcmd.Command(a))
	cli.Section(root, "other", "Other commands:", hookCommand(a), serveCommand(a), versionCommand(a), runcmd.Helper())
	root.SetCompletionCommandGroupID("other")
	root.SetHelpCommandGroupID("other")
	releaseCommands(root)
	a.Completions(root)
	cli.OneValueEach(root)
	return root
}

func policyCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "policy",
		Example: "  reviewer policy new bundle policy --name shop\n  reviewer policy check ./policy\n  reviewer policy test ./policy",
		Short:   "Write, test, sign, ship and inspect policies",
		Long:    cli.ExitHelp(),

		PersistentPreRun: func(*cobra.Command, []string) { cli.AbortIfFatal() },
	}
	cli.Group(cmd)
	for _, section := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"write", "Writing and testing:", slices.Concat(policycmd.Commands(a), []*cobra.Command{simulatecmd.Command(a), explaincmd.PolicyCommand(a),
			explaincmd.EvalCommand(a), explaincmd.BenchCommand(a), simulatecmd.ProfileCommand(a), suggest.Command(a)})},
		{"ship", "Shipping and activating:", releasecmd.Commands(a)},
	} {
		cli.Section(cmd, section.id, section.title, section.commands...)
	}
	return cmd
}
