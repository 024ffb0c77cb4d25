package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// says is a person's prompt.
func (s *tale) says(g Goal) *tale {
	s.add(&Record{Kind: KindPrompt, Phase: PhasePrompt, Event: &EventFacts{Goal: &g}})
	return s
}

// scope adds a path to what the session is about.
func (s *tale) scope(path string) *tale {
	s.add(&Record{Kind: KindControl, Control: &Control{Do: ControlScope, Path: path}})
	return s
}

// mark is a hash of a text, as a classifier makes marks and words.
func mark(text string) string { return hexSum([]byte(text))[:hashDigits] }

func marks(texts ...string) []string {
	var list []string
	for _, t := range texts {
		list = append(list, mark(t))
	}
	return list
}

// worded gives an action the words that say what it is about.
func worded(a Action, words ...string) Action {
	a.Words = marks(words...)
	return a
}

func TestGoalKnown(t *testing.T) {
	a := command("cat a", EffectFileRead, "./a")
	for name, test := range map[string]struct {
		tale *tale
		want bool
	}{
		"nobody spoke":           {newTale(), false},
		"a prompt of no content": {newTale().end(KindPrompt), false},
		"a prompt of no words":   {newTale().says(Goal{}), false},
		"a constraint alone":     {newTale().says(Goal{Constraints: []Constraint{{Kind: ConstraintRead}}}), false},
		"an intent":              {newTale().says(Goal{Intents: []Intent{IntentFix}}), true},
		"a name":                 {newTale().says(Goal{Names: []string{"a"}}), true},
		"a word":                 {newTale().says(Goal{Words: marks("cart")}), true},
		"an intent of no kind":   {newTale().says(Goal{Intents: []Intent{"rule the world"}}), false},
		"said long before":       {newTale().says(Goal{Words: marks("cart")}).says(Goal{}), true},
	} {
		in := test.tale.next(a)
		if in.Goal.Known != test.want {
			t.Errorf("%s: known is %v, want %v", name, in.Goal.Known, test.want)
		}
		want := int64(0)
		if test.want {
			want = 1
		}
		if got := test.tale.asked(a).next(a, Window{Name: "w", Last: 9}).History.Windows["w"].Goals; got != want {
			t.Errorf("%s: %d actions have a goal, want %d", name, got, want)
		}
	}
}

// A prompt is seen before it counts: its own goal is in the event.
func TestPromptSeesWhatWasBefore(t *testing.T) {
	s := newTale().says(Goal{Intents: []Intent{IntentFix}})
	goal := Goal{Intents: []Intent{IntentDeploy}, Constraints: []Constraint{{Kind: ConstraintFreeze}}}
	in := NewInput(&Record{Kind: KindPrompt, Phase: PhasePrompt, Event: &EventFacts{Goal: &goal}}, s.h, View{})
	want := GoalFacts{Known: true, Intents: []Intent{IntentFix}, Constraints: []Restraint{}}
	if d := cmp.Diff(want, in.Goal); d != "" {
		t.Error(d)
	}
	if in.Event.Goal == nil || in.Event.Goal.Intents[0] != IntentDeploy {
		t.Errorf("the prompt's own goal is %+v", in.Event.Goal)
	}
}

func TestIntents(t *testing.T) {
	s := newTale().says(Goal{Intents: []Intent{IntentTest, IntentFix, IntentTest, "nonsense"}})
	if d := cmp.Diff([]Intent{IntentFix, IntentTest}, s.h.Goals.Intents); d != "" {
		t.Error(d)
	}
	s.says(Goal{Names: []string{"a.go"}})
	if d := cmp.Diff([]Intent{IntentFix, IntentTest}, s.h.Goals.Intents); d != "" {
		t.Errorf("a prompt without an intent: %s", d)
	}
	s.says(Goal{Intents: []Intent{IntentClean}})
	if d := cmp.Diff([]Intent{IntentClean}, s.h.Goals.Intents); d != "" {
		t.Errorf("a prompt with another one: %s", d)
	}
}

