package simulate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Missing is what a policy examines and a record lacks.
type Missing struct {
	Fact      string           // what is missing; empty: nothing
	Detectors []string         // ids of detectors whose results are all that is missing; none: other facts are, or nothing
	Searched  bool             // Detected replaces the recorded results
	Detected  map[string]int64 // what the detectors find in the recorded texts, without Detectors

	Action *engine.Action // what the call means by the policy's own rows; nil: what was recorded
}

// Readers are what reads the result of a detector in a policy.
type Readers struct {
	Conditions []string // ids of conditions that it can only let fire (match.detected) and that do not read it otherwise
	Others     []string // ids of other conditions, and files of Rego
}

// Applied returns a record with the results of detectors as far as they are known, and with those that are supposed.
func (n *Missing) Applied(rec *engine.Record, supposed map[string]int64) *engine.Record {
	if rec.Action == nil || n.Action == nil && !n.Searched && len(n.Detectors) == 0 {
		return rec
	}
	other, action := *rec, *rec.Action
	if n.Action != nil {
		action = *n.Action
	}
	if action.Detected = maps.Clone(action.Detected); n.Searched {
		action.Detected = maps.Clone(n.Detected)
	}
	for _, id := range n.Detectors {
		if delete(action.Detected, id); supposed[id] > 0 {
			if action.Detected == nil {
				action.Detected = map[string]int64{}
			}
			action.Detected[id] = supposed[id]
		}
	}
	other.Action = &action
	return &other
}

// maxCombinations limits how often an event is evaluated again for what detectors may have found.
const maxCombinations = 32

// unknownResult is a result of detectors that makes a difference; the same on both sides for each of them.
type unknownResult struct {
	id     string      // one of the detectors
	values []int64     // the numbers of places that are tried: none, and others
	by     [2][]string // what reads it and may fire, on either side
}

// detected evaluates both sides for what the detectors may have found whose results are all that is missing. Only those
// matter that Rego reads, or an expression, or the match list of a condition that fires if they have found something.
func (r *sessionRun) detected(ctx context.Context, c *candidate, m RecordedEvent, base, now *sideAnswer, d difference) difference {
	complete := func(s *sideAnswer) bool {
		return s.failed == nil && s.verdict != "" && (s.missing == "" || len(s.undetected) > 0)
	}
	if m.Record.Action == nil || len(base.undetected)+len(now.undetected) == 0 || !complete(base) || !complete(now) {
		return d
	}
	sides := [2]*sideState{r.baseline, &c.sideState}
	results, combinations, err := unknownResults(ctx, r.replay, m, sides, [2]*sideAnswer{base, now})
	if err != nil {
		return d
	}
	for _, one := range results {
		now.deciding = append(now.deciding, slices.Concat(one.by[:]...)...)
	}
	if combinations > maxCombinations {
		return d
	}
	var all []combination
	known := [2]map[string]sideAnswer{{"": *base}, {"": *now}}
	for i := range combinations {
		n := (combinations - i) % combinations // none has found something, all have, and so on
		m.supposed = map[string]int64{}
		var keys [2]strings.Builder
		for _, one := range results {
			value := one.values[n%len(one.values)]
			n /= len(one.values)
			if m.supposed[one.id] = value; value == 0 {
				continue
			}
			for i := range keys {
				if len(one.by[i]) > 0 {
					keys[i].WriteString(fmt.Sprint(one.id, " ", value, " "))
				}
			}
		}
		var answers [2]sideAnswer
		for i, side := range sides {
			answer, evaluated := known[i][keys[i].String()]
			if !evaluated {
				if answer, err = side.answer(ctx, m, r.replay); err != nil {
					return d
				}
				known[i][keys[i].String()] = answer
			}
			answer.missing, answer.undetected = "", nil
			answers[i] = answer
		}
		one := combination{c.between(answers[0], answers[1], &r.Baseline), answers}
		if all = append(all, one); one.state != all[0].state && (one.loosens || base.certain() == engine.Allow) {
			break // it is not known, and it is known whether it may be loosened
		}
	}
	return r.agreed(all, base, now, d)
}

