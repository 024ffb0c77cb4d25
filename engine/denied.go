package engine

import (
	"net/url"
	pathpkg "path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// deny keeps the effects of a call that did not run, so that another way to one
// of them is recognised.
func (h *History) deny(n int64, a *Action) {
	d := denial{N: n, At: h.Actions}
	if a == nil {
		h.Denials = append(h.Denials, d)
		return
	}
	d.Print = boundKey(a.Fingerprint, digestLength)
	kept := 0
	for i := range a.Effects {
		e := &a.Effects[i]
		aim, act := a.aim(e), e.act()
		if kept < maxDeniedEffects && (aim != "" || act != "") && a.tells(e) {
			d.Kind, d.Verb, d.Target = boundKey(string(e.Kind), digestLength), act, aim
			h.Denials = append(h.Denials, d)
			kept++
		}
	}
	if kept == 0 {
		h.Denials = append(h.Denials, d)
	}
}

// refuse keeps what is known of a call to which a person said no.
func (h *History) refuse(c *callEntry) {
	a := h.agent(c.Agent)
	if a == nil {
		return
	}
	if p := a.pastOf(c.Pre); p != nil {
		d := denial{N: p.N, At: h.Actions, Print: p.Print, Kind: string(p.Kind), Verb: p.Verb, Target: p.Target, Person: true}
		if sends(p.Verb) {
			d.Target = truncateKey(hostName(p.Target))
		}
		h.Denials = append(h.Denials, d)
	}
}

// forgive forgets denials about what a person names as they order work: they say
// themselves what they want of it. What they forbid in the same breath stays
// denied, and so does what the rules say of the next call.
func (h *History) forgive(g *Goal) {
	if !g.wantsChanges() {
		return
	}
	h.Denials = slices.DeleteFunc(h.Denials, func(d denial) bool {
		return slices.ContainsFunc(g.Names, d.named) && !slices.ContainsFunc(g.Constraints, func(c Constraint) bool {
			return c.Kind != ConstraintLift && (c.What == "" || d.named(c.What))
		})
	})
}

// named says that a name stands for what was denied, or for a word of a program
// that was not to run.
func (d *denial) named(name string) bool {
	return names(name, d.Target) || d.Verb == verbRuns &&
		slices.ContainsFunc(strings.Fields(d.Target), func(word string) bool { return names(name, word) })
}

// verbRuns is that of an effect which only says that something is run.
const verbRuns = "exec"

// runs says that all that is known of an effect is that a program runs.
func (e *Effect) runs() bool { return e.Kind == EffectProcess && e.Verb == verbRuns }

// tells says that an effect is something that could be had in another way. That
// a program runs is none where it is known what it does, beyond where its output
// goes; and what a call reads that does more may be looked at, unless that is a
// secret.
func (a *Action) tells(e *Effect) bool {
	switch {
	case e.runs():
		return !a.also(e, func(o *Effect) bool { return o.Kind == EffectNetwork || o.Kind == EffectSystemCall })
	case e.Kind == EffectFileRead && e.Class != ClassCredential && e.Class != ClassEnvFile:
		return !slices.ContainsFunc(a.Effects, func(o Effect) bool { return o.Kind != EffectFileRead })
	}
	return true
}

// also says that the command which has an effect has another one of some kind.
func (a *Action) also(e *Effect, kind func(*Effect) bool) bool {
	return slices.ContainsFunc(a.Effects, func(o Effect) bool { return o.Command == e.Command && kind(&o) })
}

// aim names what an effect is about, as closely as it is known: where that is no
// more than the name of a program or a service, the words of its command say what
// is done there.
func (a *Action) aim(e *Effect) string {
	if e.Short == "" && e.Command >= 0 && e.Command < len(a.Commands) {
		if c := &a.Commands[e.Command]; e.general(c) {
			return truncateKey(strings.Join(c.words(e), " "))
		}
	}
	if e.Kind == EffectNetwork && e.Object != "" {
		return truncateKey(e.place() + " " + e.Object)
	}
	return e.place()
}

// aims are those of all effects.
func (a *Action) aims() []string {
	list := make([]string, len(a.Effects))
	for i := range a.Effects {
		list[i] = a.aim(&a.Effects[i])
	}
	return list
}

// general says that an effect's target is a program or a service as a whole.
func (e *Effect) general(c *Command) bool {
	if e.Verb == verbRuns {
		return true
	}
	service := e.Kind == EffectNetwork && !strings.ContainsAny(e.Target, ".:/")
	return e.Object == "" && (service || e.Target == c.Name)
}

// words are those that say what a command does: flags count where nobody knows
// what they mean. Where a program lies counts if that is told from where it is
// called; of others the place says how they are called, and not what they are.
func (c *Command) words(e *Effect) []string {
	name := c.Name
	if e.runs() && strings.Contains(e.Target, "/") && !pathpkg.IsAbs(e.Target) {
		name = pathpkg.Clean(e.Target)
	}
	list := append([]string{name}, c.Sub...)
	if e.Verb == verbRuns {
		list = append(list, slices.Sorted(slices.Values(c.Flags))...)
	}
	return append(list, c.Operands...)
}

// place names what an effect is about: a path, a host to which data go, an
// address, an object of a service.
func (e *Effect) place() string {
	switch {
	case e.Short != "":
		return truncateKey(e.Place())
	case sends(e.act()):
		return truncateKey(hostName(e.Target))
	}
	return truncateKey(e.Target)
}

// The acts of what leaves the machine, whichever address of a host it is sent
// to: added to what is there, put in its place, or an order to delete there.
const (
	actSend   = "send"
	actForce  = "force"
	actDelete = "delete"
)

func sends(act string) bool { return act == actSend || act == actForce || act == actDelete }

// act is what is done where the same target can be treated in ways that have
// nothing to do with each other.
func (e *Effect) act() string {
	switch {
	case e.Kind == EffectSystemCall || e.Kind == EffectProcess:
		return boundKey(e.Verb, digestLength)
	case e.Kind == EffectNetwork && e.Egress && e.Verb == actDelete:
		return actDelete
	case e.Kind == EffectNetwork && e.Egress && e.Forced:
		return actForce
	case e.Kind == EffectNetwork && e.Egress:
		return actSend
	}
	return ""
}

// hostName is the host of an address; what is no address is returned as it is.
func hostName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return address
	}
	return strings.ToLower(u.Hostname())
}

