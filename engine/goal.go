package engine

import (
	"slices"
	"strings"
	"unicode"
)

// Goal is what a person's prompt says of what is wanted, as far as words tell
// without being understood. It holds no text of the prompt but the names in it,
// masked.
type Goal struct {
	Intents     []Intent     `json:"intents,omitempty"`     // sorted
	Names       []string     `json:"names,omitempty"`       // paths, file names and quoted identifiers, in the order in which they come
	Words       []string     `json:"words,omitempty"`       // hashes of its words (8 hex), inflections taken off
	Marks       []string     `json:"marks,omitempty"`       // as Action.Marks: what a person wrote themselves came from nowhere else
	Constraints []Constraint `json:"constraints,omitempty"` // what must not be done
}

// Intent is a kind of work that a person asks for.
type Intent string

// The intents.
const (
	IntentRead     Intent = "read"     // look, list, review, find out
	IntentExplain  Intent = "explain"  // say how or why
	IntentFix      Intent = "fix"      // make something work again
	IntentAdd      Intent = "add"      // make something new
	IntentRefactor Intent = "refactor" // change the form, not what it does
	IntentTest     Intent = "test"
	IntentDeploy   Intent = "deploy" // ship, release, publish, roll out
	IntentClean    Intent = "clean"  // remove, delete, tidy
	IntentMigrate  Intent = "migrate"
)

// Intents lists every Intent.
func Intents() []string {
	return []string{
		string(IntentRead), string(IntentExplain), string(IntentFix), string(IntentAdd), string(IntentRefactor),
		string(IntentTest), string(IntentDeploy), string(IntentClean), string(IntentMigrate),
	}
}

// Constraint is something that a person said must not be done.
type Constraint struct {
	Kind ConstraintKind `json:"kind"`
	What string         `json:"what,omitempty"` // the path or name that it is about; absent: everything
}

// ConstraintKind is what a constraint forbids.
type ConstraintKind string

// The kinds of constraints.
const (
	ConstraintLeave  ConstraintKind = "leave"     // do not touch What
	ConstraintDelete ConstraintKind = "no_delete" // delete nothing (of What)
	ConstraintRead   ConstraintKind = "read_only" // change nothing
	ConstraintFreeze ConstraintKind = "freeze"    // a code freeze: change nothing that others see
	ConstraintPlan   ConstraintKind = "plan_only" // say what you would do
	ConstraintLocal  ConstraintKind = "local"     // push, publish and deploy nothing
	ConstraintLift   ConstraintKind = "lift"      // what was said before does not hold any more: of the kind or the place that What names
)

// ConstraintKinds lists every ConstraintKind.
func ConstraintKinds() []string {
	return []string{
		string(ConstraintLeave), string(ConstraintDelete), string(ConstraintRead), string(ConstraintFreeze),
		string(ConstraintPlan), string(ConstraintLocal), string(ConstraintLift),
	}
}

// Bounds of what is kept of goals; they belong to FoldVersion. Names, words and
// scope only make policy milder, so the oldest is forgotten. Of constraints none
// is: see goalState.constrain.
const (
	maxNames       = 32
	maxWords       = 64
	maxConstraints = 24 // and one for each of ConstraintKinds
	maxScope       = 16
)

// goalState is what people said so far.
type goalState struct {
	Intents     []Intent     `json:"i,omitempty"` // of the latest prompt that has any
	Names       []string     `json:"n,omitempty"` // most recent last
	Words       string       `json:"w,omitempty"` // 8 digits each, most recent last
	Constraints []Constraint `json:"c,omitempty"`
	Scope       []string     `json:"s,omitempty"` // paths that a person added by hand
}

// foldGoal takes down what a prompt says.
func (h *History) foldGoal(g *Goal) {
	if g == nil {
		return
	}
	s := &h.Goals
	if known := knownWords(g.Intents, Intents()); len(known) > 0 {
		slices.Sort(known)
		s.Intents = slices.Compact(known)
	}
	for _, name := range g.Names {
		s.Names = keepLast(appendOnce(s.Names, truncateKey(strings.TrimPrefix(name, "./"))), maxNames)
	}
	s.Words = addDigits(s.Words, g.Words, maxWords)
	h.addMarks(labelPerson, g.Marks)
	if g.wantsChanges() {
		s.Constraints = slices.DeleteFunc(s.Constraints, func(c Constraint) bool { return c == Constraint{Kind: ConstraintRead} })
	}
	for _, c := range g.Constraints {
		s.constrain(c)
	}
	h.forgive(g)
}

