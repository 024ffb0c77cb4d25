package checkpointcmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/spf13/cobra"
)

// shown is a checkpoint in full.
type shown struct {
	listed
	Changes      []change     `json:"changes"` // since the previous checkpoint; none for the first and for an expired one
	NotStored    []left       `json:"not_stored"`
	Repositories []repository `json:"repositories"`
}

func showCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var whole bool
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show a checkpoint: changes since the previous one, paths that are not stored, and the repositories",
		Long: "Shows a checkpoint: the paths that changed since the previous one (+ created, - deleted, ~ changed, m\n" +
			"mode changed), what is not stored and why, and the state of the repositories. Without an ID, the\n" +
			"latest one is shown.",
		Example: "  reviewer checkpoint show\n  reviewer checkpoint show 1f2e3d4c-17 --all",
		Args:    cli.AtMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := open(a)
			if err != nil {
				return err
			}
			store, c, err := s.find(orLatest(args))
			if err != nil {
				return err
			}
			d, err := s.show(store, c)
			if err != nil {
				return err
			}
			return out.Result(a.Stdout, d, func(w io.Writer) { d.text(w, whole) })
		},
	}
	cmd.Flags().BoolVarP(&whole, "all", "a", false, "show every path, not only the first 40")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

func orLatest(args []string) string {
	if len(args) == 0 {
		return "latest"
	}
	return args[0]
}

func (s *stores) show(store *checkpoint.Store, c checkpoint.Checkpoint) (shown, error) {
	mask, err := s.masking()
	if err != nil {
		return shown{}, err
	}
	d := shown{listed: listedOf(&c, store.Root(), oldestKept(store), mask), Changes: []change{}, NotStored: leftOf(c.Left, mask),
		Repositories: repositoriesOf(c.Git, mask)}
	if c.N == 1 {
		return d, nil
	}
	changes, err := store.Changes(c)
	if gone := (*checkpoint.Expired)(nil); errors.As(err, &gone) {
		return d, nil
	}
	d.Changes = changesOf(changes, mask)
	return d, err
}

// masking masks secrets as in the log.
func (s *stores) masking() (func(string) string, error) {
	mac, err := s.log.MAC()
	if err != nil {
		return nil, err
	}
	return cli.Masking(mac), nil
}

func (d shown) text(w io.Writer, whole bool) {
	fmt.Fprintf(w, "checkpoint  %s\nworkspace   %s\ntime        %s\ntaken       %s\n", d.ID, term.OneLine(d.Workspace, longest),
		term.Clock(d.at), term.OneLine(d.what, longest))
	fmt.Fprintf(w, "holds       %s, %s bytes; %s bytes were stored for it\n", term.Counted(d.Files, "file", "files"),
		term.Size(d.Bytes), term.Size(d.Stored))
	if d.Saved != nil {
		fmt.Fprintf(w, "saved       what the call destroys: %s, %s bytes, kept until %s\n", term.Counted(d.Saved.Files, "file", "files"),
			term.Size(d.Saved.Bytes), d.Saved.Until)
	}
	if d.Expired {
		fmt.Fprintln(w, "\nIt has expired: its contents are no longer stored.")
	}
	if len(d.Changes) > 0 {
		fmt.Fprintf(w, "\nchanged by %s since the previous checkpoint: %s\n", who(checkpoint.By(d.By)),
			term.Counted(len(d.Changes), "path", "paths"))
		writeSome(w, d.Changes, whole)
	}
	if len(d.NotStored) > 0 {
		fmt.Fprintf(w, "\nnot stored, so a change to it cannot be undone: %s\n", term.Counted(d.LeftAll, "path", "paths"))
		writeLeft(w, d.NotStored)
		writeMore(w, d.LeftAll-len(d.NotStored))
	}
	writeRepositories(w, d.Repositories)
}

// most is how many paths are shown without --all.
const most = 40

func writeSome(w io.Writer, list []change, whole bool) {
	n := len(list)
	if !whole {
		n = min(n, most)
	}
	for _, c := range list[:n] {
		writeChange(w, c)
	}
	writeMore(w, len(list)-n)
}

func writeMore(w io.Writer, n int) {
	if n > 0 {
		fmt.Fprintf(w, "  and %d more\n", n)
	}
}

func writeRepositories(w io.Writer, list []repository) {
	if len(list) > 0 {
		fmt.Fprintln(w, "\nrepositories, which are never restored:")
	}
	for _, r := range list {
		fmt.Fprintf(w, "  %s: HEAD %s", term.OneLine(r.Folder, longest), term.OneLine(r.Head, longest))
		if r.Commit != "" && r.Commit != r.Head {
			fmt.Fprintf(w, " at %.12s", r.Commit)
		}
		if r.Stash != "" {
			fmt.Fprintf(w, ", stash %.12s", r.Stash)
		}
		fmt.Fprintln(w)
	}
}
