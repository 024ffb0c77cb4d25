package checkpointcmd

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/snapshots"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/spf13/cobra"
)

// taken is a checkpoint that a person took.
type taken struct {
	listed
	New    bool     `json:"new"`    // false: nothing has changed since it was taken
	Unseen []string `json:"unseen"` // folders that could not be read in time
}

func takeCommand(a *cli.App) *cobra.Command {
	var workspace string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "take",
		Short: "Take a checkpoint now",
		Long: "Stores what changed in the workspace since the last checkpoint. The workspace is the current\n" +
			"folder, or the nearest parent folder that has checkpoints.",
		Example: "  reviewer checkpoint take\n  reviewer checkpoint take --workspace ~/shop",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := open(a)
			if err != nil {
				return err
			}
			store, err := s.taking(workspace)
			if err != nil {
				return err
			}
			r := checkpoint.Request{When: checkpoint.ByHand, By: checkpoint.ByOthers, Time: time.Now().UnixMilli()}
			t, err := store.Take(cmd.Context(), r)
			if err != nil {
				return err
			}
			d := taken{listedOf(&t.Checkpoint, store.Root(), oldestKept(store), cli.Masked), t.New, term.OrNone(t.Unseen)}
			cli.MaskAll(d.Unseen)
			return out.Result(a.Stdout, d, d.text)
		},
	}
	cmd.Flags().StringVar(&workspace, "workspace", "", "the workspace (default that of the current folder)")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// taking opens the store for a checkpoint of a folder.
func (s *stores) taking(workspace string) (*checkpoint.Store, error) {
	store, err := s.here(workspace)
	if missing := (*noStore)(nil); workspace != "" || errors.As(err, &missing) {
		dir, err := realFolder(workspace)
		if err != nil {
			return nil, err
		}
		if snapshots.TooLarge(dir, s.world.Home) {
			return nil, fmt.Errorf("%s is too large for a workspace: give the folder of a project with --workspace", dir)
		}
		return s.of(dir)
	}
	return store, err
}

func (d taken) text(w io.Writer) {
	if !d.New {
		fmt.Fprintf(w, "nothing has changed since checkpoint %s of %s\n", d.ID, term.OneLine(d.Workspace, longest))
	} else {
		fmt.Fprintf(w, "checkpoint %s of %s: %s, %s bytes, stored in %s bytes\n", d.ID, term.OneLine(d.Workspace, longest),
			term.Counted(d.Files, "file", "files"), term.Size(d.Bytes), term.Size(d.Stored))
	}
	if d.LeftAll > 0 {
		fmt.Fprintf(w, "not stored: %s; `reviewer checkpoint show %s` gives the reasons\n", term.Counted(d.LeftAll, "path", "paths"), d.ID)
	}
	for _, dir := range d.Unseen {
		fmt.Fprintf(w, "there was not enough time to read %s\n", term.OneLine(filepath.Join(d.Workspace, dir), longest))
	}
}
