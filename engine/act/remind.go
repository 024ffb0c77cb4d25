package act

import (
	"context"
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

// remind puts a person's words and the agent's own list into a reminder in place of what
// stands for them in the record. Only the transcript has them: they go to the agent and
// into no record. It is read after the session's lock is released.
func (r *Reviewer) remind(_ context.Context, h *handling, _ duty, a engine.Answer) (engine.Answer, error) {
	a.Text = r.quoteTasks(h, r.quoteRequest(h, a.Text))
	return a, nil
}

// quoteTasks names the sub-tasks that are counted in the record.
func (r *Reviewer) quoteTasks(h *handling, text string) string {
	counts := h.rec.Decision.Intervention.Progress
	if r.Agent.SubTasks == nil || counts == "" {
		return text
	}
	var lists [2][]string
	for _, t := range r.Agent.SubTasks(h.event) {
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

func (r *Reviewer) quoteRequest(h *handling, text string) string {
	d := h.rec.Decision
	if r.Agent.Request == nil || d.Intervention.Request == "" {
		return text
	}
	words := engine.ClipJSON(strings.Join(strings.Fields(r.mask(r.Agent.Request(h.event))), " "), maxRequest)
	if words == "" {
		return text
	}
	return strings.ReplaceAll(text, d.Intervention.Request, "“"+words+"”")
}
