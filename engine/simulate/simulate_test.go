package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// classifier takes a tool's name as all that there is to know.
type classifier struct{}

func (classifier) Rewrite(context.Context, engine.Event, string, []engine.Operation) (json.RawMessage, error) {
	return nil, errors.New("this call has no other form")
}

func (classifier) Mask(text string) string { return text }

func (classifier) Classify(_ context.Context, e engine.Event, workspace string) (engine.Facts, error) {
	if e.Tool == "Broken" {
		return engine.Facts{}, errors.New("no facts about Broken")
	}
	f := engine.Facts{Event: engine.EventFacts{Name: e.Name, Mode: e.Mode, Tool: e.Tool, CWD: e.CWD, Args: map[string]any{"workspace": workspace, "n": int64(len(e.Args))}}}
	if e.Tool != "" {
		f.Action = &engine.Action{Name: "test." + e.Tool, Types: []engine.Type{engine.TypeSystemCommand}, Fingerprint: e.Tool}
		f.Args = "mac-of-" + e.Tool
	}
	if e.Result != nil {
		f.Event.Result = &engine.ResultFacts{Outcome: engine.OutcomeRan}
	}
	return f, nil
}

// policy blocks Danger, and every call after more denials than it has patience;
// Broken rules fail.
type policy struct {
	patience int64
	observe  bool
	stores   bool                 // it asks for a checkpoint before each call
	back     *engine.Intervention // of each result
}

func (p policy) Match(_ context.Context, in *engine.Input) ([]engine.Finding, error) {
	if in.Event.Tool == "Danger" {
		return []engine.Finding{{ID: "test.danger", Measure: 0.5}}, nil
	}
	return nil, nil
}

func (p policy) Decide(_ context.Context, in *engine.Input, findings []engine.Finding) (engine.Decision, error) {
	if in.Event.Tool == "Undecidable" {
		return engine.Decision{}, errors.New("no rule decides")
	}
	d := engine.Decision{Decision: engine.Allow, Risk: &engine.Risk{Score: float64(in.Session.Actions) / 10, Level: "low"}}
	switch {
	case len(findings) > 0:
		d.Decision, d.Rules = engine.Block, []engine.RuleResult{{ID: "no_danger", Decision: engine.Block}}
	case in.Session.Denials > p.patience:
		d.Decision, d.Rules = engine.Block, []engine.RuleResult{{ID: "patience", Decision: engine.Block}}
	}
	if p.back != nil && in.Phase == engine.PhasePost {
		d.Decision, d.Intervention = engine.Warn, p.back
	}
	if p.stores && in.Phase == engine.PhasePre {
		d.Obligations = []string{engine.ObligationCheckpoint}
	}
	d.Enforced = d.Decision
	if p.observe {
		d.Enforced = engine.Allow
	}
	return d, nil
}

// deciding is a policy that is not compiled.
type deciding interface {
	engine.Matcher
	engine.Decider
}

func compiled(p deciding, digest string) *review.Policy {
	return &review.Policy{Digest: digest, View: engine.View{Windows: []engine.Window{{Name: "recent", Last: 5}}}, Matcher: p, Decider: p}
}

var env = engine.Env{Engine: 1, Classifier: 1, Fold: history.FoldVersion, OPA: "test", CEL: "test"}

// events makes calls with their results: "Tool" or "Tool:agent".
func events(tools ...string) []engine.Event {
	list := []engine.Event{{Harness: "test", Name: "prompt", Phase: engine.PhasePrompt, Session: "s", CWD: "/srv/shop", Prompt: "Go.", Time: 1000}}
	for i, tool := range tools {
		tool, agent, _ := strings.Cut(tool, ":")
		pre := engine.Event{
			Harness: "test", Name: "pre", Phase: engine.PhasePre, Session: "s", Agent: agent, Call: fmt.Sprint("c", i),
			Tool: tool, Args: json.RawMessage(`{}`), CWD: fmt.Sprint("/srv/shop/", i), Time: int64(2000 + 10*i),
		}
		post := pre
		post.Name, post.Phase, post.Result = "post", engine.PhasePost, &engine.Result{}
		list = append(list, pre, post)
	}
	return list
}

func verdicts(actions []Action) string {
	var s []string
	for _, a := range actions {
		text := fmt.Sprintf("%d %s %s", a.Index, a.Tool, a.Decision)
		if a.Enforced != a.Decision {
			text += "/" + string(a.Enforced)
		}
		s = append(s, strings.TrimSpace(text+" "+strings.Join(a.Rules, ",")))
	}
	return strings.Join(s, "; ")
}

