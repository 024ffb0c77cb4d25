package auditcmd

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/spf13/cobra"
)

func auditShowCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var all, ledger bool
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "List sessions, the calls of one session with their decisions, or the machine's ledger",
		Long: "Shows records as they are in the log. `reviewer session list` and `session show` present the same\n" +
			"sessions with prompts, patterns and outcomes; `audit tail` follows a session. The setting audit.log_level\n" +
			"decides which records of a session are shown without --all.",
		Example: "  reviewer audit show\n  reviewer audit show last --all\n  reviewer audit show --ledger",
		Args:    cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.OpenStore()
			switch {
			case err != nil:
				return err
			case ledger && len(args) > 0:
				return cli.Usage("--ledger is about the machine, ID about one session: give one of the two")
			case ledger:
				return out.Write(a.Stdout, func(w io.Writer) error { return showLedger(a, w, &out, store, all) })
			case len(args) == 0:
				return out.Write(a.Stdout, func(w io.Writer) error { return showSessions(a, w, &out, store) })
			}
			_, s, err := a.Session(args[0])
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return showSession(a, w, &out, store, s, all) })
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "show every record, not only calls and actions of a person or the policy")
	cmd.Flags().BoolVar(&ledger, "ledger", false,
		"show the machine's ledger: activated and refused policies, installation, manual overrides")
	out.Flags(cmd, "text", "json")
	return cmd
}

// showLedger lists the records of the ledger; the openings and seals of chains
// are among them only if all are asked for.
func showLedger(a *cli.App, w io.Writer, out *term.Output, store *audit.Store, all bool) error {
	records := []*engine.Record{}
	for r, err := range store.Ledger() {
		if err != nil {
			return err
		}
		if all || r.Kind == engine.KindNote || r.Kind == engine.KindControl && r.Control.Do != engine.ControlKey {
			records = append(records, r)
		}
	}
	if out.Format == "json" {
		return term.WriteList(w, "records", records)
	}
	p := a.Paint(out)
	for _, r := range records {
		word, what, why := explaincmd.Summary(r)
		fmt.Fprintf(w, "%s %s %s %s\n", p.Faint(term.Clock(r.T)), term.Pad(r.ID(), 13), term.Pad(word, 8),
			term.OneLine(what+term.After(": ", why), 900))
	}
	return nil
}

// SessionDocument is a session as JSON.
type SessionDocument struct {
	Session   string           `json:"session"`
	Harness   string           `json:"harness"`
	Chain     string           `json:"chain"`
	Records   int64            `json:"records"`
	First     string           `json:"first"` // RFC 3339
	Last      string           `json:"last"`
	Workspace string           `json:"workspace"`
	Actions   int64            `json:"actions"`
	Denied    int64            `json:"denied"`
	Stopped   *history.Stopped `json:"stopped,omitempty"`
	Error     string           `json:"error,omitempty"`
}

func showSessions(a *cli.App, w io.Writer, out *term.Output, store *audit.Store) error {
	sessions, err := store.Sessions()
	if err != nil {
		return err
	}
	if out.Format == "json" {
		docs := []SessionDocument{}
		for _, s := range sessions {
			docs = append(docs, DocumentOf(s))
		}
		return term.WriteList(w, "sessions", docs)
	}
	if len(sessions) == 0 {
		fmt.Fprintf(w, "no sessions recorded in %s yet\n", store.Dir)
		return nil
	}
	p := a.Paint(out)
	fmt.Fprintf(w, "%s %s %6s %6s  %s\n", term.Pad("SESSION", 36), term.Pad("LAST", 19), "CALLS", "DENIED", "WORKSPACE")
	for _, s := range sessions {
		state := ""
		if s.Stopped != nil {
			state = p.Colour("31;1", "stopped") + " "
		}
		if s.Err != nil {
			state = p.Verdict("fail") + " " + term.OneLine(s.Err.Error(), 60) + " "
		}
		fmt.Fprintf(w, "%s %s %6d %6d  %s%s\n", term.Pad(term.OneLine(s.Key.Session, 36), 36), term.Clock(s.Last), s.Actions, s.Denied, state,
			term.OneLine(s.Workspace, 60))
	}
	return nil
}

