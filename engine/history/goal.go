package history

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
)

// Limits of the goals that are kept; they belong to FoldVersion. Names, words and
// scope only make policy milder, so the oldest is forgotten. Constraints are
// never forgotten: see goalState.constrain.
const (
	maxNames       = 32
	maxWords       = 64
	maxConstraints = 24 // and one for each of ConstraintKinds
	maxLifted      = 8  // those before are lifted for good
	maxScope       = 16
)

// foldGoal records what a prompt asks for.
func (h *State) foldGoal(g *engine.Goal) {
	if g == nil {
		return
	}
	s := &h.Goals
	if known := knownWords(g.Intents, engine.Intents()); len(known) > 0 {
		slices.Sort(known)
		s.Intents = slices.Compact(known)
	}
	for _, name := range g.Names {
		s.Names = keepLast(appendOnce(s.Names, truncateKey(h.inFull(name))), maxNames)
	}
	s.Words = addDigits(s.Words, g.Words, maxWords)
	h.addMarks(labelPerson, g.Marks)
	s.ask(g.Intents)
	for _, c := range g.Constraints {
		c.What = h.inFull(c.What)
		s.constrain(c)
	}
	h.forgive(g)
}

// forbid records what a prompt forbids that nobody typed.
func (h *State) forbid(g *engine.Goal) {
	if g = g.Forbids(); g == nil {
		return
	}
	for _, c := range g.Constraints {
		c.What = h.inFull(c.What)
		h.Goals.constrain(c)
	}
}

// inFull writes a path that leads out of the workspace in the form of effects.
func (h *State) inFull(name string) string {
	name = strings.TrimPrefix(name, "./")
	if strings.HasPrefix(name, "../") && strings.HasPrefix(h.Workspace, "/") {
		return path.Join(h.Workspace, name)
	}
	return name
}

// ask records for each constraint what a later prompt asks for. Whether that
// lifts it is for policy to decide.
func (s *goalState) ask(intents []engine.Intent) {
	for i := range s.Constraints {
		c := &s.Constraints[i]
		c.Later = append(slices.Clone(c.Later), knownWords(intents, engine.Intents())...)
		slices.Sort(c.Later)
		c.Later = slices.Compact(c.Later)
	}
}

// wantsChanges reports whether a prompt requests work on existing files: what it
// names may be touched again. It shapes what is kept of denials, so it belongs
// to FoldVersion.
func wantsChanges(g *engine.Goal) bool {
	return slices.ContainsFunc(g.Intents, func(i engine.Intent) bool {
		return i == engine.IntentFix || i == engine.IntentAdd || i == engine.IntentRefactor || i == engine.IntentClean ||
			i == engine.IntentMigrate
	})
}

// constrain adds a constraint, or lifts one. Beyond maxConstraints that name
// something, the oldest becomes one that names nothing: since it is forgotten
// what the constraint is about, it applies to everything until a person lifts
// it.
func (s *goalState) constrain(c engine.Constraint) {
	c.What = truncateKey(c.What)
	switch {
	case !slices.Contains(engine.ConstraintKinds(), string(c.Kind)):
		return
	case c.Kind == engine.ConstraintLift:
		s.Constraints = slices.DeleteFunc(s.Constraints, func(o trackedConstraint) bool {
			lifted := c.What == "" || o.What == c.What || string(o.Kind) == c.What
			if lifted {
				s.Lifted = keepLast(append(s.Lifted, o.Constraint), maxLifted)
			}
			return lifted
		})
		return
	}
	s.hold(c)
	if len(s.Constraints) > maxConstraints {
		s.generalise()
	}
}

func (s *goalState) generalise() {
	oldest := slices.IndexFunc(s.Constraints, func(c trackedConstraint) bool { return c.What != "" })
	kind := s.Constraints[oldest].Kind
	s.Constraints = slices.Delete(s.Constraints, oldest, oldest+1)
	s.hold(engine.Constraint{Kind: kind})
}

// hold records a constraint; a repeated one applies from now on.
func (s *goalState) hold(c engine.Constraint) {
	s.Constraints = slices.DeleteFunc(s.Constraints, func(o trackedConstraint) bool { return o.Constraint == c })
	s.Constraints = append(s.Constraints, trackedConstraint{Constraint: c})
}

// known reports whether people said something that an action can be compared
// with.
func (s *goalState) known() bool { return len(s.Intents)+len(s.Names)+len(s.Words) > 0 }

// goalFacts compares an action with what people said.
func (h *State) goalFacts(a *engine.Action) engine.GoalFacts {
	s := &h.Goals
	f := engine.GoalFacts{Known: s.known(), Names: int64(len(s.Names)), Intents: orEmpty(s.Intents), Constraints: s.restraints(a)}
	f.Named = slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return e.Named })
	if n := len(a.Words); n > 0 {
		f.Words = engine.Round6(float64(shared(a.Words, s.Words)) / float64(n))
	}
	return f
}

// restraints compares an action with what must not be done.
func (s *goalState) restraints(a *engine.Action) []engine.ConstraintFacts {
	list := []engine.ConstraintFacts{}
	for _, c := range s.Constraints {
		touched := slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return leavesSomething(&e) && covers(c.Constraint, &e) })
		list = append(list, engine.ConstraintFacts{Kind: c.Kind, What: c.What, Touched: touched, Later: orEmpty(c.Later)})
	}
	return list
}

