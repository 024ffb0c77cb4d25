// Command reviewer-full has the commands of reviewer that can use large libraries: simulations and exports read and write
// object stores, and `policy verify` verifies Sigstore bundles. It is a module of its own, since few installations need it and
// every hook would load these libraries.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/agent-reviewer/reviewer/cmd/reviewer-full/cloud"
	"github.com/agent-reviewer/reviewer/cmd/reviewer-full/sigstore"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/auditcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/releasecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/simulatecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/spf13/cobra"
)

func main() {
	a := &cli.App{
		Streams: term.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv},
		Detach:  cli.Detach, Installed: signed.Installed, Resident: serve.Listener,
		Cloud: cloud.Open, Sigstore: sigstore.Verify,
	}
	root := rootCommand(a)
	usage := a.UsageBeforeRun(root)
	code, err := cli.ExitCode(usage(root.ExecuteContext(context.Background())))
	if err != nil {
		fmt.Fprintln(a.Stderr, "reviewer-full:", cli.Masked(err.Error()))
	}
	os.Exit(code)
}

func rootCommand(a *cli.App) *cobra.Command {
	policy := &cobra.Command{
		Use:              "policy",
		Short:            "Simulate, sign, ship and verify policies",
		PersistentPreRun: func(*cobra.Command, []string) { cli.AbortIfFatal() },
	}
	cli.Group(policy, append(releasecmd.Commands(a), simulatecmd.Command(a))...)
	root := a.Program(&cobra.Command{
		Use:   "reviewer-full",
		Short: "The commands of reviewer that can use object stores and Sigstore",
		Long:  cli.ExitHelp(),
	})
	root.AddCommand(policy, auditcmd.Command(a))
	return root
}