// wantsChanges says that a prompt orders work on what is there. Whoever said
// before that nothing must be changed, only told, now says otherwise; a word about
// one thing, a freeze or a plan is not taken back by it.
func (g *Goal) wantsChanges() bool {
	return slices.ContainsFunc(g.Intents, func(i Intent) bool {
		return i == IntentFix || i == IntentAdd || i == IntentRefactor || i == IntentClean || i == IntentMigrate
	})
}

// constrain adds a constraint, or takes back what a later word lifts. Of more
// than maxConstraints that name something, the oldest becomes one that names
// nothing: what must not be done to a forgotten thing must be done to none, until
// a person lifts it.
func (s *goalState) constrain(c Constraint) {
	c.What = truncateKey(c.What)
	switch {
	case !slices.Contains(ConstraintKinds(), string(c.Kind)):
		return
	case c.Kind == ConstraintLift:
		s.Constraints = slices.DeleteFunc(s.Constraints, func(o Constraint) bool { return c.lifts(o) })
		return
	}
	s.Constraints = appendOnce(s.Constraints, c)
	if len(s.Constraints) > maxConstraints {
		s.generalise()
	}
}

// lifts says that a lift takes back another constraint: all of them where it
// names nothing, else those of a kind or of a place.
func (c Constraint) lifts(o Constraint) bool {
	return c.What == "" || o.What == c.What || string(o.Kind) == c.What
}

func (s *goalState) generalise() {
	oldest := slices.IndexFunc(s.Constraints, func(c Constraint) bool { return c.What != "" })
	kind := s.Constraints[oldest].Kind
	s.Constraints = appendOnce(slices.Delete(s.Constraints, oldest, oldest+1), Constraint{Kind: kind})
}

// known says that people said something that an action can be compared with.
func (s *goalState) known() bool { return len(s.Intents)+len(s.Names)+len(s.Words) > 0 }

// goalFacts compares an action with what people said.
func (h *History) goalFacts(a *Action) GoalFacts {
	s := &h.Goals
	f := GoalFacts{Known: s.known(), Names: int64(len(s.Names)), Intents: orEmpty(s.Intents), Constraints: s.restraints(a)}
	f.Named = slices.ContainsFunc(a.Effects, func(e Effect) bool { return e.Named })
	if n := len(a.Words); n > 0 {
		f.Words = Round6(float64(shared(a.Words, s.Words)) / float64(n))
	}
	return f
}

// restraints compares an action with what must not be done.
func (s *goalState) restraints(a *Action) []Restraint {
	list := []Restraint{}
	for _, c := range s.Constraints {
		touched := slices.ContainsFunc(a.Effects, func(e Effect) bool { return e.leavesSomething() && c.covers(&e) })
		list = append(list, Restraint{Kind: c.Kind, What: c.What, Touched: touched})
	}
	return list
}

// leavesSomething says that an effect is more than looking.
func (e *Effect) leavesSomething() bool {
	return e.Kind == EffectFileWrite || e.Kind == EffectFileDelete || e.Kind == EffectSystemCall || e.Kind == EffectNetwork && e.Egress
}

