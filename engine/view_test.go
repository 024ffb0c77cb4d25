package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tale is a session that is told call by call.
type tale struct {
	h     *History
	t     int64
	agent string
}

func newTale() *tale {
	s := &tale{h: NewHistory(), t: 1_700_000_000_000}
	s.add(&Record{Kind: KindOpen, Chain: strings.Repeat("c", 32), Open: &Open{Workspace: "/w"}})
	return s
}

func (s *tale) add(r *Record) {
	s.t += 1000
	r.N, r.T, r.Agent = s.h.N+1, s.t, s.agent
	s.h.Append(r)
}

// asked is a call that was allowed and of which nothing more is known.
func (s *tale) asked(a Action) *tale { return s.answered(a, Allow) }

func (s *tale) answered(a Action, v Verdict) *tale {
	s.add(&Record{Kind: KindPre, Phase: PhasePre, Call: fmt.Sprint("c", s.h.N+1), Action: &a, Answer: &AnswerFacts{Effect: v}})
	return s
}

// ran is a call that ran, with a result.
func (s *tale) ran(a Action, result string) *tale {
	return s.ended(a, &ResultFacts{Outcome: OutcomeRan, Content: &ContentFacts{MAC: hexSum([]byte(result))}})
}

// failed is a call that failed with a class of error.
func (s *tale) failed(a Action, class string) *tale {
	return s.ended(a, &ResultFacts{Outcome: OutcomeFailed, Class: class, Content: &ContentFacts{MAC: hexSum([]byte(class))}})
}

func (s *tale) ended(a Action, r *ResultFacts) *tale {
	s.asked(a)
	s.add(&Record{Kind: KindPost, Phase: PhasePost, Call: fmt.Sprint("c", s.h.N), Action: &a, Event: &EventFacts{Result: r}})
	return s
}

// next is what policy sees of a call that comes now.
func (s *tale) next(a Action, windows ...Window) Input {
	return NewInput(&Record{Kind: KindPre, Phase: PhasePre, T: s.t + 1000, Agent: s.agent, Call: "next", Action: &a}, s.h, View{Windows: windows, Last: MaxLast})
}

// command is a call of a shell with an effect on a path; print stands for its arguments.
func command(print string, kind EffectKind, path string, change ...func(*Effect)) Action {
	e := Effect{Kind: kind, Short: path, Target: path, Certainty: CertaintyExact, Location: LocationInside, Exists: "yes", Verb: "do"}
	for _, fn := range change {
		fn(&e)
	}
	typ := map[EffectKind]Type{EffectFileRead: TypeFileRead, EffectFileWrite: TypeFileModification, EffectFileDelete: TypeFileDeletion, EffectNetwork: TypeNetworkRequest}[kind]
	return Action{Types: []Type{typ}, Fingerprint: hexSum([]byte(print))[:16], Effects: []Effect{e}}
}

func created(e *Effect) { e.Exists = "no" }

func request(print, url string) Action {
	return command(print, EffectNetwork, "", func(e *Effect) { e.Target, e.Location = url, "" })
}

