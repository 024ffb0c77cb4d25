package history

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// longRecord returns record n of a session in which every name is new, and as
// long or as hard to encode as the filler makes it.
func longRecord(n int64, filler string) *engine.Record {
	name := func(what string) string { return fmt.Sprintf("%s-%d-%s", what, n, strings.Repeat(filler, 80)) }
	r := &engine.Record{
		V: engine.FormatVersion, N: n, T: 1_700_000_000_000 + n, Kind: engine.KindPre, Phase: engine.PhasePre,
		Agent: name("agent")[:60] + fmt.Sprint(n%30), Call: name("call"),
		Event:  &engine.EventFacts{Tool: name("tool")},
		SHA:    &engine.SHA{Args: strings.Repeat("a", 64)},
		Answer: &engine.AnswerFacts{Effect: engine.Verdict([]string{"allow", "block"}[n/2%2])},
		Action: &engine.Action{Fingerprint: fmt.Sprintf("%016x", n)},
	}
	for _, t := range engine.Types() {
		r.Action.Types = append(r.Action.Types, engine.Type(t))
	}
	for i := range 16 {
		r.Action.Tokens = append(r.Action.Tokens, fmt.Sprintf("%08x", n*int64(i+1)))
	}
	for i := range 8 {
		r.Action.Effects = append(r.Action.Effects, engine.Effect{Kind: engine.EffectFileWrite, Verb: []string{"move", "write"}[i%2],
			Short: name(fmt.Sprint("path", i)), Exists: "no", Location: engine.LocationHomeRoot, Class: engine.ClassMount})
	}
	r.Action.Check, r.Action.Waits = true, true
	typed := engine.TypedLine{Terminal: name("terminal")[:engine.MaxTypedParts], Before: strings.Repeat(filler, engine.MaxTypedBytes/len(filler))}
	for range engine.MaxTypedParts {
		typed.Parts = append(typed.Parts, strings.Repeat(filler, engine.MaxTypedBytes/engine.MaxTypedParts/len(filler)))
	}
	r.Action.Terminals = &engine.Terminals{}
	for i := range engine.MaxTerminals {
		line := typed
		line.Terminal += fmt.Sprint(n, i)
		r.Action.Terminals.Lines = append(r.Action.Terminals.Lines, line)
	}
	r.Action.Contents = map[string]engine.ContentFacts{
		"content": {Bytes: 1 << 60, MAC: fmt.Sprintf("%064x", n)}, "old_string": {MAC: fmt.Sprintf("%064x", -n)}, "new_string": {MAC: name("mac")},
	}
	for i := range 24 {
		r.Action.Words = append(r.Action.Words, mark(name(fmt.Sprint("word", i))))
		r.Action.Marks = append(r.Action.Marks, mark(name(fmt.Sprint("mark", i))))
		r.Action.Hosts = append(r.Action.Hosts, name(fmt.Sprint("host", i)))
		r.Findings = append(r.Findings, engine.Finding{ID: name(fmt.Sprint("finding", i)), Level: name("level")})
		r.Action.Effects = append(r.Action.Effects, engine.Effect{Kind: engine.EffectFileRead, Short: name(fmt.Sprint("read", i)), Exists: "no",
			Certainty: engine.CertaintyExact, Entry: "file", Class: engine.ClassCredential, Reversibility: engine.R5})
	}
	return r
}

// longPrompt is what a person says in such a session.
func longPrompt(n int64, filler string) *engine.Record {
	g := &engine.Goal{}
	for i := range 40 {
		name := fmt.Sprintf("%d-%d-%s", n, i, strings.Repeat(filler, 80))
		g.Names, g.Words, g.Marks = append(g.Names, name), append(g.Words, mark(name)), append(g.Marks, mark("m"+name))
		g.Intents = append(g.Intents, engine.Intent(engine.Intents()[i%len(engine.Intents())]))
		g.Constraints = append(g.Constraints, engine.Constraint{Kind: engine.ConstraintKind(engine.ConstraintKinds()[i%6]), What: name})
	}
	return &engine.Record{V: engine.FormatVersion, N: n, Kind: engine.KindPrompt, Phase: engine.PhasePrompt, Event: &engine.EventFacts{Goal: g}}
}

