package engine

import (
	"slices"
	"strings"
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
	ConstraintLift   ConstraintKind = "lift"      // what was said before does not hold any more
)

// ConstraintKinds lists every ConstraintKind.
func ConstraintKinds() []string {
	return []string{
		string(ConstraintLeave), string(ConstraintDelete), string(ConstraintRead), string(ConstraintFreeze),
		string(ConstraintPlan), string(ConstraintLocal), string(ConstraintLift),
	}
}

// Bounds of what is kept of goals; they belong to FoldVersion. Constraints are
// never forgotten for names or words.
const (
	maxNames       = 40
	maxWords       = 64
	maxConstraints = 24
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
		s.Intents = known
	}
	for _, name := range g.Names {
		s.Names = keepLast(appendOnce(s.Names, truncateKey(name)), maxNames)
	}
	s.Words = addDigits(s.Words, g.Words, maxWords)
	h.addMarks(labelPerson, g.Marks)
	for _, c := range g.Constraints {
		s.constrain(c)
	}
}

// constrain adds a constraint, or takes back what a later word lifts.
func (s *goalState) constrain(c Constraint) {
	c.What = truncateKey(c.What)
	switch {
	case !slices.Contains(ConstraintKinds(), string(c.Kind)):
		return
	case c.Kind == ConstraintLift:
		s.Constraints = slices.DeleteFunc(s.Constraints, func(o Constraint) bool { return c.What == "" || o.What == c.What })
	case len(s.Constraints) < maxConstraints:
		s.Constraints = appendOnce(s.Constraints, c)
	}
}

// goalFacts compares an action with what people said.
func (h *History) goalFacts(a *Action) GoalFacts {
	s := &h.Goals
	f := GoalFacts{Known: h.Prompts > 0, Intents: orEmpty(s.Intents), Constraints: orEmpty(s.Constraints)}
	f.Named = slices.ContainsFunc(a.Effects, func(e Effect) bool { return e.Named })
	f.Words = Round6(share(a.Words, s.Words))
	return f
}

// named says that a person named a path, or a folder above it: by the end of
// the path where it has no slash in front, as people do.
func (s *goalState) named(place string) bool {
	if place == "" {
		return false
	}
	path := truncateKey(place)
	return slices.ContainsFunc(s.Names, func(n string) bool { return names(n, path) }) || s.scoped(path)
}

// scoped says that a path lies in what a person added to the scope by hand.
func (s *goalState) scoped(path string) bool {
	return slices.ContainsFunc(s.Scope, func(n string) bool { return path == n || strings.HasPrefix(path, strings.TrimSuffix(n, "/")+"/") })
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
	i := strings.Index("/"+path+"/", "/"+name+"/")
	return i >= 0
}

// share is the part of a list of hashes that is among others, 8 digits each.
func share(list []string, among string) float64 {
	if len(list) == 0 {
		return 0
	}
	n := 0
	for _, w := range list {
		if hasDigits(among, w) {
			n++
		}
	}
	return float64(n) / float64(len(list))
}

// hashDigits is how much of a hash is kept.
const hashDigits = 8

// addDigits appends hashes to a row of them, each once, and keeps the last n.
func addDigits(row string, hashes []string, n int) string {
	for _, h := range hashes {
		if len(h) < hashDigits || !plainASCII(h[:hashDigits]) || hasDigits(row, h) {
			continue
		}
		row += h[:hashDigits]
	}
	return row[max(0, len(row)-n*hashDigits):]
}

func hasDigits(row, hash string) bool {
	if len(hash) < hashDigits {
		return false
	}
	for i := 0; i+hashDigits <= len(row); i += hashDigits {
		if row[i:i+hashDigits] == hash[:hashDigits] {
			return true
		}
	}
	return false
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
