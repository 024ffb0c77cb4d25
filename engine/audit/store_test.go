package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

var testKey = engine.SessionKey{Harness: "claude-code", Session: "5e55-1011"}

var testEnv = engine.Env{Engine: 1, Classifier: 1, Fold: history.FoldVersion, OPA: "v1", CEL: "v1"}

// testStore returns a store in a new home whose clock stands still.
func testStore(t testing.TB) *Store {
	t.Helper()
	return &Store{Dir: filepath.Join(t.TempDir(), "home"), Env: testEnv, Now: func() int64 { return 1_700_000_000_000 }}
}

func openRecord() *engine.Record {
	env := testEnv
	return &engine.Record{Kind: engine.KindOpen, T: 1_700_000_000_000, Open: &engine.Open{Workspace: "/home/dev/shop", Env: &env}}
}

// pre returns a plausible allowed call.
func pre(call string) *engine.Record {
	return &engine.Record{
		Kind: engine.KindPre, T: 1_700_000_000_000, Agent: engine.MainAgent, Call: call, Phase: engine.PhasePre,
		Event: &engine.EventFacts{Name: "PreToolUse", Tool: "Read", CWD: "/home/dev/shop", Args: map[string]any{"file_path": "/home/dev/shop/README.md"}},
		Action: &engine.Action{Name: "safe.read.file", Resource: "/home/dev/shop/README.md", Types: []engine.Type{engine.TypeFileRead}, Intent: engine.TypeFileRead,
			Effects:     []engine.Effect{{Kind: engine.EffectFileRead, Verb: "read", Target: "/home/dev/shop/README.md", Short: "./README.md", Certainty: engine.CertaintyExact, Location: engine.LocationInside}},
			Fingerprint: "0123456789abcdef"},
		Decision: &engine.Decision{Decision: engine.Allow, Enforced: engine.Allow, Reason: "Low risk"},
		Answer:   &engine.AnswerFacts{Effect: engine.Allow, Mode: engine.ModeEnforced},
	}
}

// add appends records to a session, opening its chain where needed.
func add(s *Store, key engine.SessionKey, records ...*engine.Record) error {
	return s.Update(context.Background(), key, func(t history.Tail) error {
		if t.History.Empty() {
			if err := t.Append(openRecord()); err != nil {
				return err
			}
		}
		for _, r := range records {
			if err := t.Append(r); err != nil {
				return err
			}
		}
		return nil
	})
}

func mustAdd(t testing.TB, s *Store, key engine.SessionKey, records ...*engine.Record) {
	t.Helper()
	if err := add(s, key, records...); err != nil {
		t.Fatal(err)
	}
}

// fill appends n calls one by one.
func fill(t testing.TB, s *Store, key engine.SessionKey, n int) {
	t.Helper()
	for i := range n {
		mustAdd(t, s, key, pre(fmt.Sprintf("call-%d", i)))
	}
}

