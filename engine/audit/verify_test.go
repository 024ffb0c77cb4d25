package audit

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

func problems(t *testing.T, s *Store, check Check) string {
	t.Helper()
	report, err := s.Verify(context.Background(), check)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range report.Problems {
		fmt.Fprintln(&b, p)
	}
	return b.String()
}

func chainFile(s *Store, n int) string { return filepath.Join(s.sessionDir(testKey), fileName(n)) }

func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	after := change(slices.Clone(b))
	if bytes.Equal(after, b) {
		t.Fatalf("%s was not changed", path)
	}
	if err := os.WriteFile(path, after, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEachFlippedByteIsFound: every byte before the newest line, in several
// ways; and in a sealed chain every byte of the newest lines, too.
func TestEachFlippedByteIsFound(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		s := testStore(t)
		for i := range 3 {
			mustAdd(t, s, testKey, &engine.Record{Kind: engine.KindNote, T: 1, Note: &engine.Note{What: fmt.Sprint(i)}})
		}
		if sealed {
			if _, err := s.Seal(context.Background(), testKey); err != nil {
				t.Fatal(err)
			}
		}
		mustVerify(t, s)
		good, err := os.ReadFile(chainFile(s, 1))
		if err != nil {
			t.Fatal(err)
		}
		newest := bytes.LastIndexByte(good[:len(good)-1], '\n') + 1
		if sealed {
			flipEach(t, s, good, newest-20, len(good))
		} else {
			flipEach(t, s, good, 0, newest)
		}
	}
}

