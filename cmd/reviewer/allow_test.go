package main

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// What a manual override would mean nothing about is refused with the reason.
func TestAllowable(t *testing.T) {
	call := func(v engine.Verdict, change func(*engine.Record)) *engine.Record {
		r := heldUpBy(&engine.Record{Chain: strings.Repeat("c", 32), N: 2}, v, "/w")
		r.Decision = &engine.Decision{Decision: v, Enforced: v}
		if change != nil {
			change(r)
		}
		return r
	}
	running := audit.Session{Key: engine.SessionKey{Harness: "h", Session: "s"}}
	stopped := running
	stopped.Stopped = &history.Stopped{Reason: "lost"}
	for _, c := range []struct {
		name    string
		session audit.Session
		record  *engine.Record
		want    string // part of the error; empty: it may be allowed
	}{
		{"blocked", running, call(engine.Block, nil), ""},
		{"asked about", running, call(engine.Ask, nil), ""},
		{"modified", running, call(engine.Modify, nil), ""},
		{"warned about", running, call(engine.Warn, nil), "was not held up: the answer was warn"},
		{"only watched", running, call(engine.Block, func(r *engine.Record) { r.Answer.Effect = engine.Allow }), "was not held up: the answer was allow"},
		{"imported, not answered", running, call(engine.Block, func(r *engine.Record) { r.Answer = nil }), "was not held up"},
		{"a stopped session", stopped, call(engine.Block, nil), "session s is stopped (lost): `reviewer session resume s` first"},
		{"after the call", running, call(engine.Block, func(r *engine.Record) { r.Kind = engine.KindPost }), "is not a call but of kind post"},
		{"not reviewed", running, call(engine.Block, func(r *engine.Record) {
			r.Decision, r.Answer.Mode, r.Answer.Failure = nil, engine.ModeDegraded, "load policy: line 3"
		}), "no rule held up call cccccccc-2: it could not be reviewed (load policy: line 3); run `reviewer doctor` for details"},
		{"no fingerprint", running, call(engine.Block, func(r *engine.Record) { r.Action.Fingerprint = "" }), "would not be recognised"},
		{"a directory that was cut short", running, call(engine.Block, func(r *engine.Record) { r.Cut = []engine.Cut{{Field: "event.cwd"}} }), "would not be recognised"},
	} {
		err := allowable(c.session, c.record)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// What a person cannot see is named before they rely on it.
func TestShowAllowed(t *testing.T) {
	r := heldUpBy(&engine.Record{Chain: strings.Repeat("c", 32), N: 2}, engine.Block, "/w")
	r.Decision = &engine.Decision{Reasons: []string{"two\x1b[2Jlines"}, SideEffects: &engine.SideEffects{Reversible: true}}
	r.Action.Contents = map[string]engine.ContentFacts{"content": {Bytes: 120}}
	r.Cut = []engine.Cut{{Field: "event.args.command", Bytes: 9000}}
	var b strings.Builder
	showAllowed(&b, term.Paint{}, r, engine.Control{Do: engine.ControlAllowSession, By: "anna", CWD: "/w"})
	for _, want := range []string{
		"  - two?[2Jlines\n", "  can be undone\n", "  content: 120 bytes, not kept in the log\n",
		"  event.args.command: shortened, 9000 in all\n", "Allowed by anna until the session ends", "in /w.",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

func heldUpBy(r *engine.Record, v engine.Verdict, dir string) *engine.Record {
	r.Kind, r.Answer = engine.KindPre, &engine.AnswerFacts{Effect: v}
	r.Event, r.Action = &engine.EventFacts{CWD: dir}, &engine.Action{Fingerprint: "p"}
	return r
}