// deniedFacts says what of an action was denied before: among the latest actions
// of the session, or of the agent itself, since others may act in between.
func (h *History) deniedFacts(agent *agentHistory, a *Action) DeniedFacts {
	f := DeniedFacts{Ago: NeverAgo}
	print := boundKey(a.Fingerprint, digestLength)
	var aims []string // of the action's effects; most calls follow no denial
	for i := range h.Denials {
		d := &h.Denials[i]
		ago := min(h.Actions-d.At+1, agent.since(d.N))
		if ago > workaroundSpan {
			continue
		}
		if aims == nil {
			aims = a.aims()
		}
		same := d.Print == print && print != ""
		effect := !same && d.fits(a, aims)
		if same || effect {
			f.Same, f.Effect, f.Ago = f.Same || same, f.Effect || effect && !d.Person, min(f.Ago, ago)
			f.Refused = f.Refused || effect && d.Person
		}
	}
	return f
}

// since counts the agent's actions since the one of a pre record, that one
// included.
func (a *agentHistory) since(pre int64) int64 {
	for i := len(a.Ring) - 1; i >= 0 && a.Ring[i].N >= pre; i-- {
		if a.Ring[i].N == pre {
			return int64(len(a.Ring) - i)
		}
	}
	return NeverAgo
}

// fits says that an action would do what was denied: as much or more to the same
// target, or to one that holds it.
func (d *denial) fits(a *Action, aims []string) bool {
	if d.Target == "" && d.Verb == "" {
		return false
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		act := e.act()
		if act != d.Verb && !(d.Verb == actSend && sends(act)) || e.Verb == trashVerb || !asStrong(EffectKind(d.Kind), e.Kind) {
			continue
		}
		if aims[i] == d.Target || e.Kind != EffectFileRead && d.Target != "" && e.reaches(d.Target) {
			return true
		}
	}
	return false
}

// trashVerb is a deletion that can be taken back: the safer form of one that was
// denied, and no way around it.
const trashVerb = "trash"

// asStrong says that one kind of effect is as much as another one: to write is to
// delete for what was there, and what is moved or changed can be read elsewhere.
func asStrong(denied, now EffectKind) bool {
	change := func(k EffectKind) bool { return k == EffectFileDelete || k == EffectFileWrite }
	return denied == now || change(now) && (change(denied) || denied == EffectFileRead)
}

// reaches says that an effect is about a path, given by its key: about the path
// itself, a pattern that fits it, or a folder that holds it, with all below. Of a
// key that was cut short only the beginning is known; what begins so may be it.
func (e *Effect) reaches(key string) bool {
	place := e.Place()
	if place == "" || key == "" {
		return false
	}
	if truncateKey(place) == key {
		return true
	}
	if all, ok := strings.CutSuffix(place, "/*"); ok && e.Certainty == CertaintyGlob && truncateKey(all) == key {
		return true // all that is in it
	}
	stem, cut := stemOf(key)
	if !e.Recursive {
		return !cut && wildcard.Match(place, key)
	}
	place = flat(place)
	return cut && strings.HasPrefix(place, stem) ||
		slices.ContainsFunc(upwards(stem), func(p string) bool { return p == place || wildcard.Match(place, p) })
}
