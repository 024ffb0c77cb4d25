package runcmd

import (
	"errors"
	"fmt"
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
	if len(o.tell.refused) == 0 || time.Since(o.tell.last) < milliseconds(o.p.settings.Run.Compare) {
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
