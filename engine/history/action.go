package history

import (
	pathpkg "path"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// checkReads lists the files that a call names and reads; whole folders do not
// show what is a test and what is the work.
func checkReads(a *engine.Action) string {
	row := ""
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Kind == engine.EffectFileRead && e.Certainty == engine.CertaintyExact && e.Entry == "file" {
			row = addDigits(row, []string{keyDigits(truncateKey(e.Place()))}, maxCheckReads)
		}
	}
	return row
}

// isPurpose reports whether an effect is a purpose that could be achieved in
// another way. Running a program is not a purpose if its effects are known,
// except for the place of its output; nor is reading, unless of a secret, in a
// call that does more.
func isPurpose(a *engine.Action, e *engine.Effect) bool {
	switch {
	case onlyRuns(e):
		return !sameCommandHas(a, e, func(o *engine.Effect) bool {
			return o.Kind == engine.EffectNetwork || o.Kind == engine.EffectSystemCall
		})
	case e.Kind == engine.EffectFileRead && e.Class != engine.ClassCredential && e.Class != engine.ClassEnvFile:
		return !slices.ContainsFunc(a.Effects, func(o engine.Effect) bool { return o.Kind != engine.EffectFileRead })
	}
	return true
}

// sameCommandHas reports whether the command that has an effect has another
// effect of some kind.
func sameCommandHas(a *engine.Action, e *engine.Effect, kind func(*engine.Effect) bool) bool {
	return slices.ContainsFunc(a.Effects, func(o engine.Effect) bool { return o.Command == e.Command && kind(&o) })
}

// purposeOf describes the object of an effect as precisely as it is known: if that
// is only the name of a program or a service, the words of its command say what
// is done there.
func purposeOf(a *engine.Action, e *engine.Effect) string {
	if e.Short == "" && e.Command >= 0 && e.Command < len(a.Commands) {
		if c := &a.Commands[e.Command]; wholeProgram(e, c) {
			return truncateKey(strings.Join(commandWords(c, e), " "))
		}
	}
	if e.Kind == engine.EffectNetwork && e.Object != "" {
		return truncateKey(about(e) + " " + e.Object)
	}
	return about(e)
}

// purposesOf returns the purposes of all effects.
func purposesOf(a *engine.Action) []string {
	list := make([]string, len(a.Effects))
	for i := range a.Effects {
		list[i] = purposeOf(a, &a.Effects[i])
	}
	return list
}

// commandWords returns the words that say what a command does: flags count if
// their meaning is unknown. The place of a program counts if it is called by
// path.
func commandWords(c *engine.Command, e *engine.Effect) []string {
	name := c.Name
	if onlyRuns(e) && strings.Contains(e.Target, "/") && !pathpkg.IsAbs(e.Target) {
		name = pathpkg.Clean(e.Target)
	}
	list := append([]string{name}, c.Sub...)
	if e.Verb == verbRuns {
		list = append(list, slices.Sorted(slices.Values(c.Flags))...)
	}
	return append(list, c.Operands...)
}

func hostDigits(a *engine.Action) []string {
	var list []string
	for _, host := range a.Hosts {
		list = append(list, engine.HexSum([]byte(host))[:hashDigits])
	}
	return list
}

// changes lists what an action will have done to paths once it has run, in its order. What
// exceeds the limit is never known to be the session's.
func changes(a *engine.Action) []pathChange {
	if a == nil {
		return nil
	}
	var list []pathChange
	for i := range a.Effects {
		e := &a.Effects[i]
		state := ""
		switch {
		case e.Kind == engine.EffectFileDelete:
			state = engine.LedgerDeleted
		case e.Kind != engine.EffectFileWrite:
		case e.Verb == "move":
			state = engine.LedgerMoved
		case !e.Creates():
			state = engine.LedgerWritten
		case e.Certainty == engine.CertaintyExact:
			state = engine.LedgerCreated
		}
		if c := (pathChange{state, truncateKey(e.Place())}); state != "" && c.Key != "" && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list[:min(len(list), maxChanges)]
}

// target returns what an action is mainly about, and its class.
func target(a *engine.Action) (key, class string) {
	if len(a.Effects) == 0 {
		return "", ""
	}
	e := &a.Effects[0]
	if e.Kind == engine.EffectNetwork {
		return truncateKey(e.Target), "host"
	}
	return about(e), truncateKey(string(e.Location) + "/" + string(e.Class))
}

// actionDigest returns a digest of what an action does to its target: the program with
// its subcommand, or with its first operand if it has none. For a path all are the same,
// regardless of the program.
func actionDigest(a *engine.Action) string {
	if len(a.Effects) == 0 {
		return ""
	}
	e := &a.Effects[0]
	if e.Short != "" || e.Command < 0 || e.Command >= len(a.Commands) {
		return ""
	}
	c := &a.Commands[e.Command]
	words := append([]string{c.Name}, c.Sub...)
	if len(c.Sub) == 0 && len(c.Operands) > 0 {
		words = append(words, c.Operands[0])
	}
	return keyDigits(strings.Join(words, " "))
}

// changesOf returns what an action would change.
func changesOf(a *engine.Action) changeSet {
	var what changeSet
	for i := range a.Effects {
		switch a.Effects[i].Kind {
		case engine.EffectFileWrite, engine.EffectFileDelete:
			what |= altersFiles
		case engine.EffectSystemCall:
			what |= altersSystem
		}
	}
	return what
}

// folder is a digest of where an action mostly happens.
func folder(a *engine.Action) string {
	if len(a.Effects) == 0 {
		return ""
	}
	e := &a.Effects[0]
	place := e.Place()
	switch {
	case place == "" && e.Kind == engine.EffectNetwork:
		place = e.Target
	case place != "" && e.Entry == "dir":
		place = pathpkg.Clean(place)
	case place != "":
		place = pathpkg.Dir(place)
	}
	if place == "" {
		return ""
	}
	return keyDigits(place)
}

// rank returns the reversibility of the worst effect, as a number.
func rank(a *engine.Action) int64 {
	worst := int64(0)
	for _, e := range a.Effects {
		if i := slices.Index(engine.Reversibilities(), string(e.Reversibility)); i > 0 {
			worst = max(worst, int64(i))
		}
	}
	return worst
}

// asksElsewhere reports whether an action contacts another machine. A server's
// tool counts, unless it is only about files.
func asksElsewhere(a *engine.Action) bool {
	if slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return (e.Kind == engine.EffectNetwork || e.Egress) && !e.Loopback }) {
		return true
	}
	return callsServer(a)
}

