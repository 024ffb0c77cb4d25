package history

import (
	"net/url"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Bounds of what is remembered of processes and remotes; they belong to FoldVersion.
// What a session started makes policy milder, so the oldest is forgotten.
const (
	maxStarted     = 12
	maxListed      = 4 // of them, lists of processes
	startedLine    = 96
	startedName    = 24
	startedNames   = 6
	numberLength   = 8
	maxNewRemotes  = 8
	startedEntries = 3 // of one call
)

// startedEntry is something that the session started, or a list of processes that
// it saw.
type startedEntry struct {
	N         int64    `json:"n"`
	Line      string   `json:"l"`
	Programs  []string `json:"g,omitempty"`
	Processes []string `json:"p,omitempty"`
	Ports     []string `json:"o,omitempty"`
	Listed    bool     `json:"s,omitempty"`
}

func (s *startedEntry) size() int {
	return 70 + digits(s.N) + engine.JSONLen(s.Line) + listSize(s.Programs) + listSize(s.Processes) + listSize(s.Ports)
}

// foldStarted records what a call started, now that it ended: even if it
// failed, it may have started something before. One that exceeded its time may
// still be running as a whole.
func (h *State) foldStarted(r *engine.Record) {
	a, res := r.Action, resultOf(r)
	if a == nil || res == nil {
		return
	}
	starts, late := a.Starts, res.Interrupted || res.Trouble == engine.TroubleTime
	if len(starts) == 0 && len(a.Commands) > 0 && late {
		starts = []engine.Started{{Line: a.Resource, Programs: programNames(a)}}
	}
	for i, s := range starts[:min(len(starts), startedEntries)] {
		entry := startedEntry{N: r.N, Line: clipLine(s.Line), Programs: shortNames(s.Programs, startedNames)}
		if i == 0 {
			entry.Processes = numbers(res.Processes, engine.MaxProcesses)
		}
		if i == 0 && (res.Outcome == engine.OutcomeRan || late) { // an error may name the port of another program
			entry.Ports = numbers(res.Ports, engine.MaxPorts)
		}
		h.Running = append(h.Running, entry)
	}
	if len(starts) == 0 && len(res.Processes) > 0 && len(h.Running)+len(h.Goals.Permitted) > 0 {
		seen := numbers(res.Processes, engine.MaxProcesses)
		h.Running = append(h.Running, startedEntry{N: r.N, Line: clipLine(a.Resource), Processes: seen, Listed: true})
	}
	h.boundStarted()
}

func (h *State) boundStarted() {
	for listed := len(slices.DeleteFunc(slices.Clone(h.Running), isStarted)); listed > maxListed; listed-- {
		i := slices.IndexFunc(h.Running, func(s startedEntry) bool { return s.Listed })
		h.Running = slices.Delete(h.Running, i, i+1)
	}
	h.Running = keepLast(h.Running, maxStarted)
}

// foldAsked records local ports that the session contacts after it started
// something: it is usually the started process that answers there.
func (h *State) foldAsked(a *engine.Action) {
	i := len(h.Running) - 1
	for i >= 0 && h.Running[i].Listed {
		i--
	}
	if i < 0 {
		return
	}
	for j := range a.Effects {
		e := &a.Effects[j]
		port := portOf(e)
		if s := &h.Running[i]; port != "" && len(s.Ports) < engine.MaxPorts && !slices.Contains(s.Ports, port) {
			s.Ports = append(s.Ports, port)
		}
	}
}

func portOf(e *engine.Effect) string {
	if e.Kind != engine.EffectNetwork || !e.Loopback || e.Verb == "listen" {
		return ""
	}
	address := e.Target
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || len(u.Port()) > numberLength {
		return ""
	}
	return u.Port()
}

// foldRemotes records remotes that a call adds, and forgets one to which a push
// was allowed: a person was asked about that.
func (h *State) foldRemotes(a *engine.Action) {
	for _, name := range a.Remotes {
		h.Remotes = keepLast(appendOnce(h.Remotes, truncateKey(name)), maxNewRemotes)
	}
}

func (h *State) dropRemotes(a *engine.Action) {
	if a == nil || len(h.Remotes) == 0 || len(a.Remotes) > 0 {
		return
	}
	h.Remotes = slices.DeleteFunc(h.Remotes, func(name string) bool {
		return slices.ContainsFunc(a.Effects, func(e engine.Effect) bool {
			return e.Kind == engine.EffectNetwork && e.Egress && truncateKey(strings.ToLower(e.Target)) == name
		})
	})
}

// started returns the started processes in the form that policy reads.
func (h *State) started() []engine.StartedFacts {
	var list []engine.StartedFacts
	for i := range h.Running {
		s := &h.Running[i]
		list = append(list, engine.StartedFacts{Line: s.Line, Programs: s.Programs,
			Processes: s.Processes, Ports: s.Ports, Listed: s.Listed})
	}
	return list
}

func isStarted(s startedEntry) bool { return !s.Listed }

func clipLine(s string) string { return engine.ClipJSON(s, startedLine) }

func programNames(a *engine.Action) []string {
	var list []string
	for i := range a.Commands {
		list = appendOnce(list, a.Commands[i].Name)
	}
	return list
}

func shortNames(names []string, n int) []string {
	var list []string
	for _, name := range names[:min(len(names), n)] {
		list = append(list, boundKey(name, startedName))
	}
	return list
}

func numbers(list []string, n int) []string {
	var out []string
	for _, s := range list[:min(len(list), n)] {
		if len(s) <= numberLength && plain(s) {
			out = append(out, s)
		}
	}
	return out
}

// maxMade bounds the containers and databases that are remembered; it belongs to FoldVersion. They only make policy
// milder, so the oldest is forgotten.
const maxMade = 8

// engines are the programs whose processes are containers.
var engines = []string{"docker", "podman", "nerdctl", "finch"}

// made returns what of an effect's target the session made. Names mean nothing in an action that gives something
// another name, or of which a part was not understood.
func (h *State) made(a *engine.Action, e *engine.Effect) string {
	if len(h.Made) == 0 || e.Certainty != engine.CertaintyExact || len(a.Opaque) > 0 || renamesMade(a) {
		return ""
	}
	for i := range h.Made {
		m := &h.Made[i]
		switch {
		case isMade(m, a, e):
			return engine.MadeItself
		case m.Object == engine.MadeContainer && m.Bare && e.Host == insideOf(m) && e.Kind != engine.EffectNetwork && staysInside(e):
			return engine.MadeInside
		}
	}
	return ""
}

// isMade reports whether an effect is on something that was made. Of a database, only dropping counts: a statement that
// empties a table reaches through it to another server, if it is a table there; and a script can connect elsewhere.
func isMade(m *engine.Made, a *engine.Action, e *engine.Effect) bool {
	if e.Host != m.Host || truncateKey(e.Target) != m.Name {
		return false
	}
	if m.Object == engine.MadeContainer {
		return e.Kind == engine.EffectProcess && e.Verb != verbRuns && ofEngine(a, e)
	}
	return e.Server == m.Server && e.Kind == engine.EffectSystemCall && slices.Contains([]string{"drop", "restore"}, e.Verb)
}

func insideOf(m *engine.Made) string {
	if m.Host != "" {
		return m.Host + "/container:" + m.Name
	}
	return "container:" + m.Name
}

// staysInside reports whether an effect in a container is on the container's own: a database of another host is not.
func staysInside(e *engine.Effect) bool {
	_, address, url := strings.Cut(e.Target, "://")
	return !url || e.Loopback || strings.HasPrefix(address, "/")
}

func ofEngine(a *engine.Action, e *engine.Effect) bool {
	return e.Command >= 0 && e.Command < len(a.Commands) && slices.Contains(engines, a.Commands[e.Command].Name)
}

// renamesMade reports whether an action gives a container or a database another name, or chooses another engine.
func renamesMade(a *engine.Action) bool {
	return slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return e.Verb == "rename" && e.Kind == engine.EffectProcess }) ||
		slices.ContainsFunc(a.Commands, func(c engine.Command) bool {
			return slices.Contains(engines, c.Name) && len(c.Sub) > 0 && slices.Contains([]string{"context", "machine", "system"}, c.Sub[0]) &&
				(slices.Contains(c.Sub, "use") || slices.Contains(c.Operands, "use"))
		})
}

