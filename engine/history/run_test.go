package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// pauses lets time pass.
func (s *tale) pauses(d time.Duration) *tale {
	s.t += d.Milliseconds()
	return s
}

// lost ends the agent's turn: of its calls nothing more is reported.
func (s *tale) lost() *tale { return s.end(engine.KindStop) }

// failedBy is a call that failed, with a kind of trouble.
func (s *tale) failedBy(a engine.Action, trouble engine.Trouble) *tale {
	return s.ended(a, &engine.ResultFacts{Outcome: engine.OutcomeFailed, Class: "e", Trouble: trouble})
}

func on(path string, kind engine.EffectKind, change ...func(*engine.Effect)) engine.Action {
	return command(string(kind)+" "+path, kind, path, change...)
}

func reads(path string) engine.Action { return on(path, engine.EffectFileRead) }

func edits(path string, change ...func(*engine.Effect)) engine.Action {
	return on(path, engine.EffectFileWrite, change...)
}

func deletes(path string, change ...func(*engine.Effect)) engine.Action {
	return on(path, engine.EffectFileDelete, change...)
}

// done runs actions one after another, each with a result of its own.
func (s *tale) done(list ...engine.Action) *tale {
	for i, a := range list {
		s.ran(a, fmt.Sprint(s.h.N, i))
	}
	return s
}

func (s *tale) window(a engine.Action) engine.WindowFacts {
	return s.next(a, engine.Window{Name: "w", Last: 20}).History.Windows["w"]
}