// combination is the difference for one combination of what detectors found.
type combination struct {
	difference
	answers [2]sideAnswer
}

// agreed returns what is the same for all combinations, with the answers for one of them: of the candidate's the strictest, or
// the mildest where it is loosened.
func (r *sessionRun) agreed(all []combination, base, now *sideAnswer, d difference) difference {
	for _, one := range all {
		if one.state != all[0].state || one.failed() {
			d.loosens = slices.ContainsFunc(all, func(o combination) bool { return o.loosens || o.failed() })
			return d
		}
	}
	chosen := all[0]
	for _, one := range all[1:] {
		was, is := chosen.answers[1].verdict, one.answers[1].verdict
		if one.state == Tightened && milder(is, was) || one.state == Loosened && milder(was, is) {
			chosen = one
		}
	}
	*base, *now = chosen.answers[0], chosen.answers[1]
	return chosen.difference
}

func (o *combination) failed() bool { return o.answers[0].failed != nil || o.answers[1].failed != nil }

// unknownResults returns the results that can make a difference, and the number of their combinations.
func unknownResults(ctx context.Context, r *replay, m RecordedEvent, sides [2]*sideState, answers [2]*sideAnswer) (
	list []unknownResult, combinations int, err error) {
	found := map[string]*unknownResult{}
	for i, side := range sides {
		if err := side.unknown(ctx, r, m, answers[i], func(id string, by []string, alike bool) {
			if found[id] == nil {
				found[id] = &unknownResult{id: id, values: []int64{0, 1}}
			}
			if found[id].by[i] = by; !alike {
				found[id].values = []int64{0, 1, 1000}
			}
		}); err != nil {
			return nil, 0, err
		}
	}
	combinations = 1
	seen := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		one := found[id]
		key := fmt.Sprintf("%q", one.by)
		if len(one.values) > 2 {
			key += id
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		list = append(list, *one)
		combinations = min(combinations*len(one.values), maxCombinations+1)
	}
	return list, combinations, nil
}

// unknown calls add with the unknown results that can make a difference to the side's answer, and with what reads them and
// may fire. alike: all that have the same readers make the same difference.
func (l *sideState) unknown(ctx context.Context, r *replay, m RecordedEvent, s *sideAnswer,
	add func(id string, by []string, alike bool)) error {
	if len(s.undetected) == 0 {
		return nil
	}
	if l.Readers == nil {
		for _, id := range s.undetected {
			add(id, []string{id}, false)
		}
		return nil
	}
	readers, all := map[string]Readers{}, map[string]int64{}
	for _, id := range s.undetected {
		if readers[id] = l.Readers(id); len(readers[id].Others) == 0 {
			all[id] = 1
		}
	}
	fires, err := l.fires(ctx, m, r, s, all)
	if err != nil {
		return err
	}
	for _, id := range s.undetected {
		of := readers[id]
		of.Conditions = slices.DeleteFunc(slices.Clone(of.Conditions), func(id string) bool { return !fires[id] })
		if len(of.Others) > 0 {
			add(id, slices.Concat(of.Others, readers[id].Conditions), false)
		} else if len(of.Conditions) > 0 {
			add(id, of.Conditions, true)
		}
	}
	return nil
}

// fires returns the conditions that fire if detectors have found something, and else do not.
func (l *sideState) fires(ctx context.Context, m RecordedEvent, r *replay, s *sideAnswer, supposed map[string]int64) (
	map[string]bool, error) {
	if len(supposed) == 0 {
		return nil, nil
	}
	m, r = l.seen(m, r)
	in := history.NewInput(l.missing.Applied(l.facts(m), supposed), l.history(r), l.Policy.View)
	found, err := l.Policy.Matcher.Match(ctx, &in)
	if err != nil {
		return nil, err
	}
	fires := map[string]bool{}
	for _, f := range found {
		fires[f.ID] = !slices.ContainsFunc(s.findings, func(was engine.Finding) bool { return was.ID == f.ID })
	}
	return fires, nil
}

// history returns the history before an event as the side knows it.
func (l *sideState) history(r *replay) *history.State {
	if l.noticed != nil {
		return r.history.WithPolicyState(l.noticed)
	}
	return r.history
}
