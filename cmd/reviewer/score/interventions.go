package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// Interventions counts what the policy does about runs that go wrong.
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

// print writes the table, and with all of it each intervention.
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
