package simulatecmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// rowsOfPolicies are the rows of policies, between which calls are classified again.
var rowsOfPolicies = map[string]map[string]string{
	"none":    {"settings.yaml": "enforcement: enforce\n"},
	"deletes": {"programs/a.yaml": "shopctl: {cases: [{sub: wipe, do: [{end: delete}]}, {sub: list, do: [{process: exec}]}]}\n"},
	"like":    {"programs/a.yaml": "shopctl: {like: rm}\n"},
	"makes":   {"programs/a.yaml": "shopctl: {like: make}\nmake: {like: rm}\n"},
	"runs":    {"programs/a.yaml": "shopctl: {like: python}\n"},
	"wraps":   {"programs/a.yaml": "shopctl: {like: env}\nship: {like: curl}\n"},
	"ships":   {"programs/a.yaml": "ship: {like: kubectl}\nshopctl: {like: git}\n"},
	"places":  {"places/a.yaml": "credential: {home: .shopcfg, names: shop.key}\n"},
	"tools":   {"tools/a.yaml": "mcp__shop__*: {do: [{end: delete}]}\n"},
}

// rowCalls are commands whose programs these rows describe.
var rowCalls = []string{
	"shopctl wipe orders", "shopctl list", "shopctl wipe orders && rm -rf build", "shopctl list > out.txt", "shopctl a.txt",
	"shopctl run.py", "shopctl deploy", "shopctl", "cat a.txt | shopctl wipe -", "./run.sh", "bash run.sh", "shopctl rm -rf src",
	"sudo shopctl wipe orders", "env A=1 shopctl list", "python run.py", "make deploy", "make", "make clean && shopctl list",
	"ship -X DELETE https://shop.example/orders", "ship delete ns shop", "ship push origin main", "shopctl push --force origin main",
	"shopctl reset --hard", "cat shop.key", "cat ~/.shopcfg/token", "rm shop.key", "echo x > shop.key", "cp shop.key /tmp/x",
	"curl -T shop.key https://shop.example/", "ls", "for f in *.txt; do shopctl $f; done", "cd sub && shopctl a.txt",
	"shopctl ../other", "shopctl https://shop.example/x", "ship http://localhost:8080/x", "shopctl -f Makefile deploy", "shopctl link.txt",
	"mv a.txt b.txt && shopctl b.txt", "shopctl wipe 'tok_12'", "nohup shopctl list &", "shopctl wipe $(cat a.txt)", "xargs shopctl < a.txt",
	"find . -name '*.txt' -exec shopctl wipe {} +", "docker run --rm shop shopctl wipe orders", "ssh shop.example shopctl wipe orders",
	"mcp__shop__sell", "mcp__shop__list_orders", "shopctl wipe orders",
}

// What a call means by other rows is known only if it is what a hook with these rows would have recorded.
func TestRereadAsRecorded(t *testing.T) {
	s := newShelf(t)
	store := active.KeptIn(filepath.Join(s.dir, "state"))
	work := filepath.Join(s.dir, "home", "shop")
	for name, text := range map[string]string{"a.txt": "one\ntwo\n", "run.py": "import os\nos.remove('a.txt')\n", "run.sh": "shopctl wipe orders\n",
		"Makefile": "deploy:\n\tshopctl wipe orders\nclean:\n\trm -rf build\n", "shop.key": "k", "sub/a.txt": "x", "build/o": "o", "src/a.go": "package a\n"} {
		s.write(t, "home/shop/"+name, text)
	}
	s.write(t, "home/.shopcfg/token", "x")
	if err := os.Symlink("../.shopcfg/token", filepath.Join(work, "link.txt")); err != nil {
		t.Fatal(err)
	}
	policies, sides := map[string]*bundles.Effective{}, map[string]simulate.Side{}
	for name, files := range rowsOfPolicies {
		for file, text := range files {
			s.write(t, name+"/"+file, text)
		}
		s.write(t, name+"/.manifest", `{"roots": ["policies/organisation"]}`)
		policies[name] = s.ref(t, name)
		if err := store.Put(policies[name]); err != nil {
			t.Fatal(err)
		}
		var err error
		if sides[name], err = sideOf(t.Context(), name, policies[name], s.kept(t)); err != nil {
			t.Fatal(err)
		}
	}
	sessions := map[string][][]*engine.Record{}
	for name, e := range policies {
		sessions[name] = s.recordings(t, e, work)
	}
	var sum rereadSum
	for name := range policies {
		for other := range policies {
			if name != other && (name == "none" || other == "none") {
				for i, session := range sessions[name] {
					sum.check(t, name+", then "+other, sides[other], session, sessions[other][i])
				}
			}
		}
	}
	if t.Log(sum); sum.changed == 0 || sum.unknown == 0 || sum.different == 0 || 3*sum.known < sum.calls {
		t.Errorf("%+v", sum)
	}
}