// ends reports whether an effect ends a container or a database, not only what is in it or runs there.
func ends(e *engine.Effect) bool {
	return slices.Contains([]string{"drop", "delete", "reset"}, e.Verb) && (e.Kind == engine.EffectProcess || e.Object == engine.MadeDatabase)
}

// costs reports whether an effect loses data that the session did not make. What the session made may hold the only copy
// of it from then on.
func costs(e *engine.Effect) bool {
	return e.Kind == engine.EffectSystemCall && e.Object != "" && (e.Reversibility == engine.R4 || e.Reversibility == engine.R5) &&
		!slices.Contains([]string{"grant", "exec", "stop"}, e.Verb)
}

// foldMade records what a call made, and forgets what it ended, whether or not it failed: a part of it may have run.
func (h *State) foldMade(a *engine.Action, ran bool) {
	if a == nil || len(h.Made) == 0 && len(a.Makes) == 0 {
		return
	}
	if renamesMade(a) || slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return h.losesOthers(a, &e) }) {
		h.Made = nil
	}
	h.Made = slices.DeleteFunc(h.Made, func(m engine.Made) bool { return endedBy(&m, a, -1) })
	if !ran {
		return
	}
	for _, m := range a.Makes {
		m.Name, m.Host, m.Server, m.Image = truncateKey(m.Name), truncateKey(m.Host), truncateKey(m.Server), truncateKey(m.Image)
		if !endedBy(&m, a, m.Command) {
			m.Command = 0
			h.Made = keepLast(append(h.Made, m), maxMade)
		}
	}
}

func (h *State) losesOthers(a *engine.Action, e *engine.Effect) bool {
	return costs(e) && (e.Host == "" || !slices.ContainsFunc(h.Made, func(m engine.Made) bool { return e.Host == insideOf(&m) })) &&
		!slices.ContainsFunc(h.Made, func(m engine.Made) bool { return isMade(&m, a, e) })
}

// endedBy reports whether an action ends something, or a container that it is in, after one of its commands.
func endedBy(m *engine.Made, a *engine.Action, command int) bool {
	return slices.ContainsFunc(a.Effects, func(e engine.Effect) bool {
		around := ofEngine(a, &e) && e.Kind == engine.EffectProcess && strings.HasSuffix(m.Host, "container:"+truncateKey(e.Target))
		return e.Command > command && ends(&e) && (around || isMade(m, a, &e))
	})
}

func madeSize(m *engine.Made) int {
	return 90 + len(m.Object) + engine.JSONLen(m.Name) + engine.JSONLen(m.Host) + engine.JSONLen(m.Server) + engine.JSONLen(m.Image)
}
