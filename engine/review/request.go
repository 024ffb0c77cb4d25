package review

import (
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxRequest limits what a reminder quotes of a person's words, in bytes of JSON.
const maxRequest = 300

// maxTitle and maxTitles limit what a reminder quotes of the agent's list of sub-tasks:
// bytes of a title, and titles of those that are done and of those that are open.
const (
	maxTitle  = 60
	maxTitles = 4
)

// quote puts a person's words and the agent's own list into a reminder in place of what
// stands for them in the record. Only the transcript has them: they go to the agent and
// into no record. It is read after the session's lock is released.
func (r *Reviewer) quote(h *review, text string) string {
	if d := h.rec.Decision; d == nil || d.Intervention == nil {
		return text
	}
	return r.quoteTasks(h, r.quoteRequest(h, text))
}

// quoteTasks names the sub-tasks that are counted in the record.
func (r *Reviewer) quoteTasks(h *review, text string) string {
	counts := h.rec.Decision.Intervention.Progress
	if r.SubTasks == nil || counts == "" {
		return text
	}
	var lists [2][]string
	for _, t := range r.SubTasks(h.event) {
		state := 1
		if t.Done {
			state = 0
		}
		lists[state] = append(lists[state], r.title(t.Title))
	}
	var parts []string
	for i, name := range []string{"done", "open"} {
		if list := lists[i]; len(list) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", len(list), name, titles(list, i == 0)))
		}
	}
	if len(parts) == 0 {
		return text
	}
	return strings.ReplaceAll(text, counts, strings.Join(parts, ", "))
}

func (r *Reviewer) title(text string) string {
	return "“" + engine.ClipJSON(strings.Join(strings.Fields(r.mask(text)), " "), maxTitle) + "”"
}

// titles joins some of a list: the latest, or the first.
func titles(list []string, latest bool) string {
	if len(list) <= maxTitles {
		return strings.Join(list, ", ")
	}
	if latest {
		return "…, " + strings.Join(list[len(list)-maxTitles:], ", ")
	}
	return strings.Join(list[:maxTitles], ", ") + ", …"
}

func (r *Reviewer) quoteRequest(h *review, text string) string {
	d := h.rec.Decision
	if r.Request == nil || d.Intervention.Request == "" {
		return text
	}
	words := engine.ClipJSON(strings.Join(strings.Fields(r.mask(r.Request(h.event))), " "), maxRequest)
	if words == "" {
		return text
	}
	return strings.ReplaceAll(text, d.Intervention.Request, "“"+words+"”")
}