// An order to change something ends "change nothing" of an earlier prompt, and
// nothing else that was said; in one prompt, both hold.
func TestOrderAfterReadOnly(t *testing.T) {
	only := []Constraint{{Kind: ConstraintRead}}
	all := append(only, Constraint{ConstraintLeave, "a"}, Constraint{Kind: ConstraintFreeze}, Constraint{Kind: ConstraintPlan}, Constraint{ConstraintRead, "b"}, Constraint{Kind: ConstraintLocal})
	for name, test := range map[string]struct {
		first, then Goal
		want        []Constraint
	}{
		"a question":        {Goal{Constraints: only}, Goal{Intents: []Intent{IntentExplain, IntentRead}}, only},
		"tests are run":     {Goal{Constraints: only}, Goal{Intents: []Intent{IntentTest}}, only},
		"nothing":           {Goal{Constraints: only}, Goal{}, only},
		"a fix":             {Goal{Constraints: only}, Goal{Intents: []Intent{IntentFix, IntentRead}}, []Constraint{}},
		"an addition":       {Goal{Constraints: only}, Goal{Intents: []Intent{IntentAdd}}, []Constraint{}},
		"said again":        {Goal{Constraints: only}, Goal{Intents: []Intent{IntentFix}, Constraints: only}, only},
		"both in one":       {Goal{Intents: []Intent{IntentFix}, Constraints: only}, Goal{}, only},
		"what else is said": {Goal{Constraints: all}, Goal{Intents: []Intent{IntentClean}}, all[1:]},
	} {
		if d := cmp.Diff(test.want, newTale().says(test.first).says(test.then).h.Goals.Constraints); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestNamed(t *testing.T) {
	long := "./" + strings.Repeat("deep/", 20)
	for name, test := range map[string]struct {
		said, path string
		want       bool
	}{
		"the path":               {"src/cart.go", "./src/cart.go", true},
		"as it is shown":         {"./src/cart.go", "./src/cart.go", true},
		"its end":                {"cart.go", "./src/cart.go", true},
		"its end, of a long one": {"cart.go", long + "cart.go", true},
		"a folder":               {"src", "./src/cart.go", true},
		"a folder with a slash":  {"src/", "./src/cart.go", true},
		"a folder inside":        {"src/shop", "./web/src/shop/cart.go", true},
		"a part of a name":       {"cart", "./src/cart.go", false},
		"the beginning of one":   {"src/car", "./src/cart.go", false},
		"another":                {"order.go", "./src/cart.go", false},
		"in full":                {"/w/src/cart.go", "./src/cart.go", true},
		"a folder in full":       {"/w/src", "./src/cart.go", true},
		"another in full":        {"/w/sr", "./src/cart.go", false},
		"at home":                {"~/notes", "~/notes/a", true},
		"home itself":            {"~", "~/notes/a", false},
		"the root":               {"/", "/etc/passwd", false},
		"here":                   {".", "./src/cart.go", false},
		"nothing":                {"", "./src/cart.go", false},
		"a newline":              {"a\nb", "./a\nb", true},
		"bytes that are no text": {"\xff", "./\xff/a", true},
		"no path":                {"a", "", false},
	} {
		a := command("x", EffectFileRead, test.path, func(e *Effect) { e.Target = "/w/" + strings.TrimPrefix(test.path, "./") })
		if test.path == "" {
			a.Effects[0].Target = "a"
		}
		in := newTale().says(Goal{Names: []string{test.said}, Intents: []Intent{IntentFix}}).next(a)
		if in.Goal.Named != test.want || in.Action.Effects[0].Named != test.want {
			t.Errorf("%s: named is %v and %v, want %v", name, in.Goal.Named, in.Action.Effects[0].Named, test.want)
		}
	}
}

// The same path on another machine was not meant.
func TestNamedElsewhere(t *testing.T) {
	a := command("x", EffectFileWrite, "/etc/motd", func(e *Effect) { e.Host = "ssh:db" })
	if newTale().says(Goal{Names: []string{"/etc/motd"}}).next(a).Goal.Named {
		t.Error("a path of another machine counts as named")
	}
}

func TestScope(t *testing.T) {
	long := "/srv/" + strings.Repeat("x", 80)
	for name, test := range map[string]struct {
		scope, path string
		want        bool
	}{
		"the path":             {"/srv/data", "/srv/data", true},
		"below":                {"/srv/data", "/srv/data/a/b", true},
		"beside":               {"/srv/data", "/srv/database", false},
		"above":                {"/srv/data", "/srv", false},
		"below a long one":     {long, long + "/a", true},
		"beside a long one":    {long, long + "y/a", false},
		"the workspace":        {".", "./a/b", true},
		"everything":           {"/", "/etc/passwd", true},
		"nothing":              {"", "/etc/passwd", false},
		"no path":              {"/", "", false},
		"with a newline in it": {"/srv/a\nb", "/srv/a\nb/c", true},
	} {
		s := newTale().scope(test.scope)
		if got := s.next(command("x", EffectFileWrite, test.path)).Goal.Named; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	s := newTale()
	for i := range 2 * maxScope {
		s.scope(fmt.Sprint("/srv/", i)).scope("/srv/0")
	}
	got := s.next(command("x", EffectFileRead, "./a")).Session.Scope
	if len(got) != maxScope || got[maxScope-1] != "/srv/0" || got[0] != fmt.Sprint("/srv/", maxScope+1) {
		t.Errorf("of many paths, the scope holds %v", got)
	}
}

// A tool's output, an agent's own words, and the ledger's records of other
// sessions widen nothing.
func TestOnlyPeopleWidenTheScope(t *testing.T) {
	a := worded(command("x", EffectFileWrite, "/srv/data"), "cart")
	s := newTale()
	goal := &Goal{Names: []string{"/srv/data"}, Words: marks("cart"), Intents: []Intent{IntentFix}}
	s.add(&Record{Kind: KindPost, Phase: PhasePost, Call: "c", Action: &a, Event: &EventFacts{Goal: goal, Result: &ResultFacts{Outcome: OutcomeRan}}})
	s.add(&Record{Kind: KindPre, Phase: PhasePre, Call: "d", Action: &a, Event: &EventFacts{Goal: goal}})
	s.add(&Record{Kind: KindNote, Event: &EventFacts{Goal: goal}})
	s.add(&Record{Kind: KindControl, Control: &Control{Do: ControlScope, Path: "/srv/data", Of: "another"}})
	if in := s.next(a); in.Goal.Named || in.Goal.Known || in.Goal.Words != 0 || len(in.Session.Scope) > 0 {
		t.Errorf("%+v, %+v", in.Goal, in.Session.Scope)
	}
}

func TestGoalWords(t *testing.T) {
	s := newTale().says(Goal{Words: marks("cart", "total", "wrong")})
	for words, want := range map[string]float64{"": 0, "cart": 1, "cart order": 0.5, "cart order total": 0.666667, "order": 0} {
		if got := s.next(worded(command("x", EffectFileRead, "./a"), strings.Fields(words)...)).Goal.Words; got != want {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
	}
	for i := range maxWords {
		s.says(Goal{Words: marks("cart", fmt.Sprint("other", i))})
	}
	if s.next(worded(command("x", EffectFileRead, "./a"), "cart")).Goal.Words != 1 {
		t.Error("a word that was said again and again is forgotten")
	}
	if s.next(worded(command("x", EffectFileRead, "./a"), "total")).Goal.Words != 0 {
		t.Error("a word that was said once is never forgotten")
	}
}

func TestConstraints(t *testing.T) {
	leave := func(what string) Constraint { return Constraint{Kind: ConstraintLeave, What: what} }
	lift := func(what string) Constraint { return Constraint{Kind: ConstraintLift, What: what} }
	readOnly := Constraint{Kind: ConstraintRead}
	for name, test := range map[string]struct {
		said []Constraint
		want []Constraint
	}{
		"none":                  {nil, []Constraint{}},
		"two":                   {[]Constraint{leave("a"), readOnly}, []Constraint{leave("a"), readOnly}},
		"one twice":             {[]Constraint{leave("a"), leave("b"), leave("a")}, []Constraint{leave("b"), leave("a")}},
		"of no kind":            {[]Constraint{{Kind: "be nice"}}, []Constraint{}},
		"taken back":            {[]Constraint{leave("a"), leave("b"), lift("a")}, []Constraint{leave("b")}},
		"all taken back":        {[]Constraint{leave("a"), readOnly, lift("")}, []Constraint{}},
		"another taken back":    {[]Constraint{leave("a"), lift("b")}, []Constraint{leave("a")}},
		"part of all is lifted": {[]Constraint{readOnly, lift("a")}, []Constraint{readOnly}},
		"and said again":        {[]Constraint{leave("a"), lift(""), leave("a")}, []Constraint{leave("a")}},
	} {
		s := newTale()
		for _, c := range test.said {
			s.says(Goal{Constraints: []Constraint{c}})
		}
		s.end(KindStop).control(ControlResume)
		if d := cmp.Diff(test.want, said(s.next(command("x", EffectFileRead, "./a")))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A constraint that is forgotten holds for everything, until it is taken back.
func TestConstraintsAreNotForgotten(t *testing.T) {
	s := newTale()
	for i := range 10 * maxConstraints {
		kind := ConstraintKind(ConstraintKinds()[i%6])
		s.says(Goal{Constraints: []Constraint{{Kind: kind, What: fmt.Sprint("file", i)}}, Names: []string{fmt.Sprint("name", i)}})
		list := s.h.Goals.Constraints
		for j := range i + 1 {
			kind, what := ConstraintKind(ConstraintKinds()[j%6]), fmt.Sprint("file", j)
			if !contains(list, Constraint{kind, what}) && !contains(list, Constraint{kind, ""}) {
				t.Fatalf("after %d constraints, number %d does not hold: %v", i+1, j, list)
			}
		}
		if len(list) > maxConstraints+len(ConstraintKinds()) {
			t.Fatalf("%d constraints are kept", len(list))
		}
	}
	if s.says(Goal{Constraints: []Constraint{{Kind: ConstraintLift}}}); len(s.h.Goals.Constraints) > 0 {
		t.Errorf("what a person took back is %v", s.h.Goals.Constraints)
	}
}

func contains(list []Constraint, c Constraint) bool {
	for _, o := range list {
		if o == c {
			return true
		}
	}
	return false
}

func TestGoalOfTenThousandNames(t *testing.T) {
	var g Goal
	for i := range 10_000 {
		g.Names = append(g.Names, fmt.Sprintf("dir/%d/%s", i, strings.Repeat("n", i%100)))
		g.Words, g.Marks = append(g.Words, mark(fmt.Sprint("w", i))), append(g.Marks, mark(fmt.Sprint("m", i)))
		g.Intents = append(g.Intents, Intent(Intents()[i%len(Intents())]))
		g.Constraints = append(g.Constraints, Constraint{ConstraintLeave, fmt.Sprint("c", i)})
	}
	s := newTale().says(g)
	st := s.h.Goals
	if len(st.Names) != maxNames || len(st.Words) != hashDigits*maxWords || len(st.Intents) != len(Intents()) || len(s.h.Marks[labelPerson]) != hashDigits*maxMarks {
		t.Errorf("%d names, %d bytes of words, %d intents, %d bytes of marks", len(st.Names), len(st.Words), len(st.Intents), len(s.h.Marks[labelPerson]))
	}
	if !s.next(command("x", EffectFileRead, "./dir/9999/"+strings.Repeat("n", 99))).Goal.Named {
		t.Error("the latest name is forgotten")
	}
	testSteady(t, s.h)
}

// A row keeps the last hashes, each where it came last; what is no hash stays out.
func TestAddDigits(t *testing.T) {
	const a, b, c = "aaaaaaaa", "bbbbbbbb", "cccccccc"
	for name, test := range map[string]struct {
		row    string
		hashes []string
		want   string
	}{
		"nothing": {a, nil, a}, "one more": {a, []string{b}, a + b}, "one too many": {a + b, []string{c}, b + c},
		"again": {a + b, []string{a, c}, a + c}, "longer ones": {"", []string{a + b}, a}, "short ones": {a, []string{"b"}, a},
		"no digits": {a, []string{"\"\n\xff\x00bbbb"}, a},
	} {
		if got := addDigits(test.row, test.hashes, 2); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestLiftOfAKind: a person says which kind of word does not hold any more.
func TestLiftOfAKind(t *testing.T) {
	var s goalState
	for _, c := range []Constraint{
		{Kind: ConstraintFreeze}, {Kind: ConstraintLeave, What: "src"}, {Kind: ConstraintLift, What: string(ConstraintFreeze)},
	} {
		s.constrain(c)
	}
	if d := cmp.Diff([]Constraint{{Kind: ConstraintLeave, What: "src"}}, s.Constraints); d != "" {
		t.Error(d)
	}
}

// said lists the constraints that an input holds.
func said(in Input) []Constraint {
	list := []Constraint{}
	for _, r := range in.Goal.Constraints {
		list = append(list, Constraint{Kind: r.Kind, What: r.What})
	}
	return list
}

// TestTouched: what must not be done is compared with what an action does.
func TestTouched(t *testing.T) {
	write := command("w", EffectFileWrite, "./src/billing/a.go")
	read := command("r", EffectFileRead, "./src/billing/a.go")
	drop := command("d", EffectSystemCall, "")
	drop.Effects[0].Short, drop.Effects[0].Target = "", "postgres://db.example.com/production"
	for name, test := range map[string]struct {
		what string
		a    Action
		want bool
	}{
		"a folder above":   {"src/billing", write, true},
		"a part of it":     {"billing", write, true},
		"another":          {"src/cart", write, false},
		"only read":        {"src/billing", read, false},
		"anything":         {"", write, true},
		"a word of a name": {"production", drop, true},
		"part of a word":   {"product", drop, false},
	} {
		s := newTale().says(Goal{Constraints: []Constraint{{Kind: ConstraintLeave, What: test.what}}})
		if got := s.next(test.a).Goal.Constraints[0].Touched; got != test.want {
			t.Errorf("%s: touched is %v", name, got)
		}
	}
}

// A person's word about the scope holds for the place and all below it, and for
// nothing of which only the beginning is known; it can be taken back.
func TestScopeByHand(t *testing.T) {
	h := NewHistory()
	long := "/srv/" + strings.Repeat("long-", 30) + "docs"
	say := func(do, path string) {
		h.Append(&Record{Kind: KindControl, N: h.N + 1, Control: &Control{Do: do, Path: path}})
	}
	scoped := func(e Effect) bool {
		in := NewInput(&Record{Action: &Action{Effects: []Effect{e}}}, h, View{})
		return in.Action.Effects[0].Scoped
	}
	say(ControlScope, "~/docs")
	say(ControlScope, long)
	for e, want := range map[Effect]bool{
		{Short: "~/docs", Certainty: CertaintyExact}:                       true,
		{Short: "~/docs/a/b.txt", Certainty: CertaintyExact}:               true,
		{Short: "~/docs/*.txt", Certainty: CertaintyGlob}:                  true,
		{Short: long + "/a.txt", Certainty: CertaintyExact}:                true,
		{Short: "~/docs2/a.txt", Certainty: CertaintyExact}:                false,
		{Short: "~", Certainty: CertaintyExact, Recursive: true}:           false,
		{Short: "~/docs/?", Certainty: CertaintyPrefix}:                    false,
		{Short: "~/docs/a", Certainty: CertaintyExact, Host: "ssh:web"}:    false,
		{Target: "https://example.com/~/docs", Certainty: CertaintyExact}:  false,
		{Short: "/srv/" + strings.Repeat("long-", 30), Certainty: "exact"}: false,
	} {
		if got := scoped(e); got != want {
			t.Errorf("%q %s on %q is in the scope: %t, want %t", e.Short, e.Certainty, e.Host, got, want)
		}
	}
	say(ControlUnscope, "~/docs")
	say(ControlUnscope, long)
	if scoped(Effect{Short: "~/docs", Certainty: CertaintyExact}) || len(h.Goals.Scope) != 0 {
		t.Errorf("left in the scope: %v", h.Goals.Scope)
	}
}
