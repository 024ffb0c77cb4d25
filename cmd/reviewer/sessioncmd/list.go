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
		Short: "List the sessions, newest first",
		Long: "List the sessions, newest first, with workspace and time, the numbers of calls,\n" +
			"of denied calls and of calls a person was asked about, the patterns that were found\n" +
			"with their counts, and whether the session is stopped. Damaged logs are listed as well.\n" +
			"Ids are shortened; every command accepts them. -f json has them in full. `audit show`\n" +
			"lists the sessions as they are in the log.",
		Example: "  reviewer session list\n  reviewer session list --since 1d --workspace .",
		Args:    cli.AtMost(0),
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
			none := "no session is recorded in " + store.Dir
			if len(sessions) > 0 {
				none = "no such session is recorded in " + store.Dir
			}
			sessions = slices.DeleteFunc(sessions, func(s audit.Session) bool { return s.N > 0 && (s.Last < from || !worksIn(s, workspace)) })
			return out.Write(a.Stdout, func(w io.Writer) error { return listSessions(a, w, &out, none, sessions) })
		},
	}
	since.Flags(cmd, "only sessions with a record since this time")
	cmd.Flags().StringVar(&workspace, "workspace", "", "only sessions that work in this folder or under it")
	out.Flags(cmd, "text", "json")
	return cmd
}

// worksIn reports whether a session's workspace is a folder or is under it.
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

// below reports whether an absolute path is a folder or is in it.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// listedSession is a session in the list, as JSON.
type listedSession struct {
	auditcmd.SessionDocument
	Asked    int64            `json:"asked"`
	Prompts  int64            `json:"prompts"`
	Patterns map[string]int64 `json:"patterns"` // id -> number of calls at which it was found
}

// listSessions writes the list, or a sentence for an empty one.
func listSessions(a *cli.App, w io.Writer, out *term.Output, none string, sessions []audit.Session) error {
	if out.Format == "json" {
		docs := []listedSession{}
		for _, s := range sessions {
			docs = append(docs, listedSession{auditcmd.DocumentOf(s), s.Asked, s.Prompts, counts(s.Fired)})
		}
		return term.WriteList(w, "sessions", docs)
	}
	if len(sessions) == 0 {
		fmt.Fprintln(w, none)
		return nil
	}
	p, width := a.Paint(out), a.Width(out)
	ids := shortIDs(sessions)
	column := len("SESSION")
	for _, id := range ids {
		column = max(column, term.Width(id))
	}
	fmt.Fprintf(w, "%s  %s  %s %5s %6s %5s  %s\n", term.Pad("SESSION", column), term.Pad("AGENT", 11), term.Pad("LAST", 16),
		"CALLS", "DENIED", "ASKED", "WORKSPACE")
	for i, s := range sessions {
		head := fmt.Sprintf("%s  %s  %s %5d %6d %5d  ", term.Pad(ids[i], column), term.Pad(term.OneLine(s.Key.Harness, 11), 11),
			time.UnixMilli(s.Last).Format("2006-01-02 15:04"), s.Actions, s.Denied, s.Asked)
		listSession(w, p, width, head, s)
	}
	return nil
}

// shortIDs are unambiguous prefixes of the sessions' ids, which every command accepts.
// An id that is not a UUID is not changed.
func shortIDs(sessions []audit.Session) []string {
	ids := make([]string, len(sessions))
	for i, s := range sessions {
		ids[i] = term.OneLine(cmp.Or(s.Key.Session, filepath.Base(s.Dir)), 64)
	}
	const shortest, longest = 8, 36
	const folderName = 32 // used as the id if a log cannot be read
	for n := shortest; n < longest; n++ {
		cut, seen := make([]string, len(ids)), map[string]bool{}
		for i, id := range ids {
			if cut[i] = id; len(id) >= folderName {
				cut[i] = id[:n]
			}
			seen[cut[i]] = true
		}
		if len(seen) == len(ids) {
			return cut
		}
	}
	return ids
}

// fromEnd returns the end of a path that fits on a line.
func fromEnd(path string, room int) string {
	if n := term.Width(path); room > 0 && n > room {
		return "…" + string([]rune(path)[n-room+1:])
	}
	return path
}

func listSession(w io.Writer, p term.Paint, width int, head string, s audit.Session) {
	fmt.Fprintln(w, strings.TrimRight(head+fromEnd(term.OneLine(s.Workspace, 4096), width-term.Width(head)), " "))
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

// tally lists counts by name, the highest first.
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
