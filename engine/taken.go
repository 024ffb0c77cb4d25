package engine

import "strings"

// ActTaken records what a session took from another one of the same person in its workspace,
// before it was used. A stop that was taken is an act of kind EmergencyStop.
const ActTaken = "taken"

// Taken is what a session takes from another one. The decisions of the session depend on
// this record only, and not on the other chain.
type Taken struct {
	Harness string        `json:"harness"` // of the other session
	Session string        `json:"session"` // its id
	Chain   string        `json:"chain"`   // its chain
	To      int64         `json:"to"`      // the newest of its records that was read: earlier ones are not taken again
	Denials []TakenDenial `json:"denials,omitempty"`
	Limits  []TakenLimit  `json:"limits,omitempty"`
}

// From names the other session.
func (t *Taken) From() string { return "from session " + t.Session + " of " + t.Harness }

// Text counts what was taken.
func (t *Taken) Text() string {
	var parts []string
	if n := t.denied(); n > 0 {
		parts = append(parts, Counted(n, "denial", "denials"))
	}
	if n := len(t.Limits); n > 0 {
		parts = append(parts, Counted(n, "limit", "limits"))
	}
	return strings.Join(parts, ", ")
}

// denied counts the calls that were denied: each can have several effects.
func (t *Taken) denied() int {
	calls := map[int64]bool{}
	for _, d := range t.Denials {
		calls[d.N] = true
	}
	return len(calls)
}

// MaxTaken limits the denials, and the limits, that are taken at a time.
const MaxTaken = 16

// TakenDenial is one effect of a call that was denied there.
type TakenDenial struct {
	N      int64  `json:"n"` // number of the record that denied it
	Print  string `json:"print,omitempty"`
	Kind   string `json:"kind,omitempty"`
	Verb   string `json:"verb,omitempty"`
	Target string `json:"target,omitempty"`
	Harm   string `json:"harm,omitempty"`   // named by the rule that denied it
	Person bool   `json:"person,omitempty"` // a person refused it
}

// TakenLimit is a throttling of the other session.
type TakenLimit struct {
	N      int64   `json:"n"` // number of the record that decided it
	Issue  string  `json:"issue,omitempty"`
	Factor float64 `json:"factor"`
}
