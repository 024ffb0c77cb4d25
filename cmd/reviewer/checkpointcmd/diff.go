package checkpointcmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/spf13/cobra"
)

// now is the word for the current workspace.
const now = "now"

// differences is how two states of a workspace differ.
type differences struct {
	Workspace string    `json:"workspace"`
	From      string    `json:"from"` // id of a checkpoint
	To        string    `json:"to"`   // id of a checkpoint, or now
	Changes   []differs `json:"changes"`
}

// differs is a path that differs.
type differs struct {
	change
	Diff string `json:"diff,omitempty"` // of text files: unified, with secrets masked
	Note string `json:"note,omitempty"` // what the diff does not show, or why there is none
}

func diffCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var names bool
	cmd := &cobra.Command{
		Use:   "diff ID [ID2|now] [PATH…]",
		Short: "Show how files differ between two checkpoints, or between a checkpoint and now",
		Long: "Shows text files as a unified diff, in which secrets are masked; for binary, large and encrypted\n" +
			"files (files with secrets), only reports that they differ. With one ID, the checkpoint is\n" +
			"compared with the current files. Paths that look like an id go after --.",
		Example: "  reviewer checkpoint diff 17\n  reviewer checkpoint diff 16 17 src\n  reviewer checkpoint diff latest now --names",
		Args:    cli.AtLeast(cli.Argument{Name: "ID", What: "a checkpoint's id, number, or latest (`reviewer checkpoint list` lists them)"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := open(a)
			if err != nil {
				return err
			}
			q := question(args, cmd.ArgsLenAtDash())
			d, err := s.compare(cmd.Context(), q, names)
			if err != nil {
				return err
			}
			return out.Result(a.Stdout, d, func(w io.Writer) { d.text(w, a.Paint(&out), names) })
		},
	}
	cmd.Flags().BoolVar(&names, "names", false, "print only the names of differing files")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// asked names the checkpoints that a command line compares.
type asked struct {
	from, to string
	paths    []string
}

// question reads arguments: the second one is a checkpoint if it looks like one and does not
// follow --.
func question(args []string, dash int) asked {
	q := asked{from: args[0], to: now, paths: args[1:]}
	if len(args) > 1 && dash != 1 && (args[1] == now || namesCheckpoint(args[1])) {
		q.to, q.paths = args[1], args[2:]
	}
	return q
}

// sides are the two states that are compared.
type sides struct {
	store *checkpoint.Store
	now   bool // the second one is the workspace
	mask  func(string) string
}

func (s *stores) compare(ctx context.Context, q asked, names bool) (differences, error) {
	store, from, err := s.find(q.from)
	if err != nil {
		return differences{}, err
	}
	mask, err := s.masking()
	if err != nil {
		return differences{}, err
	}
	paths, err := pathsIn(store, q.paths)
	if err != nil {
		return differences{}, err
	}
	d := differences{Workspace: mask(store.Root()), From: from.ID, To: now, Changes: []differs{}}
	var changes []checkpoint.Change
	if q.to == now {
		changes, err = store.DiffNow(ctx, from)
	} else {
		d.To, changes, err = s.between(store, from, q.to)
	}
	if err != nil {
		return d, err
	}
	in := sides{store, q.to == now, mask}
	for _, c := range slices.DeleteFunc(changes, func(c checkpoint.Change) bool { return !below(c.Path, paths) }) {
		x := differs{change: changesOf([]checkpoint.Change{c}, mask)[0]}
		if !names {
			x.Diff, x.Note = in.diff(c, x.change)
		}
		d.Changes = append(d.Changes, x)
	}
	return d, nil
}

// between compares two checkpoints of one workspace.
func (s *stores) between(store *checkpoint.Store, from checkpoint.Checkpoint, id string) (string, []checkpoint.Change, error) {
	other, to, err := s.find(id)
	if err != nil {
		return "", nil, err
	}
	if other.Dir() != store.Dir() {
		return "", nil, cli.Usage("%s and %s are checkpoints of different workspaces", from.ID, to.ID)
	}
	changes, err := store.Diff(from, to)
	return to.ID, changes, err
}

func (d differences) text(w io.Writer, p term.Paint, names bool) {
	if len(d.Changes) == 0 {
		fmt.Fprintf(w, "no difference between %s and %s\n", d.From, d.To)
	}
	for _, c := range d.Changes {
		if names {
			writeChange(w, c.change)
			continue
		}
		if c.Note != "" {
			fmt.Fprintf(w, "%s %s: %s\n", c.Does, term.OneLine(c.Path, longest), c.Note)
		}
		writeDiff(w, p, c.Diff)
	}
}

// writeDiff paints the lines of a diff.
func writeDiff(w io.Writer, p term.Paint, diff string) {
	for line := range strings.Lines(diff) {
		text := printable(strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ "):
			text = p.Bold(text)
		case strings.HasPrefix(line, "-"):
			text = p.Colour(term.Bad, text)
		case strings.HasPrefix(line, "+"):
			text = p.Colour(term.Good, text)
		case strings.HasPrefix(line, "@@"):
			text = p.Faint(text)
		}
		fmt.Fprintln(w, text)
	}
}

// printable is a line of a file that a terminal cannot act on; tabs stay.
func printable(line string) string {
	parts := strings.Split(line, "\t")
	for i := range parts {
		parts[i] = term.Printable(parts[i])
	}
	return strings.Join(parts, "\t")
}
