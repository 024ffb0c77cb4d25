package checkpointcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/spf13/cobra"
)

// listing is the checkpoints of one or several workspaces.
type listing struct {
	Checkpoints []listed      `json:"checkpoints"`
	Interrupted []interrupted `json:"interrupted"` // restores that were cut off
}

// listed is a checkpoint in the list.
type listed struct {
	ID        string `json:"id"`
	Time      string `json:"time"`
	Workspace string `json:"workspace"`
	When      string `json:"when"`              // before_call, after_call, before_restore, after_restore, by_hand
	By        string `json:"by,omitempty"`      // who made the changes since the previous checkpoint: session, others, reviewer
	Session   string `json:"session,omitempty"` // whose call it was taken for
	Call      string `json:"call,omitempty"`
	Changed   int    `json:"changed"`         // paths, since the previous checkpoint
	Files     int    `json:"files"`           // in the workspace
	Bytes     int64  `json:"bytes"`           // of these
	Stored    int64  `json:"stored"`          // bytes that were stored for it
	LeftAll   int    `json:"left"`            // paths that are not stored
	Saved     *saved `json:"saved,omitempty"` // what the call was about to destroy; absent: it was not saved for that
	Expired   bool   `json:"expired"`         // it can no longer be restored

	at   int64
	what string // it was taken for
}

// saved is what a checkpoint keeps of the files that a call destroyed.
type saved struct {
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
	Until string `json:"until"` // it is kept until then
}

func savedOf(s *checkpoint.Saved) *saved {
	if s == nil {
		return nil
	}
	return &saved{Files: s.Files, Bytes: s.Bytes, Until: term.Time(s.Until)}
}

// text says what was saved, for a list.
func (s *saved) text() string {
	if s == nil {
		return ""
	}
	return ", saved what it destroys"
}

// interrupted is a restore that was cut off.
type interrupted struct {
	Workspace string `json:"workspace"`
	To        string `json:"to"`   // the checkpoint that was being restored
	Undo      string `json:"undo"` // the checkpoint taken before
}

func listedOf(c *checkpoint.Checkpoint, root string, oldest int64, mask func(string) string) listed {
	shown := *c
	shown.Session, shown.Call = mask(c.Session), mask(c.Call)
	return listed{ID: c.ID, Time: term.Time(c.T), Workspace: mask(root), When: string(c.When), By: string(c.By), Session: shown.Session,
		Call: shown.Call, Changed: c.Changed, Files: c.Files, Bytes: c.Bytes, Stored: c.Stored, LeftAll: c.LeftAll, Expired: c.N < oldest,
		Saved: savedOf(c.Save), at: c.T, what: occasion(&shown)}
}

// selection is which checkpoints are listed, and what else is shown.
type selection struct {
	workspace, session string
	all                bool
	since              cli.SinceFlag
}

func listCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var sel selection
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List checkpoints, newest first",
		Long: "Lists the checkpoints of the workspace of the current folder, newest first: for which call\n" +
			"each was taken, who made the changes since the previous one, the number of changed paths, the bytes\n" +
			"stored, and the number of paths that are not stored.",
		Example: "  reviewer checkpoint list\n  reviewer checkpoint list --session last --since 1h",
		Args:    cli.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			d, err := sel.read(a)
			if err != nil && len(d.Checkpoints) == 0 {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return errors.Join(d.write(a, w, &out), err) })
		},
	}
	cmd.Flags().StringVar(&sel.workspace, "workspace", "", "the checkpoints of this folder's workspace")
	cmd.Flags().StringVar(&sel.session, "session", "", "only checkpoints taken for calls of this session: an id, a prefix of it, or last")
	cmd.Flags().BoolVar(&sel.all, "all", false, "the checkpoints of all workspaces")
	cmd.MarkFlagsMutuallyExclusive("workspace", "session", "all")
	sel.since.Flags(cmd, "only checkpoints since this time")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

