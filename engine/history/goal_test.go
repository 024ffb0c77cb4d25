package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// says is a person's prompt.
func (s *tale) says(g engine.Goal) *tale {
	s.add(&engine.Record{Kind: engine.KindPrompt, Phase: engine.PhasePrompt, Event: &engine.EventFacts{Goal: &g}})
	return s
}

// scope adds a path to what the session is about.
func (s *tale) scope(path string) *tale {
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlScope, Path: path}})
	return s
}

// mark is a hash of a string, as a classifier makes marks and words.
func mark(text string) string { return engine.HexSum([]byte(text))[:hashDigits] }

func marks(texts ...string) []string {
	var list []string
	for _, t := range texts {
		list = append(list, mark(t))
	}
	return list
}

// worded gives an action the words that say what it is about.
func worded(a engine.Action, words ...string) engine.Action {
	a.Words = marks(words...)
	return a
}

func TestGoalKnown(t *testing.T) {
	a := command("cat a", engine.EffectFileRead, "./a")
	for name, test := range map[string]struct {
		tale *tale
		want bool
	}{
		"nobody spoke":           {newTale(), false},
		"a prompt of no content": {newTale().end(engine.KindPrompt), false},
		"a prompt of no words":   {newTale().says(engine.Goal{}), false},
		"a constraint alone":     {newTale().says(engine.Goal{Constraints: []engine.Constraint{{Kind: engine.ConstraintRead}}}), false},
		"an intent":              {newTale().says(engine.Goal{Intents: []engine.Intent{engine.IntentFix}}), true},
		"a name":                 {newTale().says(engine.Goal{Names: []string{"a"}}), true},
		"a word":                 {newTale().says(engine.Goal{Words: marks("cart")}), true},
		"an intent of no kind":   {newTale().says(engine.Goal{Intents: []engine.Intent{"rule the world"}}), false},
		"said long before":       {newTale().says(engine.Goal{Words: marks("cart")}).says(engine.Goal{}), true},
	} {
		in := test.tale.next(a)
		if in.Goal.Known != test.want {
			t.Errorf("%s: known is %v, want %v", name, in.Goal.Known, test.want)
		}
		want := int64(0)
		if test.want {
			want = 1
		}
		if got := test.tale.asked(a).next(a, engine.Window{Name: "w", Last: 9}).History.Windows["w"].Goals; got != want {
			t.Errorf("%s: %d actions have a goal, want %d", name, got, want)
		}
	}
}

// A prompt is seen before it counts: its own goal is in the event.
func TestPromptSeesWhatWasBefore(t *testing.T) {
	s := newTale().says(engine.Goal{Intents: []engine.Intent{engine.IntentFix}})
	goal := engine.Goal{Intents: []engine.Intent{engine.IntentDeploy}, Constraints: []engine.Constraint{{Kind: engine.ConstraintFreeze}}}
	in := NewInput(&engine.Record{Kind: engine.KindPrompt, Phase: engine.PhasePrompt, Event: &engine.EventFacts{Goal: &goal}}, s.h, engine.View{})
	want := engine.GoalFacts{Known: true, Intents: []engine.Intent{engine.IntentFix}, Statements: []engine.StatementFacts{}, Constraints: []engine.ConstraintFacts{}}
	if d := cmp.Diff(want, in.Goal); d != "" {
		t.Error(d)
	}
	if in.Event.Goal == nil || in.Event.Goal.Intents[0] != engine.IntentDeploy {
		t.Errorf("the prompt's own goal is %+v", in.Event.Goal)
	}
}

func TestIntents(t *testing.T) {
	s := newTale().says(engine.Goal{Intents: []engine.Intent{engine.IntentTest, engine.IntentFix, engine.IntentTest, "nonsense"}})
	if d := cmp.Diff([]engine.Intent{engine.IntentFix, engine.IntentTest}, s.h.Goals.Intents); d != "" {
		t.Error(d)
	}
	s.says(engine.Goal{Names: []string{"a.go"}})
	if d := cmp.Diff([]engine.Intent{engine.IntentFix, engine.IntentTest}, s.h.Goals.Intents); d != "" {
		t.Errorf("a prompt without an intent: %s", d)
	}
	s.says(engine.Goal{Intents: []engine.Intent{engine.IntentClean}})
	if d := cmp.Diff([]engine.Intent{engine.IntentClean}, s.h.Goals.Intents); d != "" {
		t.Errorf("a prompt with another one: %s", d)
	}
}

