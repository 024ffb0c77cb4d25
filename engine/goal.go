package engine

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
