package history

import (
	"net/url"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// verbRuns is that of an effect which only says that something is run.
const verbRuns = "exec"

// onlyRuns says that all that is known of an effect is that a program runs.
func onlyRuns(e *engine.Effect) bool { return e.Kind == engine.EffectProcess && e.Verb == verbRuns }

// wholeProgram says that an effect's target is a program or a service as a whole.
func wholeProgram(e *engine.Effect, c *engine.Command) bool {
	if e.Verb == verbRuns {
		return true
	}
	service := e.Kind == engine.EffectNetwork && !strings.ContainsAny(e.Target, ".:/")
	return e.Object == "" && (service || e.Target == c.Name)
}

// about names what an effect is about: a path, a host to which data go, an
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

// The acts of what leaves the machine, whichever address of a host it is sent
// to: added to what is there, put in its place, or an order to delete there.
const (
	actSend   = "send"
	actForce  = "force"
	actDelete = "delete"
)

func sends(act string) bool { return act == actSend || act == actForce || act == actDelete }

// actOf is what is done where the same target can be treated in ways that have
// nothing to do with each other.
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

// hostName is the host of an address; what is no address is returned as it is.
func hostName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return address
	}
	return strings.ToLower(u.Hostname())
}

// trashVerb is a deletion that can be taken back: the safer form of one that was
// denied, and no way around it.
const trashVerb = "trash"

// asStrong says that one kind of effect is as much as another one: to write is to
// delete for what was there, and what is moved or changed can be read elsewhere.
func asStrong(denied, now engine.EffectKind) bool {
	change := func(k engine.EffectKind) bool { return k == engine.EffectFileDelete || k == engine.EffectFileWrite }
	return denied == now || change(now) && (change(denied) || denied == engine.EffectFileRead)
}

// reaches says that an effect is about a path, given by its key: about the path
// itself, a pattern that fits it, or a folder that holds it, with all below. Of a
// key that was cut short only the beginning is known; what begins so may be it.
func reaches(e *engine.Effect, key string) bool {
	place := e.Place()
	if place == "" || key == "" {
		return false
	}
	if truncateKey(place) == key {
		return true
	}
	if all, ok := strings.CutSuffix(place, "/*"); ok && e.Certainty == engine.CertaintyGlob && truncateKey(all) == key {
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

// thirdParty says that a path is in a package that was fetched.
func thirdParty(place string) bool {
	return slices.ContainsFunc(strings.Split(place, "/"), func(part string) bool {
		switch part {
		case "node_modules", "bower_components", "site-packages", "dist-packages", "Pods":
			return true
		}
		return false
	})
}

// leavesSomething says that an effect is more than looking.
func leavesSomething(e *engine.Effect) bool {
	return e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete || e.Kind == engine.EffectSystemCall ||
		e.Kind == engine.EffectNetwork && e.Egress
}

// apart says that a file is one for secrets, or that git leaves it alone.
func apart(e *engine.Effect) bool {
	return e.Class == engine.ClassCredential || e.Class == engine.ClassEnvFile || e.Class == engine.ClassGitData || e.Git == "ignored"
}
