package engine

import (
	"path"
	"slices"
	"strings"
)

// Goal describes the request in a person's prompt, as far as single words show it without an
// understanding of the text. It keeps no text of the prompt except
// the names in it, masked.
type Goal struct {
	Intents     []Intent     `json:"intents,omitempty"`     // kinds of work requested, sorted
	Names       []string     `json:"names,omitempty"`       // paths, file names and quoted identifiers in the prompt, in order
	Words       []string     `json:"words,omitempty"`       // hashes of the prompt's words (8 hexadecimal digits), without inflections
	Marks       []string     `json:"marks,omitempty"`       // keyed hashes of distinctive texts that the person wrote, as in `action.marks`
	Mentions    []string     `json:"mentions,omitempty"`    // digests of words that can be the name of a program, a project or a site, and of hosts
	Statements  []Statement  `json:"statements,omitempty"`  // what the prompt forbids, orders, permits and lifts
	Unread      []string     `json:"unread,omitempty"`      // sentences that seem to forbid something and were not understood, masked and shortened; at most 8
	Agrees      string       `json:"agrees,omitempty"`      // the prompt agrees to the last question: yes, or the number of an option, and always after a space
	Resumes     bool         `json:"resumes,omitempty"`     // the prompt orders work, more than a plan or an answer
	Constraints []Constraint `json:"constraints,omitempty"` // what the prompt forbids, in records of earlier versions
}

// Asked is a question or a plan that a client put before the person for the agent, as far as an answer can permit something.
type Asked struct {
	MAC    string  `json:"mac"`              // keyed digest of the question or the plan: the same before it is answered, and after
	Offers []Offer `json:"offers,omitempty"` // what an answer orders; before it is answered only
}

// Offer is what an answer to a question orders.
type Offer struct {
	Choice    string    `json:"choice"`    // yes: the person agrees to the question or the plan; 1, 2, …: they choose this option
	Statement Statement `json:"statement"` // what that orders
}

// ChoiceYes is the choice of a person who agrees to what was asked.
const ChoiceYes = "yes"

// Forbids returns what is left of the goal of a prompt that nobody typed: it can only forbid. Nil: nothing is left.
func (g *Goal) Forbids() *Goal {
	if g == nil {
		return nil
	}
	said := slices.DeleteFunc(slices.Clone(g.Statements), func(s Statement) bool { return s.Kind != Forbids })
	list := slices.DeleteFunc(slices.Clone(g.Constraints), func(c Constraint) bool { return c.Kind == ConstraintLift })
	if len(said)+len(list) == 0 {
		return nil
	}
	return &Goal{Statements: said, Constraints: list}
}

// Standing is what the instruction files of a workspace and of the person forbid, such as CLAUDE.md: read when a session
// starts, and never a permission.
type Standing struct {
	MAC        string      `json:"mac"`                  // keyed digest of the files: equal while none of them changes
	Statements []Statement `json:"statements,omitempty"` // prohibitions, in the order of files and lines
	Marks      []string    `json:"marks,omitempty"`      // keyed hashes of distinctive texts of those that are trusted, as in `action.marks`
}

// MaxStanding is the number of prohibitions that are kept of all instruction files.
const MaxStanding = 16

// MaxStandingObjects is the number of objects that are kept of one of them.
const MaxStandingObjects = 3

// Intent is a kind of work that a person asks for.
type Intent string

