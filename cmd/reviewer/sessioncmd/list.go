package sessioncmd

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/auditcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func sessionListCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var since cli.SinceFlag
	var workspace string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, the latest first",
		Long: "List the sessions, the latest first: who worked where and when, the calls, those\n" +
			"that were denied and that a person was asked about, the patterns that were found\n" +
			"and how often, and whether it is stopped. A log that is damaged is listed, too.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			from, err := since.MS(time.Now())
			if err != nil {
				return err
			}
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			sessions, err := store.Sessions()
			if err != nil {
				return err
			}
			sessions = slices.DeleteFunc(sessions, func(s audit.Session) bool { return s.N > 0 && (s.Last < from || !worksIn(s, workspace)) })
			return out.Write(a.Stdout, func(w io.Writer) error { return listSessions(a, w, &out, store.Dir, sessions) })
		},
	}
	since.Flags(cmd, "only sessions with a record since then")
	cmd.Flags().StringVar(&workspace, "workspace", "", "only sessions that work in this folder or below it")
	out.Flags(cmd, "table", "json")
	return cmd
}

// worksIn says whether a session's workspace is a folder or lies below it.
func worksIn(s audit.Session, dir string) bool {
	if dir == "" {
		return true
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(abs)
	return below(abs, s.Workspace) || err == nil && below(real, s.Workspace)
}

// below says that an absolute path is a folder or lies in it.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// listedSession is a session in the list, as JSON.
type listedSession struct {
	auditcmd.SessionDocument
	Asked    int64            `json:"asked"`
	Prompts  int64            `json:"prompts"`
	Patterns map[string]int64 `json:"patterns"` // id -> calls that it was found at
}

func listSessions(a *cli.App, w io.Writer, out *term.Output, dir string, sessions []audit.Session) error {
	if out.Format == "json" {
		docs := []listedSession{}
		for _, s := range sessions {
			docs = append(docs, listedSession{auditcmd.DocumentOf(s), s.Asked, s.Prompts, counts(s.Fired)})
		}
		return term.WriteJSON(w, docs)
	}
	if len(sessions) == 0 {
		fmt.Fprintf(w, "no such session is recorded in %s\n", dir)
		return nil
	}
	p, width := a.Paint(out), a.Width(out)
	fmt.Fprintf(w, "%s %s %s %s %6s %6s %5s  %s\n", term.Pad("SESSION", 36), term.Pad("AGENT", 12), term.Pad("STARTED", 19),
		term.Pad("LAST", 19), "CALLS", "DENIED", "ASKED", "WORKSPACE")
	for _, s := range sessions {
		listSession(a, w, p, width, s)
	}
	return nil
}

func listSession(a *cli.App, w io.Writer, p term.Paint, width int, s audit.Session) {
	line := fmt.Sprintf("%s %s %s %s %6d %6d %5d  %s", term.Pad(term.OneLine(cmp.Or(s.Key.Session, filepath.Base(s.Dir)), 64), 36),
		term.Pad(term.OneLine(s.Key.Harness, 12), 12),
		term.Clock(s.First), term.Clock(s.Last), s.Actions, s.Denied, s.Asked, s.Workspace)
	fmt.Fprintln(w, term.OneLine(line, width))
	if s.Err != nil {
		fmt.Fprintf(w, "  %s\n", p.Verdict("fail")+" "+term.OneLine(s.Err.Error(), width-7))
	}
	if s.Stopped != nil {
		fmt.Fprintf(w, "  %s\n", p.Colour("31;1", term.OneLine("stopped by "+s.Stopped.By+term.After(": ", s.Stopped.Reason), width-2)))
	}
	if text := tally(s.Fired); text != "" {
		fmt.Fprintf(w, "  %s\n", p.Colour("33", term.OneLine("patterns: "+text, width-2)))
	}
}

// tally words how often things were, most often first.
func tally(counts map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(counts),
		func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return strings.Join(names, ", ")
}

func counts(counts map[string]int64) map[string]int64 {
	if counts == nil {
		return map[string]int64{}
	}
	return counts
}
