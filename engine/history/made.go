package history

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

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
			return slices.Contains(engines, c.Name) && len(c.Sub) > 0 && slices.Contains([]string{"context", "machine", "system"}, c.Sub[0]) && slices.Contains(append(c.Sub, c.Operands...), "use")
		})
}

// ends reports whether an effect ends a container or a database, not only what is in it or runs there.
func ends(e *engine.Effect) bool {
	return slices.Contains([]string{"drop", "delete", "reset"}, e.Verb) && (e.Kind == engine.EffectProcess || e.Object == engine.MadeDatabase)
}

// costs reports whether an effect loses data that the session did not make. What the session made may hold the only copy
// of it from then on.
func costs(e *engine.Effect) bool {
	return e.Kind == engine.EffectSystemCall && e.Object != "" && slices.Contains([]engine.Reversibility{engine.R4, engine.R5}, e.Reversibility) &&
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