// covers says that a constraint is about the target of an effect: by its path,
// or by a word of its address or kind.
func (c Constraint) covers(e *Effect) bool {
	if c.What == "" || names(c.What, truncateKey(e.Place())) {
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

// named says that a person named the path of an effect, or a folder above it: as
// it is shown, in full, or by parts of it, as people do.
func (s *goalState) named(e *Effect) bool {
	place := e.Place()
	if place == "" {
		return false
	}
	return s.scoped(place) || s.means(place) || e.Host == "" && s.means(e.Target)
}

// means says that a person named a path or a folder above it. A name that was cut
// short stands for the whole path or a folder above it only.
func (s *goalState) means(path string) bool {
	if slices.ContainsFunc(s.Names, func(n string) bool { return names(n, path) }) {
		return true
	}
	return slices.ContainsFunc(upwards(strings.TrimPrefix(path, "./")), func(p string) bool {
		key := truncateKey(p)
		return key != p && slices.Contains(s.Names, key)
	})
}

// scoped says that a path lies in what a person added to the scope by hand.
func (s *goalState) scoped(path string) bool {
	if len(s.Scope) == 0 {
		return false
	}
	return slices.ContainsFunc(upwards(path), func(p string) bool { return slices.Contains(s.Scope, truncateKey(p)) })
}

// added says that an effect stays in what a person added to the scope. A target
// of which only the beginning is known may lead out of it again.
func (s *goalState) added(e *Effect) bool {
	return e.Host == "" && (e.Certainty == CertaintyExact || e.Certainty == CertaintyGlob) && e.Short != "" && s.scoped(e.Short)
}

// maxUpwards is how many folders up a path is looked at; below more of them, it
// counts as not named.
const maxUpwards = 40

// upwards lists a path and the folders above it.
func upwards(path string) []string {
	list := []string{path}
	for i := len(path) - 1; i > 0 && len(list) < maxUpwards; i-- {
		if path[i] == '/' {
			list = append(list, path[:i])
		}
	}
	if strings.HasPrefix(path, "/") {
		list = append(list, "/")
	}
	return list
}

// addScope takes down that a path belongs to what the session is about.
func (s *goalState) addScope(path string) {
	if path != "" {
		s.Scope = keepLast(appendOnce(s.Scope, truncateKey(path)), maxScope)
	}
}

// dropScope takes such a word back.
func (s *goalState) dropScope(path string) {
	s.Scope = slices.DeleteFunc(s.Scope, func(p string) bool { return p == path || p == truncateKey(path) })
}

// names says that a name stands for a path: it is the path, a folder above it,
// or parts of it that follow each other.
func names(name, path string) bool {
	name, path = strings.TrimPrefix(strings.TrimSuffix(name, "/"), "./"), strings.TrimPrefix(path, "./")
	if name == "" || name == "." || name == "~" {
		return false
	}
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") {
		return path == name || strings.HasPrefix(path, name+"/")
	}
	return strings.Contains("/"+path+"/", "/"+name+"/")
}

// shared counts the hashes of a list that are among others, 8 digits each.
func shared(list []string, among string) int {
	n := 0
	for _, w := range list {
		if hasDigits(among, w) {
			n++
		}
	}
	return n
}

// hashDigits is how much of a hash is kept.
const hashDigits = 8

// addDigits appends hashes to a row of them, each once and where it came last,
// and keeps the last n.
func addDigits(row string, hashes []string, n int) string {
	for _, h := range hashes {
		if len(h) < hashDigits || !plainASCII(h[:hashDigits]) {
			continue
		}
		if i := findDigits(row, h); i >= 0 {
			row = row[:i] + row[i+hashDigits:]
		}
		row += h[:hashDigits]
		row = row[max(0, len(row)-n*hashDigits):]
	}
	return row
}

func hasDigits(row, hash string) bool { return findDigits(row, hash) >= 0 }

// findDigits returns where a hash stands in a row of them, or -1.
func findDigits(row, hash string) int {
	if len(hash) < hashDigits {
		return -1
	}
	for i := 0; i+hashDigits <= len(row); i += hashDigits {
		if row[i:i+hashDigits] == hash[:hashDigits] {
			return i
		}
	}
	return -1
}

// appendOnce moves an element to the end of a list.
func appendOnce[T comparable](list []T, e T) []T {
	return append(slices.DeleteFunc(list, func(o T) bool { return o == e }), e)
}

// knownWords leaves out what is none of a closed vocabulary.
func knownWords[T ~string](list []T, all []string) []T {
	var known []T
	for _, w := range list {
		if slices.Contains(all, string(w)) {
			known = append(known, w)
		}
	}
	return known
}
