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

// tale is a session that is told call by call.
type tale struct {
	h     *State
	t     int64
	agent string
}

func newTale() *tale {
	s := &tale{h: lenient(), t: 1_700_000_000_000}
	s.add(&engine.Record{Kind: engine.KindOpen, Chain: strings.Repeat("c", 32), Open: &engine.Open{Workspace: "/w"}})
	return s
}

func (s *tale) add(r *engine.Record) {
	s.t += 1000
	r.N, r.T, r.Agent = s.h.N+1, s.t, s.agent
	s.h.Append(r)
}

// asked is a call that was allowed and about which nothing more is known.
func (s *tale) asked(a engine.Action) *tale { return s.answered(a, engine.Allow) }

func (s *tale) answered(a engine.Action, v engine.Verdict) *tale {
	s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Call: fmt.Sprint("c", s.h.N+1), Action: &a, Answer: &engine.AnswerFacts{Effect: v}})
	return s
}

// blocked is a call that was blocked, and what rules said of it.
func (s *tale) blocked(a engine.Action, rules ...engine.RuleResult) *tale {
	s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Call: fmt.Sprint("c", s.h.N+1), Action: &a,
		Decision: &engine.Decision{Decision: engine.Block, Rules: rules}, Answer: &engine.AnswerFacts{Effect: engine.Block}})
	return s
}

// ran is a call that ran, with a result.
func (s *tale) ran(a engine.Action, result string) *tale {
	return s.ended(a, &engine.ResultFacts{Outcome: engine.OutcomeRan, Content: &engine.ContentFacts{MAC: engine.HexSum([]byte(result))}})
}

// failed is a call that failed with a class of error.
func (s *tale) failed(a engine.Action, class string) *tale {
	return s.ended(a, &engine.ResultFacts{Outcome: engine.OutcomeFailed, Class: class, Content: &engine.ContentFacts{MAC: engine.HexSum([]byte(class))}})
}

func (s *tale) ended(a engine.Action, r *engine.ResultFacts) *tale {
	s.asked(a)
	s.add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: fmt.Sprint("c", s.h.N), Action: &a, Event: &engine.EventFacts{Result: r}})
	return s
}

// next is what policy sees of a call that comes now.
func (s *tale) next(a engine.Action, windows ...engine.Window) engine.Input {
	return NewInput(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, T: s.t + 1000, Agent: s.agent, Call: "next", Action: &a}, s.h, engine.View{Windows: windows, Last: engine.MaxLast})
}

// command is a call of a shell with an effect on a path; print stands for its arguments.
func command(print string, kind engine.EffectKind, path string, change ...func(*engine.Effect)) engine.Action {
	e := engine.Effect{Kind: kind, Short: path, Target: path, Certainty: engine.CertaintyExact, Location: engine.LocationInside, Exists: "yes", Verb: "do"}
	for _, fn := range change {
		fn(&e)
	}
	typ := map[engine.EffectKind]engine.Type{engine.EffectFileRead: engine.TypeFileRead, engine.EffectFileWrite: engine.TypeFileModification, engine.EffectFileDelete: engine.TypeFileDeletion, engine.EffectNetwork: engine.TypeNetworkRequest}[kind]
	return engine.Action{Types: []engine.Type{typ}, Fingerprint: engine.HexSum([]byte(print))[:16], Effects: []engine.Effect{e}}
}

func created(e *engine.Effect) { e.Exists = "no" }

func request(print, url string) engine.Action {
	return command(print, engine.EffectNetwork, "", func(e *engine.Effect) { e.Target, e.Location = url, "" })
}

