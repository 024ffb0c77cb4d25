package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// Runs is the findings of patterns in whole sessions.
type Runs struct {
	Patterns []PatternCount  `json:"patterns"`
	High     Rate            `json:"calls_high"`    // calls with an alarm of severity high or above
	Sessions map[string]Rate `json:"sessions_high"` // by the agent: sessions with such an alarm
	Alarms   []Found         `json:"alarms"`        // all alarms, by session and call
}

// PatternCount sums up a pattern.
type PatternCount struct {
	ID     string         `json:"id"`
	Found  int            `json:"found"`  // events that it was found in
	Alarms map[string]int `json:"alarms"` // events in which it was reported; the others were suppressed
	In     int            `json:"in"`     // sessions with an alarm of it
}

// Found is a finding with a level, which only patterns have.
type Found struct {
	Session string `json:"session"`
	Call    int    `json:"call"` // among the session's calls, from 0
	Pattern string `json:"pattern"`
	Level   string `json:"level"`
	Told    bool   `json:"-"`
}

// serious reports whether a level is high or above.
func (f Found) serious() bool { return f.Level == "high" || f.Level == "critical" }

// found lists the findings with a level of an event of a call.
func found(a simulate.Action, session string, call int) []Found {
	if a.Record == nil {
		return nil
	}
	var list []Found
	for _, f := range a.Record.Findings {
		if f.Level != "" {
			list = append(list, Found{session, call, f.ID, f.Level, slices.Contains(a.Rules, f.ID)})
		}
	}
	return list
}

// runsOf sums up what patterns found.
func runsOf(list []played) Runs {
	r := Runs{Sessions: map[string]Rate{}, Alarms: []Found{}}
	counts := map[string]*PatternCount{}
	calls, high := 0, 0
	sessions, shown := map[string]int{}, map[string]int{}
	for _, p := range list {
		calls += len(p.Calls)
		sessions[p.Agent]++
		n := r.add(p, counts)
		if high += n; n > 0 {
			shown[p.Agent]++
		}
	}
	r.High = rate(high, calls)
	for agent, n := range sessions {
		r.Sessions[agent] = rate(shown[agent], n)
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		r.Patterns = append(r.Patterns, *counts[id])
	}
	return r
}

// add counts a session, and returns how many of its calls have a serious alarm.
func (r *Runs) add(p played, counts map[string]*PatternCount) int {
	high, seen := map[int]bool{}, map[string]bool{}
	for _, f := range p.Found {
		c := counts[f.Pattern]
		if c == nil {
			c = &PatternCount{ID: f.Pattern, Alarms: map[string]int{}}
			counts[f.Pattern] = c
		}
		c.Found++
		if !f.Told {
			continue
		}
		c.Alarms[f.Level]++
		if !seen[f.Pattern] {
			seen[f.Pattern] = true
			c.In++
		}
		if f.serious() {
			high[f.Call] = true
		}
		r.Alarms = append(r.Alarms, f)
	}
	return len(high)
}

// print writes the table and, if all is set, each alarm.
func (r Runs) print(w io.Writer, all bool) {
	fmt.Fprintf(w, "\n%s %6s %6s %6s %6s %8s %9s\n", cell("PATTERNS in whole sessions: alarms", 52), "found", "low", "medium",
		"high", "critical", "sessions")
	for _, c := range r.Patterns {
		n := c.Alarms
		fmt.Fprintf(w, "%s %6d %6d %6d %6d %8d %9d\n", cell("  "+c.ID, 52), c.Found, n["low"], n["medium"], n["high"], n["critical"], c.In)
	}
	fmt.Fprintf(w, "  calls with an alarm of high or above: %d of %d, %.1f of 1,000 [%.1f–%.1f]\n", r.High.K, r.High.N, 1000*r.High.Of1,
		1000*r.High.Low, 1000*r.High.High)
	for _, agent := range slices.Sorted(maps.Keys(r.Sessions)) {
		fmt.Fprintf(w, "  sessions of %s with one: %s\n", agent, r.Sessions[agent])
	}
	if !all {
		return
	}
	for _, f := range r.Alarms {
		fmt.Fprintf(w, "  %s call %d: %s %s\n", f.Session, f.Call, f.Pattern, f.Level)
	}
}

