package checkpointcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/spf13/cobra"
)

// collection describes the removed checkpoints.
type collection struct {
	By         string      `json:"by"`
	Workspaces []collected `json:"workspaces"`
}

// collected describes what was removed from the store of a workspace.
type collected struct {
	Workspace string `json:"workspace"`
	Oldest    string `json:"oldest"`  // id of the oldest checkpoint that is kept
	Expired   int    `json:"expired"` // checkpoints that can no longer be restored
	Freed     int64  `json:"freed"`   // bytes
	Left      int64  `json:"left"`    // bytes that are still stored
}

// collecting is the command line of `reviewer checkpoint gc`.
type collecting struct {
	keep, olderThan, workspace string
	afterEnd                   time.Duration // negative: that of the settings
}

func gcCommand(a *cli.App) *cobra.Command {
	var out term.Output
	g := collecting{}
	cmd := &cobra.Command{
		Use:   "gc [--keep ID | --older-than TIME]",
		Short: "Remove checkpoints that have expired; needs a person at a terminal",
		Long: "Removes data that only expired checkpoints use, in all workspaces. A session's checkpoints expire some\n" +
			"time after its end; those of a session that is open or stopped are kept, and so is the newest one\n" +
			"of each workspace. --keep, --older-than and --after-end select other checkpoints to remove; those that have\n" +
			"not expired need the approval code. Expired checkpoints stay in the list.",
		Example: "  reviewer checkpoint gc\n  reviewer checkpoint gc --keep 1f2e3d4c-17\n  reviewer checkpoint gc --older-than 7d --workspace .",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := open(a)
			if err != nil {
				return err
			}
			d := collection{Workspaces: []collected{}}
			plan, planErr := g.plan(cmd, s)
			if d.By, err = s.mayCollect(cmd.Context(), a, plan); err != nil {
				return err
			}
			errs := []error{planErr}
			for _, p := range plan {
				one, err := collect(cmd.Context(), p.store, p.oldest)
				if errs = append(errs, err); err == nil {
					d.Workspaces = append(d.Workspaces, one)
				}
			}
			if err := errors.Join(append(errs, s.noteCollected(cmd.Context(), d))...); err != nil {
				return err
			}
			return out.Result(a.Stdout, d, d.text)
		},
	}
	f := cmd.Flags()
	f.StringVar(&g.keep, "keep", "", "keep this checkpoint and later ones of its workspace")
	f.StringVar(&g.olderThan, "older-than", "", "remove checkpoints older than this, such as 12h or 7d")
	f.StringVar(&g.workspace, "workspace", "", "only checkpoints of this folder's workspace")
	f.DurationVar(&g.afterEnd, "after-end", -1, "how long after its end a session's checkpoints are kept")
	f.Lookup("after-end").DefValue = "0s" // the settings determine it
	cmd.MarkFlagsMutuallyExclusive("keep", "older-than", "after-end")
	cmd.MarkFlagsMutuallyExclusive("keep", "workspace")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// removal is what is to be removed from the store of a workspace: all before a checkpoint.
type removal struct {
	store  *checkpoint.Store
	oldest checkpoint.Checkpoint // that is kept
	early  bool                  // the settings keep an older one
}

func (g collecting) plan(cmd *cobra.Command, s *stores) ([]removal, error) {
	if g.keep != "" {
		store, c, err := s.find(g.keep)
		if err != nil {
			return nil, err
		}
		one, err := s.removal(store, c)
		return []removal{one}, err
	}
	span, ok := cli.TimeSpan(g.olderThan)
	if g.olderThan != "" && !ok {
		return nil, cli.Usage("--older-than %s: expected a time such as 90m, 12h or 7d", g.olderThan)
	}
	all, err := s.chosen(cmd, g.workspace)
	if err != nil {
		return nil, err
	}
	plan, errs := []removal{}, []error{}
	for _, store := range all {
		oldest, err := s.keptBy(store, g.afterEnd)
		if err == nil && g.olderThan != "" {
			oldest, err = since(store, time.Now().Add(-span).UnixMilli())
		}
		if err == nil {
			var one removal
			one, err = s.removal(store, oldest)
			plan = append(plan, one)
		}
		errs = append(errs, err)
	}
	return plan, errors.Join(errs...)
}

func (s *stores) removal(store *checkpoint.Store, oldest checkpoint.Checkpoint) (removal, error) {
	kept, err := s.keptBy(store, -1)
	return removal{store, oldest, oldest.N > max(kept.N, oldestKept(store))}, err
}

// mayCollect returns who removes checkpoints. Those that the settings still keep need the approval code.
func (s *stores) mayCollect(ctx context.Context, a *cli.App, plan []removal) (string, error) {
	const what = "removing checkpoints"
	kept := map[string]string{}
	var shown []string
	for _, p := range plan {
		if p.early {
			kept[p.store.Root()] = p.oldest.ID
			shown = append(shown, fmt.Sprintf("all before %s in %s", p.oldest.ID, p.store.Root()))
		}
	}
	if len(kept) == 0 {
		return signed.Person(ctx, a, what)
	}
	choice, err := signed.Choice(engine.ControlPurge, "remove checkpoints before their term: "+strings.Join(shown, "; "),
		map[string]any{"act": "remove checkpoints", "oldest_kept": kept})
	if err != nil {
		return "", err
	}
	return signed.Record(ctx, a, s.log, what, choice)
}

// since returns the oldest checkpoint since a time, or else the newest one.
func since(store *checkpoint.Store, from int64) (c checkpoint.Checkpoint, err error) {
	list, err := store.List()
	for i := range list {
		if c = list[i]; c.T >= from {
			break
		}
	}
	return c, err
}

func collect(ctx context.Context, store *checkpoint.Store, oldest checkpoint.Checkpoint) (collected, error) {
	r, err := store.Collect(ctx, oldest)
	if err != nil {
		return collected{}, fmt.Errorf("%s: %w", store.Root(), err)
	}
	return collected{cli.Masked(store.Root()), oldest.ID, r.Expired, r.Freed, r.Left}, nil
}

// noteCollected notes in the ledger that a person removed checkpoints.
func (s *stores) noteCollected(ctx context.Context, d collection) error {
	n, freed := 0, int64(0)
	for _, one := range d.Workspaces {
		n, freed = n+one.Expired, freed+one.Freed
	}
	return s.log.Note(ctx, engine.Note{What: "checkpoints_collected", Detail: fmt.Sprintf("%s, %d bytes, by %s",
		engine.Counted(n, "checkpoint", "checkpoints"), freed, d.By)})
}

func (d collection) text(w io.Writer) {
	if len(d.Workspaces) == 0 {
		fmt.Fprintln(w, "no checkpoint is stored")
	}
	for _, one := range d.Workspaces {
		fmt.Fprintf(w, "%s: %s, %s bytes freed, %s bytes left; the oldest one is %s\n", term.OneLine(one.Workspace, longest),
			term.Counted(one.Expired, "checkpoint has expired", "checkpoints have expired"), term.Size(one.Freed), term.Size(one.Left), one.Oldest)
	}
}
