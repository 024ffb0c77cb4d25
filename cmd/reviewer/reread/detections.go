package reread

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// readersIn returns a function that lists what reads the result of a detector in a policy.
func readersIn(e *bundles.Effective) func(id string) simulate.Readers {
	of := wiring.DetectionReaders(e)
	return func(id string) (r simulate.Readers) {
		r.Conditions, r.Others = of(id)
		return r
	}
}

// read lists the detectors whose results the policy reads.
func (l *Policy) read(list []bundles.Detector) []bundles.Detector {
	return slices.DeleteFunc(slices.Clone(list), func(d bundles.Detector) bool {
		r := l.Readers(d.ID)
		return len(r.Others)+len(r.Conditions) == 0
	})
}

// search runs the policy's detectors over the recorded texts of a call, and returns what they found, and which of some
// detectors search texts that were not recorded as they were.
func (l *Policy) search(r *engine.Record, missed []bundles.Detector) simulate.Missing {
	var m simulate.Missing
	missed = slices.DeleteFunc(slices.Clone(missed), func(d bundles.Detector) bool { return !concerns(d, r.Event.Tool) })
	if len(missed) == 0 || r.Action == nil && r.Phase == engine.PhasePre {
		return m
	}
	var lost []engine.Place
	switch {
	case r.Phase == engine.PhasePost && hasResult(r.Event.Result):
		lost = []engine.Place{engine.PlaceResults}
	case r.Phase == engine.PhasePre:
		lost = l.lost(r)
		raw, err := json.Marshal(r.Event.Args)
		if err != nil {
			raw = nil // unreachable: it was JSON
		}
		m.Detected, m.Searched = l.detector.Detect(engine.Event{Phase: r.Phase, Tool: r.Event.Tool, Args: raw}), true
	default:
		return m
	}
	if len(m.Detected) == engine.MaxDetected {
		lost = []engine.Place{engine.PlaceArguments, engine.PlaceContents} // others may have been left out
	}
	found := m.Detected
	m.Detected = map[string]int64{}
	if r.Action != nil {
		for _, d := range l.rows {
			if n := r.Action.Detected[d.ID]; n > 0 {
				m.Detected[d.ID] = n
			}
		}
	}
	for _, d := range missed {
		if delete(m.Detected, d.ID); searches(d, lost) {
			m.Detectors = append(m.Detectors, d.ID)
		} else if found[d.ID] > 0 {
			m.Detected[d.ID] = found[d.ID]
		}
	}
	return m
}

// concerns reports whether a detector searches calls of a tool.
func concerns(d bundles.Detector, tool string) bool {
	return len(d.Tools) == 0 || slices.ContainsFunc(d.Tools, func(t string) bool {
		prefix, open := strings.CutSuffix(t, "*")
		return t == tool || open && strings.HasPrefix(tool, prefix)
	})
}

// searches reports whether a detector searches one of the places.
func searches(d bundles.Detector, places []engine.Place) bool {
	return slices.ContainsFunc(places, func(p engine.Place) bool { return len(d.In) == 0 || slices.Contains(d.In, string(p)) })
}

// lost lists the places of the texts of a call that were not recorded as they were: contents, and what was shortened or
// masked.
func (l *Policy) lost(r *engine.Record) []engine.Place {
	shortened := slices.ContainsFunc(r.Cut, func(c engine.Cut) bool { return c.Field == "…" || strings.HasPrefix(c.Field, "event.args") })
	if shortened || slices.ContainsFunc(r.Action.Opaque, func(o engine.Opaque) bool { return o.Reason == "input" }) {
		return []engine.Place{engine.PlaceArguments, engine.PlaceContents}
	}
	return l.lostIn(nil, r.Event.Args, r.Event.Tool, "")
}

// lostIn adds the places of the lost texts of an argument.
func (l *Policy) lostIn(lost []engine.Place, v any, tool, name string) []engine.Place {
	switch v := v.(type) {
	case string:
		if classify.MayBeNumber(v) || strings.Contains(v, masked) {
			return append(lost, l.places(tool, name)...)
		}
	case []any:
		for _, item := range v {
			lost = l.lostIn(lost, item, tool, name)
		}
	case map[string]any:
		if size, stored := v["bytes"]; stored && v["lines"] != nil {
			if fmt.Sprint(size) == "0" {
				return lost
			}
			return append(lost, l.places(tool, name)...)
		}
		for key, item := range v {
			if strings.Contains(key, masked) {
				lost = append(lost, l.places(tool, key)...)
			}
			lost = l.lostIn(lost, item, tool, key)
		}
	}
	return lost
}

// masked is in each text that was put in the place of a secret or of personal data.
const masked = "REDACTED_"
