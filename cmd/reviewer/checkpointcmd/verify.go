package checkpointcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/spf13/cobra"
)

// verification is what verifying stores found.
type verification struct {
	OK          bool     `json:"ok"`
	Stores      int      `json:"stores"`
	Checkpoints int      `json:"checkpoints"`
	Contents    int      `json:"contents"` // files and lists of files
	Bytes       int64    `json:"bytes"`    // as stored
	Damage      []damage `json:"damage"`
}

type damage struct {
	Workspace string `json:"workspace,omitempty"` // absent: its store cannot be opened
	Where     string `json:"where"`               // file of the store, or id of a checkpoint
	What      string `json:"what"`
}

func verifyCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var workspace string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that everything that checkpoints need is stored and undamaged",
		Long: "Checks each byte of the stores of all workspaces, or of one, and that every checkpoint that has not\n" +
			"expired can be restored. Reports all damage.\n\n" +
			"Exit codes: 0 undamaged, 1 the stores cannot be found, 2 damage was found or a store cannot be read, 3 usage error.",
		Example: "  reviewer checkpoint verify\n  reviewer checkpoint verify --workspace .",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := open(a)
			if err != nil {
				return err
			}
			list, unopened := s.chosen(cmd, workspace)
			if unopened != nil && len(list) == 0 {
				return unopened
			}
			d, err := verify(cmd.Context(), list, unopened)
			if err != nil {
				return err
			}
			if err := out.Result(a.Stdout, d, func(w io.Writer) { d.text(w, a.Paint(&out)) }); err != nil || d.OK {
				return err
			}
			return cli.Findings("the checkpoints are damaged: %s", term.Counted(len(d.Damage), "place", "places"))
		},
	}
	cmd.Flags().StringVar(&workspace, "workspace", "", "only the checkpoints of this folder's workspace")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// chosen opens the store that --workspace names, or all.
func (s *stores) chosen(cmd *cobra.Command, workspace string) ([]*checkpoint.Store, error) {
	if !cmd.Flags().Changed("workspace") {
		return s.all()
	}
	store, err := s.here(workspace)
	if err != nil {
		return nil, err
	}
	return []*checkpoint.Store{store}, nil
}

// verify checks stores; unopened is why others could not be opened.
func verify(ctx context.Context, list []*checkpoint.Store, unopened error) (verification, error) {
	d := verification{Stores: len(list), Damage: []damage{}}
	if unopened != nil {
		d.Damage = append(d.Damage, damage{Where: "stores that cannot be opened", What: cli.Masked(unopened.Error())})
	}
	for _, store := range list {
		v, err := store.Verify(ctx)
		if err != nil {
			return d, err
		}
		d.Checkpoints, d.Contents, d.Bytes = d.Checkpoints+v.Checkpoints, d.Contents+v.Contents, d.Bytes+v.Bytes
		for _, found := range v.Damage {
			d.Damage = append(d.Damage, damage{cli.Masked(store.Root()), cli.Masked(found.Where), cli.Masked(found.What)})
		}
	}
	d.OK = len(d.Damage) == 0
	return d, nil
}

func (d verification) text(w io.Writer, p term.Paint) {
	for _, x := range d.Damage {
		fmt.Fprintf(w, "%s %s: %s\n", p.Verdict("fail"), term.OneLine(x.Where, longest), term.OneLine(x.What, longest))
	}
	fmt.Fprintf(w, "%s, %s, %s, %s bytes", term.Counted(d.Stores, "workspace", "workspaces"),
		term.Counted(d.Checkpoints, "checkpoint", "checkpoints"), term.Counted(d.Contents, "content", "contents"), term.Size(d.Bytes))
	if d.OK {
		fmt.Fprintf(w, ": %s", p.Verdict("ok"))
	}
	fmt.Fprintln(w)
}
