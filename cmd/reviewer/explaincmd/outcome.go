package explaincmd

import (
	"fmt"
	"io"
	"iter"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// maxUses bounds how many calls are listed that a manual override allowed.
const maxUses = 5

// laterEvents collects what people did later about a call that was held up.
type laterEvents struct {
	of    *engine.Record
	key   engine.CallKey
	word  string // of the control that allows the call now; empty: none does
	uses  int
	lines []string
}

// explainOutcome prints the outcome of a call that was held up: a person's answer, as far
// as it can be inferred, and later overrides.
func explainOutcome(w io.Writer, store *audit.Store, r *engine.Record) error {
	lines, err := OutcomeOf(r, store.Records(engine.SessionKey{Harness: r.Harness, Session: r.Session}, r.N+1))
	for i, line := range lines {
		if i == 0 {
			fmt.Fprint(w, "\nOutcome:\n")
		}
		fmt.Fprintf(w, "  %s\n", line)
	}
	return err
}

// OutcomeOf reads the records after a record, and returns a line for each decision of
// people about its call; nothing if the call was not held up.
func OutcomeOf(r *engine.Record, later iter.Seq2[*engine.Record, error]) ([]string, error) {
	effect := engine.AnswerOf(r).Effect
	if r.Kind != engine.KindPre || effect.Strictness() < engine.Modify.Strictness() {
		return nil, nil
	}
	f := laterEvents{of: r}
	f.key, _ = r.CallKey()
	if p := r.Answer.Pending; p != nil {
		f.add(r, "asked outside the agent, until "+clockOf(p.Until))
	}
	asked := len(f.lines)
	for next, err := range later {
		if err != nil {
			return f.lines, err
		}
		f.see(next)
	}
	if f.uses > maxUses {
		f.lines = append(f.lines, fmt.Sprintf("and %d more", f.uses-maxUses))
	}
	if len(f.lines) == asked && effect == engine.Ask {
		f.lines = append(f.lines, "not answered yet")
	}
	return f.lines, nil
}

func (f *laterEvents) see(r *engine.Record) {
	if r.Answer != nil {
		for _, answer := range r.Answer.Approvals {
			if answer.Of == f.of.ID() {
				f.add(r, inferred(r, answer))
			}
		}
	}
	if said := aboutQuestion(r, f.of.ID()); said != "" {
		f.add(r, term.OneLine(said, 600))
	}
	switch r.Kind {
	case engine.KindControl:
		f.control(r)
	case engine.KindPre:
		f.use(r)
	}
}

func (f *laterEvents) add(r *engine.Record, text string) {
	f.lines = append(f.lines, clockOf(r.T)+"  "+text)
}

// inferred describes a person's answer that no agent reports.
func inferred(r *engine.Record, a engine.Approval) string {
	switch {
	case a.Approved:
		return fmt.Sprintf("a person approved it (%s: the call ran, %s)", a.By, r.ID())
	case r.Kind == engine.KindPrompt:
		return fmt.Sprintf("a person refused it (%s: it had not run by the next prompt, %s)", a.By, r.ID())
	}
	return fmt.Sprintf("a person refused it (%s: it had not run when the agent stopped, %s)", a.By, r.ID())
}

func (f *laterEvents) control(r *engine.Record) {
	c := r.Control
	spans := map[string]string{engine.ControlAllowOnce: "once", engine.ControlAllowSession: "until the session ends"}
	if c == nil || spans[c.Do] == "" || c.Print != f.key.Print || c.CWD != f.key.CWD {
		return
	}
	if f.word != engine.ControlAllowSession {
		f.word = c.Do
	}
	f.add(r, term.OneLine(fmt.Sprintf("%s allowed it %s (%s)%s", c.By, spans[c.Do], r.ID(), term.After(": ", c.Reason)), 300))
}

// use records the same call when a manual override allows it.
func (f *laterEvents) use(r *engine.Record) {
	if key, ok := r.CallKey(); f.word == "" || !ok || key != f.key {
		return
	}
	effect := engine.AnswerOf(r).Effect
	if effect.Strictness() >= engine.Ask.Strictness() {
		f.add(r, fmt.Sprintf("call %s was still answered %s", r.ID(), effect))
	} else if f.uses++; f.uses <= maxUses {
		f.add(r, "that let call "+r.ID()+" through")
	}
	if f.word == engine.ControlAllowOnce && effect != engine.Block {
		f.word = ""
	}
}