func (sel *selection) read(a *cli.App) (listing, error) {
	d := listing{Checkpoints: []listed{}, Interrupted: []interrupted{}}
	from, err := sel.since.MS(time.Now())
	if err != nil {
		return d, err
	}
	stores, session, err := sel.stores(a)
	if len(stores) == 0 {
		return d, err
	}
	mask, maskErr := masking(a)
	if maskErr != nil {
		return d, errors.Join(err, maskErr)
	}
	errs := []error{err}
	for _, store := range stores {
		list, err := store.List()
		errs = append(errs, err)
		oldest := oldestKept(store)
		for i := range list {
			if c := &list[i]; c.T >= from && (session == "" || c.Session == session) {
				d.Checkpoints = append(d.Checkpoints, listedOf(c, store.Root(), oldest, mask))
			}
		}
		if i := store.Interrupted(); i != nil {
			d.Interrupted = append(d.Interrupted, interrupted{mask(store.Root()), i.To, i.Undo})
		}
	}
	d.sort()
	return d, errors.Join(errs...)
}

// sort puts the workspace with the latest checkpoint first, and the latest checkpoint of each.
func (d *listing) sort() {
	newest := map[string]int64{}
	for _, c := range d.Checkpoints {
		newest[c.Workspace] = max(newest[c.Workspace], c.at)
	}
	slices.Reverse(d.Checkpoints) // each store lists them in the order in which they were taken
	slices.SortStableFunc(d.Checkpoints, func(x, y listed) int {
		return cmp.Or(cmp.Compare(newest[y.Workspace], newest[x.Workspace]), cmp.Compare(x.Workspace, y.Workspace))
	})
}

func masking(a *cli.App) (func(string) string, error) {
	s, err := open(a)
	if err != nil {
		return nil, err
	}
	return s.masking()
}

// stores opens the selected stores, and returns the id of the selected session.
func (sel *selection) stores(a *cli.App) ([]*checkpoint.Store, string, error) {
	s, err := open(a)
	if err != nil {
		return nil, "", err
	}
	if sel.all {
		list, err := s.all()
		return list, "", err
	}
	dir, session := sel.workspace, ""
	if sel.session != "" {
		_, one, err := a.Session(sel.session)
		if err != nil {
			return nil, "", err
		}
		dir, session = one.Workspace, one.Key.Session
	}
	store, err := s.here(dir)
	if err != nil {
		return nil, session, err
	}
	return []*checkpoint.Store{store}, session, nil
}

func (d listing) write(a *cli.App, w io.Writer, out *term.Output) error {
	if out.Format == "json" {
		return term.WriteDocument(w, d)
	}
	if len(d.Checkpoints) == 0 {
		fmt.Fprintln(w, "no such checkpoint is stored")
	} else {
		d.table(a, w, out)
	}
	p := a.Paint(out)
	for _, i := range d.Interrupted {
		fmt.Fprintf(w, "%s a restore in %s was interrupted: `reviewer checkpoint restore %s` finishes it, "+
			"`reviewer checkpoint restore %s` undoes it\n", p.Verdict("warn"), term.OneLine(i.Workspace, longest), i.To, i.Undo)
	}
	return nil
}

func (d listing) table(a *cli.App, w io.Writer, out *term.Output) {
	column := len("CHECKPOINT")
	for _, c := range d.Checkpoints {
		column = max(column, len(c.ID))
	}
	p, width := a.Paint(out), a.Width(out)
	fmt.Fprintf(w, "%s  %s  %s %7s %7s %5s  %s\n", term.Pad("CHECKPOINT", column), term.Pad("TIME", 19), term.Pad("CHANGED BY", 11),
		"CHANGES", "STORED", "LEFT", "TAKEN")
	workspace := ""
	for _, c := range d.Checkpoints {
		if c.Workspace != workspace {
			fmt.Fprintln(w, p.Faint(term.OneLine(c.Workspace, width)))
			workspace = c.Workspace
		}
		head := fmt.Sprintf("%s  %s  %s %7d %7s %5d  ", term.Pad(c.ID, column), term.Clock(c.at),
			term.Pad(who(checkpoint.By(c.By)), 11), c.Changed, term.Size(c.Stored), c.LeftAll)
		line := head + term.OneLine(c.what+c.Saved.text(), max(width-term.Width(head), 20))
		if c.Expired {
			line = p.Faint(line + ", expired")
		}
		fmt.Fprintln(w, line)
	}
}