// longStart is what instruction files forbid in such a session.
func longStart(n int64, filler string) *engine.Record {
	s := &engine.Standing{MAC: fmt.Sprintf("%064x", n)}
	filler = strings.ToValidUTF8(filler, "?") // as it is read from a log
	for i := range 2 * engine.MaxStanding {
		st := engine.Statement{Kind: engine.Forbids, Act: fmt.Sprintf("%d-%s", i, strings.Repeat(filler, 80)), Until: engine.UntilAsked, Never: true,
			From: fmt.Sprintf("%s/CLAUDE.md:%d", strings.Repeat(filler, 80), i), Text: strings.Repeat(filler, 300)}
		for o := range 8 {
			st.Objects = append(st.Objects, fmt.Sprintf("%d-%d-%s", i, o, strings.Repeat(filler, 80)))
		}
		s.Statements = append(s.Statements, st)
	}
	return &engine.Record{V: engine.FormatVersion, N: n, Kind: engine.KindNote, Phase: engine.PhaseStart, Event: &engine.EventFacts{Standing: s}}
}

func failedPost(pre *engine.Record, n int64) *engine.Record {
	post := *pre
	post.N, post.Kind, post.Phase = n, engine.KindPost, engine.PhasePost
	event := *pre.Event
	event.Result = &engine.ResultFacts{
		Outcome: engine.OutcomeFailed, Class: fmt.Sprintf("class %d %s", n, pre.Call), Content: &engine.ContentFacts{MAC: fmt.Sprintf("%064x", n), Bytes: 1 << 60},
		Trouble: engine.TroubleDenied, MS: 1 << 60, Marks: pre.Action.Marks,
	}
	post.Event = &event
	return &post
}