// covers reports whether a constraint is about the target of an effect: by its
// path, or by a word of its address or kind.
func covers(c engine.Constraint, e *engine.Effect) bool {
	if c.What == "" || namesPath(c.What, truncateKey(e.Place())) {
		return true
	}
	word := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, text := range []string{e.Target, e.Object, e.Host} {
		if slices.Contains(strings.FieldsFunc(strings.ToLower(text), word), strings.ToLower(c.What)) {
			return true
		}
	}
	return false
}

// named reports whether a person named the path of an effect, or a folder above
// it: as it is shown, in full, or by parts of it, as people do.
func (s *goalState) named(e *engine.Effect) bool {
	place := e.Place()
	if place == "" {
		return false
	}
	return s.scoped(place) || s.means(place) || e.Host == "" && s.means(e.Target)
}

// given reports whether a person wrote the path of an effect in full, or that of a folder that
// contains it. A directory just under the root does not count.
func (s *goalState) given(e *engine.Effect) bool {
	if e.Host != "" || e.Short == "" || e.Certainty != engine.CertaintyExact && e.Certainty != engine.CertaintyGlob {
		return false
	}
	return slices.ContainsFunc(append(upwards(e.Short), upwards(e.Target)...), func(p string) bool {
		return (strings.HasPrefix(p, "~/") || strings.Count(p, "/") > 1) && slices.ContainsFunc([]string{p, p + "/"}, func(p string) bool {
			return slices.Contains(s.Names, truncateKey(p))
		})
	})
}

// means reports whether a person named a path or a folder above it. A name that
// was cut short stands for the whole path or a folder above it only.
func (s *goalState) means(path string) bool {
	if slices.ContainsFunc(s.Names, func(n string) bool { return namesPath(n, path) }) {
		return true
	}
	return slices.ContainsFunc(upwards(strings.TrimPrefix(path, "./")), func(p string) bool {
		key := truncateKey(p)
		return key != p && slices.Contains(s.Names, key)
	})
}

// scoped reports whether a path is in what a person added to the scope by hand.
func (s *goalState) scoped(path string) bool {
	if len(s.Scope) == 0 {
		return false
	}
	return slices.ContainsFunc(upwards(path), func(p string) bool { return slices.Contains(s.Scope, truncateKey(p)) })
}

// added reports whether an effect stays in what a person added to the scope. A
// target of which only the beginning is known may lead out of it again.
func (s *goalState) added(e *engine.Effect) bool {
	return e.Host == "" && (e.Certainty == engine.CertaintyExact || e.Certainty == engine.CertaintyGlob) && e.Short != "" && s.scoped(e.Short)
}

// addScope records that a path belongs to what the session is about.
func (s *goalState) addScope(path string) {
	if path != "" {
		s.Scope = keepLast(appendOnce(s.Scope, truncateKey(path)), maxScope)
	}
}

// Bounds of what can count again. They belong to FoldVersion.
const (
	maxForgiven = 8 // denials
	maxDropped  = 4 // files of code
)

// Heeds reports whether what people wrote makes policy milder.
func (h *State) Heeds() bool {
	g := &h.Goals
	return h.PromptN > 0 || g.known() || len(g.Lifted)+len(h.Forgiven) > 0 || h.Marks[labelPerson] != "" ||
		slices.ContainsFunc(h.Forms, func(f formEntry) bool { return f.Person+f.Approved > 0 }) ||
		slices.ContainsFunc(h.Code, func(w writtenCode) bool { return w.Agreed }) ||
		slices.ContainsFunc(h.Paths, func(p pathEntry) bool { return p.Agreed })
}

// expire ends what makes policy milder. What makes it stricter stays.
func (h *State) expire(mode string) {
	if mode == engine.ExpireNothing {
		return
	}
	h.expireWords()
	if mode == engine.ExpireWords {
		return
	}
	h.dropPermits()
	if mode == engine.ExpirePermits {
		return
	}
	h.Code, h.Dropped = keepLast(append(h.Dropped, h.Code...), maxWritten), nil
	delete(h.Marks, labelOwn)
	h.Trees, h.Hosts, h.Rolled = nil, "", nil
	for i := range h.Paths {
		if p := &h.Paths[i]; p.State == engine.LedgerCreated {
			p.State = engine.LedgerWritten
		}
	}
}

func (h *State) expireWords() {
	g := &h.Goals
	g.Intents, g.Names, g.Words = nil, nil, ""
	for i := range g.Constraints {
		g.Constraints[i].Later = nil
	}
	for _, c := range g.Lifted {
		g.constrain(c)
	}
	g.Lifted = nil
	h.Denials = keepLast(append(h.Forgiven, h.Denials...), maxDenials)
	slices.SortStableFunc(h.Denials, func(a, b denial) int { return cmp.Compare(a.N, b.N) })
	h.Forgiven = nil
	delete(h.Marks, labelPerson)
	h.Forms = slices.DeleteFunc(h.Forms, func(f formEntry) bool { return f.Refused == 0 })
	for i := range h.Forms {
		h.Forms[i].Person, h.Forms[i].Approved = 0, 0
	}
	for i := range h.Code {
		h.Code[i].Agreed = false
	}
	for i := range h.Paths {
		h.Paths[i].Agreed = false
	}
	h.FileOps, h.Before = h.FileOps+h.Before, 0
	h.PromptAt, h.PromptN = 0, 0
}
