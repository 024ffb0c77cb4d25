package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func (a *app) auditShowCommand() *cobra.Command {
	var out output
	var all, ledger bool
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "List the sessions, the calls of one with their decisions, or what the machine's ledger tells",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.openStore()
			switch {
			case err != nil:
				return err
			case ledger && len(args) > 0:
				return errors.New("--ledger is of the machine, and ID of one session: give one of the two")
			case ledger:
				return out.write(a.stdout, func(w io.Writer) error { return a.showLedger(w, &out, store, all) })
			case len(args) == 0:
				return out.write(a.stdout, func(w io.Writer) error { return a.showSessions(w, &out, store) })
			}
			_, s, err := a.session(args[0])
			if err != nil {
				return err
			}
			return out.write(a.stdout, func(w io.Writer) error { return a.showSession(w, &out, store, s, all) })
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "every record, not only calls and what a person or policy did")
	cmd.Flags().BoolVar(&ledger, "ledger", false, "what concerns no session alone: policies that were activated or refused, installation, people's choices")
	out.flags(cmd, "table", "json")
	return cmd
}

// showLedger lists the records of the ledger; the openings and seals of chains
// are among them only if all are asked for.
func (a *app) showLedger(w io.Writer, out *output, store *audit.Store, all bool) error {
	records := []*engine.Record{}
	for r, err := range store.Ledger() {
		if err != nil {
			return err
		}
		if all || r.Kind == engine.KindNote || r.Kind == engine.KindControl {
			records = append(records, r)
		}
	}
	if out.format == "json" {
		return writeJSON(w, records)
	}
	p := a.paint(out)
	for _, r := range records {
		word, what, why := summary(r)
		fmt.Fprintf(w, "%s %s %s %s\n", p.faint(clock(r.T)), pad(r.ID(), 13), pad(word, 8), oneLine(what+after(": ", why), 900))
	}
	return nil
}

// sessionDocument is a session as JSON.
type sessionDocument struct {
	Session   string          `json:"session"`
	Harness   string          `json:"harness"`
	Chain     string          `json:"chain"`
	Records   int64           `json:"records"`
	First     int64           `json:"first"` // Unix milliseconds
	Last      int64           `json:"last"`
	Workspace string          `json:"workspace"`
	Actions   int64           `json:"actions"`
	Denied    int64           `json:"denied"`
	Stopped   *engine.Stopped `json:"stopped,omitempty"`
	Error     string          `json:"error,omitempty"`
}

func (a *app) showSessions(w io.Writer, out *output, store *audit.Store) error {
	sessions, err := store.Sessions()
	if err != nil {
		return err
	}
	if out.format == "json" {
		docs := []sessionDocument{}
		for _, s := range sessions {
			docs = append(docs, documentOf(s))
		}
		return writeJSON(w, docs)
	}
	if len(sessions) == 0 {
		fmt.Fprintf(w, "no session is recorded in %s yet\n", store.Dir)
		return nil
	}
	p := a.paint(out)
	fmt.Fprintf(w, "%s %s %6s %6s  %s\n", pad("SESSION", 36), pad("LAST", 19), "CALLS", "DENIED", "WORKSPACE")
	for _, s := range sessions {
		state := ""
		if s.Stopped != nil {
			state = p.colour("31;1", "stopped") + " "
		}
		if s.Err != nil {
			state = p.verdict("fail") + " " + oneLine(s.Err.Error(), 60) + " "
		}
		fmt.Fprintf(w, "%s %s %6d %6d  %s%s\n", pad(oneLine(s.Key.Session, 36), 36), clock(s.Last), s.Actions, s.Denied, state, oneLine(s.Workspace, 60))
	}
	return nil
}

func documentOf(s audit.Session) sessionDocument {
	d := sessionDocument{
		Session: s.Key.Session, Harness: s.Key.Harness, Chain: s.Chain, Records: s.N, First: s.First, Last: s.Last,
		Workspace: s.Workspace, Actions: s.Actions, Denied: s.Denied, Stopped: s.Stopped,
	}
	if s.Err != nil {
		d.Error = s.Err.Error()
	}
	return d
}

func clock(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04:05") }

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

func (a *app) showSession(w io.Writer, out *output, store *audit.Store, s audit.Session, all bool) error {
	records := []*engine.Record{}
	for r, err := range store.Records(s.Key, 0) {
		if err != nil {
			return err
		}
		if all || worthShowing(r) {
			records = append(records, r)
		}
	}
	if out.format == "json" {
		return writeJSON(w, records)
	}
	p := a.paint(out)
	fmt.Fprintf(w, "session %s in %s, chain %s, %d records\n\n", s.Key.Session, s.Workspace, s.Chain, s.N)
	for _, r := range records {
		a.printRecord(w, p, r)
	}
	return nil
}

// printRecord prints one record as a line, and below it what became of the call
// that was to run in another form, and the reason where it was not simply allowed.
func (a *app) printRecord(w io.Writer, p paint, r *engine.Record) {
	word, what, why := summary(r)
	fmt.Fprintf(w, "%s %s %s %s\n", p.faint(time.UnixMilli(r.T).Format("15:04:05")), pad(r.ID(), 13), p.verdict(pad(word, 8)), oneLine(what, 88))
	for _, more := range []string{otherForm(r), why} {
		if more != "" {
			fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", 32), p.faint(oneLine(more, 110)))
		}
	}
}

// summary says what a record is in three texts: a word, what it is about, why.
func summary(r *engine.Record) (word, what, why string) {
	switch r.Kind {
	case engine.KindControl:
		return r.Control.Do, "by " + r.Control.By + after(", of ", r.Control.Record), r.Control.Reason
	case engine.KindAct:
		return r.Act.Kind, r.Act.Of, r.Act.Result
	case engine.KindPre, engine.KindPost:
		return callSummary(r)
	case engine.KindNote:
		if r.Note != nil {
			return string(r.Kind), r.Note.What, r.Note.Detail
		}
	}
	name := ""
	if r.Event != nil {
		name = r.Event.Name
	}
	return string(r.Kind), name, ""
}

func callSummary(r *engine.Record) (word, what, why string) {
	word = string(engine.AnswerOf(r).Effect)
	if r.Event != nil {
		what = r.Event.Tool
	}
	if r.Action != nil {
		what += " " + r.Action.Resource
	}
	switch {
	case r.Answer != nil && r.Answer.Mode == engine.ModeDegraded:
		return word, what, r.Answer.Failure
	case r.Decision == nil || r.Decision.Decision == engine.Allow:
		return word, what, ""
	}
	why = r.Decision.Reason
	if len(r.Decision.Rules) > 0 {
		why = strings.Join(r.Decision.RuleIDs(), ", ") + ": " + r.Decision.Rules[0].Message
	}
	if r.Decision.Decision != r.Decision.Enforced {
		why = "policy says " + string(r.Decision.Decision) + " (only observed): " + why
	}
	return word, what, why
}

// otherForm is what became of a call that was to run in another form.
func otherForm(r *engine.Record) string {
	switch form := r.Rewritten; {
	case form == nil:
		return ""
	case form.Action != nil:
		return fmt.Sprintf("as %s (%s)", form.Action.Resource, form.Decision)
	default:
		return "in no other form: " + form.Failure
	}
}