// rehearsed takes a session that happened through a policy, and returns its calls.
func rehearsed(t *testing.T, s Session, p policy) []Action {
	t.Helper()
	r := Start(s.ID, classifier{}, compiled(p, "p"), env)
	r.Recorded = true
	var actions []Action
	for _, e := range s.Events {
		if a, happened := r.Next(t.Context(), e); happened && e.Phase == engine.PhasePre {
			actions = append(actions, a)
		}
	}
	return actions
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, tools string
		policy      policy
		want        string
	}{
		{"nothing", "", policy{}, ""},
		{"allowed", "Read Write:sub", policy{}, "0 Read allow; 1 Write allow"},
		{"history counts", "Read Danger Read Danger Read", policy{patience: 1}, "0 Read allow; 1 Danger block no_danger; 2 Read allow; 3 Danger block no_danger; 4 Read block patience"},
		{"observed", "Danger Read", policy{observe: true}, "0 Danger block/allow no_danger; 1 Read allow"},
	} {
		s := Session{ID: "s1", Events: events(strings.Fields(c.tools)...)}
		actions := rehearsed(t, s, c.policy)
		if got := verdicts(actions); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		again := rehearsed(t, s, c.policy)
		for i := range actions {
			if d := cmp.Diff(line(t, actions[i].Record), line(t, again[i].Record)); d != "" {
				t.Errorf("%s: run twice (-first +second):\n%s", c.name, d)
			}
		}
	}
}

func line(t *testing.T, r *engine.Record) string {
	t.Helper()
	own := *r
	if own.Answer != nil {
		answer := *own.Answer
		answer.MS = 0
		own.Answer = &answer
	}
	b, err := engine.EncodeLine(&own)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What cannot be decided is denied and says why; the session goes on.
func TestRunFailures(t *testing.T) {
	actions := rehearsed(t, Session{ID: "s1", Events: events("Broken", "Undecidable", "Read")}, policy{patience: 9})
	if got, want := verdicts(actions), "0 Broken block; 1 Undecidable block; 2 Read allow"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for i, want := range []string{"no facts about Broken", "no rule decides", ""} {
		if got := actions[i].Error; want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("action %d: error %q, want %q", i, got, want)
		}
	}
}

// The result of a call that the policy denies does not happen, and the
// workspace stays where the session began.
func TestRehearsal(t *testing.T) {
	r := Start("s1", classifier{}, compiled(policy{patience: 9}, "p"), env)
	var happened []string
	for _, e := range events("Danger", "Read") {
		if a, ok := r.Next(t.Context(), e); ok {
			happened = append(happened, fmt.Sprint(e.Name, " ", a.Session))
		}
	}
	if got, want := strings.Join(happened, ", "), "prompt s1, pre s1, pre s1, post s1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if h := r.chain.history; h.Workspace != "/srv/shop" || h.Denied != 1 || h.Actions != 2 {
		t.Errorf("workspace %s, %d denials, %d actions", h.Workspace, h.Denied, h.Actions)
	}
}

// What was recorded happened: a call that this policy denies and that ran is
// known to have run.
func TestRehearsalOfRecorded(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		r := Start("s1", classifier{}, compiled(policy{patience: 9}, "p"), env)
		r.Recorded = recorded
		for _, e := range events("Danger", "Read") {
			r.Next(t.Context(), e)
		}
		last := r.chain.history.Agents[0].Ring[0]
		if ran := last.Outcome == engine.OutcomeRan; ran != recorded {
			t.Errorf("recorded %v: the denied call is %s", recorded, last.Outcome)
		}
	}
}

// Two hooks on one call: the second gets the recorded answer and is not folded.
func TestRehearsalDuplicate(t *testing.T) {
	r := Start("", classifier{}, compiled(policy{patience: 9}, "p"), env)
	danger := events("Danger")[1]
	first, _ := r.Next(t.Context(), danger)
	second, _ := r.Next(t.Context(), danger)
	if first.Enforced != engine.Block || second.Enforced != engine.Block || second.Session != "s" || r.chain.history.Actions != 1 {
		t.Errorf("first %+v, second %+v, %d actions", first, second, r.chain.history.Actions)
	}
}

// recorder is a chain on paper: each record is encoded when it is appended, and
// every fourth is preceded by a keyframe.
type recorder struct {
	chain
	lines []string
}