// Next to each constraint stands what prompts asked for since it was said: policy
// says what takes it back. One that is said again holds again.
func TestAskedLater(t *testing.T) {
	only := []engine.Constraint{{Kind: engine.ConstraintRead}}
	asks := func(intents ...engine.Intent) engine.Goal { return engine.Goal{Intents: intents} }
	for name, test := range map[string]struct {
		tale *tale
		want []engine.Intent
	}{
		"nothing":             {newTale().says(engine.Goal{Constraints: only}).says(engine.Goal{}), []engine.Intent{}},
		"a question":          {newTale().says(engine.Goal{Constraints: only}).says(asks(engine.IntentRead)), []engine.Intent{engine.IntentRead}},
		"work":                {newTale().says(engine.Goal{Constraints: only}).says(asks(engine.IntentRead, engine.IntentFix)), []engine.Intent{engine.IntentFix, engine.IntentRead}},
		"in several prompts":  {newTale().says(engine.Goal{Constraints: only}).says(asks(engine.IntentFix)).says(asks(engine.IntentAdd, engine.IntentFix)), []engine.Intent{engine.IntentAdd, engine.IntentFix}},
		"in the same prompt":  {newTale().says(engine.Goal{Intents: []engine.Intent{engine.IntentFix}, Constraints: only}), []engine.Intent{}},
		"in one before":       {newTale().says(asks(engine.IntentFix)).says(engine.Goal{Constraints: only}), []engine.Intent{}},
		"said again with it":  {newTale().says(engine.Goal{Constraints: only}).says(engine.Goal{Intents: []engine.Intent{engine.IntentFix}, Constraints: only}), []engine.Intent{}},
		"said again after it": {newTale().says(engine.Goal{Constraints: only}).says(asks(engine.IntentFix)).says(engine.Goal{Constraints: only}), []engine.Intent{}},
		"not an intent":       {newTale().says(engine.Goal{Constraints: only}).says(asks("odd")), []engine.Intent{}},
	} {
		got := test.tale.next(edits("./a")).Goal.Constraints
		if len(got) != 1 || !slices.Equal(got[0].Later, test.want) {
			t.Errorf("%s: %+v, want %v", name, got, test.want)
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
		"bytes, not text":        {"\xff", "./\xff/a", true},
		"no path":                {"a", "", false},
	} {
		a := command("x", engine.EffectFileRead, test.path, func(e *engine.Effect) { e.Target = "/w/" + strings.TrimPrefix(test.path, "./") })
		if test.path == "" {
			a.Effects[0].Target = "a"
		}
		in := newTale().says(engine.Goal{Names: []string{test.said}, Intents: []engine.Intent{engine.IntentFix}}).next(a)
		if in.Goal.Named != test.want || in.Action.Effects[0].Named != test.want {
			t.Errorf("%s: named is %v and %v, want %v", name, in.Goal.Named, in.Action.Effects[0].Named, test.want)
		}
	}
}

// The same path on another machine was not meant.
func TestNamedElsewhere(t *testing.T) {
	a := command("x", engine.EffectFileWrite, "/etc/motd", func(e *engine.Effect) { e.Host = "ssh:db" })
	if newTale().says(engine.Goal{Names: []string{"/etc/motd"}}).next(a).Goal.Named {
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
		"next to a long one":   {long, long + "y/a", false},
		"the workspace":        {".", "./a/b", true},
		"everything":           {"/", "/etc/passwd", true},
		"nothing":              {"", "/etc/passwd", false},
		"no path":              {"/", "", false},
		"with a newline in it": {"/srv/a\nb", "/srv/a\nb/c", true},
	} {
		s := newTale().scope(test.scope)
		if got := s.next(command("x", engine.EffectFileWrite, test.path)).Goal.Named; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	s := newTale()
	for i := range 2 * maxScope {
		s.scope(fmt.Sprint("/srv/", i)).scope("/srv/0")
	}
	got := s.next(command("x", engine.EffectFileRead, "./a")).Session.Scope
	if len(got) != maxScope || got[maxScope-1] != "/srv/0" || got[0] != fmt.Sprint("/srv/", maxScope+1) {
		t.Errorf("of many paths, the scope holds %v", got)
	}
}

// A tool's output, an agent's own words, and the ledger's records of other
// sessions widen nothing.
func TestOnlyPeopleWidenTheScope(t *testing.T) {
	a := worded(command("x", engine.EffectFileWrite, "/srv/data"), "cart")
	s := newTale()
	goal := &engine.Goal{Names: []string{"/srv/data"}, Words: marks("cart"), Intents: []engine.Intent{engine.IntentFix}}
	s.add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: "c", Action: &a, Event: &engine.EventFacts{Goal: goal, Result: &engine.ResultFacts{Outcome: engine.OutcomeRan}}})
	s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Call: "d", Action: &a, Event: &engine.EventFacts{Goal: goal}})
	s.add(&engine.Record{Kind: engine.KindNote, Event: &engine.EventFacts{Goal: goal}})
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlScope, Path: "/srv/data", Of: "another"}})
	if in := s.next(a); in.Goal.Named || in.Goal.Known || in.Goal.Words != 0 || len(in.Session.Scope) > 0 {
		t.Errorf("%+v, %+v", in.Goal, in.Session.Scope)
	}
}

