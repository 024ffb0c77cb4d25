package notify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Request is what people are told about an action that waits for their answer. It has no code,
// no second factor and no link that decides: a message can be read by others, and by the agent
// itself through a tool for e-mail or chat. Every text is masked as in the log.
type Request struct {
	ID       string   `json:"id"`                // reviewer approvals show ID
	Action   string   `json:"action"`            // the command, or the tool with its arguments
	Effects  []string `json:"effects,omitempty"` // what it would touch
	Reasons  []string `json:"reasons,omitempty"` // of the policy
	Level    string   `json:"level,omitempty"`   // of risk
	Undo     string   `json:"undo,omitempty"`    // whether it can be undone
	Deadline string   `json:"deadline"`          // RFC 3339 in UTC; without an answer by then, the action is denied
	Notes    []string `json:"notes,omitempty"`   // what is left out of this message, or shown in another form
}

// Digest is one message about several requests.
type Digest struct {
	Requests []Request `json:"requests"`       // the first ones, by deadline
	More     int       `json:"more,omitempty"` // how many others wait
}

// RequestID returns the id of the entry about a request.
func RequestID(request string) string { return KindApproval + "-" + request }

// Ask returns the entry about a request, of a session in a workspace.
func Ask(r Request, at time.Time, harness, session, workspace string) Entry {
	workspace = workspace[strings.LastIndexAny(workspace, `/\`)+1:] // its name says enough, and its path may name the person
	title := "reviewer: an action waits for approval"
	if workspace != "" {
		title += " in " + workspace
	}
	return Entry{
		ID: RequestID(r.ID), Kind: KindApproval, Time: at.UTC().Format(time.RFC3339), Title: title,
		Text:    "If nobody answers by " + r.Deadline + ", it is denied. Replying to this message, or opening a link in it, decides nothing.",
		Session: session, Harness: harness, Workspace: workspace, Next: "reviewer approvals show " + r.ID, Approval: &r,
	}
}

func (r *Request) check(id string) error {
	if r.ID == "" || id != RequestID(r.ID) {
		return fmt.Errorf("notification %s is about a request with another id, %q", id, r.ID)
	}
	if _, err := time.Parse(time.RFC3339, r.Deadline); err != nil {
		return errors.New("notification " + id + ": its deadline is not a time as in RFC 3339")
	}
	return nil
}

// Limits of what the spool keeps of an entry, in characters. A call may have a megabyte of text;
// the machine has all of it.
const (
	maxShort = 300  // titles, ids, paths, items of lists
	maxText  = 4000 // other texts
	maxList  = 20
)

// bounded returns the entry of a request with its texts shortened and made visible. Other entries
// are made from records, which are bounded.
func (e Entry) bounded() Entry {
	if e.Approval == nil {
		return e
	}
	for _, text := range []*string{&e.Title, &e.Text, &e.Session, &e.Harness, &e.Workspace, &e.Issue, &e.Next} {
		*text, _ = visible(*text, maxShort)
	}
	r := *e.Approval
	var notes []string
	r.Action, notes = visible(r.Action, maxText)
	notes = prefixed("action", notes)
	for _, text := range []*string{&r.Level, &r.Undo} {
		*text, _ = visible(*text, maxShort)
	}
	for name, list := range map[string]*[]string{"effects": &r.Effects, "reasons": &r.Reasons} {
		if n := len(*list); n > maxList {
			notes = append(notes, fmt.Sprintf("%s: the first %d of %d", name, maxList, n))
		}
		*list = shortened(*list, maxList)
	}
	slices.Sort(notes)
	r.Notes = append(shortened(r.Notes, maxList), notes...)
	e.Approval = &r
	return e
}

func prefixed(what string, notes []string) []string {
	for n := range notes {
		notes[n] = what + ": " + notes[n]
	}
	return notes
}

// shortened returns the first items of a list, each made visible.
func shortened(list []string, most int) []string {
	list = slices.Clone(list[:min(len(list), most)])
	for n := range list {
		list[n], _ = visible(list[n], maxShort)
	}
	return list
}

// brief returns a request for a list of several: its details are on the machine.
func (r Request) brief() Request {
	action, _ := visible(strings.Join(strings.Fields(r.Action), " "), 120)
	short := Request{ID: r.ID, Action: action, Level: r.Level, Undo: r.Undo, Deadline: r.Deadline}
	if utf8.RuneCountInString(r.Action) > 120 || len(r.Notes) > 0 {
		short.Notes = []string{"shortened"}
	}
	return short
}