func TestFollows(t *testing.T) {
	read := command("cat a", engine.EffectFileRead, "./a")
	write := command("edit b", engine.EffectFileWrite, "./b")
	remove := command("rm a", engine.EffectFileDelete, "./a")
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want string
	}{
		"the first":                       {newTale(), read, ""},
		"something else":                  {newTale().ran(read, "x"), command("cat b", engine.EffectFileRead, "./b"), ""},
		"uses what was read":              {newTale().ran(read, "x"), command("edit a", engine.EffectFileWrite, "./a"), "builds_on"},
		"uses what was written":           {newTale().ran(write, "x"), command("cat b", engine.EffectFileRead, "./b"), "builds_on"},
		"a host that was asked":           {newTale().ran(request("get", "example.com"), "x"), request("post", "example.com"), "builds_on"},
		"another host":                    {newTale().ran(request("get", "example.com"), "x"), request("post", "example.org"), ""},
		"a host without a name":           {newTale().ran(request("get", ""), "x"), request("post", ""), ""},
		"the same again":                  {newTale().ran(read, "x"), read, "repeats builds_on"},
		"the same again, twice":           {newTale().ran(read, "x").ran(read, "x"), read, "repeats builds_on"},
		"the same failure":                {newTale().failed(read, "gone").failed(read, "gone"), read, "repeats"},
		"the results differ":              {newTale().ran(read, "x").ran(read, "y"), read, "builds_on"},
		"something was written meanwhile": {newTale().ran(read, "x").ran(write, "y"), read, "builds_on"},
		"a write that was denied":         {newTale().ran(read, "x").answered(write, engine.Block), read, "repeats builds_on"},
		"denied before":                   {newTale().answered(read, engine.Block), read, "repeats"},
		"too long ago":                    {times(newTale().ran(read, "x"), repeatSpan), read, "builds_on"},
		"just not too long ago":           {times(newTale().ran(read, "x"), repeatSpan-1), read, "repeats builds_on"},
		"writes again":                    {newTale().ran(write, "x"), write, "repeats builds_on"},
		"deletes what it made and used":   {newTale().ran(command("make a", engine.EffectFileWrite, "./a", created), "").ran(read, "x"), remove, "contradicts builds_on"},
		"deletes what it made":            {newTale().ran(command("make a", engine.EffectFileWrite, "./a", created), ""), remove, "builds_on"},
		"deletes what it found":           {newTale().ran(read, "x"), remove, "builds_on"},
		"deletes what it may have made":   {newTale().asked(command("make a", engine.EffectFileWrite, "./a", created)), remove, ""},
	} {
		if got := test.tale.next(test.next).History.Follows; strings.Join(got, " ") != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// times adds n other reads.
func times(s *tale, n int) *tale {
	for i := range n {
		s.ran(command(fmt.Sprint("other", i), engine.EffectFileRead, fmt.Sprint("./other", i)), "")
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
	worded := func(print string, words []string) engine.Action {
		return engine.Action{Types: []engine.Type{engine.TypeFileRead}, Fingerprint: print, Tokens: words}
	}
	read := command("cat a", engine.EffectFileRead, "./a")
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want engine.SimilarFacts
	}{
		"nothing":                  {newTale(), read, engine.SimilarFacts{}},
		"the same":                 {newTale().ran(read, ""), read, engine.SimilarFacts{Count: 1}},
		"the same, failed":         {newTale().failed(read, "e").failed(read, "e").ran(read, ""), read, engine.SimilarFacts{Count: 3, Failed: 2}},
		"not known":                {newTale().asked(read), read, engine.SimilarFacts{Count: 1}},
		"denied":                   {newTale().answered(read, engine.Block), read, engine.SimilarFacts{Count: 1}},
		"same type and target":     {newTale().failed(command("head a", engine.EffectFileRead, "./a"), "e"), read, engine.SimilarFacts{Count: 1, Failed: 1}},
		"same target":              {newTale().failed(command("rm a", engine.EffectFileDelete, "./a"), "e"), read, engine.SimilarFacts{}},
		"same type":                {newTale().failed(command("cat b", engine.EffectFileRead, "./b"), "e"), read, engine.SimilarFacts{}},
		"no target":                {newTale().failed(worded("1", nil), "e"), worded("2", nil), engine.SimilarFacts{}},
		"most words":               {newTale().failed(worded("1", tokens(14)), "e"), worded("2", tokens(16)), engine.SimilarFacts{Count: 1, Failed: 1}}, // 14 of 16
		"fewer words":              {newTale().failed(worded("1", tokens(13)), "e"), worded("2", tokens(16)), engine.SimilarFacts{}},                    // 13 of 16
		"no words":                 {newTale().failed(worded("1", tokens(0)), "e"), worded("2", tokens(0)), engine.SimilarFacts{}},
		"words of one that worked": {newTale().ran(worded("1", tokens(14)), ""), worded("2", tokens(16)), engine.SimilarFacts{}},
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
	read := command("cat a", engine.EffectFileRead, "./a")
	other := command("cat b", engine.EffectFileRead, "./b")
	away := command("cat c", engine.EffectFileRead, "/c", func(e *engine.Effect) { e.Location = engine.LocationSystem })
	secret := command("cat k", engine.EffectFileRead, "./k", func(e *engine.Effect) { e.Class = engine.ClassEnvFile })
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want bool
	}{
		"the first": {newTale(), read, true}, "the same": {newTale().ran(read, ""), read, false}, "of the same kind": {newTale().ran(read, ""), other, false},
		"elsewhere": {newTale().ran(read, ""), away, true}, "of another class": {newTale().ran(read, ""), secret, true},
		"of another type": {newTale().ran(read, ""), command("rm b", engine.EffectFileDelete, "./b"), true}, "denied before": {newTale().answered(read, engine.Block), other, false},
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
	read := command("cat a", engine.EffectFileRead, "./a")
	write := command("edit a", engine.EffectFileWrite, "./a")
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want []engine.Precondition
	}{
		"nothing":                 {newTale(), read, []engine.Precondition{}},
		"edits unread":            {newTale(), write, []engine.Precondition{{What: edit, Met: false}}},
		"edits what was read":     {newTale().ran(read, ""), write, []engine.Precondition{{What: edit, Met: true}, {What: step, Met: true}}},
		"edits what it wrote":     {newTale().ran(write, ""), write, []engine.Precondition{{What: edit, Met: true}, {What: step, Met: true}}},
		"a read that is not over": {newTale().asked(read), write, []engine.Precondition{{What: edit, Met: false}, {What: step, Met: true}}},
		"a read that failed":      {newTale().failed(read, "e"), write, []engine.Precondition{{What: edit, Met: false}, {What: step, Met: false}}},
		"creates":                 {newTale(), command("make a", engine.EffectFileWrite, "./a", created), []engine.Precondition{}},
		"a directory":             {newTale(), command("mv x d", engine.EffectFileWrite, "./d", func(e *engine.Effect) { e.Entry = "dir" }), []engine.Precondition{}},
		"not known which":         {newTale(), command("edit *", engine.EffectFileWrite, "./*", func(e *engine.Effect) { e.Certainty = engine.CertaintyGlob }), []engine.Precondition{}},
		"after a failure":         {newTale().failed(read, "e"), read, []engine.Precondition{{What: step, Met: false}}},
		"after a denial":          {newTale().answered(read, engine.Block), read, []engine.Precondition{{What: step, Met: true}}},
		"failure, then success":   {newTale().failed(read, "e").ran(read, ""), read, []engine.Precondition{{What: step, Met: true}}},
	} {
		if d := cmp.Diff(test.want, test.tale.next(test.next).History.Presupposes); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestWindows(t *testing.T) {
	read, write := command("cat a", engine.EffectFileRead, "./a"), command("edit b", engine.EffectFileWrite, "./b")
	s := newTale() // each call takes two records, two seconds
	s.failed(read, "old error").failed(read, "timeout").failed(write, "timeout").answered(write, engine.Block).ran(read, "")
	all := engine.WindowFacts{
		Events: 5, Failed: 3, Denied: 1, Distinct: 2, MaxErrors: 2, Same: 2, Edits: 1, Places: 1,
		ByType: map[string]int64{"file_read": 3, "file_modification": 2}, Errors: map[string]int64{"old error": 1, "timeout": 2},
	}
	two := engine.WindowFacts{Events: 2, Denied: 1, Distinct: 2, Same: 2, Places: 1, ByType: map[string]int64{"file_read": 1, "file_modification": 1}, Errors: map[string]int64{}}
	one := engine.WindowFacts{Events: 1, Distinct: 1, Same: 2, Places: 1, ByType: map[string]int64{"file_read": 1}, Errors: map[string]int64{}}
	none := engine.WindowFacts{Same: 1, ByType: map[string]int64{}, Errors: map[string]int64{}}
	got := s.next(read,
		engine.Window{Name: "last 2", Last: 2}, engine.Window{Name: "last 5", Last: 5}, engine.Window{Name: "last 100", Last: 100},
		engine.Window{Name: "1s", For: time.Second}, engine.Window{Name: "2s", For: 2 * time.Second}, engine.Window{Name: "3s", For: 3 * time.Second}, engine.Window{Name: "1h", For: time.Hour},
	).History.Windows
	want := map[string]engine.WindowFacts{"last 2": two, "last 5": all, "last 100": all, "1s": none, "2s": one, "3s": two, "1h": all}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	s.agent = "sub"
	if d := cmp.Diff(none, s.next(read, engine.Window{Name: "w", Last: 9}).History.Windows["w"]); d != "" {
		t.Errorf("another agent's window: %s", d)
	}
}

func TestExecutedDiffers(t *testing.T) {
	for name, test := range map[string]struct {
		approved, ran *engine.SHA
		call          string
		want          *engine.CallFacts
	}{
		"the same":             {&engine.SHA{Args: engine.HexSum([]byte("a"))}, &engine.SHA{Args: engine.HexSum([]byte("a"))}, "c", &engine.CallFacts{Decision: engine.Ask, Enforced: engine.Warn, ExecutedDiffers: false}},
		"others":               {&engine.SHA{Args: engine.HexSum([]byte("a"))}, &engine.SHA{Args: engine.HexSum([]byte("b"))}, "c", &engine.CallFacts{Decision: engine.Ask, Enforced: engine.Warn, ExecutedDiffers: true}},
		"not known what ran":   {&engine.SHA{Args: engine.HexSum([]byte("a"))}, nil, "c", &engine.CallFacts{Decision: engine.Ask, Enforced: engine.Warn, ExecutedDiffers: false}},
		"not known what asked": {nil, &engine.SHA{Args: engine.HexSum([]byte("a"))}, "c", &engine.CallFacts{Decision: engine.Ask, Enforced: engine.Warn, ExecutedDiffers: false}},
		"never asked":          {&engine.SHA{Args: engine.HexSum([]byte("a"))}, &engine.SHA{Args: engine.HexSum([]byte("b"))}, "d", nil},
		"no id":                {&engine.SHA{Args: engine.HexSum([]byte("a"))}, &engine.SHA{Args: engine.HexSum([]byte("b"))}, "", nil},
	} {
		h := lenient()
		h.Append(&engine.Record{N: 1, Kind: engine.KindPre, Phase: engine.PhasePre, Call: "c", SHA: test.approved, Decision: &engine.Decision{Decision: engine.Ask, Enforced: engine.Warn}, Answer: &engine.AnswerFacts{Effect: engine.Warn}})
		in := NewInput(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: test.call, SHA: test.ran}, h, engine.View{})
		if d := cmp.Diff(test.want, in.History.Call); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A result that says that the call was refused has the arguments of what ran in its place.
func TestRefusedDiffersInNothing(t *testing.T) {
	sha := func(text string) *engine.SHA { return &engine.SHA{Args: engine.HexSum([]byte(text))} }
	h := lenient()
	h.Append(&engine.Record{N: 1, Kind: engine.KindPre, Phase: engine.PhasePre, Call: "c", SHA: sha("a"),
		Decision: &engine.Decision{Decision: engine.Block, Enforced: engine.Block}, Answer: &engine.AnswerFacts{Effect: engine.Block}})
	for outcome, want := range map[engine.Outcome]bool{engine.OutcomeDenied: false, engine.OutcomeRan: true} {
		post := &engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: "c", SHA: sha("b"),
			Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: outcome}}}
		if in := NewInput(post, h, engine.View{}); in.History.Call.ExecutedDiffers != want {
			t.Errorf("%s: %v", outcome, in.History.Call)
		}
	}
}

func TestLedgerJoins(t *testing.T) {
	s := newTale().ran(command("cat a", engine.EffectFileRead, "./a"), "").ran(command("make b", engine.EffectFileWrite, "./b", created), "").
		ran(command("edit c", engine.EffectFileWrite, "./c"), "").ran(command("rm d", engine.EffectFileDelete, "./d"), "").
		ran(command("mv x e", engine.EffectFileWrite, "./e", func(e *engine.Effect) { e.Verb = "move" }), "")
	for path, want := range map[string]string{"./a": "read", "./b": "created", "./c": "written", "./d": "deleted", "./e": "moved_into", "./f": "", "": ""} {
		a := command("rm", engine.EffectFileDelete, path)
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
	move := func(e *engine.Effect) { e.Verb = "move" }
	s := newTale().ran(command("mkdir new", engine.EffectFileWrite, "./new", created), "").
		ran(command("mv a/* new", engine.EffectFileWrite, "./new/*.pdf", move), "").
		ran(command("mkdir news", engine.EffectFileWrite, "./news", created), "")
	tree := func(e *engine.Effect) { e.Recursive = true }
	for path, want := range map[string]string{"./new": "moved_into", "./new/*": "moved_into", ".": "moved_into", "./news": "created", "./ne": "", "": ""} {
		if got := s.next(command("rm -r", engine.EffectFileDelete, path, tree)).Action.Effects[0].Ledger; got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
	if got := s.next(command("rmdir", engine.EffectFileDelete, "./new")).Action.Effects[0].Ledger; got != "created" {
		t.Errorf("a folder alone is %q, want created", got)
	}
}

func TestSessionFacts(t *testing.T) {
	s := newTale()
	s.add(&engine.Record{Kind: engine.KindPrompt, Phase: engine.PhasePrompt})
	s.ran(command("edit a", engine.EffectFileWrite, "./a"), "").ran(command("cat .env", engine.EffectFileRead, "./.env", func(e *engine.Effect) { e.Class = engine.ClassEnvFile }), "")
	s.answered(command("rm b", engine.EffectFileDelete, "./b"), engine.Block)
	want := engine.SessionFacts{
		Workspace: "/w", Actions: 3, Prompts: 1, FileOps: 3, Denials: 1, DeniedInRow: 1, SecretsRead: true,
		CountsByType: map[string]int64{"file_modification": 1, "file_read": 1},
		Labels:       []engine.Label{engine.LabelSecret}, Written: map[string]int64{"inside": 1}, Growing: []engine.Growth{}, Scope: []string{},
	}
	two := command("mv a b", engine.EffectFileWrite, "./b")
	two.Effects = append(two.Effects, engine.Effect{Kind: engine.EffectFileDelete, Short: "./a"}, engine.Effect{Kind: engine.EffectFileRead, Short: "./a"})
	if d := cmp.Diff(want, s.next(two).Session); d != "" {
		t.Error(d)
	}
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlStop, Reason: "lunch", By: "anna"}})
	if f := s.next(two).Session; !f.Stopped || !f.StopUnsigned || f.StopReason != "" || f.StopBy != "" {
		t.Errorf("a stopped session is %+v", f)
	}
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlResume}})
	s.add(&engine.Record{Kind: engine.KindPrompt, Phase: engine.PhasePrompt})
	if f := s.next(two).Session; f.Stopped || f.DeniedInRow != 0 || f.FileOps != 2 || f.Prompts != 2 {
		t.Errorf("a session that goes on is %+v", f)
	}
}