func TestStateFitsAKeyframe(t *testing.T) {
	for _, filler := range []string{"x", "é", `"`, "\x01", "\xff", "\u2028", "\U0001F600", "<"} {
		h := lenient()
		open := &engine.Record{V: engine.FormatVersion, N: 1, Kind: engine.KindOpen, Chain: strings.Repeat("c", 32),
			Session: strings.Repeat(filler, 128/len(filler)), Harness: strings.Repeat(filler, 128/len(filler)), Open: &engine.Open{Env: &engine.Env{}}}
		most := sort.Search(engine.MaxLine, func(n int) bool {
			open.Open.Workspace = strings.Repeat(filler, n+1)
			_, err := engine.EncodeLine(open)
			return err != nil
		})
		open.Open.Workspace = strings.Repeat(filler, most)
		h.Append(asWritten(t, open))
		for n := int64(2); n < 600; n += 2 {
			pre := longRecord(n, filler)
			h.Append(pre)
			if post := failedPost(pre, n+1); n%3 == 0 {
				if n%9 == 0 {
					post.Event.Result.Outcome = engine.OutcomeRan
				}
				h.Append(post)
			} else {
				h.Append(asWritten(t, &engine.Record{V: engine.FormatVersion, N: n + 1, Kind: engine.KindControl, Control: &engine.Control{
					Do: []string{engine.ControlStop, engine.ControlAllowOnce, engine.ControlAllowSession}[n%3], Reason: pre.Call, By: strings.Repeat(filler, 80),
					Print: fmt.Sprintf("%016x", n), CWD: pre.Call}}))
			}
			if n%10 == 0 {
				h.Append(longPrompt(n+1, filler))
				h.Append(longStart(n+1, filler))
				h.Append(asWritten(t, &engine.Record{V: engine.FormatVersion, N: n + 1, Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlScope, Path: pre.Call}}))
			}
			if n%100 > 2 {
				continue
			}
			state, err := h.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := engine.EncodeLine(&engine.Record{V: engine.FormatVersion, Prev: strings.Repeat("0", 64), N: h.N + 1, Kind: engine.KindKeyframe, T: h.T,
				Chain: h.Chain, Session: h.Session, Harness: h.Harness, Skew: 1 << 40, State: state}); err != nil {
				t.Fatalf("filler %q, record %d: %v", filler, n, err)
			}
		}
		testSteady(t, h)
		testSize(t, h)
		full := map[string][2]int{
			"agents": {len(h.Agents), maxAgents}, "hosts": {len(h.Hosts), hashDigits * maxHosts}, "bins": {len(h.Bins), maxBins},
			"fired": {len(h.Fired), maxFired}, "secret marks": {len(h.Marks[engine.LabelSecret]), hashDigits * maxMarks}, "names": {len(h.Goals.Names), maxNames},
			"person's marks": {len(h.Marks[labelPerson]), hashDigits * maxMarks}, "words": {len(h.Goals.Words), hashDigits * maxWords},
			"scope": {len(h.Goals.Scope), maxScope}, "prohibitions": {min(len(h.Goals.Forbidden), maxForbidden), maxForbidden},
			"prohibitions of files": {len(h.Goals.Standing), engine.MaxStanding},
		}
		for what, n := range full {
			if n[0] != n[1] {
				t.Errorf("filler %q: %d %s are kept, want %d: the test fills too little, or the bound does not hold", filler, n[0], what, n[1])
			}
		}
		if len(h.Denials) != maxDenials {
			t.Errorf("filler %q: %d denials are remembered, want %d", filler, len(h.Denials), maxDenials)
		}
		if len(h.Allowed) != maxAllowed {
			t.Errorf("filler %q: %d words of a person are remembered, want %d", filler, len(h.Allowed), maxAllowed)
		}
	}
}

// asWritten returns the record as a reader of its line sees it.
func asWritten(t *testing.T, r *engine.Record) *engine.Record {
	t.Helper()
	line, err := engine.EncodeLine(r)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = engine.DecodeLine(line); err != nil {
		t.Fatal(err)
	}
	return r
}

// testSize: what the state is reckoned to take is what it takes, or more.
func testSize(t *testing.T, h *State) {
	t.Helper()
	reckoned := h.fixedSize() + sum(h.Paths, (*pathEntry).size)
	for _, a := range h.Agents {
		reckoned += sum(a.Ring, (*ringEntry).size)
	}
	raw, err := engine.Marshal(h)
	if err != nil || len(raw) > reckoned {
		t.Errorf("the state takes %d bytes, and was reckoned to take %d (%v)", len(raw), reckoned, err)
	}
}

// TestHostileNamesLeaveARing: an agent that fills all that it can fill, in a
// workspace of usual length, still has a history.
func TestHostileNamesLeaveARing(t *testing.T) {
	h := lenient()
	h.Append(&engine.Record{N: 1, Kind: engine.KindOpen, Chain: strings.Repeat("c", 32), Session: strings.Repeat("s", 36), Harness: "claude-code", Open: &engine.Open{Workspace: "/home/someone/projects/shop"}})
	for n := int64(2); n < 800; n += 2 {
		pre := longRecord(n, "\x01")
		for i := range pre.Findings { // policy's names are its own
			pre.Findings[i] = engine.Finding{ID: fmt.Sprint("some.pattern", i), Level: "medium"}
		}
		h.Append(pre)
		h.Append(failedPost(pre, n+1))
	}
	entries := 0
	for _, a := range h.Agents {
		entries += len(a.Ring)
	}
	if least := 20; entries < least {
		t.Errorf("the rings hold %d actions, want at least %d", entries, least)
	}
	testSize(t, h)
}