// Interventions counts the interventions in sessions.
type Interventions struct {
	Kinds map[string]Intervened `json:"kinds"`
	Quiet Intervened            `json:"quiet"`   // in sessions without a right or arguable stop
	Calls int                   `json:"calls"`   // of those sessions
	Per   float64               `json:"per_100"` // interventions per 100 of those calls
	List  []Acted               `json:"list"`    // all, by session and call
}

// Intervened is a number of interventions, and of the sessions that have one.
type Intervened struct {
	Count    int `json:"count"`
	Sessions int `json:"sessions"`
}

// Acted is an intervention of a session.
type Acted struct {
	Session string `json:"session"`
	Call    int    `json:"call"` // among the session's calls, from 0
	Kind    string `json:"kind"`
	Issue   string `json:"issue"`
}

// acted lists the intervention of an event, unless it only repeats that the session
// is stopped.
func acted(a simulate.Action, session string, call int) []Acted {
	if a.Record == nil || a.Record.Decision == nil || a.Record.Decision.Intervention == nil || a.Record.Decision.Intervention.Issue == "" {
		return nil
	}
	i := a.Record.Decision.Intervention
	return []Acted{{session, call, i.Kind, i.Issue}}
}

// interventionsOf sums up interventions. Nothing went wrong in a session whose stops
// were all labelled wrong, or that has none.
func interventionsOf(all []played, labels Labels) Interventions {
	v := Interventions{Kinds: map[string]Intervened{}, List: []Acted{}}
	for _, p := range all {
		seen := map[string]bool{}
		for _, i := range p.Acted {
			v.Kinds[i.Kind] = v.Kinds[i.Kind].plus(1, !seen[i.Kind])
			seen[i.Kind] = true
		}
		v.List = append(v.List, p.Acted...)
		if !slices.ContainsFunc(p.Stops, func(s Stop) bool { return isHeld(s) && labels.of[s.Digest] != wrong }) {
			v.Quiet = v.Quiet.plus(len(p.Acted), len(p.Acted) > 0)
			v.Calls += len(p.Calls)
		}
	}
	if v.Calls > 0 {
		v.Per = 100 * float64(v.Quiet.Count) / float64(v.Calls)
	}
	return v
}

func (i Intervened) plus(n int, session bool) Intervened {
	i.Count += n
	if session {
		i.Sessions++
	}
	return i
}

// print writes the table and, if all is set, each intervention.
func (v Interventions) print(w io.Writer, all bool) {
	fmt.Fprintf(w, "\n%s %6s %9s\n", cell("INTERVENTIONS in whole sessions", 52), "count", "sessions")
	for _, kind := range slices.SortedFunc(maps.Keys(v.Kinds), mildest) {
		fmt.Fprintf(w, "%s %6d %9d\n", cell("  "+kind, 52), v.Kinds[kind].Count, v.Kinds[kind].Sessions)
	}
	fmt.Fprintf(w, "  in sessions in which no stop was right: %d in %d calls, %.2f per 100 calls, in %s\n",
		v.Quiet.Count, v.Calls, v.Per, plural(v.Quiet.Sessions, "session"))
	if !all {
		return
	}
	for _, i := range v.List {
		fmt.Fprintf(w, "  %s call %d: %s about %s\n", i.Session, i.Call, i.Kind, i.Issue)
	}
}

// mildest orders kinds of intervention, the mildest first.
func mildest(a, b string) int {
	return slices.Index(engine.Interventions(), a) - slices.Index(engine.Interventions(), b)
}