// The intents.
const (
	IntentRead     Intent = "read"     // look, list, review, find out
	IntentExplain  Intent = "explain"  // explain how or why
	IntentFix      Intent = "fix"      // make something work again
	IntentAdd      Intent = "add"      // make something new
	IntentRefactor Intent = "refactor" // change the structure, not the behaviour
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

// Constraint is something that a person forbade.
type Constraint struct {
	Kind ConstraintKind `json:"kind"`           // what is forbidden, or lifted again
	What string         `json:"what,omitempty"` // path or name that the constraint is about; absent: everything
}

// ConstraintKind is what a constraint forbids.
type ConstraintKind string

// The kinds of constraints.
const (
	ConstraintLeave  ConstraintKind = "leave"     // do not touch `what`
	ConstraintDelete ConstraintKind = "no_delete" // delete nothing (of `what`)
	ConstraintRead   ConstraintKind = "read_only" // change nothing
	ConstraintFreeze ConstraintKind = "freeze"    // a code freeze: change nothing that others see
	ConstraintPlan   ConstraintKind = "plan_only" // only describe what would be done
	ConstraintLocal  ConstraintKind = "local"     // push, publish and deploy nothing
	ConstraintLift   ConstraintKind = "lift"      // lifts an earlier constraint, of the kind or at the place that it names
)

// ConstraintKinds lists every ConstraintKind.
func ConstraintKinds() []string {
	return []string{
		string(ConstraintLeave), string(ConstraintDelete), string(ConstraintRead), string(ConstraintFreeze),
		string(ConstraintPlan), string(ConstraintLocal), string(ConstraintLift),
	}
}

// Statement is something that a person said about what the agent may do.
type Statement struct {
	Kind    StatementKind `json:"kind"`              // what is said about the act
	Act     string        `json:"act"`               // what the statement is about, of the table of acts: commit, push, change, …
	Objects []string      `json:"objects,omitempty"` // paths, branches, packages, hosts, process ids, as written; absent: every object
	Until   string        `json:"until,omitempty"`   // how long it holds: asked, said, other, session; absent: until it is revoked, a permission for one act
	Never   bool          `json:"never,omitempty"`   // only words that name the act take it back
	Refers  bool          `json:"refers,omitempty"`  // its object is what was named last, such as "it"
	From    string        `json:"from,omitempty"`    // file and line that it was read from; absent: a prompt
	Text    string        `json:"text,omitempty"`    // the sentence, masked and shortened; absent: it is not kept
}

// StatementKind is what a statement does with an act.
type StatementKind string

// The kinds of statements.
const (
	Forbids StatementKind = "forbids"
	Permits StatementKind = "permits" // the agent may do it
	Orders  StatementKind = "orders"  // the agent is to do it
	Lifts   StatementKind = "lifts"   // what was forbidden no longer is
)

// StatementKinds lists every StatementKind.
func StatementKinds() []string {
	return []string{string(Forbids), string(Permits), string(Orders), string(Lifts)}
}

// How long a statement holds.
const (
	UntilAsked   = "asked"   // the person wants to be asked first; of a permission: not all of its words were understood
	UntilSaid    = "said"    // until the person says so
	UntilOther   = "other"   // until something that the statement does not say clearly
	UntilSession = "session" // a permission for the rest of the session
)

// Same reports whether two statements say the same, whatever their sentences are.
func (s Statement) Same(o Statement) bool {
	return s.Kind == o.Kind && s.Act == o.Act && s.Until == o.Until && slices.Equal(s.Objects, o.Objects)
}

// MentionOf returns the digest of a name that a person mentions: print-farm and PrintFarm are the same name. Empty: the name is
// too short to tell anything.
func MentionOf(name string) string {
	name = strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(name))
	if len(name) < 2 || strings.Trim(name, "0123456789") == "" {
		return ""
	}
	return HexSum([]byte("mention\x00" + name))[:16]
}

// HostMentionOf returns the digest that Goal.Mentions has for a host that the person names.
func HostMentionOf(host string) string { return HexSum([]byte("host\x00" + host))[:16] }

// HostIn returns the host in an address as people and commands write it: a host, user@host, host:path, a URL; in lower case.
func HostIn(address string) string {
	s := strings.ToLower(address)
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		s = s[:i]
	}
	s = s[strings.LastIndexByte(s, '@')+1:]
	if strings.Count(s, ":") == 1 {
		s, _, _ = strings.Cut(s, ":")
	}
	return strings.TrimSuffix(s, ".")
}

// TimedOf returns the digest that Goal.Mentions has besides that of a name, if the person wants what has the name to run at
// certain times.
func TimedOf(name string) string {
	d := MentionOf(name)
	if d == "" {
		return ""
	}
	return HexSum([]byte("timed\x00" + d))[:16]
}

// Timed reports whether a person wants what has the name of a file or a unit to run at certain times.
func Timed(mentions []string, file string) bool {
	return slices.ContainsFunc(namesIn(path.Base(file)), func(name string) bool { return slices.Contains(mentions, TimedOf(name)) })
}

// Mentioned returns the outermost folder on a path, as in Effect.Short, or the file itself, whose name is among mentions; empty:
// there is none. A name counts without the dot before it, and without what marks a file as settings: .zshrc is zsh, sway.conf is sway.
func Mentioned(mentions []string, short string) string {
	at := 0
	for part := range strings.SplitSeq(short, "/") {
		at += len(part)
		if slices.ContainsFunc(namesIn(part), func(name string) bool { return slices.Contains(mentions, MentionOf(name)) }) {
			return short[:at]
		}
		at++
	}
	return ""
}

// settingsEnds are what names of settings end in after the name of the program.
var settingsEnds = []string{"rc", "_config", "-config"}

// namesIn returns the names that a folder or a file can stand for.
func namesIn(part string) []string {
	name := strings.TrimPrefix(part, ".")
	if name == "" || name == "~" || name == "?" {
		return nil
	}
	list := []string{name}
	for ext := path.Ext(name); ext != "" && ext != name; ext = path.Ext(name) {
		name = strings.TrimSuffix(name, ext)
		list = append(list, name)
	}
	for _, end := range settingsEnds {
		if short, ok := strings.CutSuffix(name, end); ok && len(short) > 1 {
			list = append(list, short)
		}
	}
	return list
}
