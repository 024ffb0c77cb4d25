package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/google/go-cmp/cmp"
)

func TestSessionsAreListed(t *testing.T) {
	s := testStore(t)
	clock := int64(1_700_000_000_000)
	s.Now = func() int64 { return clock }
	fill(t, s, named("alpha-1"), 3)
	denied := pre("d")
	denied.Answer.Effect = engine.Block
	denied.T = clock + 5
	mustAdd(t, s, named("alpha-2"), denied)
	if err := s.Control(context.Background(), named("alpha-2"), engine.Control{Do: engine.ControlStop, By: "dev"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, reader := range []*Store{s, {Dir: s.Dir}} {
		list, err := reader.Sessions()
		if err != nil || len(list) != 2 {
			t.Fatalf("%d sessions, %v", len(list), err)
		}
		one := list[0]
		if one.Key != named("alpha-2") || one.N != 3 || one.Denied != 1 || one.Actions != 1 || one.Stopped == nil || one.Stopped.By != "dev" ||
			one.First != clock || one.Last != clock+5 || one.Workspace != "/home/dev/shop" || one.Bytes == 0 || one.Err != nil {
			t.Errorf("session is %+v", one)
		}
		if list[1].Stopped != nil || list[1].N != 4 {
			t.Errorf("session is %+v", list[1])
		}
	}
}

func TestAReaderMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	s := &Store{Dir: dir}
	if list, err := s.Sessions(); err != nil || len(list) != 0 {
		t.Errorf("sessions %v, %v", list, err)
	}
	report, err := s.Verify(context.Background(), Check{})
	if err != nil || len(report.Problems) > 0 || report.Chains != 0 {
		t.Errorf("report %+v, %v", report, err)
	}
	if found, _ := filepath.Glob(dir); found != nil {
		t.Errorf("%s was made", dir)
	}
}

func TestResolve(t *testing.T) {
	s := testStore(t)
	fill(t, s, named("alpha-2"), 2)
	late := pre("late")
	late.T += 1000
	mustAdd(t, s, named("alpha-1"), late)
	chain := all(t, s, named("alpha-2"))[0].Chain
	for selector, want := range map[string]string{
		"alpha-1": "alpha-1 0", "alpha-2": "alpha-2 0", chain: "alpha-2 0", chain[:10]: "alpha-2 0",
		chain[:8] + "-3": "alpha-2 3", "last": "alpha-1 0",
	} {
		one, n, err := s.Resolve(selector)
		if got := fmt.Sprint(one.Key.Session, " ", n); got != want || err != nil {
			t.Errorf("Resolve(%s) = %s, %v, want %s", selector, got, err, want)
		}
	}
	mustAdd(t, s, named("gamma678"), late)
	gamma := all(t, s, named("gamma678"))[0].Chain[:8]
	for selector, want := range map[string]string{
		"gamma678-2": "has no record gamma678-2: its records are " + gamma + "-1 to " + gamma + "-2;", "gamma-2": "no such session",
		"alpha": "give more", "": "no such session", "beta": "no such session", chain[:8] + "-9": "has no record 9", chain[:8] + "-0": "has no record 0",
	} {
		if _, _, err := s.Resolve(selector); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve(%q): error is %v, want %q", selector, err, want)
		}
	}
}

func TestFind(t *testing.T) {
	s := testStore(t)
	s.RotateBytes = 5_000
	fill(t, s, testKey, 20)
	for _, r := range all(t, s, testKey) {
		got, err := s.Find(r.ID())
		if err != nil || got.N != r.N || got.Chain != r.Chain {
			t.Errorf("Find(%s) = %v, %v", r.ID(), got, err)
		}
	}
	if err := s.Note(context.Background(), engine.Note{What: "undecodable", Detail: "9 bytes"}); err != nil {
		t.Fatal(err)
	}
	for r, err := range s.Ledger() {
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Find(r.ID()); err != nil || marshal(t, got) != marshal(t, r) {
			t.Errorf("Find(%s) in the ledger = %v, %v", r.ID(), got, err)
		}
	}
	for _, id := range []string{"00000000-1", "last", testKey.Session, "x"} {
		if r, err := s.Find(id); err == nil {
			t.Errorf("Find(%s) = %s", id, r.ID())
		}
	}
}

// Of several choices that exclude each other and come at once, one is recorded.
func TestControlIfHoldsTheLock(t *testing.T) {
	s := testStore(t)
	fill(t, s, testKey, 1)
	stopped := errors.New("stopped already")
	results := make(chan error)
	for range 8 {
		go func() {
			own := &Store{Dir: s.Dir}
			results <- own.ControlIf(context.Background(), testKey, engine.Control{Do: engine.ControlStop}, nil, func(h *history.State) error {
				if h.Stop != nil {
					return stopped
				}
				return nil
			})
		}()
	}
	recorded := 0
	for range 8 {
		if err := <-results; err == nil {
			recorded++
		} else if !errors.Is(err, stopped) {
			t.Error(err)
		}
	}
	if recorded != 1 {
		t.Errorf("%d choices are recorded, want 1", recorded)
	}
}