func TestSame(t *testing.T) {
	a, b := reads("./a"), reads("./b")
	for name, test := range map[string]struct {
		tale *tale
		want int64
	}{
		"a person writes":          {newTale().ran(a, "x").ran(a, "x").end(engine.KindPrompt), 1},
		"the first":                {newTale(), 1},
		"another":                  {newTale().ran(b, "x"), 1},
		"three times":              {newTale().ran(a, "x").ran(a, "x"), 3},
		"with others between":      {newTale().ran(a, "x").ran(b, "y").ran(a, "x").ran(b, "z"), 3},
		"the results differ":       {newTale().ran(a, "x").ran(a, "y"), 2},
		"…and came back":           {newTale().ran(a, "x").ran(a, "y").ran(a, "x"), 2},
		"it fails the same way":    {newTale().failed(a, "e").failed(a, "e").failed(a, "e"), 4},
		"denied each time":         {newTale().answered(a, engine.Block).answered(a, engine.Block), 1},
		"ran, then denied":         {newTale().ran(a, "x").answered(a, engine.Block), 2},
		"they are all running":     {newTale().asked(a).asked(a).asked(a), 1},
		"…by the end of the turn":  {newTale().asked(a).asked(a).lost(), 3},
		"one of them is running":   {newTale().ran(a, "x").asked(a).ran(a, "x"), 3},
		"…between two that differ": {newTale().ran(a, "x").asked(a).ran(a, "y"), 2},
		"of another agent":         {newTale().by("sub").ran(a, "x").ran(a, "x").by(""), 1},
		"long ago":                 {times(newTale().ran(a, "x").ran(a, "x"), 20), 1},
	} {
		if got := test.tale.window(a).Same; got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	bare := engine.Action{Types: []engine.Type{engine.TypeFileRead}}
	if got := newTale().asked(bare).asked(bare).window(bare).Same; got != 1 {
		t.Errorf("calls that cannot be recognised are the same: %d", got)
	}
}

// What was changed since the call was made before may well change its result: tests
// that are run after each edit are not a loop.
func TestSameAfterChanges(t *testing.T) {
	check, other := reads("./a"), reads("./b")
	turn := func(path, from, into string) engine.Action {
		a := command("edit "+path+from+into, engine.EffectFileWrite, path)
		a.Contents = map[string]engine.ContentFacts{"old_string": {MAC: engine.HexSum([]byte(from))}, "new_string": {MAC: engine.HexSum([]byte(into))}}
		return a
	}
	write := func(print, path, text string) engine.Action {
		a := command(print, engine.EffectFileWrite, path)
		a.Contents = map[string]engine.ContentFacts{"content": {MAC: engine.HexSum([]byte(text))}}
		return a
	}
	restart := command("restart", engine.EffectSystemCall, "", func(e *engine.Effect) { e.Target, e.Location = "nginx", "" })
	checked := func() *tale { return newTale().ran(check, "x").ran(check, "x") }
	between := func(steps ...func(*tale)) *tale {
		s := newTale()
		for _, step := range steps {
			s.ran(check, "x")
			step(s)
		}
		return s
	}
	run := func(a engine.Action) func(*tale) { return func(s *tale) { s.ran(a, "done") } }
	ask := func(a engine.Action) func(*tale) { return func(s *tale) { s.asked(a) } }
	fail := func(a engine.Action) func(*tale) { return func(s *tale) { s.failed(a, "e") } }
	deny := func(a engine.Action) func(*tale) { return func(s *tale) { s.answered(a, engine.Block) } }
	sub := func(a engine.Action) func(*tale) { return func(s *tale) { s.by("sub").ran(a, "done").by("") } }
	for name, test := range map[string]struct {
		tale *tale
		want int64
	}{
		"an edit":                               {checked().ran(edits("./b"), "y"), 1},
		"an edit before the last":               {checked().ran(edits("./b"), "y").ran(check, "x"), 2},
		"a deletion":                            {checked().ran(deletes("./b"), "y"), 1},
		"a service is started again":            {checked().ran(restart, "y"), 1},
		"an edit, no result":                    {checked().asked(edits("./b")), 3},
		"an edit, denied":                       {checked().answered(edits("./b"), engine.Block), 3},
		"a command that wrote, failed":          {checked().failed(edits("./b"), "e"), 1},
		"an edit, failed":                       {checked().failed(turn("./b", "1", "2"), "e"), 3},
		"a read":                                {checked().ran(other, "y"), 3},
		"test-driven":                           {between(run(turn("./b", "1", "2")), run(turn("./b", "2", "3")), run(turn("./b", "3", "4"))), 1},
		"the same edit, elsewhere":              {between(run(turn("./b", "1", "2")), run(turn("./b", "1", "2")), run(turn("./b", "1", "2"))), 1},
		"the same edit, no result":              {between(ask(turn("./b", "1", "2")), ask(turn("./b", "1", "2")), ask(turn("./b", "1", "2"))), 4},
		"the same edit, which fails":            {between(run(turn("./b", "1", "2")), fail(turn("./b", "1", "2")), fail(turn("./b", "1", "2"))), 3},
		"whole files":                           {between(run(write("1", "./b", "1")), run(write("2", "./b", "2")), run(write("3", "./b", "3"))), 1},
		"back and forth":                        {between(run(write("1", "./b", "1")), run(write("2", "./b", "2")), run(write("1", "./b", "1"))), 1},
		"the same content":                      {between(run(write("1", "./b", "1")), run(write("1", "./b", "1")), run(write("1", "./b", "1"))), 3},
		"the same content, by another":          {between(run(write("1", "./b", "1")), run(write("2", "./b", "1")), run(write("3", "./b", "1"))), 3},
		"the same content, after it was undone": {between(run(write("1", "./b", "1")), run(deletes("./b")), run(write("1", "./b", "1"))), 1},
		"the same content, first denied":        {between(deny(write("1", "./b", "1")), run(write("1", "./b", "1"))), 1},
		"the same content in two files":         {between(run(write("1", "./b", "1")), run(write("2", "./c", "1")), run(write("3", "./b", "1"))), 2},
		"the same restart":                      {between(run(restart), run(restart), run(restart)), 3},
		"what another agent does":               {between(sub(edits("./b")), sub(edits("./c"))), 3},
		"the call itself writes":                {newTale().ran(edits("./b"), "x").ran(edits("./b"), "x").ran(other, "y"), 1},
	} {
		if got := test.tale.window(check).Same; got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	if got := newTale().ran(edits("./b"), "x").ran(other, "y").ran(edits("./b"), "x").window(edits("./b")).Same; got != 3 {
		t.Errorf("a write that is made again and again: %d", got)
	}
}

func TestSameError(t *testing.T) {
	a := reads("./a")
	post := func(s *tale, class string) int64 {
		s.asked(a)
		r := &engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, T: s.t, Call: fmt.Sprint("c", s.h.N), Action: &a, Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.OutcomeFailed, Class: class}}}
		return NewInput(r, s.h, engine.View{Windows: []engine.Window{{Name: "w", Last: 10}}}).History.Windows["w"].SameError
	}
	long := strings.Repeat("no such file ", 20)
	for name, test := range map[string]struct {
		tale  *tale
		class string
		want  int64
	}{
		"the first":     {newTale(), "e", 1},
		"the third":     {newTale().failed(a, "e").failed(reads("./b"), "e"), "e", 3},
		"another":       {newTale().failed(a, "e"), "f", 1},
		"none":          {newTale().failed(a, "e"), "", 0},
		"a long one":    {newTale().failed(a, long+"1").failed(a, long+"2"), long + "1", 2},
		"too long ago":  {times(newTale().failed(a, "e"), 9), "e", 1},
		"just in sight": {times(newTale().failed(a, "e"), 8), "e", 2},
	} {
		if got := post(test.tale, test.class); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	if got := newTale().failed(a, "e").window(a).SameError; got != 0 {
		t.Errorf("before a call, nothing has failed yet: %d", got)
	}
}

