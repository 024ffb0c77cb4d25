package review

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxRequest limits what a reminder quotes of a person's words, in bytes of JSON.
const maxRequest = 300

// answerTo returns the answer of a record that was just made. A reminder quotes
// the person's words, which only the transcript has: they go to the agent and
// into no record.
func (r *Reviewer) answerTo(e engine.Event, rec *engine.Record) engine.Answer {
	d := rec.Decision
	if r.Request == nil || d == nil || d.Intervention == nil || d.Intervention.Request == "" {
		return engine.AnswerOf(rec)
	}
	words := engine.ClipJSON(strings.Join(strings.Fields(r.mask(r.Request(e))), " "), maxRequest)
	if words == "" {
		return engine.AnswerOf(rec)
	}
	own, decision, made := *rec, *d, *d.Intervention
	made.Request = "“" + words + "”"
	decision.Intervention, own.Decision = &made, &decision
	return engine.AnswerOf(&own)
}
