package approval

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
)

// Request describes a question to people. All its texts are masked. It exists as long as the
// question waits; the log keeps the call's record.
type Request struct {
	ID        string `json:"id"`     // of the call's record
	Digest    string `json:"digest"` // an answer repeats it: 64 hex digits
	Session   string `json:"session"`
	Harness   string `json:"harness"`
	Agent     string `json:"agent"`
	Workspace string `json:"workspace"`
	Asked     int64  `json:"asked"` // Unix milliseconds
	Until     int64  `json:"until"` // without an answer by then the call is denied

	Tool       string              `json:"tool"`
	Action     string              `json:"action"` // command, path, URL, or a summary of the arguments
	CWD        string              `json:"cwd,omitempty"`
	Mode       string              `json:"mode,omitempty"`     // the agent's permission mode
	Effects    []engine.Effect     `json:"effects,omitempty"`  // what the call would do, worst first
	Signals    []engine.Signal     `json:"signals,omitempty"`  // dangerous techniques
	Opaque     []engine.Opaque     `json:"opaque,omitempty"`   // parts that could not be understood
	Risk       *engine.Risk        `json:"risk,omitempty"`     // as the policy scored it
	Reversible bool                `json:"reversible"`         // everything the call does can be undone
	Reasons    []string            `json:"reasons,omitempty"`  // why the policy asks
	Rules      []engine.RuleResult `json:"rules,omitempty"`    // that fired
	Safer      []string            `json:"safer,omitempty"`    // other ways
	Contents   []Content           `json:"contents,omitempty"` // what the call would write
	Goal       string              `json:"goal,omitempty"`     // the person's latest words in the session
	Before     []string            `json:"before,omitempty"`   // the session's latest actions, newest last
	Unseen     []string            `json:"unseen,omitempty"`   // parts of the call that are not shown here
}

// Content is a string in the arguments of a call.
type Content struct {
	Name  string `json:"name"` // of the argument
	Text  string `json:"text"` // masked, shortened
	Bytes int    `json:"bytes"`
}

// Describe describes the call of a record to people, as far as the record shows it.
func Describe(rec *engine.Record, workspace string) Request {
	q := Request{ID: rec.ID(), Session: rec.Session, Harness: rec.Harness, Agent: rec.Agent, Workspace: workspace, Asked: rec.T}
	if e := rec.Event; e != nil {
		q.Tool, q.CWD, q.Mode = e.Tool, e.CWD, e.Mode
	}
	if a := rec.Action; a != nil {
		q.Action, q.Effects, q.Signals, q.Opaque = a.Resource, a.Effects, a.Signals, a.Opaque
	}
	if d := rec.Decision; d != nil {
		q.Risk, q.Reasons, q.Rules, q.Safer = d.Risk, d.Reasons, d.Rules, d.Alternatives
		q.Reversible = d.SideEffects != nil && d.SideEffects.Reversible
	}
	for _, c := range rec.Cut {
		q.Unseen = append(q.Unseen, fmt.Sprintf("%s: shortened, %d bytes in all", c.Field, c.Bytes))
	}
	return q
}