// testSteady: bounding again, and writing and reading, change nothing.
func testSteady(t *testing.T, h *State) {
	t.Helper()
	before, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	h.bound()
	var read State
	if err := json.Unmarshal(before, &read); err != nil {
		t.Fatal(err)
	}
	for what, state := range map[string]*State{"bound": h, "write and read": &read} {
		if after, err := json.Marshal(state); err != nil || string(after) != string(before) {
			t.Errorf("%s changed the state (%v)", what, err)
		}
	}
}

// TestUsualNamesFillTheRing: the bytes' bound is for hostile names only.
func TestUsualNamesFillTheRing(t *testing.T) {
	h := lenient()
	h.Append(&engine.Record{N: 1, Kind: engine.KindOpen, Chain: strings.Repeat("c", 32), Session: strings.Repeat("s", 36), Open: &engine.Open{Workspace: "/home/someone/projects/shop"}})
	for n := int64(2); n < 3000; n += 2 {
		r := &engine.Record{N: n, T: 1_700_000_000_000 + n, Kind: engine.KindPre, Agent: engine.MainAgent, Call: fmt.Sprintf("toolu_01%022d", n),
			Event: &engine.EventFacts{Tool: "Edit"}, SHA: &engine.SHA{Args: strings.Repeat("a", 64)}, Answer: &engine.AnswerFacts{Effect: engine.Allow},
			Action: &engine.Action{Types: []engine.Type{engine.TypeFileModification}, Fingerprint: fmt.Sprintf("%016x", n), Effects: []engine.Effect{{
				Kind: engine.EffectFileWrite, Verb: "write", Short: fmt.Sprintf("./internal/orders/handler_%d.go", n%400), Exists: "yes", Location: engine.LocationInside}}}}
		h.Append(r)
		post := *r
		post.N, post.Kind, post.Event = n+1, engine.KindPost, &engine.EventFacts{Tool: "Edit", Result: &engine.ResultFacts{Outcome: engine.OutcomeRan, Content: &engine.ContentFacts{MAC: strings.Repeat("b", 64)}}}
		h.Append(&post)
	}
	if got := len(h.agent(engine.MainAgent).Ring); got != ringSize {
		t.Errorf("ring holds %d actions, want %d", got, ringSize)
	}
	if len(h.Paths) != maxLedger || len(h.Calls) != maxCalls {
		t.Errorf("%d paths and %d calls are remembered, want %d and %d", len(h.Paths), len(h.Calls), maxLedger, maxCalls)
	}
}

func TestKeysStayApartAndPlain(t *testing.T) {
	long := strings.Repeat("a/", 40)
	keys := map[string]string{}
	for _, s := range []string{"", "./a.go", long, long + "b", "a\x01", "a\x02", "a\"", "a?", "é\xff", "é\xfe", "日本語/ファイル.go"} {
		k := truncateKey(s)
		if other, taken := keys[k]; taken {
			t.Errorf("%q and %q have the same key %q", s, other, k)
		}
		keys[k] = s
		b, err := engine.Marshal(k)
		if err != nil || len(k) > keyLength || len(b) != len(k)+2 {
			t.Errorf("key of %q is %q, %d bytes, in JSON %s", s, k, len(k), b)
		}
	}
}

func TestBrokenStatesAreRefused(t *testing.T) {
	for state, want := range map[string]string{
		`{"agents":[null]}`: "an agent without", `{"agents":[{"name":"main"}]}`: "an agent without", `[]`: "cannot unmarshal", `{"by_type":null}`: "",
	} {
		r, err := DecodeLine([]byte(`{"v":1,"prev":"","n":1,"kind":"keyframe","state":` + state + "}\n"))
		if want == "" && err == nil {
			h, err := Decode(r.State)
			if err != nil {
				t.Fatal(err)
			}
			h.Append(longRecord(1, "x")) // does not panic
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("state %s: error is %v, want %q", state, err, want)
		}
	}
}