// Calls that are made at once, or in one turn, are one attempt.
func TestSameErrorAtOnce(t *testing.T) {
	count := func(s *tale, calls []string) int64 {
		r := &engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, T: s.t, Call: calls[len(calls)-1],
			Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.OutcomeFailed, Class: "e"}}}
		return NewInput(r, s.h, engine.View{Windows: []engine.Window{{Name: "w", Last: 10}}}).History.Windows["w"].SameError
	}
	begun := func(s *tale, n int) (calls []string) {
		for range n {
			calls = append(calls, fmt.Sprint("c", s.h.N+1))
			s.asked(edits("./a"))
		}
		return calls
	}
	fails := func(s *tale, calls ...string) *tale {
		for _, c := range calls {
			s.add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: c,
				Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.OutcomeFailed, Class: "e"}}})
		}
		return s
	}
	ends := func(s *tale) *tale {
		s.add(&engine.Record{Kind: engine.KindNote, Phase: engine.PhaseBatch})
		return s
	}

	s := newTale()
	calls := begun(s, 3)
	if got := count(fails(s, calls[:2]...), calls); got != 1 {
		t.Errorf("three at once: %d", got)
	}
	fails(s, calls[2])
	again := begun(s, 3)
	if got := count(fails(s, again[:2]...), again); got != 2 {
		t.Errorf("three at once, twice: %d", got)
	}

	s = ends(newTale().ran(reads("./b"), "x"))
	for range 3 {
		calls = begun(s, 1)
		fails(s, calls...)
	}
	if got := count(s, begun(s, 1)); got != 1 {
		t.Errorf("one after the other in a turn: %d", got)
	}
	if got := count(ends(s), begun(s, 1)); got != 2 {
		t.Errorf("in the next turn: %d", got)
	}
	if got := count(newTale().failed(edits("./a"), "e"), []string{"unknown"}); got != 2 {
		t.Errorf("of a call that is not known: %d", got)
	}
}