func TestProgression(t *testing.T) {
	read := command("cat a", EffectFileRead, "./a")
	write := command("edit b", EffectFileWrite, "./b")
	remove := command("rm a", EffectFileDelete, "./a")
	for name, test := range map[string]struct {
		tale *tale
		next Action
		want string
	}{
		"the first":                       {newTale(), read, "explores"},
		"something else":                  {newTale().ran(read, "x"), command("cat b", EffectFileRead, "./b"), "explores"},
		"uses what was read":              {newTale().ran(read, "x"), command("edit a", EffectFileWrite, "./a"), "builds_on"},
		"uses what was written":           {newTale().ran(write, "x"), command("cat b", EffectFileRead, "./b"), "builds_on"},
		"a host that was asked":           {newTale().ran(request("get", "example.com"), "x"), request("post", "example.com"), "builds_on"},
		"another host":                    {newTale().ran(request("get", "example.com"), "x"), request("post", "example.org"), "explores"},
		"a host without a name":           {newTale().ran(request("get", ""), "x"), request("post", ""), "explores"},
		"the same again":                  {newTale().ran(read, "x"), read, "repeats"},
		"the same again, twice":           {newTale().ran(read, "x").ran(read, "x"), read, "repeats"},
		"the same failure":                {newTale().failed(read, "gone").failed(read, "gone"), read, "repeats"},
		"the results differ":              {newTale().ran(read, "x").ran(read, "y"), read, "builds_on"},
		"something was written meanwhile": {newTale().ran(read, "x").ran(write, "y"), read, "builds_on"},
		"a write that was denied":         {newTale().ran(read, "x").answered(write, Block), read, "repeats"},
		"denied before":                   {newTale().answered(read, Block), read, "repeats"},
		"too long ago":                    {times(newTale().ran(read, "x"), repeatSpan), read, "builds_on"},
		"just not too long ago":           {times(newTale().ran(read, "x"), repeatSpan-1), read, "repeats"},
		"writes again":                    {newTale().ran(write, "x"), write, "repeats"},
		"deletes what it made and used":   {newTale().ran(command("make a", EffectFileWrite, "./a", created), "").ran(read, "x"), remove, "contradicts"},
		"deletes what it made":            {newTale().ran(command("make a", EffectFileWrite, "./a", created), ""), remove, "builds_on"},
		"deletes what it found":           {newTale().ran(read, "x"), remove, "builds_on"},
		"deletes what it may have made":   {newTale().asked(command("make a", EffectFileWrite, "./a", created)), remove, "explores"},
	} {
		if got := test.tale.next(test.next).History.Progression; got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// times adds n other reads.
func times(s *tale, n int) *tale {
	for i := range n {
		s.ran(command(fmt.Sprint("other", i), EffectFileRead, fmt.Sprint("./other", i)), "")
	}
	return s
}

func TestSimilar(t *testing.T) {
	tokens := func(n int) []string { // the first n of many words
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("%04x0000", 0x1000+i))
		}
		return list
	}
	worded := func(print string, words []string) Action {
		return Action{Types: []Type{TypeFileRead}, Fingerprint: print, Tokens: words}
	}
	read := command("cat a", EffectFileRead, "./a")
	for name, test := range map[string]struct {
		tale *tale
		next Action
		want SimilarFacts
	}{
		"nothing":                  {newTale(), read, SimilarFacts{}},
		"the same":                 {newTale().ran(read, ""), read, SimilarFacts{Count: 1}},
		"the same, failed":         {newTale().failed(read, "e").failed(read, "e").ran(read, ""), read, SimilarFacts{Count: 3, Failed: 2}},
		"not known":                {newTale().asked(read), read, SimilarFacts{Count: 1}},
		"denied":                   {newTale().answered(read, Block), read, SimilarFacts{Count: 1}},
		"same type and target":     {newTale().failed(command("head a", EffectFileRead, "./a"), "e"), read, SimilarFacts{Count: 1, Failed: 1}},
		"same target":              {newTale().failed(command("rm a", EffectFileDelete, "./a"), "e"), read, SimilarFacts{}},
		"same type":                {newTale().failed(command("cat b", EffectFileRead, "./b"), "e"), read, SimilarFacts{}},
		"no target":                {newTale().failed(worded("1", nil), "e"), worded("2", nil), SimilarFacts{}},
		"most words":               {newTale().failed(worded("1", tokens(14)), "e"), worded("2", tokens(16)), SimilarFacts{Count: 1, Failed: 1}}, // 14 of 16
		"fewer words":              {newTale().failed(worded("1", tokens(13)), "e"), worded("2", tokens(16)), SimilarFacts{}},                    // 13 of 16
		"no words":                 {newTale().failed(worded("1", tokens(0)), "e"), worded("2", tokens(0)), SimilarFacts{}},
		"words of one that worked": {newTale().ran(worded("1", tokens(14)), ""), worded("2", tokens(16)), SimilarFacts{}},
	} {
		if d := cmp.Diff(test.want, test.tale.next(test.next).History.Similar); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	s := newTale().failed(read, "e")
	s.agent = "sub"
	if got := s.next(read).History.Similar; got.Count != 0 {
		t.Errorf("another agent's actions count: %+v", got)
	}
}

func TestFirstTime(t *testing.T) {
	read := command("cat a", EffectFileRead, "./a")
	other := command("cat b", EffectFileRead, "./b")
	away := command("cat c", EffectFileRead, "/c", func(e *Effect) { e.Location = LocationSystem })
	secret := command("cat k", EffectFileRead, "./k", func(e *Effect) { e.Class = ClassEnvFile })
	for name, test := range map[string]struct {
		tale *tale
		next Action
		want bool
	}{
		"the first": {newTale(), read, true}, "the same": {newTale().ran(read, ""), read, false}, "of the same kind": {newTale().ran(read, ""), other, false},
		"elsewhere": {newTale().ran(read, ""), away, true}, "of another class": {newTale().ran(read, ""), secret, true},
		"of another type": {newTale().ran(read, ""), command("rm b", EffectFileDelete, "./b"), true}, "denied before": {newTale().answered(read, Block), other, false},
		"any host": {newTale().ran(request("1", "example.com"), ""), request("2", "example.org"), false},
	} {
		if got := test.tale.next(test.next).History.FirstTime; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	s := newTale().ran(read, "")
	s.agent = "sub"
	if s.next(read).History.FirstTime {
		t.Error("what another agent of the session did counts as new")
	}
}

func TestPresupposes(t *testing.T) {
	const edit, step = "read_before_edit", "earlier_step_succeeded"
	read := command("cat a", EffectFileRead, "./a")
	write := command("edit a", EffectFileWrite, "./a")
	for name, test := range map[string]struct {
		tale *tale
		next Action
		want []Presupposed
	}{
		"nothing":                 {newTale(), read, []Presupposed{}},
		"edits unread":            {newTale(), write, []Presupposed{{edit, false}}},
		"edits what was read":     {newTale().ran(read, ""), write, []Presupposed{{edit, true}, {step, true}}},
		"edits what it wrote":     {newTale().ran(write, ""), write, []Presupposed{{edit, true}, {step, true}}},
		"a read that is not over": {newTale().asked(read), write, []Presupposed{{edit, false}, {step, true}}},
		"a read that failed":      {newTale().failed(read, "e"), write, []Presupposed{{edit, false}, {step, false}}},
		"creates":                 {newTale(), command("make a", EffectFileWrite, "./a", created), []Presupposed{}},
		"a directory":             {newTale(), command("mv x d", EffectFileWrite, "./d", func(e *Effect) { e.Entry = "dir" }), []Presupposed{}},
		"not known which":         {newTale(), command("edit *", EffectFileWrite, "./*", func(e *Effect) { e.Certainty = CertaintyGlob }), []Presupposed{}},
		"after a failure":         {newTale().failed(read, "e"), read, []Presupposed{{step, false}}},
		"after a denial":          {newTale().answered(read, Block), read, []Presupposed{{step, true}}},
		"failure, then success":   {newTale().failed(read, "e").ran(read, ""), read, []Presupposed{{step, true}}},
	} {
		if d := cmp.Diff(test.want, test.tale.next(test.next).History.Presupposes); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestWindows(t *testing.T) {
	read, write := command("cat a", EffectFileRead, "./a"), command("edit b", EffectFileWrite, "./b")
	s := newTale() // each call takes two records, two seconds
	s.failed(read, "old error").failed(read, "timeout").failed(write, "timeout").answered(write, Block).ran(read, "")
	all := WindowFacts{
		Events: 5, Failed: 3, Denied: 1, Distinct: 2, MaxErrors: 2, Same: 2, Edits: 1, Places: 1,
		ByType: map[string]int64{"file_read": 3, "file_modification": 2}, Errors: map[string]int64{"old error": 1, "timeout": 2},
	}
	two := WindowFacts{Events: 2, Denied: 1, Distinct: 2, Same: 2, Places: 1, ByType: map[string]int64{"file_read": 1, "file_modification": 1}, Errors: map[string]int64{}}
	one := WindowFacts{Events: 1, Distinct: 1, Same: 2, Places: 1, ByType: map[string]int64{"file_read": 1}, Errors: map[string]int64{}}
	none := WindowFacts{Same: 1, ByType: map[string]int64{}, Errors: map[string]int64{}}
	got := s.next(read,
		Window{Name: "last 2", Last: 2}, Window{Name: "last 5", Last: 5}, Window{Name: "last 100", Last: 100},
		Window{Name: "1s", For: time.Second}, Window{Name: "2s", For: 2 * time.Second}, Window{Name: "3s", For: 3 * time.Second}, Window{Name: "1h", For: time.Hour},
	).History.Windows
	want := map[string]WindowFacts{"last 2": two, "last 5": all, "last 100": all, "1s": none, "2s": one, "3s": two, "1h": all}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	s.agent = "sub"
	if d := cmp.Diff(none, s.next(read, Window{Name: "w", Last: 9}).History.Windows["w"]); d != "" {
		t.Errorf("another agent's window: %s", d)
	}
}

func TestExecutedDiffers(t *testing.T) {
	for name, test := range map[string]struct {
		approved, ran *SHA
		call          string
		want          *CallFacts
	}{
		"the same":             {&SHA{Args: hexSum([]byte("a"))}, &SHA{Args: hexSum([]byte("a"))}, "c", &CallFacts{Ask, Warn, false}},
		"others":               {&SHA{Args: hexSum([]byte("a"))}, &SHA{Args: hexSum([]byte("b"))}, "c", &CallFacts{Ask, Warn, true}},
		"not known what ran":   {&SHA{Args: hexSum([]byte("a"))}, nil, "c", &CallFacts{Ask, Warn, false}},
		"not known what asked": {nil, &SHA{Args: hexSum([]byte("a"))}, "c", &CallFacts{Ask, Warn, false}},
		"never asked":          {&SHA{Args: hexSum([]byte("a"))}, &SHA{Args: hexSum([]byte("b"))}, "d", nil},
		"no id":                {&SHA{Args: hexSum([]byte("a"))}, &SHA{Args: hexSum([]byte("b"))}, "", nil},
	} {
		h := NewHistory()
		h.Append(&Record{N: 1, Kind: KindPre, Phase: PhasePre, Call: "c", SHA: test.approved, Decision: &Decision{Decision: Ask, Enforced: Warn}, Answer: &AnswerFacts{Effect: Warn}})
		in := NewInput(&Record{Kind: KindPost, Phase: PhasePost, Call: test.call, SHA: test.ran}, h, View{})
		if d := cmp.Diff(test.want, in.History.Call); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestLedgerJoins(t *testing.T) {
	s := newTale().ran(command("cat a", EffectFileRead, "./a"), "").ran(command("make b", EffectFileWrite, "./b", created), "").
		ran(command("edit c", EffectFileWrite, "./c"), "").ran(command("rm d", EffectFileDelete, "./d"), "").
		ran(command("mv x e", EffectFileWrite, "./e", func(e *Effect) { e.Verb = "move" }), "")
	for path, want := range map[string]string{"./a": "read", "./b": "created", "./c": "written", "./d": "deleted", "./e": "moved_into", "./f": "", "": ""} {
		a := command("rm", EffectFileDelete, path)
		if got := s.next(a).Action.Effects[0].Ledger; got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
		if a.Effects[0].Ledger != "" {
			t.Errorf("%q: the record's own facts were changed", path)
		}
	}
}

// What was moved into a folder may be nowhere else: who deletes the folder
// deletes it, whoever made the folder.
func TestMovedBelow(t *testing.T) {
	move := func(e *Effect) { e.Verb = "move" }
	s := newTale().ran(command("mkdir new", EffectFileWrite, "./new", created), "").
		ran(command("mv a/* new", EffectFileWrite, "./new/*.pdf", move), "").
		ran(command("mkdir news", EffectFileWrite, "./news", created), "")
	tree := func(e *Effect) { e.Recursive = true }
	for path, want := range map[string]string{"./new": "moved_into", "./new/*": "moved_into", ".": "moved_into", "./news": "created", "./ne": "", "": ""} {
		if got := s.next(command("rm -r", EffectFileDelete, path, tree)).Action.Effects[0].Ledger; got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
	if got := s.next(command("rmdir", EffectFileDelete, "./new")).Action.Effects[0].Ledger; got != "created" {
		t.Errorf("a folder alone is %q, want created", got)
	}
}

func TestSessionFacts(t *testing.T) {
	s := newTale()
	s.add(&Record{Kind: KindPrompt, Phase: PhasePrompt})
	s.ran(command("edit a", EffectFileWrite, "./a"), "").ran(command("cat .env", EffectFileRead, "./.env", func(e *Effect) { e.Class = ClassEnvFile }), "")
	s.answered(command("rm b", EffectFileDelete, "./b"), Block)
	want := SessionFacts{
		Workspace: "/w", Actions: 3, Prompts: 1, FileOps: 3, Denials: 1, DeniedInRow: 1, SecretsRead: true,
		CountsByType: map[string]int64{"file_modification": 1, "file_read": 1},
		Labels:       []Label{LabelSecret}, Written: map[string]int64{"inside": 1}, Growing: []Growth{}, Scope: []string{},
	}
	two := command("mv a b", EffectFileWrite, "./b")
	two.Effects = append(two.Effects, Effect{Kind: EffectFileDelete, Short: "./a"}, Effect{Kind: EffectFileRead, Short: "./a"})
	if d := cmp.Diff(want, s.next(two).Session); d != "" {
		t.Error(d)
	}
	s.add(&Record{Kind: KindControl, Control: &Control{Do: ControlStop, Reason: "lunch", By: "anna"}})
	if f := s.next(two).Session; !f.Stopped || f.StopReason != "lunch" || f.StopBy != "anna" {
		t.Errorf("a stopped session is %+v", f)
	}
	s.add(&Record{Kind: KindControl, Control: &Control{Do: ControlResume}})
	s.add(&Record{Kind: KindPrompt, Phase: PhasePrompt})
	if f := s.next(two).Session; f.Stopped || f.DeniedInRow != 0 || f.FileOps != 2 || f.Prompts != 2 {
		t.Errorf("a session that goes on is %+v", f)
	}
}

// A file that a command reads and something runs in the same command is run.
func TestFilesThatRun(t *testing.T) {
	read := func(command int) Effect {
		return Effect{Kind: EffectFileRead, Short: "./tune.py", Command: command}
	}
	process := Effect{Kind: EffectProcess, Verb: "exec", Target: "python3", Command: 1}
	for name, test := range map[string]struct {
		effects []Effect
		want    bool
	}{
		"only read":                {[]Effect{read(1)}, false},
		"by what runs":             {[]Effect{read(1), process}, true},
		"beside what runs":         {[]Effect{read(0), process}, false},
		"written by what runs":     {[]Effect{{Kind: EffectFileWrite, Short: "./a", Command: 1}, process}, false},
		"read and sent, not run":   {[]Effect{read(1), {Kind: EffectNetwork, Egress: true, Command: 1}}, false},
		"by the command behind it": {[]Effect{process, read(1)}, true},
	} {
		got := newTale().next(Action{Effects: test.effects}).Action.Effects
		if slices.ContainsFunc(got, func(e Effect) bool { return e.Run }) != test.want {
			t.Errorf("%s: %+v, want %t", name, got, test.want)
		}
	}
}