func flipEach(t *testing.T, s *Store, good []byte, from, to int) {
	t.Helper()
	f, err := os.OpenFile(chainFile(s, 1), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := from; i < to; i++ {
		for _, bad := range []byte{good[i] ^ 1<<(i%8), '\n', ' ', 0} {
			if bad == good[i] {
				continue
			}
			if _, err := f.WriteAt([]byte{bad}, int64(i)); err != nil {
				t.Fatal(err)
			}
			checkBlame(t, s, good, i)
		}
		if _, err := f.WriteAt(good[i:i+1], int64(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// checkBlame demands a problem on the line that holds byte i, or (where the
// line was broken in two or joined) on the one next to it.
func checkBlame(t *testing.T, s *Store, good []byte, i int) {
	t.Helper()
	report, err := s.Verify(context.Background(), Check{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	line := int64(bytes.Count(good[:i], []byte("\n"))) + 1
	if len(report.Problems) == 0 {
		t.Fatalf("byte %d (line %d, %q) was flipped and nothing found", i, line, good[i])
	}
	if p := report.Problems[0]; p.File != "" && p.Line != line && p.Line != line+1 {
		t.Fatalf("byte %d is in line %d; verify says %s", i, line, p)
	}
}

// cutLines cuts the last n lines of a file.
func cutLines(n int) func([]byte) []byte {
	return func(b []byte) []byte {
		lines := bytes.SplitAfter(b, []byte("\n"))
		return bytes.Join(lines[:len(lines)-1-n], nil)
	}
}

// tamperings are changes of a log and what verification says about each.
var tamperings = map[string]struct {
	want string
	do   func(t *testing.T, s *Store)
}{
	"line changed": {"000001.jsonl line 2 (record ", func(t *testing.T, s *Store) {
		edit(t, chainFile(s, 1), func(b []byte) []byte { return bytes.Replace(b, []byte("call-0"), []byte("call-9"), 1) })
	}},
	"line taken out": {"line 3 (record ", func(t *testing.T, s *Store) {
		edit(t, chainFile(s, 1), func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			return bytes.Join(slices.Delete(lines, 2, 3), nil)
		})
	}},
	"lines swapped": {"lines were removed, inserted or moved", func(t *testing.T, s *Store) {
		edit(t, chainFile(s, 1), func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			lines[2], lines[3] = lines[3], lines[2]
			return bytes.Join(lines, nil)
		})
	}},
	"last line of a file changed": {"its hash is not the prev of the next file's first line", func(t *testing.T, s *Store) {
		edit(t, chainFile(s, 1), func(b []byte) []byte {
			i := bytes.LastIndex(b, []byte("README"))
			copy(b[i:], "DREAME")
			return b
		})
	}},
	"lines cut off a middle file": {"lines at the end of the previous file are missing", func(t *testing.T, s *Store) {
		edit(t, chainFile(s, 1), cutLines(2))
	}},
	"file in the middle missing": {"000002.jsonl: the file is missing", func(t *testing.T, s *Store) { os.Remove(chainFile(s, 2)) }},
	"first file missing":         {"the ledger does not record that retention deleted them", func(t *testing.T, s *Store) { os.Remove(chainFile(s, 1)) }},
	"keyframe missing":           {"does not start with a keyframe", func(t *testing.T, s *Store) { edit(t, chainFile(s, 2), dropFirstLine) }},
	"line too long": {"line of ", func(t *testing.T, s *Store) {
		edit(t, chainFile(s, 1), func(b []byte) []byte {
			return bytes.Replace(b, []byte("README"), bytes.Repeat([]byte("R"), engine.MaxLine), 1)
		})
	}},
	"line beyond any length": {"line of more than", func(t *testing.T, s *Store) {
		edit(t, chainFile(s, 1), func(b []byte) []byte {
			return bytes.Replace(b, []byte("README"), bytes.Repeat([]byte("R"), 3*engine.MaxKeyframe), 1)
		})
	}},
	"cut before a seal": {"a seal covers line", func(t *testing.T, s *Store) {
		seal, err := s.Seal(context.Background(), testKey)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; ; n++ {
			if _, err := os.Stat(chainFile(s, n+1)); err != nil {
				edit(t, chainFile(s, n), cutLines(1))
				break
			}
		}
		if seal.N < 2 {
			t.Fatalf("seal covers %d lines", seal.N)
		}
	}},
	"chain gone":   {"the chain is missing", func(t *testing.T, s *Store) { os.RemoveAll(s.sessionDir(testKey)) }},
	"ledger gone":  {"the ledger is missing", func(t *testing.T, s *Store) { os.RemoveAll(s.ledgerDir()) }},
	"ledger empty": {"the ledger does not name the chain", func(t *testing.T, s *Store) { os.Truncate(filepath.Join(s.ledgerDir(), fileName(1)), 0) }},
	"chain moved": {"the chain of another session", func(t *testing.T, s *Store) {
		os.Rename(s.sessionDir(testKey), s.sessionDir(engine.SessionKey{Harness: "claude-code", Session: "victim"}))
	}},
	"ledger changed": {"ledger/000001.jsonl line 2", func(t *testing.T, s *Store) {
		fill(t, s, engine.SessionKey{Harness: "claude-code", Session: "later"}, 1)
		edit(t, filepath.Join(s.ledgerDir(), fileName(1)), func(b []byte) []byte {
			return bytes.Replace(b, []byte(testKey.Session), []byte("5e55-2022"), 1)
		})
	}},
}

func TestTamperingIsNamed(t *testing.T) {
	for name, c := range tamperings {
		t.Run(name, func(t *testing.T) {
			s := testStore(t)
			s.RotateBytes = 6_000
			fill(t, s, testKey, 20)
			mustVerify(t, s)
			c.do(t, s)
			if got := problems(t, s, Check{}); !strings.Contains(filepath.ToSlash(got), c.want) {
				t.Errorf("verify says\n%s, not %q", got, c.want)
			}
		})
	}
}

func dropFirstLine(b []byte) []byte { return b[bytes.IndexByte(b, '\n')+1:] }

func TestAFileThatShrinksIsAnError(t *testing.T) {
	s := testStore(t)
	fill(t, s, testKey, 3)
	var one scanner
	if _, err := one.scan(chainFile(s, 1), 1<<20, nil); err == nil || !strings.Contains(err.Error(), "became shorter") {
		t.Errorf("error is %v", err)
	}
}

// TestDamageDeniesOneSession: the others go on.
func TestDamageDeniesOneSession(t *testing.T) {
	s := testStore(t)
	other := engine.SessionKey{Harness: "claude-code", Session: "other"}
	fill(t, s, testKey, 5)
	fill(t, s, other, 5)
	edit(t, chainFile(s, 1), func(b []byte) []byte { return bytes.Replace(b, []byte("call-2"), []byte("call-9"), 1) })
	fresh := &Store{Dir: s.Dir, Env: testEnv, Now: s.Now}
	err := add(fresh, testKey, pre("x"))
	if damage := (*Damage)(nil); err == nil || !strings.Contains(err.Error(), "000001.jsonl line 5") {
		t.Errorf("error is %v (%v), want one that names file and line", err, damage)
	}
	mustAdd(t, fresh, other, pre("x"))
	list, err := fresh.Sessions()
	if err != nil || len(list) != 2 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	for _, one := range list {
		if damaged := one.Err != nil; damaged != (one.Key == testKey) {
			t.Errorf("session %s: %v", one.Key.Session, one.Err)
		}
	}
}

// TestDamageBetweenFilesIsFound by whoever goes on with the chain, if it is in
// what must be folded.
func TestDamageBetweenFilesIsFound(t *testing.T) {
	appendTo := func(t *testing.T, path, text string) {
		t.Helper()
		edit(t, path, func(b []byte) []byte { return append(b, text...) })
	}
	for name, c := range map[string]struct {
		want string
		do   func(t *testing.T, s *Store) *Store
	}{
		"half a line before another file": {"ends in an incomplete line", func(t *testing.T, s *Store) *Store {
			other := &Store{Dir: s.Dir, Env: testEnv, Now: s.Now, RotateBytes: 1}
			mustAdd(t, other, testKey, pre("rotated"))
			appendTo(t, chainFile(s, 1), "half")
			return s
		}},
		"file without a keyframe": {"does not start with a keyframe", func(t *testing.T, s *Store) *Store {
			raw, err := os.ReadFile(chainFile(s, 1))
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
			if err := errors.Join(os.WriteFile(chainFile(s, 1), raw[:at], 0o600), os.WriteFile(chainFile(s, 2), raw[at:], 0o600)); err != nil {
				t.Fatal(err)
			}
			return &Store{Dir: s.Dir, Env: testEnv}
		}},
		"missing file": {"000002.jsonl: the file is missing", func(t *testing.T, s *Store) *Store {
			small := &Store{Dir: s.Dir, Env: testEnv, Now: s.Now, RotateBytes: 1}
			mustAdd(t, small, testKey, pre("second"), pre("third"))
			appendTo(t, chainFile(s, 3), "{}\n") // no keyframe to begin with
			edit(t, chainFile(s, 3), dropFirstLine)
			if err := os.Remove(chainFile(s, 2)); err != nil {
				t.Fatal(err)
			}
			return &Store{Dir: s.Dir, Env: testEnv}
		}},
		"file replaced, newest line the same": {"prev is not the hash", func(t *testing.T, s *Store) *Store {
			raw, err := os.ReadFile(chainFile(s, 1))
			if err != nil {
				t.Fatal(err)
			}
			forged := bytes.Replace(raw, []byte("call-1"), []byte("call-9"), 1)
			tmp := chainFile(s, 1) + ".new"
			if err := errors.Join(os.WriteFile(tmp, forged, 0o600), os.Rename(tmp, chainFile(s, 1))); err != nil {
				t.Fatal(err)
			}
			return s
		}},
	} {
		s := testStore(t)
		fill(t, s, testKey, 5)
		if err := add(c.do(t, s), testKey, pre("x")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q", name, err, c.want)
		}
	}
}

// TestACutChainIsNoted: a snapshot remembers that there was more.
func TestACutChainIsNoted(t *testing.T) {
	for _, resident := range []bool{true, false} {
		s := testStore(t)
		fill(t, s, testKey, 40)
		edit(t, chainFile(s, 1), func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			return bytes.Join(lines[:5], nil)
		})
		if !resident {
			s = &Store{Dir: s.Dir, Env: testEnv, Now: s.Now}
		}
		mustAdd(t, s, testKey, pre("after"))
		mustAdd(t, &Store{Dir: s.Dir, Env: testEnv, Now: s.Now}, testKey, pre("again"))
		notes := 0
		for _, r := range all(t, s, testKey) {
			if r.Note != nil && strings.Contains(r.Note.Detail, "was seen before") {
				notes++
			}
		}
		if notes != 1 {
			t.Errorf("resident %v: the cut is noted %d times, want once", resident, notes)
		}
	}
}

func sealKeyFile(t *testing.T) (string, ed25519.PublicKey) {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der := append([]byte(pkcs8Begin), key.Seed()...)
	path := filepath.Join(t.TempDir(), "seal.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, public
}

func TestSealsThatWereSentAway(t *testing.T) {
	s := testStore(t)
	var public ed25519.PublicKey
	s.SealKey, public = sealKeyFile(t)
	fill(t, s, testKey, 5)
	if err := s.SealAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	var sent bytes.Buffer
	if err := s.SealTo(context.Background(), &sent); err != nil {
		t.Fatal(err)
	}
	seals, err := ReadSeals(&sent)
	if err != nil || len(seals) != 2 {
		t.Fatalf("%d seals, %v; want the session's and the ledger's", len(seals), err)
	}
	fill(t, s, testKey, 5)
	if got := problems(t, s, Check{Against: seals, Key: public}); got != "" {
		t.Errorf("an honest log: %s", got)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := problems(t, s, Check{Against: seals, Key: other}); !strings.Contains(got, "a key other than the trusted one") {
		t.Errorf("foreign key: %q", got)
	}
	forged := slices.Clone(seals)
	forged[0].Head = strings.Repeat("0", 64)
	forged[1].Head = strings.Repeat("0", 64)
	if got := problems(t, s, Check{Against: forged}); strings.Count(got, "does not match it") != 2 || strings.Count(got, "its hash differs") != 2 {
		t.Errorf("forged seals: %q", got)
	}
	// All of it written again, ledger included: only the exported seals show that.
	again := &Store{Dir: filepath.Join(t.TempDir(), "home"), Env: testEnv, Now: s.Now}
	fill(t, again, testKey, 5)
	if got := problems(t, again, Check{}); got != "" {
		t.Errorf("the new log is not whole: %s", got)
	}
	if got := problems(t, again, Check{Against: seals}); strings.Count(got, "the chain is missing") != 2 {
		t.Errorf("a rewritten log: %q", got)
	}
}

func TestSealingTwiceAddsNothing(t *testing.T) {
	s := testStore(t)
	fill(t, s, testKey, 2)
	first, err := s.Seal(context.Background(), testKey)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Seal(context.Background(), testKey)
	if err != nil || second != first {
		t.Errorf("second seal is %+v, %v; first %+v", second, err, first)
	}
	list := all(t, s, testKey)
	last := list[len(list)-1]
	if len(list) != 4 || last.Kind != engine.KindSeal || last.Seal.N != 3 || last.Seal.Head != last.Prev {
		t.Errorf("chain of %d ends in %+v", len(list), last.Seal)
	}
	if _, err := s.Seal(context.Background(), engine.SessionKey{Harness: "x", Session: "none"}); err == nil {
		t.Error("a session without a chain was sealed")
	}
}

func TestBadSealKeys(t *testing.T) {
	s := testStore(t)
	fill(t, s, testKey, 1)
	for name, content := range map[string]string{"no PEM": "x", "another key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: make([]byte, 48)}))} {
		s.SealKey = filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(s.SealKey, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Seal(context.Background(), testKey); err == nil || !strings.Contains(err.Error(), "does not contain an ed25519 key") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	if n := len(all(t, s, testKey)); n != 2 {
		t.Errorf("a seal without its signature was written: %d records", n)
	}
}

func TestBrokenSealFiles(t *testing.T) {
	good := fmt.Sprintf(`{"t":1,"chain":%q,"n":3,"head":%q}`, strings.Repeat("a", 32), hex.EncodeToString(make([]byte, 32)))
	if seals, err := ReadSeals(strings.NewReader(good + "\n")); err != nil || len(seals) != 1 || seals[0].N != 3 {
		t.Errorf("seals are %+v, %v", seals, err)
	}
	for _, bad := range []string{"x", "{}", good + "\n{", strings.Replace(good, `"n":3`, `"n":0`, 1)} {
		if _, err := ReadSeals(strings.NewReader(bad)); err == nil {
			t.Errorf("seals %q were read", bad)
		}
	}
}

// TestVerifyWhileOthersWrite: a log that is being written to is not a problem.
func TestVerifyWhileOthersWrite(t *testing.T) {
	s := testStore(t)
	s.KeyframeEvery, s.RotateBytes = 16, 20_000
	done := make(chan error, 1)
	go func() {
		done <- func() error {
			for i := range 400 { // each verification reads all of them
				key := engine.SessionKey{Harness: "claude-code", Session: fmt.Sprint("s", i%5)}
				if err := add(s, key, pre(fmt.Sprint(i))); err != nil {
					return err
				}
				if i%20 == 0 {
					if _, err := s.Seal(context.Background(), key); err != nil {
						return err
					}
				}
			}
			return nil
		}()
	}()
	for {
		mustVerify(t, s)
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}
