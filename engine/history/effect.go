package history

import (
	"net/url"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// verbRuns is the verb of an effect that only means that something is run.
const verbRuns = "exec"

// onlyRuns reports whether the effect only means that a program runs.
func onlyRuns(e *engine.Effect) bool { return e.Kind == engine.EffectProcess && e.Verb == verbRuns }

// wholeProgram reports whether an effect's target is a program or a service as
// a whole.
func wholeProgram(e *engine.Effect, c *engine.Command) bool {
	if e.Verb == verbRuns {
		return true
	}
	service := e.Kind == engine.EffectNetwork && !strings.ContainsAny(e.Target, ".:/")
	return e.Object == "" && (service || e.Target == c.Name)
}

// about returns the object of an effect: a path, a host that receives data, an
// address, an object of a service.
func about(e *engine.Effect) string {
	switch {
	case e.Short != "":
		return truncateKey(e.Place())
	case sends(actOf(e)):
		return truncateKey(hostName(e.Target))
	}
	return truncateKey(e.Target)
}

// What data that is sent to a host does there, whatever the address: it is added, it replaces
// something, or it is an order to delete.
const (
	actSend   = "send"
	actForce  = "force"
	actDelete = "delete"
)

func sends(act string) bool { return act == actSend || act == actForce || act == actDelete }

// actOf distinguishes unrelated treatments of the same target.
func actOf(e *engine.Effect) string {
	switch {
	case e.Kind == engine.EffectSystemCall || e.Kind == engine.EffectProcess:
		return boundKey(e.Verb, digestLength)
	case e.Kind == engine.EffectNetwork && e.Egress && e.Verb == actDelete:
		return actDelete
	case e.Kind == engine.EffectNetwork && e.Egress && e.Forced:
		return actForce
	case e.Kind == engine.EffectNetwork && e.Egress:
		return actSend
	}
	return ""
}

// hostName is the host of an address; what is not an address is returned as it
// is.
func hostName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return address
	}
	return strings.ToLower(u.Hostname())
}

// trashVerb is a deletion that can be undone: the safer form of a denied deletion, and not a
// workaround for the denial.
const trashVerb = "trash"

// asStrong reports whether one kind of effect is as strong as another: a write
// destroys the old content like a deletion, and a file that is moved or changed
// can be read elsewhere.
func asStrong(denied, now engine.EffectKind) bool {
	change := func(k engine.EffectKind) bool { return k == engine.EffectFileDelete || k == engine.EffectFileWrite }
	return denied == now || change(now) && (change(denied) || denied == engine.EffectFileRead)
}

// reaches reports whether an effect applies to a path, given by its key: to the
// path itself, a pattern that matches it, or a folder that contains it,
// recursively. If a key was truncated, anything with that prefix may be meant.
func reaches(e *engine.Effect, key string) bool {
	place := e.Place()
	if place == "" || key == "" {
		return false
	}
	if truncateKey(place) == key {
		return true
	}
	if e.Certainty == engine.CertaintyGlob && slices.ContainsFunc([]string{"/*", "/**"}, func(all string) bool {
		folder, ok := strings.CutSuffix(place, all)
		return ok && truncateKey(folder) == key
	}) {
		return true // everything in it
	}
	stem, cut := stemOf(key)
	if !e.Recursive {
		return !cut && wildcard.Match(place, key)
	}
	place = flat(place)
	return cut && strings.HasPrefix(place, stem) ||
		slices.ContainsFunc(upwards(stem), func(p string) bool { return p == place || wildcard.Match(place, p) })
}

// thirdParty reports whether a path is in a package that was fetched.
func thirdParty(place string) bool {
	return slices.ContainsFunc(strings.Split(place, "/"), func(part string) bool {
		switch part {
		case "node_modules", "bower_components", "site-packages", "dist-packages", "Pods":
			return true
		}
		return false
	})
}

// leavesSomething reports whether an effect does more than read.
func leavesSomething(e *engine.Effect) bool {
	return e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete || e.Kind == engine.EffectSystemCall ||
		e.Kind == engine.EffectNetwork && e.Egress
}

// keptApart reports whether a file is for secrets, or is ignored by git.
func keptApart(e *engine.Effect) bool {
	return e.Class == engine.ClassCredential || e.Class == engine.ClassEnvFile || e.Class == engine.ClassGitData || e.Git == "ignored"
}

// maxTrees bounds the working trees that are remembered; it belongs to
// FoldVersion. They only make policy milder, so the oldest is forgotten.
const maxTrees = 8

// madeTrees returns the keys of the working trees that an action has git make. A folder that already exists may be someone's:
// git refuses it, and what comes after it in the same command may hide that.
func madeTrees(a *engine.Action) []string {
	if a == nil {
		return nil
	}
	var keys []string
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Object == engine.ObjectWorktree && e.Kind == engine.EffectFileWrite && e.Certainty == engine.CertaintyExact &&
			e.Exists != "yes" && e.Class == "" && e.Host == "" && (besides(e.Location) || e.Location == engine.LocationTemp ||
			e.Location == engine.LocationInside) {
			if key := truncateKey(e.Short); key != "" {
				keys = keepLast(appendOnce(keys, key), maxTrees)
			}
		}
	}
	return keys
}

// besides reports whether a working tree may be there.
func besides(l engine.Location) bool {
	return l == engine.LocationWorktree || l == engine.LocationOutside || l == engine.LocationBeside || l == engine.LocationHome
}

// endsTree reports whether git removes a working tree that it made in the
// session: it contained nobody's work before. What was moved into it may exist
// nowhere else.
func (h *State) endsTree(e *engine.Effect) bool {
	return e.Object == engine.ObjectWorktree && e.Kind == engine.EffectFileDelete && e.Certainty == engine.CertaintyExact &&
		e.Host == "" && e.Ledger != engine.LedgerMoved && slices.Contains(h.Trees, truncateKey(e.Short))
}

func (h *State) addTree(key string) {
	if key != "" {
		h.Trees = keepLast(appendOnce(h.Trees, key), maxTrees)
	}
}

// dropTree forgets a tree that is removed, by git or otherwise.
func (h *State) dropTree(e *engine.Effect) {
	if len(h.Trees) > 0 && e.Host == "" {
		h.Trees = slices.DeleteFunc(h.Trees, func(key string) bool { return reaches(e, key) })
	}
}

// location reports where an effect takes place, given the working trees that git made in the
// session: if nothing is known about the disk, only these show what belongs to the workspace's
// repository.
func (h *State) location(e *engine.Effect) engine.Location {
	known := e.Certainty == engine.CertaintyExact || e.Certainty == engine.CertaintyGlob
	if len(h.Trees) == 0 || !known || e.Host != "" || e.Short == "" || e.Location == engine.LocationWorktree || !besides(e.Location) {
		return e.Location
	}
	above := upwards(e.Short)[1:]
	if e.Certainty == engine.CertaintyGlob && len(above) > 0 {
		above = above[1:] // a pattern may match everything in a tree
	}
	if slices.ContainsFunc(above, func(dir string) bool { return slices.Contains(h.Trees, truncateKey(dir)) }) {
		return engine.LocationWorktree
	}
	return e.Location
}
