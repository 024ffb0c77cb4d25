package runcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/run"
)

// The kinds of notes about what the agent was told below its hooks, and what a setting calls the reasons.
const (
	noteTold   = "told"
	tellLimit  = "limit"
	tellRefuse = "refused"
)

// maxTold limits a text for the agent in bytes: with its escapes, it fits into one line that the client gets at once.
const maxTold = 1500

// maxQuoted limits how many refusals one text names.
const maxQuoted = 3

// teller is what waits to be told to the agent.
type teller struct {
	say     func(line []byte) error // nil: the client has no protocol for it, or its input does not pass through
	lines   []saying
	refused []string  // that the agent was not told about yet
	last    time.Time // when it was told about refusals
}

// saying is a line for the client, and what is recorded once it has it.
type saying struct {
	line         []byte
	what, detail string
}

// near tells the agent that a limit is near.
func (o *observer) near(limit, used, of string) {
	if o.tell.say == nil || !slices.Contains(o.p.settings.Run.Tell, tellLimit) {
		return
	}
	o.inform(fill(fill(fill(o.p.settings.Run.Texts.NearLimit, "name", limit), "used", used), "limit", of))
}

// refuse remembers what was refused, of which the agent sees only an error of its program.
func (o *observer) refuse(detail string) {
	if o.tell.say != nil && slices.Contains(o.p.settings.Run.Tell, tellRefuse) {
		o.tell.refused = append(o.tell.refused, detail)
	}
}

// inform tells the agent something. It does not ask the model: the text is there with its next answer.
func (o *observer) inform(text string) {
	o.queue(o.agent.message(engine.RunMessage+engine.ClipJSON(text, maxTold), false), noteTold, text)
}

func (o *observer) queue(line []byte, what, detail string) {
	o.tell.lines = append(o.tell.lines, saying{line, what, detail})
}

// talk passes on what waits. What the client has is recorded; what it cannot get any longer is not lost: limits, refusals
// and rollbacks are in the log and in the summary anyway.
func (o *observer) talk() {
	if o.tell.say == nil {
		return
	}
	o.quote()
	for len(o.tell.lines) > 0 {
		one := o.tell.lines[0]
		err := o.tell.say(one.line)
		switch {
		case errors.Is(err, run.ErrBusy):
			return
		case err != nil:
			o.tell = teller{}
			return
		}
		o.tell.lines = o.tell.lines[1:]
		if one.what != "" {
			o.note(one.what, o.p.mask(one.detail), run.Event{})
		}
	}
}

// quote puts refusals into one text, from time to time: a program may try many addresses.
func (o *observer) quote() {
	if len(o.tell.refused) == 0 || time.Since(o.tell.last) < milliseconds(o.p.settings.Run.CompareMS) {
		return
	}
	list := o.tell.refused[:min(len(o.tell.refused), maxQuoted)]
	text := strings.Join(list, "; ")
	if more := len(o.tell.refused) - len(list); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	o.tell.refused, o.tell.last = nil, time.Now()
	o.inform(fill(o.p.settings.Run.Texts.Refused, "detail", o.p.mask(text)))
}

// target is a message of a conversation.
type target struct {
	message string
	prompt  int // its length in bytes, if a person wrote it; 0: the model did
}

// rewound is what a client says about a request to rewind its conversation.
type rewound struct {
	done   bool
	prompt string // that was forgotten with the rest
	why    string // not
}

// calling is a call, and the agent that made it.
type calling struct{ id, agent string }

// rollback is one after which the conversation is to go on from an earlier message.
type rollback struct {
	key     engine.SessionKey
	call    calling // that the files are restored to before; its id is empty: unknown
	outcome string  // what the agent is told about the files
}

// asked is a request to rewind that the client has not answered yet.
type asked struct {
	rollback
	id    string
	since time.Time
}

// maxAnswer is how long the client may take to answer: it ends the turn at hand first.
const maxAnswer = 30 * time.Second

// took remembers the calls before which files were stored.
func (f *followed) took(r *engine.Record) {
	if f.calls == nil {
		f.calls = map[string]calling{}
	}
	if facts := r.Act.Checkpoint; facts != nil && facts.ID != "" && f.calls[facts.ID].id == "" {
		f.calls[facts.ID] = calling{r.Call, r.Agent}
	}
}

// wentBack remembers a rollback.
func (f *followed) wentBack(r *engine.Record) {
	facts := r.Act.Rollback
	if facts != nil && r.Act.Result == engine.RollbackRestored {
		call := f.calls[facts.Checkpoint]
		if r.Agent != engine.MainAgent {
			call.agent = r.Agent // its conversation is told
		}
		f.rollbacks = append(f.rollbacks, rollback{f.key, call, facts.Text})
	}
}

// rewind lets the conversation go on from before what a rollback undid, where the client can do that. Where it cannot, the
// agent knows of the rollback from its hook.
func (o *observer) rewind() {
	for _, f := range o.sessions {
		for _, back := range f.rollbacks {
			if o.p.settings.Run.Rewind && o.tell.say != nil {
				o.askToRewind(back)
			}
		}
		f.rollbacks = nil
	}
	if o.asked == nil {
		return
	}
	raw, answered := o.stream.answered(o.asked.id)
	switch {
	case answered:
		o.goOn(o.agent.rewound(raw))
	case time.Since(o.asked.since) > maxAnswer:
		o.note("not_rewound", "the client did not answer", run.Event{})
		o.asked = nil
	}
}

// askToRewind sends the request.
func (o *observer) askToRewind(back rollback) {
	to, err := o.targetOf(back)
	if err != nil {
		o.note("not_rewound", o.p.mask(err.Error()), run.Event{})
		return
	}
	if to.prompt > maxTold/2 {
		o.note("not_rewound", "the prompt is too long to be sent again", run.Event{})
		return
	}
	o.rewinds++
	o.asked = &asked{back, fmt.Sprintf("reviewer-rewind-%d", o.rewinds), time.Now()}
	o.queue(o.agent.rewind(o.asked.id, to), "", "")
}

// targetOf finds the message before a call in the transcript.
func (o *observer) targetOf(back rollback) (target, error) {
	switch {
	case back.call.agent != "" && back.call.agent != engine.MainAgent:
		return target{}, errors.New("the rollback concerns a sub-agent, whose conversation cannot be changed")
	case back.call.id == "":
		return target{}, errors.New("the files were stored before a call that is not in this run")
	}
	files, _ := filepath.Glob(o.agent.transcript(o.p.home, back.key.Session)) // the pattern is right
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return target{}, err
		}
		to, found := o.agent.target(f, back.call.id)
		_ = f.Close() // it was only read
		if found {
			return to, nil
		}
	}
	return target{}, fmt.Errorf("the call %s is not in the transcript", back.call.id)
}

// goOn begins a turn in the conversation that was rewound: with the prompt, if that was forgotten too.
func (o *observer) goOn(answer rewound) {
	back := o.asked
	o.asked = nil
	if !answer.done {
		o.note("not_rewound", o.p.mask("the client refused: "+answer.why), run.Event{})
		return
	}
	text := fill(o.p.settings.Run.Texts.Rewound, "outcome", back.outcome)
	if answer.prompt != "" {
		text = answer.prompt + "\n\n" + text
	}
	o.queue(o.agent.message(engine.RunMessage+engine.ClipJSON(text, maxTold), true), "rewound",
		"the conversation continues from before "+back.call.id)
}
