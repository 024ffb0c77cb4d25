package incident

import (
	"cmp"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Bounds of the lists in an Impact.
const (
	maxFiles   = 100
	maxNames   = 50
	maxTracked = 10_000 // distinct paths that are counted
)

// impact adds up what the calls of a session did.
type impact struct {
	sum     Impact
	prompts int64
	files   map[string]*Path
	order   []string // of files, as they were first changed
	asked   map[[2]string]*engine.Record
}

func newImpact() impact {
	return impact{files: map[string]*Path{}, asked: map[[2]string]*engine.Record{}}
}

func (m *impact) call(rec *engine.Record, answer engine.Verdict) {
	m.sum.Calls++
	switch answer {
	case engine.Block:
		m.sum.Denied++
	case engine.Ask:
		m.sum.Asked++
		m.asked[[2]string{rec.Agent, rec.Call}] = rec
	default:
		m.effects(rec)
	}
}

func (m *impact) end(rec *engine.Record) {
	key := [2]string{rec.Agent, rec.Call}
	if asked := m.asked[key]; asked != nil {
		delete(m.asked, key)
		m.effects(asked)
	}
	if rec.Event == nil || rec.Event.Result == nil {
		return
	}
	m.sum.Busy += rec.Event.Result.MS
	if rec.Event.Result.Outcome == engine.OutcomeFailed {
		m.sum.Failed++
	}
}

// effects counts the effects of a call that may run.
func (m *impact) effects(rec *engine.Record) {
	a := rec.ExecutedAction()
	if a == nil {
		return
	}
	if slices.Contains(a.Types, engine.TypeNetworkRequest) {
		m.sum.Requests++
	}
	if slices.Contains(a.Types, engine.TypeAgentSpawn) {
		m.sum.Agents++
	}
	for _, host := range a.Hosts {
		m.sum.Hosts = named(m.sum.Hosts, host)
	}
	for _, s := range a.Starts {
		m.sum.Processes = named(m.sum.Processes, s.Line)
	}
	for i := range a.Effects {
		m.effect(&a.Effects[i])
	}
}

func (m *impact) effect(e *engine.Effect) {
	switch e.Kind {
	case engine.EffectFileWrite:
		if p := m.path(e); p != nil {
			p.Written++
		}
	case engine.EffectFileDelete:
		if p := m.path(e); p != nil {
			p.Deleted++
		}
	case engine.EffectSystemCall:
		m.sum.System++
	}
}

// path returns the entry of an effect's path; nil where the effect touches none that
// lasts, or there are too many.
func (m *impact) path(e *engine.Effect) *Path {
	name := cmp.Or(e.Place(), e.Target, "?")
	if e.Location == engine.LocationNull {
		return nil
	}
	p := m.files[name]
	if p == nil {
		if len(m.files) == maxTracked {
			return nil
		}
		p = &Path{Path: name, Outside: outside(e.Location)}
		m.files[name], m.order = p, append(m.order, name)
	}
	p.Undo = max(p.Undo, e.Reversibility) // R0 to R5 are in their order as texts
	return p
}

// outside reports whether a place is neither in the workspace nor temporary.
func outside(l engine.Location) bool {
	return !slices.Contains([]engine.Location{engine.LocationInside, engine.LocationSelf, engine.LocationWorktree, engine.LocationTemp,
		engine.LocationTempRoot, engine.LocationNotes}, l)
}

func named(list []string, name string) []string {
	if name == "" || len(list) == maxNames || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// until returns the impact so far, a span of milliseconds after the session's start.
func (m *impact) until(span int64) Impact {
	i := m.sum
	i.Span, i.Prompts = span, m.prompts
	i.Files, i.Hosts, i.Processes = []Path{}, append([]string{}, i.Hosts...), append([]string{}, i.Processes...)
	for n, name := range m.order {
		p := m.files[name]
		i.Written += min(p.Written, 1)
		i.Deleted += min(p.Deleted, 1)
		if n >= len(m.order)-maxFiles {
			i.Files = append(i.Files, *p)
		}
	}
	return i
}