func TestGoalWords(t *testing.T) {
	s := newTale().says(engine.Goal{Words: marks("cart", "total", "wrong")})
	for words, want := range map[string]float64{"": 0, "cart": 1, "cart order": 0.5, "cart order total": 0.666667, "order": 0} {
		if got := s.next(worded(command("x", engine.EffectFileRead, "./a"), strings.Fields(words)...)).Goal.Words; got != want {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
	}
	for i := range maxWords {
		s.says(engine.Goal{Words: marks("cart", fmt.Sprint("other", i))})
	}
	if s.next(worded(command("x", engine.EffectFileRead, "./a"), "cart")).Goal.Words != 1 {
		t.Error("a word that was said again and again is forgotten")
	}
	if s.next(worded(command("x", engine.EffectFileRead, "./a"), "total")).Goal.Words != 0 {
		t.Error("a word that was said once is never forgotten")
	}
}

func TestConstraints(t *testing.T) {
	leave := func(what string) engine.Constraint {
		return engine.Constraint{Kind: engine.ConstraintLeave, What: what}
	}
	lift := func(what string) engine.Constraint { return engine.Constraint{Kind: engine.ConstraintLift, What: what} }
	readOnly := engine.Constraint{Kind: engine.ConstraintRead}
	for name, test := range map[string]struct {
		said []engine.Constraint
		want []engine.Constraint
	}{
		"none":                  {nil, []engine.Constraint{}},
		"two":                   {[]engine.Constraint{leave("a"), readOnly}, []engine.Constraint{leave("a"), readOnly}},
		"one twice":             {[]engine.Constraint{leave("a"), leave("b"), leave("a")}, []engine.Constraint{leave("b"), leave("a")}},
		"a kind revoked":        {[]engine.Constraint{{Kind: engine.ConstraintFreeze}, leave("src"), lift(string(engine.ConstraintFreeze))}, []engine.Constraint{leave("src")}},
		"of no kind":            {[]engine.Constraint{{Kind: "be nice"}}, []engine.Constraint{}},
		"revoked":               {[]engine.Constraint{leave("a"), leave("b"), lift("a")}, []engine.Constraint{leave("b")}},
		"all revoked":           {[]engine.Constraint{leave("a"), readOnly, lift("")}, []engine.Constraint{}},
		"another revoked":       {[]engine.Constraint{leave("a"), lift("b")}, []engine.Constraint{leave("a")}},
		"part of all is lifted": {[]engine.Constraint{readOnly, lift("a")}, []engine.Constraint{readOnly}},
		"and said again":        {[]engine.Constraint{leave("a"), lift(""), leave("a")}, []engine.Constraint{leave("a")}},
	} {
		s := newTale()
		for _, c := range test.said {
			s.says(engine.Goal{Constraints: []engine.Constraint{c}})
		}
		s.end(engine.KindStop).control(engine.ControlResume)
		if d := cmp.Diff(test.want, said(s.next(command("x", engine.EffectFileRead, "./a")))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestGoalOfTenThousandNames(t *testing.T) {
	var g engine.Goal
	for i := range 10_000 {
		g.Names = append(g.Names, fmt.Sprintf("dir/%d/%s", i, strings.Repeat("n", i%100)))
		g.Words, g.Marks = append(g.Words, mark(fmt.Sprint("w", i))), append(g.Marks, mark(fmt.Sprint("m", i)))
		g.Intents = append(g.Intents, engine.Intent(engine.Intents()[i%len(engine.Intents())]))
		g.Constraints = append(g.Constraints, engine.Constraint{Kind: engine.ConstraintLeave, What: fmt.Sprint("c", i)})
	}
	s := newTale().says(g)
	st := s.h.Goals
	if len(st.Names) != maxNames || len(st.Words) != hashDigits*maxWords || len(st.Intents) != len(engine.Intents()) || len(s.h.Marks[labelPerson]) != hashDigits*maxMarks {
		t.Errorf("%d names, %d bytes of words, %d intents, %d bytes of marks", len(st.Names), len(st.Words), len(st.Intents), len(s.h.Marks[labelPerson]))
	}
	if !s.next(command("x", engine.EffectFileRead, "./dir/9999/"+strings.Repeat("n", 99))).Goal.Named {
		t.Error("the latest name is forgotten")
	}
	testSteady(t, s.h)
}

// A row keeps the last hashes, each where it came last; what is not a hash stays out.
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

// said lists the constraints that an input holds.
func said(in engine.Input) []engine.Constraint {
	list := []engine.Constraint{}
	for _, r := range in.Goal.Constraints {
		list = append(list, engine.Constraint{Kind: r.Kind, What: r.What})
	}
	return list
}

// TestTouched: what must not be done is compared with what an action does.
func TestTouched(t *testing.T) {
	write := command("w", engine.EffectFileWrite, "./src/billing/a.go")
	read := command("r", engine.EffectFileRead, "./src/billing/a.go")
	drop := command("d", engine.EffectSystemCall, "")
	drop.Effects[0].Short, drop.Effects[0].Target = "", "postgres://db.example.com/production"
	for name, test := range map[string]struct {
		what string
		a    engine.Action
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
		s := newTale().says(engine.Goal{Constraints: []engine.Constraint{{Kind: engine.ConstraintLeave, What: test.what}}})
		if got := s.next(test.a).Goal.Constraints[0].Touched; got != test.want {
			t.Errorf("%s: touched is %v", name, got)
		}
	}
}

// A manual override of the scope applies to the place and all under it, but not to a
// path of which only the beginning is known; it can be revoked.
func TestScopeByHand(t *testing.T) {
	h := lenient()
	long := "/srv/" + strings.Repeat("long-", 30) + "docs"
	say := func(do, path string) {
		h.Append(&engine.Record{Kind: engine.KindControl, N: h.N + 1, Control: &engine.Control{Do: do, Path: path}})
	}
	scoped := func(e engine.Effect) bool {
		in := NewInput(&engine.Record{Action: &engine.Action{Effects: []engine.Effect{e}}}, h, engine.View{})
		return in.Action.Effects[0].Scoped
	}
	say(engine.ControlScope, "~/docs")
	say(engine.ControlScope, long)
	for e, want := range map[engine.Effect]bool{
		{Short: "~/docs", Certainty: engine.CertaintyExact}:                      true,
		{Short: "~/docs/a/b.txt", Certainty: engine.CertaintyExact}:              true,
		{Short: "~/docs/*.txt", Certainty: engine.CertaintyGlob}:                 true,
		{Short: long + "/a.txt", Certainty: engine.CertaintyExact}:               true,
		{Short: "~/docs2/a.txt", Certainty: engine.CertaintyExact}:               false,
		{Short: "~", Certainty: engine.CertaintyExact, Recursive: true}:          false,
		{Short: "~/docs/?", Certainty: engine.CertaintyPrefix}:                   false,
		{Short: "~/docs/a", Certainty: engine.CertaintyExact, Host: "ssh:web"}:   false,
		{Target: "https://example.com/~/docs", Certainty: engine.CertaintyExact}: false,
		{Short: "/srv/" + strings.Repeat("long-", 30), Certainty: "exact"}:       false,
	} {
		if got := scoped(e); got != want {
			t.Errorf("%q %s on %q is in the scope: %t, want %t", e.Short, e.Certainty, e.Host, got, want)
		}
	}
	say(engine.ControlUnscope, "~/docs")
	say(engine.ControlUnscope, long)
	if scoped(engine.Effect{Short: "~/docs", Certainty: engine.CertaintyExact}) || len(h.Goals.Scope) != 0 {
		t.Errorf("left in the scope: %v", h.Goals.Scope)
	}
}
