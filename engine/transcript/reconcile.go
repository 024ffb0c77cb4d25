package transcript

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// LoggedCall is the log's entry for a call before it ran.
type LoggedCall struct {
	ID     string         // of the record
	Answer engine.Verdict // what the agent was told; only Block keeps a call from running
}

// Mismatch is a call of a transcript that does not match the log.
type Mismatch struct {
	Session string         `json:"session"`
	Agent   string         `json:"agent,omitempty"`
	Call    string         `json:"call"`
	Tool    string         `json:"tool"`
	Time    int64          `json:"t,omitempty"`      // Unix milliseconds
	Outcome engine.Outcome `json:"outcome"`          // outcome according to the transcript; pending: none
	Record  string         `json:"record,omitempty"` // id of the record that denied it
}

// Reconciliation is the result of comparing a transcript with the log: the only
// way to see afterwards that hooks were off.
type Reconciliation struct {
	Session    string     `json:"session"`
	Calls      int        `json:"calls"`             // in the transcript
	Reviewed   int        `json:"reviewed"`          // of them, with a verdict in the log
	Unasked    int        `json:"unasked,omitempty"` // rejected by the agent before it asks anyone
	Unreviewed []Mismatch `json:"unreviewed"`        // no verdict in the log
	RanDenied  []Mismatch `json:"ran_denied"`        // ran although the log records a denial
	Unread     int        `json:"unread,omitempty"`  // lines of the transcript that were not understood: they may contain calls
}

// Clean reports whether every call was reviewed and every denial was obeyed.
func (r Reconciliation) Clean() bool {
	return len(r.Unreviewed) == 0 && len(r.RanDenied) == 0
}

// Reconcile compares the calls of a transcript with those of the log, which logged finds: by
// the agent's id of the call, or by its arguments where the agent gives hooks no ids. It is
// asked about the calls in their order. The log contains a call once, even where it is
// several calls here (a patch of several files, several commands).
func Reconcile(t Transcript, logged func(call engine.Event) (LoggedCall, bool)) Reconciliation {
	r := Reconciliation{Session: t.Session, Unreviewed: []Mismatch{}, RanDenied: []Mismatch{}, Unread: len(t.Bad)}
	results := map[string]*engine.Result{}
	for _, e := range t.Events {
		if e.Phase == engine.PhasePost {
			results[e.Call] = e.Result
		}
	}
	wholes := map[string]int64{} // id of a call -> its time
	for _, e := range t.Calls() {
		r.Calls++
		entry, found := logged(e)
		if at, is := wholes[wholeOf(e.Call)]; !found && is && at == e.Time {
			whole := e
			whole.Call = wholeOf(e.Call)
			entry, found = logged(whole)
		}
		wholes[e.Call] = e.Time
		d := Mismatch{Session: e.Session, Agent: e.Agent, Call: e.Call, Tool: e.Tool, Time: e.Time, Outcome: outcome(results[e.Call]),
			Record: entry.ID}
		switch {
		case found && entry.Answer == engine.Block && ran(results[e.Call]):
			r.Reviewed++
			r.RanDenied = append(r.RanDenied, d)
		case found:
			r.Reviewed++
		case t.Unasked[e.Call]:
			r.Unasked++
		default:
			r.Unreviewed = append(r.Unreviewed, d)
		}
	}
	return r
}

// wholeOf returns the id of the call that a call is a part of, by its number; empty if the id
// has none.
func wholeOf(id string) string {
	at := strings.LastIndexByte(id, '#')
	if at < 0 || at == len(id)-1 || strings.Trim(id[at+1:], "0123456789") != "" {
		return ""
	}
	return id[:at]
}

func outcome(r *engine.Result) engine.Outcome {
	switch {
	case r == nil:
		return engine.OutcomePending
	case r.Refused:
		return engine.OutcomeDenied
	case r.Failed:
		return engine.OutcomeFailed
	}
	return engine.OutcomeRan
}

// ran reports whether a call certainly ran. An error alone does not show that:
// some clients give a denial's reason as the error and nothing else.
func ran(r *engine.Result) bool {
	if r == nil || r.Refused {
		return false
	}
	return !r.Failed || strings.HasPrefix(r.Error, "Exit code ")
}