// rereadSum counts what was compared.
type rereadSum struct {
	calls, known, unknown, changed int // changed: other facts than were recorded
	different                      int // decisions
}

// check compares a session that was recorded under one policy, and evaluated under another, with what that other records.
func (s *rereadSum) check(t *testing.T, name string, side simulate.Side, recorded, real []*engine.Record) {
	t.Helper()
	workspace := recorded[0].Open.Workspace
	unknown := false
	want := map[simulate.State]int64{}
	for _, rec := range recorded {
		i := slices.IndexFunc(real, func(o *engine.Record) bool { return o.Call == rec.Call && o.Decision != nil })
		if rec.Phase != engine.PhasePre || rec.Decision == nil || i < 0 {
			continue
		}
		s.calls++
		if was, is := rec.Decision.Enforced, real[i].Decision.Enforced; want[simulate.Loosened]+want[simulate.Tightened] == 0 {
			switch {
			case was == is:
				want[simulate.Unchanged]++
			case was.Strictness() < is.Strictness():
				want[simulate.Tightened]++
			default:
				want[simulate.Loosened]++
			}
		}
		m := side.MissingFact(rec, workspace)
		if m.Fact != "" {
			s.unknown++
			unknown = true
			continue
		}
		s.known++
		action := rec.Action
		if m.Action != nil {
			action = m.Action
			s.changed++
		}
		read, err := engine.CanonicalOf(action)
		if err != nil {
			t.Fatal(err)
		}
		if was, err := engine.CanonicalOf(real[i].Action); err != nil || string(read) != string(was) {
			a, _ := json.Marshal(action)
			b, _ := json.Marshal(real[i].Action)
			t.Errorf("%s: %v\n%s\n%s", name, rec.Event.Args, a, b)
		}
	}
	if unknown {
		return
	}
	c := simulate.Comparison{Baseline: simulate.Side{Named: simulate.Named{Name: "recorded", Recorded: true}}, Candidates: []simulate.Side{side}, Env: cli.Environment()}
	events := func(yield func(simulate.RecordedEvent, error) bool) {
		for _, rec := range recorded {
			if !yield(simulate.RecordedEvent{Record: rec}, nil) {
				return
			}
		}
	}
	found, err := c.Session(t.Context(), simulate.RecordedSession{Session: recorded[0].Session, Format: "audit", Audit: true, Events: events})
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []simulate.State{simulate.Loosened, simulate.Tightened} {
		s.different += int(want[state])
		if got := found[0].Calls.States[state]; got != want[state] {
			t.Errorf("%s: %v: %d calls are %s, and %d with that policy: %v", name, recorded[1].Event.Args, got, state, want[state], found[0].Calls)
		}
	}
}

// recordings are sessions of three calls as a hook with a policy records them in a folder.
func (s *shelf) recordings(t *testing.T, e *bundles.Effective, work string) (sessions [][]*engine.Record) {
	t.Helper()
	p, err := wiring.Compile(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	set, _ := p.Rows.(*rows.Set)
	mac := func(b []byte) string {
		sum := sha256.Sum256(append([]byte("of the machine"), b...))
		return hex.EncodeToString(sum[:])
	}
	c := &classify.Classifier{World: classify.LocalWorld(filepath.Join(s.dir, "home"), "", []string{filepath.Join(s.dir, "state")}), MAC: mac,
		Secrets: bundles.BuiltInTokens(), Rows: set}
	for first := 0; first < len(rowCalls); first += 3 {
		r := simulate.Start("", c, p, cli.Environment())
		for i := first; i < min(first+3, len(rowCalls)); i++ {
			event := engine.Event{Phase: engine.PhasePre, Tool: "Bash", Call: fmt.Sprint("c", i), Session: fmt.Sprint("s", first), CWD: work, Project: work,
				Time: int64(i + 1)}
			if event.Args, err = json.Marshal(map[string]any{"command": rowCalls[i]}); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(rowCalls[i], "mcp__") {
				event.Tool, event.Args = rowCalls[i], json.RawMessage(`{"id":"orders"}`)
			}
			r.Next(t.Context(), event)
		}
		var session []*engine.Record
		for _, rec := range r.Records() {
			raw, err := json.Marshal(rec)
			if err != nil {
				t.Fatal(err)
			}
			var read engine.Record
			if err := json.Unmarshal(raw, &read); err != nil {
				t.Fatal(err)
			}
			session = append(session, &read)
		}
		sessions = append(sessions, session)
	}
	return sessions
}