func (r *recorder) Update(_ context.Context, _ *review.Policy, _ engine.SessionKey, fn func(history.Tail) error) error {
	return fn(history.Tail{History: r.history, Append: r.append, Read: r.read})
}

func (r *recorder) append(rec *engine.Record) error {
	if n := r.history.N; n > 0 && n%4 == 0 {
		state, err := r.history.Encode()
		if err != nil {
			return err
		}
		if err := r.put(&engine.Record{Kind: engine.KindKeyframe, T: rec.T, State: state}); err != nil {
			return err
		}
	}
	return r.put(rec)
}

func (r *recorder) put(rec *engine.Record) error {
	rec.V, rec.N, rec.Chain = engine.FormatVersion, r.history.N+1, r.id
	line, err := engine.EncodeLine(rec)
	if err != nil {
		return err
	}
	r.lines = append(r.lines, string(line))
	return r.chain.append(rec)
}

// recordLines writes a log as the live path does.
func recordLines(t *testing.T, id string, p deciding, tools ...string) []string {
	t.Helper()
	log := &recorder{chain: chain{id: chainID(id), history: history.New()}}
	r := act.Reviewer{
		Policy:     func(string) (*review.Policy, error) { return compiled(p, "p1"), nil },
		Classifier: classifier{}, Log: log, Env: env, Clock: act.Clock{Now: func() int64 { return 1 }},
	}
	for _, e := range events(tools...) {
		if _, err := r.Handle(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return log.lines
}

func decoded(lines []string) iter.Seq2[*engine.Record, error] {
	return func(yield func(*engine.Record, error) bool) {
		for _, l := range lines {
			if !yield(engine.DecodeLine([]byte(l))) {
				return
			}
		}
	}
}

func store(p policy) func(string) (*review.Policy, error) {
	return func(digest string) (*review.Policy, error) {
		if digest != "p1" {
			return nil, errors.New("no such policy")
		}
		return compiled(p, digest), nil
	}
}

var tools = []string{"Read", "Danger", "Write:sub", "Danger", "Read", "Read"}

func TestReplaySame(t *testing.T) {
	lines := append(recordLines(t, "a", policy{patience: 1}, tools...), recordLines(t, "b", policy{patience: 1}, "Danger", "Undecidable")...)
	report, err := Replay(t.Context(), decoded(lines), store(policy{patience: 1}), env)
	if err != nil {
		t.Fatal(err)
	}
	// Of a: a prompt, 6 calls, 6 results. Of b: a prompt, a call and its result;
	// the other call and its result have no decision.
	want := Report{Records: int64(len(lines)), Decisions: 16, Same: 16, Missing: map[string]int64{}, Why: map[string]string{}, Degraded: 2, Keyframes: 5}
	if d := cmp.Diff(want, report); d != "" {
		t.Errorf("report (-want +got):\n%s", d)
	}
	if err := report.Err(); err != nil {
		t.Error(err)
	}
}

// A log whose first files are gone begins with a keyframe.
func TestReplayFromKeyframe(t *testing.T) {
	lines := recordLines(t, "a", policy{patience: 1}, tools...)
	report, err := Replay(t.Context(), decoded(lines[4:]), store(policy{patience: 1}), env)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Err(); err != nil || report.Same == 0 || report.Same != report.Decisions {
		t.Errorf("%+v, error %v", report, err)
	}
}

func TestReplayDifferences(t *testing.T) {
	lines := recordLines(t, "a", policy{patience: 1}, tools...)
	id := chainID("a")[:8]
	for _, c := range []struct {
		name     string
		change   func(*engine.Record)
		n        int64 // of the record that is changed
		patience int64
		want     string
	}{
		{"moved threshold", nil, 0, 5, "14: decision.decision is recorded as \"block\" but recomputed as \"allow\""},
		{"score", func(r *engine.Record) { r.Decision.Risk.Score = 0.3 }, 3, 1, "3: decision.risk.score is recorded as 0.3 but recomputed as 0"},
		{"rule", func(r *engine.Record) { r.Decision.Rules[0].ID = "other" }, 6, 1, "6: decision.rules.0.id is recorded as \"other\" but recomputed as \"no_danger\""},
		{"rule removed", func(r *engine.Record) { r.Decision.Rules = nil }, 6, 1, "6: decision.rules is recorded as absent but recomputed as [{"},
		{"finding", func(r *engine.Record) { r.Findings[0].Measure = 0.6 }, 6, 1, "6: findings.0.measure is recorded as 0.6 but recomputed as 0.5"},
		{"finding removed", func(r *engine.Record) { r.Findings = nil }, 6, 1, "6: findings is recorded as [] but recomputed as [{"},
		{"time", func(r *engine.Record) { r.T++ }, 3, 1, "3: sha.input is recorded as"},
		{"state", func(r *engine.Record) { r.SHA.State = "00" }, 3, 1, "3: sha.state is recorded as \"00\""},
		{"denial changed to allow", func(r *engine.Record) { r.Answer.Effect = engine.Allow }, 6, 1, "7: sha.state is recorded as"},
		{"keyframe", editState(t, func(h *history.State) { h.Denied = 7 }), 9, 1, "9: state.denied is recorded as 7 but recomputed as"},
		{"keyframe without state", func(r *engine.Record) { r.State = nil }, 5, 1, "5: state is recorded as absent"},
		{"no policy named", func(r *engine.Record) { r.By = nil }, 3, 1, "3: by is recorded as"},
	} {
		changed := make([]string, len(lines))
		copy(changed, lines)
		if c.change != nil {
			changed[c.n-1] = edit(t, lines[c.n-1], c.change)
		}
		report, err := Replay(t.Context(), decoded(changed), store(policy{patience: c.patience}), env)
		if err != nil {
			t.Fatal(err)
		}
		if report.First == nil || !strings.HasPrefix(report.First.String(), id+"-"+c.want) {
			t.Errorf("%s: first difference %v, want %s-%s…", c.name, report.First, id, c.want)
			continue
		}
		if report.Err() == nil || report.Different == 0 {
			t.Errorf("%s: no error: %+v", c.name, report)
		}
	}
	report, err := Replay(t.Context(), decoded(lines[2:]), store(policy{patience: 1}), env)
	if err != nil || report.First == nil || report.First.Field != "n" {
		t.Errorf("a chain without its beginning: %+v, %v", report, err)
	}
}

func edit(t *testing.T, line string, change func(*engine.Record)) string {
	t.Helper()
	r, err := engine.DecodeLine([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	change(r)
	b, err := engine.EncodeLine(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// editState changes the state of a keyframe.
func editState(t *testing.T, change func(*history.State)) func(*engine.Record) {
	t.Helper()
	return func(r *engine.Record) {
		h, err := history.Decode(r.State)
		if err != nil {
			t.Fatal(err)
		}
		change(h)
		if r.State, err = h.Encode(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReplayIncomparable(t *testing.T) {
	lines := recordLines(t, "a", policy{patience: 1}, tools...)
	newer := env
	newer.OPA = "newer"
	report, err := Replay(t.Context(), decoded(lines), store(policy{patience: 9}), newer)
	if err != nil || report.Err() != nil || report.Incomparable != report.Decisions || report.Same != 0 {
		t.Errorf("under another environment: %+v, %v, %v", report, err, report.Err())
	}
	foreign := editState(t, func(h *history.State) { h.Fold, h.Denied = history.FoldVersion+1, 7 })
	cut := append([]string{edit(t, lines[4], foreign)}, lines[5:]...)
	report, err = Replay(t.Context(), decoded(cut), store(policy{patience: 1}), env)
	if err != nil || report.Err() != nil || report.Incomparable == 0 || report.Same == 0 || report.Incomparable+report.Same != report.Decisions {
		t.Errorf("from another fold's keyframe to one of ours: %+v, %v, %v", report, err, report.Err())
	}
}

func TestReplayMissingPolicy(t *testing.T) {
	lines := recordLines(t, "a", policy{patience: 1}, tools...)
	asked := 0
	report, err := Replay(t.Context(), decoded(lines), func(string) (*review.Policy, error) {
		asked++
		return nil, errors.New("gone")
	}, env)
	if err != nil || report.Missing["p1"] != report.Decisions || report.Err() == nil || !strings.Contains(report.Err().Error(), "p1") || asked != 1 {
		t.Errorf("%+v, %v, %v, asked %d times", report, err, report.Err(), asked)
	}
}

func TestReplayStops(t *testing.T) {
	lines := recordLines(t, "a", policy{patience: 1}, tools...)
	report, err := Replay(t.Context(), decoded([]string{lines[0], "{", lines[1]}), store(policy{}), env)
	if err == nil || report.Records != 1 {
		t.Errorf("an unreadable record: %+v, %v", report, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Replay(ctx, decoded(lines), store(policy{}), env); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
