package review

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxRequest limits what a reminder quotes of a person's words, in bytes of JSON.
const maxRequest = 300

// quote puts a person's words into a reminder in place of what stands for them in
// the record. Only the transcript has them: they go to the agent and into no
// record. It is read after the session's lock is released.
func (r *Reviewer) quote(h *review, text string) string {
	d := h.rec.Decision
	if r.Request == nil || d == nil || d.Intervention == nil || d.Intervention.Request == "" {
		return text
	}
	words := engine.ClipJSON(strings.Join(strings.Fields(r.mask(r.Request(h.event))), " "), maxRequest)
	if words == "" {
		return text
	}
	return strings.ReplaceAll(text, d.Intervention.Request, "“"+words+"”")
}
