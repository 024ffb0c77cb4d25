package incidentcmd

import (
	"io"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/incident"
	"github.com/agent-reviewer/reviewer/engine/settings"
	"github.com/spf13/cobra"
)

func showCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var whole bool
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show the report about an incident",
		Long: "Shows what stopped a session, what contributed to it, what the session had changed by then, what\n" +
			"the active policy recommends, and the last actions before the stop.",
		Example: "  reviewer incident show\n  reviewer incident show 1f2e3d4c-17 --all",
		Args:    cli.AtMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			i, err := Reported(a, cli.OrLast(args))
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error {
				if out.Format == "json" {
					return term.WriteDocument(w, i)
				}
				return writeText(w, i, a.Paint(&out), columns(a, &out), whole)
			})
		},
	}
	cmd.Flags().BoolVarP(&whole, "all", "a", false, "show the whole timeline and every path, not only the latest")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// columns is the width of the terminal, or 80.
func columns(a *cli.App, out *term.Output) int {
	if n := a.Columns(out); n > 0 {
		return n
	}
	return 80
}

// Reported returns an incident with the recommendations of the policy that is active
// in its workspace: what matters is what can be done now. Without a policy they are
// those of the built-in one.
func Reported(a *cli.App, selector string) (*incident.Incident, error) {
	store, i, err := find(a, selector)
	if err != nil {
		return nil, err
	}
	set, err := settingsFor(store.Dir, i.Workspace)
	if err != nil {
		return nil, err
	}
	i.Advise(set.Interventions.Recommendations)
	return i.Incident, nil
}

func settingsFor(home, workspace string) (*settings.Settings, error) {
	if e, err := cli.MachineAt(home).Effective(workspace); err == nil {
		return &e.Settings, nil
	}
	base, err := bundles.Default()
	if err != nil {
		return nil, err
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		return nil, err
	}
	return &e.Settings, nil
}