func TestControlIsKeptTwice(t *testing.T) {
	s, person := withKey(t)
	if err := s.Control(context.Background(), testKey, engine.Control{Do: engine.ControlStop}, nil); !errors.Is(err, ErrNoSession) {
		t.Errorf("error is %v, want ErrNoSession", err)
	}
	fill(t, s, testKey, 1)
	for _, do := range []string{engine.ControlStop, engine.ControlResume} {
		if err := s.Control(context.Background(), testKey, engine.Control{Do: do, Reason: "r", By: "dev"}, person); err != nil {
			t.Fatal(err)
		}
		stopped := strings.Contains(state(t, &Store{Dir: s.Dir}, testKey), `"stop":`)
		if stopped != (do == engine.ControlStop) {
			t.Errorf("after %s the session is stopped: %v", do, stopped)
		}
	}
	chain, kept := all(t, s, testKey)[0].Chain, 0
	for r, err := range s.Ledger() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == engine.KindControl && r.Control.Of == chain && r.Session == testKey.Session && r.Control.By == "dev" {
			kept++
		}
	}
	if kept != 2 {
		t.Errorf("the ledger holds %d of the 2 choices", kept)
	}
	if state, err := s.peek(s.ledgerDir()); err != nil || state.Stop != nil || state.Session != "" {
		t.Errorf("the ledger took a session's state for its own: %+v, %v", state.Stop, err)
	}
	mustVerify(t, s)
}

func TestMACIsOneForAll(t *testing.T) {
	s := testStore(t)
	results := make(chan string, 8)
	for range 8 {
		go func() {
			mac, err := (&Store{Dir: s.Dir}).MAC()
			if err != nil {
				results <- err.Error()
				return
			}
			results <- mac([]byte("x"))
		}()
	}
	first := <-results
	for range 7 {
		if got := <-results; got != first || len(got) != 64 {
			t.Errorf("MACs %q and %q", got, first)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func exported(t *testing.T, format string, records iter.Seq2[*engine.Record, error]) string {
	t.Helper()
	e, err := NewExporter(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := e.Export(&b, records); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sequence(records ...*engine.Record) iter.Seq2[*engine.Record, error] {
	return func(yield func(*engine.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func TestExport(t *testing.T) {
	call := pre("c")
	call.N, call.Chain, call.Session = 7, "0123456789abcdef0123456789abcdef", "=1+2"
	call.Action.Resource = "-rf, \"/\"\n"
	call.Event.Tool = "@Bash"
	call.Decision.Reason = "+high"
	call.Decision.Rules = []engine.RuleResult{{ID: "a"}, {ID: "b"}}
	call.Decision.Risk = &engine.Risk{Score: 0.81}
	note := &engine.Record{N: 8, Chain: call.Chain, Kind: engine.KindNote, T: 1, Agent: "\tx", Note: &engine.Note{What: "recovered", Detail: "5 bytes"}}
	want := `id,time,session,agent,kind,tool,name,resource,decision,effect,mode,rules,risk,reason,form
01234567-7,2023-11-14T22:13:20.000Z,'=1+2,main,pre,'@Bash,safe.read.file,"'-rf, ""/""
",allow,allow,enforced,a b,0.81,'+high,
01234567-8,1970-01-01T00:00:00.001Z,,'	x,note,,,,,,,,,recovered 5 bytes,
`
	if diff := cmp.Diff(want, exported(t, "csv", sequence(call, note))); diff != "" {
		t.Errorf("csv (-want +got):\n%s", diff)
	}
	small := `{"id":"01234567-8","v":0,"prev":"","n":8,"kind":"note","t":1,"chain":"0123456789abcdef0123456789abcdef","agent":"\tx","note":{"what":"recovered","detail":"5 bytes"}}`
	for format, want := range map[string]string{"json": "[\n" + small + ",\n" + small + "\n]\n", "jsonl": small + "\n" + small + "\n"} {
		if diff := cmp.Diff(want, exported(t, format, sequence(note, note))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
	if got := exported(t, "json", sequence()) + exported(t, "jsonl", sequence()); got != "[]\n" {
		t.Errorf("no records export as %q", got)
	}
	if _, err := NewExporter("xml"); err == nil || !strings.Contains(err.Error(), "json, jsonl, csv") {
		t.Errorf("error is %v", err)
	}
	broken := errors.New("broken")
	for _, format := range ExportFormats() {
		e, _ := NewExporter(format)
		err := e.Export(&bytes.Buffer{}, func(yield func(*engine.Record, error) bool) { yield(nil, broken) })
		if !errors.Is(err, broken) {
			t.Errorf("%s: error is %v", format, err)
		}
	}
}

// A file in place of the state directory is an error on each system, not a directory
// without sessions.
func TestSessionsOfAFile(t *testing.T) {
	s := testStore(t)
	if list, err := s.Sessions(); err != nil || len(list) != 0 {
		t.Errorf("sessions of a missing directory: %v, %v", list, err)
	}
	if err := os.WriteFile(s.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Sessions(); err == nil || !strings.HasSuffix(err.Error(), "not a directory") {
		t.Errorf("sessions of a file: %v, %v", list, err)
	}
}