// A file that a command reads and something runs in the same command is run.
func TestFilesThatRun(t *testing.T) {
	read := func(command int) engine.Effect {
		return engine.Effect{Kind: engine.EffectFileRead, Short: "./tune.py", Command: command}
	}
	process := engine.Effect{Kind: engine.EffectProcess, Verb: "exec", Target: "python3", Command: 1}
	for name, test := range map[string]struct {
		effects []engine.Effect
		want    bool
	}{
		"only read":              {[]engine.Effect{read(1)}, false},
		"by what runs":           {[]engine.Effect{read(1), process}, true},
		"next to what runs":      {[]engine.Effect{read(0), process}, false},
		"written by what runs":   {[]engine.Effect{{Kind: engine.EffectFileWrite, Short: "./a", Command: 1}, process}, false},
		"read and sent, not run": {[]engine.Effect{read(1), {Kind: engine.EffectNetwork, Egress: true, Command: 1}}, false},
		"by the next command":    {[]engine.Effect{process, read(1)}, true},
	} {
		got := newTale().next(engine.Action{Effects: test.effects}).Action.Effects
		if slices.ContainsFunc(got, func(e engine.Effect) bool { return e.Run }) != test.want {
			t.Errorf("%s: %+v, want %t", name, got, test.want)
		}
	}
}
