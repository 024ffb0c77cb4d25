// Package cli contains the code that all commands share: the process's environment as
// values, the state directory, the policy that a flag or a reference names,
// whether a person is at the terminal, and how a command ends.
//
// Out of scope: any one command. A process that answers a hook imports it, so
// nothing that opens a connection or reads a signing key may be imported here.
package cli

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles/sigstore"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

// App is the context that all commands share: the process's environment as values, so
// that tests can replace them.
type App struct {
	term.Streams
	Home  string // --home
	Key   string // --key of a hook: the fingerprint of the key whose choices count; empty: the ledger's first
	Quiet bool   // --quiet
	// Detach starts this program again, as the function Detach does; nil in tests, which
	// start nothing.
	Detach  func(args ...string) error
	Pid     int      // of the process whose caller counts; 0: this one
	Foreign bool     // that process is not reviewer's, so that what it sends is not what a client wrote
	Callers *Callers // that were examined before; nil: none is remembered

	// Installed returns the programs that the hooks of a state directory use, and Resident the process that answers them,
	// which is 0 if it cannot be seen from here; nil: unknown.
	Installed func(a *App, home string) []string
	Resident  func(home string) (pid int, runs bool)

	// MadeBy returns the process that made the socket from which the event was read: by reviewer-hook, if that started this program;
	// 0: it was read from something else. nil: unknown.
	MadeBy func(relayed bool) int

	// Cloud opens buckets, and Sigstore verifies Sigstore bundles; nil: this program has no libraries for it.
	Cloud    objects.Cloud
	Sigstore sigstore.Verify
}

// Program completes the command of a whole program: its version, streams and flags.
func (a *App) Program(root *cobra.Command) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(FlagError)
	root.Version = BuildVersion()
	root.SetVersionTemplate("reviewer {{.Version}}\n")
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.PersistentFlags().StringVar(&a.Home, "home", "",
		"state directory (default $REVIEWER_HOME, else reviewer in the XDG state directory)")
	root.PersistentFlags().BoolVarP(&a.Quiet, "quiet", "q", false,
		"print only errors; output files, documents and the exit code are unaffected")
	return root
}

// Group returns a command with subcommands. Alone it shows its help; an unknown
// subcommand is an error, unlike in cobra.
func Group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = noCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
}

// Section adds commands under a separate heading in the help of a group.
func Section(cmd *cobra.Command, id, title string, commands ...*cobra.Command) {
	cmd.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
	}
	cmd.AddCommand(commands...)
}

// noCommand refuses an unknown subcommand, and suggests the one that was meant.
func noCommand(cmd *cobra.Command, args []string) error {
	err := cobra.NoArgs(cmd, args)
	if err == nil {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if engine.Nearest(args[0], names) == "" {
		return fmt.Errorf("%w (`%s --help` lists the commands)", err, cmd.CommandPath())
	}
	return WithNear(err, args[0], names)
}
