package explaincmd

import (
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// maxUses bounds how many calls are named that a person's word let through.
const maxUses = 5

// fate collects what people did later about a call that was held up.
type fate struct {
	of    *engine.Record
	key   engine.CallKey
	word  string // of the control that allows the call now; empty: none does
	uses  int
	lines []string
}

// explainFate prints what became of a call that was held up: a person's answer
// as far as it can be inferred, and what they allowed later.
func explainFate(w io.Writer, store *audit.Store, r *engine.Record) error {
	lines, err := fateOf(r, store.Records(engine.SessionKey{Harness: r.Harness, Session: r.Session}, r.N+1))
	for i, line := range lines {
		if i == 0 {
			fmt.Fprint(w, "\nWhat became of it:\n")
		}
		fmt.Fprintf(w, "  %s\n", line)
	}
	return err
}

// fateOf reads on from a record, and returns a line for each thing that people
// said about its call; nothing where the call was not held up.
func fateOf(r *engine.Record, later iter.Seq2[*engine.Record, error]) ([]string, error) {
	effect := engine.AnswerOf(r).Effect
	if r.Kind != engine.KindPre || effect.Strictness() < engine.Modify.Strictness() {
		return nil, nil
	}
	f := fate{of: r}
	f.key, _ = r.CallKey()
	for next, err := range later {
		if err != nil {
			return f.lines, err
		}
		f.see(next)
	}
	if f.uses > maxUses {
		f.lines = append(f.lines, fmt.Sprintf("and %d more", f.uses-maxUses))
	}
	if len(f.lines) == 0 && effect == engine.Ask {
		f.lines = append(f.lines, "no answer is known yet")
	}
	return f.lines, nil
}

func (f *fate) see(r *engine.Record) {
	if r.Answer != nil {
		for _, answer := range r.Answer.Approvals {
			if answer.Of == f.of.ID() {
				f.add(r, inferred(r, answer))
			}
		}
	}
	switch r.Kind {
	case engine.KindControl:
		f.control(r)
	case engine.KindPre:
		f.use(r)
	}
}

func (f *fate) add(r *engine.Record, text string) {
	f.lines = append(f.lines, time.UnixMilli(r.T).Format("15:04:05")+"  "+text)
}

// inferred words a person's answer that no agent reports.
func inferred(r *engine.Record, a engine.Approval) string {
	switch {
	case a.Approved:
		return fmt.Sprintf("a person said yes (%s: the call ran, %s)", a.By, r.ID())
	case r.Kind == engine.KindPrompt:
		return fmt.Sprintf("a person said no (%s: it had not run by the next prompt, %s)", a.By, r.ID())
	}
	return fmt.Sprintf("a person said no (%s: it had not run when the agent stopped, %s)", a.By, r.ID())
}

func (f *fate) control(r *engine.Record) {
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

// use notes the same call when it is let through by a person's word.
func (f *fate) use(r *engine.Record) {
	if key, ok := r.CallKey(); f.word == "" || !ok || key != f.key {
		return
	}
	effect := engine.AnswerOf(r).Effect
	if effect.Strictness() >= engine.Ask.Strictness() {
		f.add(r, fmt.Sprintf("call %s was answered %s all the same", r.ID(), effect))
	} else if f.uses++; f.uses <= maxUses {
		f.add(r, "that let call "+r.ID()+" through")
	}
	if f.word == engine.ControlAllowOnce && effect != engine.Block {
		f.word = ""
	}
}