// state returns the canonical state as a store sees it.
func state(t testing.TB, s *Store, key engine.SessionKey) string {
	t.Helper()
	var b []byte
	err := s.Update(context.Background(), key, func(tail history.Tail) (err error) {
		b, err = json.Marshal(tail.History)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func all(t testing.TB, s *Store, key engine.SessionKey) []*engine.Record {
	t.Helper()
	var list []*engine.Record
	for r, err := range s.Records(key, 0) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func TestUpdateAppendsAChain(t *testing.T) {
	s := testStore(t)
	mustAdd(t, s, testKey, pre("a"), pre("b"))
	mustAdd(t, s, testKey, pre("c"))
	list := all(t, s, testKey)
	if len(list) != 4 || list[0].Kind != engine.KindOpen || list[3].Call != "c" {
		t.Fatalf("chain holds %d records", len(list))
	}
	raw, err := os.ReadFile(filepath.Join(s.sessionDir(testKey), "000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	prev := engine.ChainSeed(list[0].Chain)
	i := 0
	for line := range bytes.Lines(raw) {
		r := list[i]
		if r.Prev != prev || r.N != int64(i+1) || r.Chain != list[0].Chain || r.Session != testKey.Session || r.Harness != testKey.Harness {
			t.Errorf("line %d does not continue the chain: %+v", i+1, r)
		}
		prev = engine.LineHash(line)
		i++
	}
	if ws, _, err := s.Workspace(testKey); ws != "/home/dev/shop" || err != nil {
		t.Errorf("Workspace = %q, %v", ws, err)
	}
	if ws, _, err := s.Workspace(engine.SessionKey{Harness: "x", Session: "y"}); ws != "" || err != nil {
		t.Errorf("Workspace of an unknown session = %q, %v", ws, err)
	}
}

func TestLedgerNamesEachChainOnce(t *testing.T) {
	s := testStore(t)
	fill(t, s, testKey, 3)
	other := engine.SessionKey{Harness: "claude-code", Session: "other"}
	fill(t, s, other, 1)
	var named []string
	for r, err := range s.Ledger() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Open != nil && r.Open.Of != "" {
			named = append(named, r.Session+" "+r.Open.Of)
		}
	}
	want := fmt.Sprint([]string{testKey.Session + " " + all(t, s, testKey)[0].Chain, "other " + all(t, s, other)[0].Chain})
	if got := fmt.Sprint(named); got != want {
		t.Errorf("ledger names %s, want %s", got, want)
	}
}

// TestLedgerIsRepairedAfterAKill: the process ended between the chain's first
// line and the ledger's.
func TestLedgerIsRepairedAfterAKill(t *testing.T) {
	s := testStore(t)
	mustAdd(t, s, testKey)
	if err := os.RemoveAll(s.ledgerDir()); err != nil {
		t.Fatal(err)
	}
	fill(t, s, testKey, 2)
	n := 0
	for r, err := range s.Ledger() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Open != nil && r.Open.Of == all(t, s, testKey)[0].Chain {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the ledger names the chain %d times, want once", n)
	}
}

func TestModesAreTight(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not enforce modes")
	}
	s := testStore(t)
	fill(t, s, testKey, 20)
	err := filepath.WalkDir(s.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s has mode %#o", path, mode)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestUnsafeHomesAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Store) error{
		"is not an absolute path": func(s *Store) error { s.Dir = "relative"; return nil },
		"has mode 0777":           func(s *Store) error { return os.Chmod(s.Dir, 0o777) },
		"key has mode 0644":       func(s *Store) error { s.key = nil; return os.Chmod(filepath.Join(s.Dir, "key"), 0o644) },
		"is not 32 bytes long":    func(s *Store) error { s.key = nil; return os.Truncate(filepath.Join(s.Dir, "key"), 5) },
		"create state directory":  func(s *Store) error { s.Dir = filepath.Join(s.Dir, "key", "below"); return nil },
	} {
		if runtime.GOOS == "windows" && strings.Contains(name, "mode") {
			continue // Windows does not enforce modes
		}
		s := testStore(t)
		fill(t, s, testKey, 1)
		if err := spoil(s); err != nil {
			t.Fatal(err)
		}
		if err := add(s, testKey, pre("x")); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error is %v, want one that says %q", err, name)
		}
	}
}

func TestAnErrorOfTheCallerStops(t *testing.T) {
	s := testStore(t)
	want := errors.New("no")
	if err := s.Update(context.Background(), testKey, func(history.Tail) error { return want }); !errors.Is(err, want) {
		t.Errorf("error is %v", err)
	}
	if err := s.Update(context.Background(), testKey, func(tail history.Tail) error { return tail.Append(pre("a")) }); err == nil {
		t.Error("a chain began without an open record")
	}
	if err := s.Update(context.Background(), testKey, func(tail history.Tail) error {
		return errors.Join(tail.Append(openRecord()), tail.Append(openRecord()))
	}); err == nil || !strings.Contains(err.Error(), "already open") {
		t.Errorf("a chain was opened twice: %v", err)
	}
}

func TestTimeNeverRunsBackwards(t *testing.T) {
	s := testStore(t)
	late, early := pre("a"), pre("b")
	late.T, early.T = 2_000_000_000_000, 1_900_000_000_000
	mustAdd(t, s, testKey, late, early)
	last := all(t, s, testKey)[2]
	if last.T != late.T || last.Skew != 100_000_000_000 {
		t.Errorf("t = %d, skew = %d", last.T, last.Skew)
	}
}

func TestTooLongRecordsLeaveNothing(t *testing.T) {
	s := testStore(t)
	mustAdd(t, s, testKey, pre("a"))
	long := pre("b")
	long.Event.CWD = strings.Repeat("x", engine.MaxLine)
	if err := add(s, testKey, long); !errors.Is(err, engine.ErrTooLong) {
		t.Errorf("error is %v, want ErrTooLong", err)
	}
	mustAdd(t, s, testKey, pre("c"))
	if n := len(all(t, s, testKey)); n != 3 {
		t.Errorf("chain holds %d records, want 3", n)
	}
}

func TestBrokenLinesAreRefused(t *testing.T) {
	prev := strings.Repeat("0", 64)
	good := `{"v":1,"prev":"` + prev + `","n":7,"kind":"note","t":1,"chain":"c"}`
	if r, err := readRecord([]byte(good + "\n")); err != nil || r.N != 7 || r.Kind != engine.KindNote {
		t.Fatalf("record %+v, %v", r, err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"n twice":            {`"chain"`, `"n":8,"chain"`, "twice"},
		"kind twice":         {`"chain"`, `"kind":"control","chain"`, "twice"},
		"prev twice":         {`"chain"`, `"prev":"","chain"`, "twice"},
		"two records":        {`"c"}`, `"c"} {}`, "text after the record"},
		"another version":    {`"v":1,`, `"v":2,`, "newer reviewer (format 2"},
		"version twice":      {`"chain"`, `"v":2,"chain"`, "newer reviewer (format 2"},
		"short prev":         {prev, prev[1:], "does not start"},
		"long n":             {`"n":7`, `"n":77777777777777777`, "does not start"},
		"no n":               {`"n":7`, `"n":`, "does not start"},
		"white space":        {`{"v"`, `{ "v"`, "does not start"},
		"cut off":            {`"c"}`, `"c`, "decode record"},
		"too long":           {`"c"}`, `"` + strings.Repeat("c", engine.MaxLine) + `"}`, "at most 8192"},
		"keyframe too long":  {`"note","t":1,"chain":"c"}`, `"keyframe","t":1,"chain":"` + strings.Repeat("c", engine.MaxKeyframe) + `"}`, "too long"},
		"state of no agents": {`"c"}`, `"c","state":{"agents":[null]}}`, "agent without its counts"},
	} {
		if r, err := readRecord([]byte(strings.Replace(good, c.old, c.new, 1) + "\n")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: record %+v, error %v, want %q", name, r, err, c.want)
		}
	}
}

func TestReadFindsEachRecord(t *testing.T) {
	for rotate, least := range map[int64]int{20_000: 4, DefaultRotateBytes: 1} {
		s := testStore(t)
		s.RotateBytes, s.KeyframeEvery = rotate, 16
		fill(t, s, testKey, 120)
		files := fileSizes(s.sessionDir(testKey))
		if len(files) < least || least == 1 && files[0].size < 4*engine.MaxLine {
			t.Fatalf("only %d files, the first of %d bytes", len(files), files[0].size)
		}
		if err := readsEach(s); err != nil {
			t.Errorf("with files of %d bytes: %v", rotate, err)
		}
	}
}

// readsEach reads each record of a session by its number.
func readsEach(s *Store) error {
	return s.Update(context.Background(), testKey, func(tail history.Tail) error {
		for n := int64(1); n <= tail.History.N; n++ {
			if r, err := tail.Read(n); err != nil || r.N != n {
				return fmt.Errorf("Read(%d) = %v, %v", n, r, err)
			}
		}
		if _, err := tail.Read(tail.History.N + 1); err == nil {
			return errors.New("a record that is not there was read")
		}
		return nil
	})
}

func TestKeyframesAreWhereTheFormatSays(t *testing.T) {
	s := testStore(t)
	s.KeyframeEvery, s.RotateBytes = 16, 30_000
	fill(t, s, testKey, 100)
	files, err := chainFiles(s.sessionDir(testKey))
	if err != nil || len(files) < 2 {
		t.Fatalf("files %v, %v", files, err)
	}
	last := int64(1)
	for line, err := range s.Lines(testKey, 0) {
		if err != nil {
			t.Fatal(err)
		}
		h, _ := parseHead(line.Raw)
		isKeyframe := string(h.kind) == string(engine.KindKeyframe)
		if line.Number == 1 && !isKeyframe && line.N != 1 {
			t.Errorf("%s begins with %s", filepath.Base(line.File), h.kind)
		}
		if isKeyframe {
			last = line.N
		}
		if line.N-last >= 16 {
			t.Errorf("line %d is %d lines after a keyframe", line.N, line.N-last)
		}
	}
}

// TestStatesAreEqual holds the running state, that of snapshots, that of the
// newest keyframe and that of a whole refold together, over random records.
func TestStatesAreEqual(t *testing.T) {
	for seed := range uint64(4) {
		s := testStore(t)
		s.KeyframeEvery, s.RotateBytes = 32, 120_000
		g := generator{rand.New(rand.NewPCG(seed, 7)), seed%2 == 1}
		for range 400 {
			if err := add(s, testKey, g.record()); err != nil && (seed%2 == 0 || !errors.Is(err, engine.ErrTooLong) || strings.Contains(err.Error(), "keyframe")) {
				t.Fatal(err)
			}
		}
		running := state(t, s, testKey)
		refold := history.New()
		for _, r := range all(t, s, testKey) {
			if r.State != nil {
				if got, want := marshal(t, r.State), marshal(t, refold); got != want {
					t.Fatalf("seed %d: keyframe %d holds another state than the refold:\n%s\n%s", seed, r.N, got, want)
				}
			}
			refold.Append(r)
		}
		if got := marshal(t, refold); got != running {
			t.Fatalf("seed %d: refold differs from running state:\n%s\n%s", seed, got, running)
		}
		if got := state(t, &Store{Dir: s.Dir}, testKey); got != running {
			t.Errorf("seed %d: state from the snapshot differs", seed)
		}
		if err := os.Remove(snapshotPath(s.sessionDir(testKey))); err != nil {
			t.Fatal(err)
		}
		if got := state(t, &Store{Dir: s.Dir}, testKey); got != running {
			t.Errorf("seed %d: state from the keyframe differs", seed)
		}
	}
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestBrokenSnapshotsAreIgnored(t *testing.T) {
	s := testStore(t)
	fill(t, s, testKey, 40)
	want := state(t, s, testKey)
	path := snapshotPath(s.sessionDir(testKey))
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{
		nil, good[:len(good)/2], []byte("{}"), bytes.Replace(good, []byte(`"denied":0`), []byte(`"denied":9`), 1),
		bytes.Replace(good, fmt.Appendf(nil, `"fold":%d`, history.FoldVersion), []byte(`"fold":0`), 1), bytes.Repeat(good, 40),
	} {
		if bytes.Equal(bad, good) {
			t.Fatal("the snapshot was not changed")
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := state(t, &Store{Dir: s.Dir}, testKey); got != want {
			t.Errorf("snapshot %.60q changed the state:\n%s\n%s", bad, got, want)
		}
	}
}
