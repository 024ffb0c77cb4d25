package auditcmd

import (
	"errors"
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
		Short: "List the sessions, the calls of one with their decisions, or what the machine's ledger tells",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.OpenStore()
			switch {
			case err != nil:
				return err
			case ledger && len(args) > 0:
				return errors.New("--ledger is of the machine, and ID of one session: give one of the two")
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
	cmd.Flags().BoolVarP(&all, "all", "a", false, "every record, not only calls and what a person or policy did")
	cmd.Flags().BoolVar(&ledger, "ledger", false,
		"what concerns no session alone: policies that were activated or refused, installation, people's choices")
	out.Flags(cmd, "table", "json")
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
		if all || r.Kind == engine.KindNote || r.Kind == engine.KindControl {
			records = append(records, r)
		}
	}
	if out.Format == "json" {
		return term.WriteJSON(w, records)
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
	First     int64            `json:"first"` // Unix milliseconds
	Last      int64            `json:"last"`
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
		return term.WriteJSON(w, docs)
	}
	if len(sessions) == 0 {
		fmt.Fprintf(w, "no session is recorded in %s yet\n", store.Dir)
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

// DocumentOf makes a document of a session.
func DocumentOf(s audit.Session) SessionDocument {
	d := SessionDocument{
		Session: s.Key.Session, Harness: s.Key.Harness, Chain: s.Chain, Records: s.N, First: s.First, Last: s.Last,
		Workspace: s.Workspace, Actions: s.Actions, Denied: s.Denied, Stopped: s.Stopped,
	}
	if s.Err != nil {
		d.Error = s.Err.Error()
	}
	return d
}

// worthShowing leaves out what only the machinery cares about.
func worthShowing(r *engine.Record) bool {
	switch r.Kind {
	case engine.KindPre, engine.KindControl, engine.KindAct:
		return true
	case engine.KindPost:
		return r.Decision != nil && r.Decision.Decision != engine.Allow
	}
	return false
}

func showSession(a *cli.App, w io.Writer, out *term.Output, store *audit.Store, s audit.Session, all bool) error {
	records := []*engine.Record{}
	for r, err := range store.Records(s.Key, 0) {
		if err != nil {
			return err
		}
		if all || worthShowing(r) {
			records = append(records, r)
		}
	}
	if out.Format == "json" {
		return term.WriteJSON(w, records)
	}
	p := a.Paint(out)
	fmt.Fprintf(w, "session %s in %s, chain %s, %d records\n\n", s.Key.Session, s.Workspace, s.Chain, s.N)
	for _, r := range records {
		printRecord(a, w, p, r)
	}
	return nil
}

// printRecord prints one record as a line, and below it what became of the call
// that was to run in another form, and the reason where it was not simply allowed.
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
