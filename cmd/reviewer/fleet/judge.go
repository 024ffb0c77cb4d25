package fleet

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/trust"
)

// State reports whether a machine needs attention.
type State string

// The states, the worst first.
const (
	Silent  State = "silent"  // no report for too long
	Failing State = "failing" // its last report has a problem
	Held    State = "held"    // a release was rolled back there, and stays away
	Behind  State = "behind"  // another machine has a newer release of the same channel
	OK      State = "ok"
)

// Summary is what the reports of a fleet show.
type Summary struct {
	At       string         `json:"at"` // when silence is judged
	Counts   map[string]int `json:"counts"`
	Machines []Machine      `json:"machines"` // the worst first
	Bad      []Bad          `json:"bad"`      // what is not a report
}

// Machine is a machine by its last report.
type Machine struct {
	ID       string    `json:"id"`
	Host     string    `json:"host,omitempty"`
	Version  string    `json:"version,omitempty"` // of reviewer
	Reported string    `json:"reported"`          // when
	Channel  string    `json:"channel,omitempty"`
	State    State     `json:"state"`
	Why      []string  `json:"why"` // codes
	Releases []Release `json:"releases"`
}

// Release is what is active in a layer of a machine.
type Release struct {
	Layer    string `json:"layer"`
	Name     string `json:"name"`
	Revision string `json:"revision,omitempty"`
	Channel  string `json:"channel,omitempty"`
	Sequence int64  `json:"sequence,omitempty"`
	Since    string `json:"since,omitempty"`
}

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (Summary) Vocabulary(key string) []string {
	if key == "state" {
		return []string{string(Silent), string(Failing), string(Held), string(Behind), string(OK)}
	}
	return nil
}

// ahead is how far the clock of a machine may be ahead.
const ahead = 10 * time.Minute

// Judge finds the state of each machine as of a time. One that has not reported for longer than limit is silent, whatever it
// said last.
func Judge(last map[string]Report, bad []Bad, at time.Time, limit time.Duration) Summary {
	s := Summary{At: at.UTC().Format(time.RFC3339), Counts: map[string]int{}, Machines: []Machine{}, Bad: bad}
	newest := map[[2]string]int64{}
	for _, r := range last {
		for _, b := range r.Bundles {
			key := [2]string{b.Name, b.Channel}
			newest[key] = max(newest[key], b.Sequence)
		}
	}
	for id, r := range last {
		m := Machine{ID: id, Host: r.Labels["host"], Version: r.Labels["version"], Channel: r.Channel,
			Reported: r.sentAt().UTC().Format(time.RFC3339), Why: []string{}, Releases: []Release{}}
		held, behind := false, false
		for _, layer := range slices.Sorted(maps.Keys(r.Bundles)) {
			b := r.Bundles[layer]
			if b.Archive != "" {
				m.Releases = append(m.Releases, Release{layer, b.Name, b.Revision, b.Channel, b.Sequence, b.Activated})
			}
			held = held || b.Code == string(trust.Held) || len(b.Held) > 0
			behind = behind || b.Sequence < newest[[2]string{b.Name, b.Channel}]
		}
		m.Why = r.wrong(at)
		switch {
		case at.Sub(r.sentAt()) > limit:
			m.State = Silent
		case len(m.Why) > 0:
			m.State = Failing
		case held:
			m.State = Held
		case behind:
			m.State = Behind
		default:
			m.State = OK
		}
		s.Counts[string(m.State)]++
		s.Machines = append(s.Machines, m)
	}
	order := Summary{}.Vocabulary("state")
	slices.SortFunc(s.Machines, func(a, b Machine) int {
		worse := slices.Index(order, string(a.State)) - slices.Index(order, string(b.State))
		return cmp.Or(worse, cmp.Compare(a.Host, b.Host), cmp.Compare(a.ID, b.ID))
	})
	return s
}

// wrong lists the codes of what a report says is wrong, each once.
func (r *Report) wrong(at time.Time) []string {
	codes := []string{}
	add := func(code string) {
		if code != "" && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	if r.Policy == "" {
		add("no_policy")
	}
	if r.Trust.State != string(trust.StateActive) && r.Trust.State != string(trust.StateNone) {
		add(string(trust.Untrusted))
	}
	if r.sentAt().Sub(at) > ahead {
		add("clock")
	}
	for _, e := range r.Errors {
		add(e.Code)
	}
	for _, layer := range slices.Sorted(maps.Keys(r.Bundles)) {
		b := r.Bundles[layer]
		if b.Code != string(trust.Held) {
			add(b.Code)
		}
		for _, e := range b.Errors {
			add(e.Code)
		}
	}
	return codes
}

// Failed reports whether a machine fails or is silent.
func (s *Summary) Failed() int { return s.Counts[string(Failing)] + s.Counts[string(Silent)] }
