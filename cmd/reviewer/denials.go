package main

import (
	"fmt"
	"io"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

// denialsCommand lists calls that were held up. It shows their ids and the command
// that allows them, which the agent is not told.
func denialsCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var since cli.SinceFlag
	cmd := &cobra.Command{
		Use:   "denials [ID…]",
		Short: "List the calls that were held up, and how to allow one; needs a person at a terminal",
		Long: "Lists the calls that were denied, asked about or modified, the latest last, with the\n" +
			"command that allows each. ID is a session; without one, all sessions are listed.\n" +
			"The agent is told the reason for a denial but never its id.",
		Example: "  reviewer denials --since 1h\n  reviewer denials last",
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := signed.Person(cmd.Context(), a, "listing denials"); err != nil {
				return err
			}
			from, err := since.MS(time.Now())
			if err != nil {
				return err
			}
			store, sessions, err := a.Chosen(args)
			if err != nil {
				return err
			}
			if out.Format == "json" {
				return out.Write(a.Stdout, func(w io.Writer) error { return writeDenials(w, store, sessions, from) })
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return listDenials(w, a.Paint(&out), store, sessions, from) })
		},
	}
	since.Flags(cmd, "only calls since this time")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

func listDenials(w io.Writer, p term.Paint, store *audit.Store, sessions []audit.Session, from int64) error {
	found, observed := false, 0
	for _, s := range sessions {
		if s.Stopped != nil {
			fmt.Fprintf(w, "session %s is stopped (%s): reviewer session resume %s\n\n", s.Key.Session,
				term.OneLine(s.Stopped.Reason, 120), s.Key.Session)
			found = true
		}
		for r, err := range store.Records(s.Key, 0) {
			if err != nil {
				return err
			}
			switch {
			case r.T < from:
			case heldUpCall(r):
				if err := showDenial(w, p, store, s, r); err != nil {
					return err
				}
				found = true
			case onlyObserved(r):
				observed++
			}
		}
	}
	if !found {
		fmt.Fprintln(w, "no calls were held up")
	}
	if observed > 0 {
		fmt.Fprintf(w, "%s only observed: see `reviewer session show ID`\n",
			term.Counted(observed, "call that policy would hold up was", "calls that policy would hold up were"))
	}
	return nil
}

// heldUpCall reports whether a record is of a call that did not simply run.
func heldUpCall(r *engine.Record) bool {
	return r.Kind == engine.KindPre && holdsUp(engine.AnswerOf(r).Effect)
}

// onlyObserved reports whether a record is of a call that policy would have held up.
func onlyObserved(r *engine.Record) bool {
	return r.Kind == engine.KindPre && r.Decision != nil && engine.AnswerOf(r).Mode == engine.ModeObserve && holdsUp(r.Decision.Decision)
}

func holdsUp(d engine.Verdict) bool { return d.Strictness() > engine.Warn.Strictness() }

func showDenial(w io.Writer, p term.Paint, store *audit.Store, s audit.Session, r *engine.Record) error {
	word, what, why := explaincmd.Summary(r)
	fmt.Fprintf(w, "%s  %s  %s  in %s\n  %s\n",
		r.ID(), term.Clock(r.T), p.Verdict(word), term.OneLine(s.Workspace, 60), term.OneLine(what, 200))
	if why != "" {
		fmt.Fprintf(w, "  %s\n", p.Faint(term.OneLine(why, 200)))
	}
	asked, failed := explaincmd.Asked(r, store.Records(s.Key, r.N+1))
	if asked != "" {
		fmt.Fprintf(w, "  asked outside the agent: %s\n", term.OneLine(asked, 300))
	}
	if err := allowable(s, r); err != nil {
		fmt.Fprintf(w, "  %s\n\n", term.OneLine(err.Error(), 300))
		return failed
	}
	fmt.Fprintf(w, "  reviewer allow %s --once   (why: reviewer audit why %s)\n\n", r.ID(), r.ID())
	return failed
}

// heldUpDocument is a call that was held up.
type heldUpDocument struct {
	Record    string `json:"record"`
	Session   string `json:"session"`
	Workspace string `json:"workspace,omitempty"`
	Time      string `json:"time"`   // RFC 3339
	Answer    string `json:"answer"` // modify, ask or block
	What      string `json:"what"`
	Why       string `json:"why,omitempty"`
	Asked     string `json:"asked,omitempty"`   // the outcome of the question, if one waited outside the agent
	Allowable bool   `json:"allowable"`         // reviewer allow can allow it
	Problem   string `json:"problem,omitempty"` // why it cannot
}

func writeDenials(w io.Writer, store *audit.Store, sessions []audit.Session, from int64) error {
	list := []heldUpDocument{}
	for _, s := range sessions {
		for r, err := range store.Records(s.Key, 0) {
			if err != nil {
				return err
			}
			if r.T >= from && heldUpCall(r) {
				d := denialDocument(s, r)
				if d.Asked, err = explaincmd.Asked(r, store.Records(s.Key, r.N+1)); err != nil {
					return err
				}
				list = append(list, d)
			}
		}
	}
	return term.WriteList(w, "denials", list)
}

func denialDocument(s audit.Session, r *engine.Record) heldUpDocument {
	word, what, why := explaincmd.Summary(r)
	d := heldUpDocument{Record: r.ID(), Session: s.Key.Session, Workspace: s.Workspace, Time: term.Time(r.T),
		Answer: word, What: what, Why: why, Allowable: true}
	if err := allowable(s, r); err != nil {
		d.Allowable, d.Problem = false, err.Error()
	}
	return d
}