// DocumentOf makes a document from a session.
func DocumentOf(s audit.Session) SessionDocument {
	d := SessionDocument{
		Session: s.Key.Session, Harness: s.Key.Harness, Chain: s.Chain, Records: s.N, First: term.Time(s.First), Last: term.Time(s.Last),
		Workspace: s.Workspace, Actions: s.Actions, Denied: s.Denied, Stopped: s.Stopped,
	}
	if s.Err != nil {
		d.Error = s.Err.Error()
	}
	return d
}

// shows returns which records are shown: all, or those of the level in the settings. A policy that cannot
// be loaded does not keep anyone from reading the log.
func shows(store *audit.Store, all bool) func(*engine.Record) bool {
	level := "info"
	if e, err := cli.MachineAt(store.Dir).Effective(""); err == nil {
		level = e.Settings.Audit.LogLevel
	}
	if all {
		level = "debug"
	}
	least := map[string]engine.Verdict{"warn": engine.Warn, "error": engine.Ask}[level]
	return func(r *engine.Record) bool {
		call := r.Kind == engine.KindPre || r.Kind == engine.KindPost
		return level == "debug" || worthShowing(r) && (least == "" || !call || strictest(r) >= least.Strictness())
	}
}

// strictest returns the strictness of the decision about a call, or of its answer where that is stricter.
func strictest(r *engine.Record) int {
	strict := 0
	if r.Decision != nil {
		strict = r.Decision.Decision.Strictness()
	}
	if r.Answer != nil {
		strict = max(strict, r.Answer.Effect.Strictness())
	}
	return strict
}

// worthShowing leaves out internal records.
func worthShowing(r *engine.Record) bool {
	switch r.Kind {
	case engine.KindPre:
		return true
	case engine.KindControl:
		return r.Control.Do != engine.ControlKey
	case engine.KindAct:
		return !r.Act.OfFiles() || r.Act.Unsaved() || r.Act.Checkpoint != nil && r.Act.Checkpoint.Saved != nil
	case engine.KindPost:
		return r.Decision != nil && r.Decision.Decision != engine.Allow
	}
	return false
}

func showSession(a *cli.App, w io.Writer, out *term.Output, store *audit.Store, s audit.Session, all bool) error {
	records := []*engine.Record{}
	shown, left := shows(store, all), int64(0)
	for r, err := range store.Records(s.Key, 0) {
		if err != nil {
			return err
		}
		if shown(r) {
			records = append(records, r)
		} else if worthShowing(r) {
			left++
		}
	}
	if out.Format == "json" {
		return term.WriteList(w, "records", records)
	}
	p := a.Paint(out)
	fmt.Fprintf(w, "session %s in %s, chain %s, %s\n\n", s.Key.Session, s.Workspace, s.Chain, engine.Counted(s.N, "record", "records"))
	for _, r := range records {
		printRecord(a, w, p, r)
	}
	if left > 0 {
		fmt.Fprintf(w, "\n%s not shown because of the setting audit.log_level: --all shows everything\n",
			engine.Counted(left, "record is", "records are"))
	}
	return nil
}

// printRecord prints one record as a line, and below it the outcome of a modified
// call, and the reason unless the call was simply allowed.
func printRecord(a *cli.App, w io.Writer, p term.Paint, r *engine.Record) {
	word, what, why := explaincmd.Summary(r)
	fmt.Fprintf(w, "%s %s %s %s\n", p.Faint(time.UnixMilli(r.T).Format("15:04:05")), term.Pad(r.ID(), 13),
		p.Verdict(term.Pad(word, 8)), term.OneLine(what, 88))
	for _, more := range []string{explaincmd.OtherForm(r), why} {
		if more != "" {
			fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", 32), p.Faint(term.OneLine(more, 110)))
		}
	}
}