func TestMissing(t *testing.T) {
	gone := func(e *engine.Effect) { e.Exists = "no" }
	forced := func(e *engine.Effect) { e.Exists, e.Forced = "no", true }
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want int64
	}{
		"there":                 {newTale(), reads("./a"), 0},
		"not there":             {newTale(), on("./a", engine.EffectFileRead, gone), 1},
		"and before":            {newTale().failed(on("./b", engine.EffectFileRead, gone), "e"), on("./a", engine.EffectFileRead, gone), 2},
		"even if denied":        {newTale().answered(on("./b", engine.EffectFileRead, gone), engine.Block), reads("./a"), 1},
		"two at once":           {newTale(), with(on("./a", engine.EffectFileRead, gone), on("./b", engine.EffectFileDelete, gone)), 2},
		"to be made":            {newTale(), edits("./a", created), 0},
		"made before":           {newTale().done(edits("./a", created)), on("./a", engine.EffectFileRead, gone), 0},
		"perhaps made before":   {newTale().asked(edits("./a", created)), on("./a", engine.EffectFileRead, gone), 1},
		"deleted before":        {newTale().done(deletes("./a")), on("./a", engine.EffectFileRead, gone), 0},
		"read before":           {newTale().done(reads("./a")), on("./a", engine.EffectFileRead, gone), 1},
		"deleted by force":      {newTale(), on("./a", engine.EffectFileDelete, forced), 0},
		"elsewhere":             {newTale(), on("/a", engine.EffectFileRead, func(e *engine.Effect) { e.Exists, e.Host = "no", "ssh:db" }), 0},
		"not known which":       {newTale(), on("./a*", engine.EffectFileRead, func(e *engine.Effect) { e.Exists, e.Certainty = "no", engine.CertaintyGlob }), 0},
		"not known if there":    {newTale(), on("./a", engine.EffectFileRead, func(e *engine.Effect) { e.Exists = "" }), 0},
		"with a newline in it":  {newTale(), on("./a\n\xffb", engine.EffectFileRead, gone), 1},
		"4 KiB long, made once": {newTale().done(edits("./"+strings.Repeat("x", 4096), created)), on("./"+strings.Repeat("x", 4096), engine.EffectFileRead, gone), 0},
	} {
		if got := test.tale.window(test.next).Missing; got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestWandering(t *testing.T) {
	dir := func(e *engine.Effect) { e.Entry = "dir" }
	for name, test := range map[string]struct {
		did                    []engine.Action
		edits, places, returns int64
	}{
		"nothing":            {nil, 0, 0, 0},
		"one folder":         {[]engine.Action{reads("./a"), reads("./b")}, 0, 1, 0},
		"two":                {[]engine.Action{reads("./x/a"), reads("./y/b")}, 0, 2, 0},
		"there and back":     {[]engine.Action{reads("./x/a"), reads("./y/b"), reads("./x/c"), reads("./y/c")}, 0, 2, 2},
		"listed, then read":  {[]engine.Action{on("./x", engine.EffectFileRead, dir), reads("./x/a")}, 0, 1, 0},
		"without a place":    {[]engine.Action{reads("./x/a"), {Fingerprint: "1"}, reads("./x/b")}, 0, 1, 0},
		"a host":             {[]engine.Action{reads("./x/a"), request("get", "example.com"), reads("./x/b")}, 0, 2, 1},
		"edits":              {[]engine.Action{edits("./x/a"), deletes("./x/b"), reads("./x/b")}, 2, 1, 0},
		"the same elsewhere": {[]engine.Action{reads("/x/a"), on("/x/a", engine.EffectFileRead, func(e *engine.Effect) { e.Host = "ssh:db" })}, 0, 2, 0},
		"with newlines":      {[]engine.Action{reads("./x\n/a"), reads("./x/a"), reads("./x\n/b")}, 0, 2, 1},
	} {
		got := newTale().done(test.did...).window(reads("./z"))
		if got.Edits != test.edits || got.Places != test.places || got.Returns != test.returns {
			t.Errorf("%s: %d edits, %d places, %d returns; want %d, %d, %d", name, got.Edits, got.Places, got.Returns, test.edits, test.places, test.returns)
		}
	}
	if got := newTale().answered(edits("./a"), engine.Block).asked(edits("./a")).failed(edits("./a"), "e").window(reads("./z")).Edits; got != 1 {
		t.Errorf("%d edits, want the one that failed, and not the one without a result", got)
	}
}

func TestDrift(t *testing.T) {
	near := worded(reads("./src/cart.go"), "cart", "total")
	far := worded(reads("./other"), "mine", "coin")
	goal := engine.Goal{Names: []string{"src"}, Words: marks("cart", "total")}
	for name, test := range map[string]struct {
		tale *tale
		want engine.WindowFacts
	}{
		"nobody spoke": {newTale().done(near), engine.WindowFacts{}},
		"near":         {newTale().says(goal).done(near, near), engine.WindowFacts{Goals: 2, Named: 2, Words: 1}},
		"far":          {newTale().says(goal).done(far, far), engine.WindowFacts{Goals: 2}},
		"away":         {newTale().says(goal).done(near, near, far, far), engine.WindowFacts{Goals: 4, Named: 2, Words: 0.5, WordsTend: -1}},
		"and back":     {newTale().says(goal).done(far, near, near), engine.WindowFacts{Goals: 3, Named: 2, Words: 0.666667, WordsTend: 0.5}},
		"half":         {newTale().says(goal).done(worded(reads("./x"), "cart", "coin", "mine")), engine.WindowFacts{Goals: 1, Words: 0.33}},
		"spoke later":  {newTale().done(far, far).says(goal).done(near), engine.WindowFacts{Goals: 1, Named: 1, Words: 1}},
	} {
		w := test.tale.window(far)
		got := engine.WindowFacts{Goals: w.Goals, Named: w.Named, Words: w.Words, WordsTend: w.WordsTend}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestCycle(t *testing.T) {
	letters := func(s string) []engine.Action {
		var list []engine.Action
		for _, c := range s {
			list = append(list, reads("./"+string(c)))
		}
		return list
	}
	for calls, want := range map[string]engine.CycleFacts{
		"a": {}, "ab": {}, "aba": {}, "abab": {Period: 2, Times: 2}, "ababa": {Period: 2, Times: 2}, "ababab": {Period: 2, Times: 3}, "xyzababab": {Period: 2, Times: 3},
		"abcabc": {Period: 3, Times: 2}, "abcabcabc": {Period: 3, Times: 3}, "abcdabcdabcd": {Period: 4, Times: 3}, "abcdeabcde": {Period: 5, Times: 2}, "aaaaaa": {},
		"abcdefghabcdefgh": {Period: 8, Times: 2}, "abcdefghiabcdefghi": {},
		"aabaab": {Period: 3, Times: 2}, "abababab": {Period: 2, Times: 4}, "abcab": {}, "abxab": {}, "abcabdabc": {},
	} {
		list := letters(calls)
		s := newTale().done(list[:len(list)-1]...)
		if got := s.next(list[len(list)-1]).History.Cycle; got != want {
			t.Errorf("%s: %+v, want %+v", calls, got, want)
		}
	}
	s := newTale()
	for range 6 { // another agent's calls in between hide nothing and fake nothing
		s.by("one").done(reads("./a")).by("two").done(reads("./b")).by("one").done(reads("./c"))
	}
	if got := s.by("one").next(reads("./a")).History.Cycle; got != (engine.CycleFacts{Period: 2, Times: 6}) {
		t.Errorf("the first agent's cycle is %+v", got)
	}
	if got := s.by("two").next(reads("./b")).History.Cycle; got != (engine.CycleFacts{}) {
		t.Errorf("the second agent's cycle is %+v", got)
	}
}

func TestPolling(t *testing.T) {
	ask, other := reads("./status"), reads("./other")
	sleep := engine.Action{Types: []engine.Type{engine.TypeSystemCommand}, Fingerprint: "5", Waits: true}
	waiting := ask
	waiting.Waits = true
	retry := edits("./status")
	retry.Waits = true
	pauses := func(a engine.Action, list ...time.Duration) *tale {
		s := newTale()
		for _, p := range list {
			s.asked(a).pauses(p - 2*time.Second) // a call and the next take two more
		}
		return s
	}
	s, m := time.Second, time.Minute
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want bool
	}{
		"the first":                  {newTale(), ask, false},
		"once before":                {pauses(ask, m), ask, false},
		"growing pauses":             {pauses(ask, 5*s, 10*s, 20*s), ask, true},
		"equal pauses":               {pauses(ask, 5*s, 5*s), ask, true},
		"shrinking pauses":           {pauses(ask, 20*s, 10*s, 5*s), ask, false},
		"at once":                    {pauses(ask, 2*s-500*time.Millisecond, 2*s-500*time.Millisecond), ask, false},
		"impatient in the end":       {pauses(ask, 5*s, 10*s, 3*s), ask, false},
		"impatient in the beginning": {pauses(ask, s, s, 5*s, 5*s, 10*s), ask, true},
		"a sleep between":            {newTale().asked(ask).done(sleep), ask, true},
		"a sleep without a result":   {newTale().asked(ask).asked(sleep), ask, false},
		"a sleep each time":          {newTale().asked(ask).done(sleep).asked(ask).asked(other).done(sleep), ask, true},
		"a sleep long before":        {newTale().done(sleep).asked(ask).pauses(-s).asked(ask).pauses(-s), ask, false},
		"a sleep the first time":     {newTale().asked(ask).done(sleep).asked(ask).pauses(-s), ask, false},
		"a sleep, never the call":    {newTale().done(sleep), ask, false},
		"it sleeps itself":           {newTale(), waiting, true},
		"it sleeps and writes":       {newTale(), retry, false},
		"writes with long pauses":    {pauses(edits("./a"), 5*s, 10*s, 20*s), edits("./a"), false},
		"another agent's calls":      {pauses(ask, 5*s, 10*s, 20*s).by("sub"), ask, false},
		"too far back":               {times(pauses(ask, 5*s, 10*s), repeatSpan), ask, false},
		"the clock jumps back":       {pauses(ask, 5*s, 10*s, -time.Hour), ask, false},
		"the clock jumps ahead":      {pauses(ask, s, time.Hour*24*365), ask, false},
	} {
		if got := test.tale.next(test.next).History.Polling; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestSince(t *testing.T) {
	a, fetch := reads("./a"), request("get", "example.com")
	key := on("./key", engine.EffectFileRead, func(e *engine.Effect) { e.Class = engine.ClassCredential })
	never := engine.SinceFacts{Failed: engine.NeverHappened, AuthError: engine.NeverHappened, News: 1, Secret: engine.NeverHappened, Untrusted: engine.NeverHappened, Prompt: engine.NeverHappened}
	but := func(f func(*engine.SinceFacts)) engine.SinceFacts {
		s := never
		f(&s)
		return s
	}
	for name, test := range map[string]struct {
		tale *tale
		want engine.SinceFacts
	}{
		"nothing happened":        {newTale(), never},
		"a failure":               {newTale().failed(a, "e"), but(func(f *engine.SinceFacts) { f.Failed = 1 })},
		"a failure before":        {times(newTale().failed(a, "e"), 4), but(func(f *engine.SinceFacts) { f.Failed = 5 })},
		"two failures":            {newTale().failed(a, "e").failed(a, "e").done(a), but(func(f *engine.SinceFacts) { f.Failed = 2 })},
		"another agent's":         {newTale().by("sub").failed(a, "e").by(""), never},
		"authentication failed":   {newTale().failedBy(a, engine.TroubleAuth).failed(a, "e"), but(func(f *engine.SinceFacts) { f.Failed, f.AuthError = 1, 2 })},
		"trouble of no kind":      {newTale().failedBy(a, "bad luck"), but(func(f *engine.SinceFacts) { f.Failed = 1 })},
		"trouble of one that ran": {newTale().ended(a, &engine.ResultFacts{Outcome: engine.OutcomeRan, Trouble: engine.TroubleAuth}), never},
		"a secret":                {newTale().done(key, a), but(func(f *engine.SinceFacts) { f.Secret = 2 })},
		"a secret, no result":     {newTale().asked(key), but(func(f *engine.SinceFacts) { f.Secret = 1 })},
		"a secret, denied":        {newTale().answered(key, engine.Block), never},
		"a page":                  {newTale().done(fetch), but(func(f *engine.SinceFacts) { f.Untrusted = 1 })},
		"a sub-agent's secret":    {newTale().by("sub").done(key, a).by("").done(a), but(func(f *engine.SinceFacts) { f.Secret = 3 })},
		"others in between":       {newTale().done(key).by("sub").done(a, a, a).by(""), but(func(f *engine.SinceFacts) { f.Secret = 1 })},
		"a prompt":                {newTale().says(engine.Goal{}), but(func(f *engine.SinceFacts) { f.Prompt = 1 })},
		"a prompt before":         {newTale().done(a).says(engine.Goal{}).done(a, a), but(func(f *engine.SinceFacts) { f.Prompt = 3 })},
	} {
		got := test.tale.next(a).History.Since
		got.News = 1 // see TestNews
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if got := times(newTale().failedBy(a, engine.TroubleAuth).done(key), 2*engine.NeverHappened).next(a).History.Since; got.AuthError != engine.NeverHappened || got.Secret != engine.NeverHappened {
		t.Errorf("long ago: %+v", got)
	}
}

func TestNews(t *testing.T) {
	a, b := reads("./a"), reads("./b")
	content := func(text string) engine.Action {
		e := edits("./a")
		e.Contents = map[string]engine.ContentFacts{"content": {MAC: engine.HexSum([]byte(text))}}
		return e
	}
	bare := engine.Action{Types: []engine.Type{engine.TypeMessage}, Fingerprint: "1"}
	known := func() *tale { return newTale().ran(a, "x").ran(b, "y") }
	for name, test := range map[string]struct {
		tale *tale
		want int64
	}{
		"nothing was done":           {newTale(), 1},
		"a path and a result":        {newTale().ran(a, "x"), 1},
		"the same again":             {known().ran(a, "x").ran(b, "y").ran(a, "x"), 4},
		"another result":             {known().ran(a, "x").ran(a, "z"), 1},
		"a path, and a known result": {known().ran(a, "x").ran(reads("./c"), "x"), 1},
		"a known path and result":    {known().ran(command("head a", engine.EffectFileRead, "./a"), "x"), 2},
		"a file is made":             {known().ran(edits("./c", created), "y"), 1},
		"a file is not made":         {known().ended(edits("./c", created), &engine.ResultFacts{Outcome: engine.OutcomeFailed, Content: &engine.ContentFacts{MAC: engine.HexSum([]byte("y"))}}), 2},
		"another content":            {known().ran(content("1"), "y").ran(content("2"), "y"), 1},
		"the same content":           {known().ran(content("1"), "y").ran(content("1"), "y"), 2},
		"another content, denied":    {known().ran(content("1"), "y").answered(content("2"), engine.Block), 2},
		"no result":                  {known().asked(a).asked(a).asked(a), 1},
		"no result, after others":    {known().ran(a, "x").asked(a).lost().ran(a, "x"), 3},
		"denied again and again":     {known().answered(a, engine.Block).answered(a, engine.Block), 3},
		"neither path nor result":    {known().ended(bare, &engine.ResultFacts{Outcome: engine.OutcomeRan}), 2},
		"a prompt":                   {known().ran(a, "x").ran(a, "x").says(engine.Goal{}), 1},
		"since the prompt":           {known().ran(a, "x").ran(a, "x").says(engine.Goal{}).ran(a, "x"), 2},
		"another agent has the news": {known().ran(a, "x").by("sub").ran(a, "new").by(""), 2},
		"many others, and one own":   {times(known().by("sub"), 50).by("").ran(a, "x"), 2},
	} {
		if got := test.tale.next(a).History.Since.News; got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestFailedRank(t *testing.T) {
	ranked := func(r ...engine.Reversibility) engine.Action {
		a := reads("./a")
		a.Effects = nil
		for _, r := range r {
			a.Effects = append(a.Effects, engine.Effect{Kind: engine.EffectFileWrite, Reversibility: r})
		}
		return a
	}
	for name, test := range map[string]struct {
		tale *tale
		want int64
	}{
		"nothing failed":      {newTale().done(ranked(engine.R5)), 0},
		"a read":              {newTale().failed(ranked(engine.R0), "e"), 0},
		"the worst effect":    {newTale().failed(ranked(engine.R1, engine.R4, engine.R2), "e"), 4},
		"not known":           {newTale().failed(ranked("", "R9"), "e"), 0},
		"the latest":          {newTale().failed(ranked(engine.R5), "e").failed(ranked(engine.R2), "e").done(ranked(engine.R3)), 2},
		"denied":              {newTale().answered(ranked(engine.R5), engine.Block), 0},
		"of another agent":    {newTale().by("sub").failed(ranked(engine.R5), "e").by(""), 0},
		"not known if failed": {newTale().asked(ranked(engine.R5)), 0},
		"nothing it would do": {newTale().failed(ranked(), "e"), 0},
	} {
		if got := test.tale.next(reads("./a")).History.FailedRank; got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestUndoes(t *testing.T) {
	turn := func(path, from, into string) engine.Action {
		a := command("edit "+path+from+into, engine.EffectFileWrite, path)
		a.Contents = map[string]engine.ContentFacts{"old_string": {MAC: engine.HexSum([]byte(from))}, "new_string": {MAC: engine.HexSum([]byte(into))}}
		return a
	}
	write := func(path, text string) engine.Action {
		a := command("write "+path+text, engine.EffectFileWrite, path)
		a.Contents = map[string]engine.ContentFacts{"content": {MAC: engine.HexSum([]byte(text))}}
		return a
	}
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want bool
	}{
		"the first edit":           {newTale(), turn("./a", "x", "y"), false},
		"back":                     {newTale().done(turn("./a", "x", "y")), turn("./a", "y", "x"), true},
		"back, after others":       {times(newTale().done(turn("./a", "x", "y"), turn("./a", "p", "q")), 3), turn("./a", "y", "x"), true},
		"on":                       {newTale().done(turn("./a", "x", "y")), turn("./a", "y", "z"), false},
		"the same edit":            {newTale().done(turn("./a", "x", "y")), turn("./a", "x", "y"), false},
		"in another file":          {newTale().done(turn("./a", "x", "y")), turn("./b", "y", "x"), false},
		"of one that was denied":   {newTale().answered(turn("./a", "x", "y"), engine.Block), turn("./a", "y", "x"), false},
		"of one that failed":       {newTale().failed(turn("./a", "x", "y"), "e"), turn("./a", "y", "x"), false},
		"of one that may have run": {newTale().asked(turn("./a", "x", "y")), turn("./a", "y", "x"), true},
		"an earlier content":       {newTale().done(write("./a", "1"), write("./a", "2")), write("./a", "1"), true},
		"…after an edit":           {newTale().done(write("./a", "1"), turn("./a", "x", "y")), write("./a", "1"), true},
		"the same content":         {newTale().done(write("./a", "1")), write("./a", "1"), false},
		"a new content":            {newTale().done(write("./a", "1"), write("./a", "2")), write("./a", "3"), false},
		"of another file":          {newTale().done(write("./a", "1"), write("./b", "2")), write("./b", "1"), false},
		"of another agent":         {newTale().by("sub").done(turn("./a", "x", "y")).by(""), turn("./a", "y", "x"), false},
		"a read":                   {newTale().done(turn("./a", "x", "y")), reads("./a"), false},
	} {
		if got := test.tale.next(test.next).History.Follows; slices.Contains(got, engine.FollowsContradicts) != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