// callsServer reports whether a server's tool is called for something other
// than files.
func callsServer(a *engine.Action) bool {
	return slices.Contains(a.Types, engine.TypeMCPCall) && !slices.ContainsFunc(a.Effects, func(e engine.Effect) bool {
		return e.Kind == engine.EffectFileRead || e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete
	})
}

func commits(a *engine.Action) bool { return runsGit(a, "commit", "tag", "notes") }

func pushes(a *engine.Action) bool { return runsGit(a, "push") }

func runsGit(a *engine.Action, subs ...string) bool {
	return slices.ContainsFunc(a.Commands, func(c engine.Command) bool {
		return c.Name == "git" && len(c.Sub) > 0 && slices.Contains(subs, c.Sub[0])
	})
}

func fileOps(a *engine.Action) int64 {
	var n int64
	for _, e := range a.Effects {
		if e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete {
			n++
		}
	}
	return n
}

// relation compares the objects of a statement with an action: whether one of them is changed, whether it concerns
// one of them in any way, and whether something else is changed. Without objects, everything is one.
func relation(s *engine.Statement, a *engine.Action) (changes, touched, beyond bool) {
	limits, asks := strings.HasPrefix(s.Act, "only_"), s.Kind == engine.Forbids && s.Until == engine.UntilAsked
	forbids := s.Kind == engine.Forbids
	touched = len(s.Objects) == 0 || slices.ContainsFunc(s.Objects, func(o string) bool { return mentions(a, o, limits, forbids) })
	for i := range a.Effects {
		e := &a.Effects[i]
		if !leavesSomething(e) && (s.Act != "read" || e.Kind != engine.EffectFileRead) {
			continue
		}
		covered := len(s.Objects) == 0 || slices.ContainsFunc(s.Objects, func(o string) bool {
			return covers(o, e, asks) || forbids && matchesPath(o, e.Place())
		})
		file := e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete
		changes, touched, beyond = changes || covered, touched || covered, beyond || !covered && file
	}
	return changes, touched, beyond
}

// mentions reports whether a command has an object among its words. For what limits an act, so does a path that ends in a name with
// it: after "push only the sdk", ../tariff-sdk is the sdk. An order is for exactly what it names.
func mentions(a *engine.Action, object string, limits, forbids bool) bool {
	pattern := forbids && strings.Contains(object, "*")
	object = strings.TrimPrefix(strings.ToLower(strings.TrimSuffix(object, "/")), "./")
	is := func(w string) bool {
		w = strings.ToLower(strings.TrimSuffix(w, "/"))
		parts := strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("=:@,", r) })
		base := pathpkg.Base(w)
		return w == object || base == object || pattern && wildcard.Match(object, w) || slices.Contains(parts, object) || limits && base != w &&
			slices.Contains(strings.FieldsFunc(base, func(r rune) bool { return strings.ContainsRune("-_.", r) }), object)
	}
	for i := range a.Commands {
		c := &a.Commands[i]
		if slices.ContainsFunc(slices.Concat(c.Sub, c.Flags, c.Operands), is) {
			return true
		}
	}
	return slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return is(e.Target) || is(e.Host) || is(e.Object) })
}

// covers reports whether an object is the target of an effect: by its
// path, or by a word of its address or kind; with plurals, also by one that only lacks the s of a plural, or has it.
func covers(object string, e *engine.Effect, plurals bool) bool {
	if namesPath(object, truncateKey(e.Place())) {
		return true
	}
	word := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	object = strings.ToLower(object)
	same := func(w string) bool {
		return w == object || plurals && strings.TrimSuffix(w, "s") == strings.TrimSuffix(object, "s")
	}
	for _, text := range []string{e.Target, e.Object, e.Host} {
		if slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(text), word), same) {
			return true
		}
	}
	return false
}
