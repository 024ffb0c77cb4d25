package audit

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// verifiedLines returns the records that Verified hands out, encoded, and its error.
func verifiedLines(t *testing.T, records iter.Seq2[*engine.Record, error]) ([]string, error) {
	t.Helper()
	var list []string
	for r, err := range records {
		if err != nil {
			return list, err
		}
		line, err := engine.EncodeLine(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(line))
	}
	return list, nil
}

func testSession(s *Store) Session { return Session{Key: testKey, Dir: s.sessionDir(testKey)} }

func TestVerifiedReadsEachFile(t *testing.T) {
	s := testStore(t)
	s.RotateBytes = 2000
	fill(t, s, testKey, 12)
	got, err := verifiedLines(t, s.Verified(testSession(s)))
	if err != nil {
		t.Fatal(err)
	}
	files, err := chainFiles(s.sessionDir(testKey))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var want []byte
	for _, n := range files {
		b, err := os.ReadFile(chainFile(s, n))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, b...)
	}
	if strings.Join(got, "") != string(want) {
		t.Errorf("%d records are not the files' lines", len(got))
	}
	ledger, err := verifiedLines(t, s.VerifiedLedger())
	if err != nil || len(ledger) == 0 {
		t.Errorf("ledger: %d records, %v", len(ledger), err)
	}
}

// What was changed is not handed out, whichever byte before the newest line it is.
func TestVerifiedHandsOutNothingThatWasChanged(t *testing.T) {
	s := testStore(t)
	fill(t, s, testKey, 2)
	good, err := os.ReadFile(chainFile(s, 1))
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.SplitAfter(strings.TrimSuffix(string(good), "\n"), "\n")
	newest := bytes.LastIndexByte(good[:len(good)-1], '\n') + 1
	for i := range newest {
		bad := slices.Clone(good)
		bad[i] ^= 4
		if err := os.WriteFile(chainFile(s, 1), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := verifiedLines(t, s.Verified(testSession(s)))
		if damage := (*Damage)(nil); !errors.As(err, &damage) || damage.File != chainFile(s, 1) || damage.Line == 0 {
			t.Fatalf("byte %d changed: error %v", i, err)
		}
		if line := strings.Count(string(good[:i]), "\n"); len(got) > line || strings.Join(got, "") != strings.Join(whole[:len(got)], "") {
			t.Fatalf("byte %d of line %d changed: %d records were handed out", i, line+1, len(got))
		}
	}
}

func TestVerifiedNamesDamage(t *testing.T) {
	for name, c := range map[string]struct {
		want string
		do   func(t *testing.T, s *Store) error
	}{
		"a file is missing": {"n is ", func(t *testing.T, s *Store) error { return os.Remove(chainFile(s, 2)) }},
		"the beginning is missing": {"does not start with a keyframe", func(t *testing.T, s *Store) error {
			edit(t, chainFile(s, 1), dropFirstLine)
			return nil
		}},
		"another session's folder": {"chain of another session", func(t *testing.T, s *Store) error {
			return os.Rename(s.sessionDir(testKey), s.sessionDir(engine.SessionKey{Harness: "h", Session: "other"}))
		}},
	} {
		s := testStore(t)
		s.RotateBytes = 2000
		fill(t, s, testKey, 12)
		if err := c.do(t, s); err != nil {
			t.Fatal(err)
		}
		list, err := s.Sessions()
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %d sessions, %v", name, len(list), err)
		}
		if _, err := verifiedLines(t, s.Verified(list[0])); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q", name, err, c.want)
		}
	}
}

// Retention may delete files while they are read; that is not damage.
func TestVerifiedWhileRetentionDeletes(t *testing.T) {
	s := testStore(t)
	s.RotateBytes = 2000
	fill(t, s, testKey, 12)
	count := 0
	for r, err := range s.Verified(testSession(s)) {
		if err != nil {
			t.Fatal(err)
		}
		if count++; r.N == 1 {
			if err := errors.Join(os.Remove(chainFile(s, 1)), os.Remove(chainFile(s, 2))); err != nil {
				t.Fatal(err)
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(s.sessionDir(testKey), "*.jsonl"))
	if err != nil || len(left) == 0 || count < len(left) {
		t.Errorf("%d records of %s, %v", count, fmt.Sprint(left), err)
	}
}
