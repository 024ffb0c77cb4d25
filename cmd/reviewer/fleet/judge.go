package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	Trust    Trust     `json:"trust"`
	State    State     `json:"state"`
	Why      []string  `json:"why"` // codes
	Releases []Release `json:"releases"`
	Findings []Finding `json:"findings"` // which release is meant, and what is active
}

// Finding is about one release of a machine.
type Finding struct {
	Layer   string `json:"layer"`
	What    string `json:"what"`              // one of those below
	Code    string `json:"code"`              // what is wrong
	Archive string `json:"archive,omitempty"` // SHA-256; empty: unknown, or no bundle
	Release string `json:"release,omitempty"` // its name, as far as a report has it
	Channel string `json:"channel,omitempty"` // of what is active
	Trust   int64  `json:"trust,omitempty"`   // version of the trust file that revokes it, which this machine does not have
}

// What a finding is about.
const (
	ActiveBundle  = "active"    // what is active, or that nothing is
	PulledBundle  = "pulled"    // what the last pull did not accept
	HeldBundle    = "held"      // what was rolled back
	RevokedBundle = "elsewhere" // what is active, and another machine reports as revoked
)

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (Finding) Vocabulary(key string) []string {
	if key == "what" {
		return []string{ActiveBundle, PulledBundle, HeldBundle, RevokedBundle}
	}
	return nil
}

// text is the name of a release; empty: unknown.
func (b *Bundle) text() string {
	if b.Archive == "" {
		return ""
	}
	return strings.TrimSpace(b.Name+" "+b.Revision) + fmt.Sprintf(", sequence %d", b.Sequence)
}

// findings lists what a report says about the releases of a layer. The names of those that are not active there are taken from
// other reports, by archive.
func (b *Bundle) findings(layer string, names map[string]string) (list []Finding) {
	for _, e := range b.Errors {
		list = append(list, Finding{layer, ActiveBundle, e.Code, b.Archive, b.text(), b.Channel, 0})
	}
	if b.Code != "" && b.Code != string(trust.Held) {
		list = append(list, Finding{layer, PulledBundle, b.Code, b.Refused, names[b.Refused], "", 0})
	}
	for _, archive := range b.Held {
		list = append(list, Finding{layer, HeldBundle, string(trust.Held), archive, names[archive], "", 0})
	}
	return list
}

// revokedBy finds the newest version of a trust file that machines report to revoke an archive, by archive.
func revokedBy(last map[string]Report) map[string]int64 {
	by := map[string]int64{}
	for _, r := range last {
		for _, b := range r.Bundles {
			if b.Code == string(trust.Revoked) {
				by[b.Refused] = max(by[b.Refused], r.Trust.Version)
			}
			if slices.Contains(b.Errors, Error{string(trust.Revoked)}) {
				by[b.Archive] = max(by[b.Archive], r.Trust.Version)
			}
		}
	}
	delete(by, "")
	return by
}

// unaware lists what is active and revoked, by a trust file that the machine does not have.
func (r *Report) unaware(revoked map[string]int64) (list []Finding) {
	for _, layer := range slices.Sorted(maps.Keys(r.Bundles)) {
		b := r.Bundles[layer]
		if version := revoked[b.Archive]; version > r.Trust.Version && !slices.Contains(b.Errors, Error{string(trust.Revoked)}) {
			list = append(list, Finding{layer, RevokedBundle, string(trust.Revoked), b.Archive, b.text(), b.Channel, version})
		}
	}
	return list
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
	newest, names := map[[2]string]int64{}, map[string]string{}
	for _, r := range last {
		for _, b := range r.Bundles {
			key := [2]string{b.Name, b.Channel}
			newest[key] = max(newest[key], b.Sequence)
			names[b.Archive] = b.text()
		}
	}
	revoked := revokedBy(last)
	for id, r := range last {
		m := Machine{ID: id, Host: r.Labels["host"], Version: r.Labels["version"], Channel: r.Channel, Trust: r.Trust,
			Reported: r.sentAt().UTC().Format(time.RFC3339), Why: []string{}, Releases: []Release{}, Findings: []Finding{}}
		held, behind := false, false
		for _, layer := range slices.Sorted(maps.Keys(r.Bundles)) {
			b := r.Bundles[layer]
			if b.Archive != "" {
				m.Releases = append(m.Releases, Release{layer, b.Name, b.Revision, b.Channel, b.Sequence, b.Activated})
			}
			m.Findings = append(m.Findings, b.findings(layer, names)...)
			held = held || b.Code == string(trust.Held) || len(b.Held) > 0
			behind = behind || b.Sequence < newest[[2]string{b.Name, b.Channel}]
		}
		m.Why = r.wrong(at)
		if unaware := r.unaware(revoked); len(unaware) > 0 {
			m.Findings = append(m.Findings, unaware...)
			if !slices.Contains(m.Why, string(trust.Revoked)) {
				m.Why = append(m.Why, string(trust.Revoked))
			}
		}
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
		add(NoPolicy)
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
