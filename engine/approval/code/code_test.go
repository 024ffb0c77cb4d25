package code

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/audit"
)

// cheap returns a store whose hashes take no time, and its clock.
func cheap(dir string) (*Store, *int64) {
	now := int64(1_800_000_000_000)
	clock := func() int64 { return now }
	return &Store{Log: &audit.Store{Dir: dir, Now: clock}, Now: clock, passes: 1, memory: 64}, &now
}

func set(t *testing.T, s *Store) string {
	t.Helper()
	code, err := s.Set(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestCode(t *testing.T) {
	ctx := context.Background()
	s, _ := cheap(t.TempDir())
	if err := s.Check(ctx, "0000-0000-0000"); !errors.Is(err, ErrNone) {
		t.Errorf("no code: %v", err)
	}
	code := set(t, s)
	if !regexp.MustCompile(`^([0-9A-HJKMNP-TV-Z]{4}-){2}[0-9A-HJKMNP-TV-Z]{4}$`).MatchString(code) {
		t.Errorf("the code is %q", code)
	}
	for _, typed := range []string{code, strings.ToLower(code), strings.ReplaceAll(code, "-", " "), strings.ReplaceAll(strings.ReplaceAll(code, "0", "o"), "1", "l")} {
		if err := s.Check(ctx, typed); err != nil {
			t.Errorf("typed as %q: %v", typed, err)
		}
	}
	if next := set(t, s); s.Check(ctx, next) != nil || !errors.Is(s.Check(ctx, code), ErrWrong) {
		t.Error("a new code does not replace the old one")
	}
	if err := s.Remove(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(ctx, code); !errors.Is(err, ErrNone) {
		t.Errorf("removed: %v", err)
	}
}

func TestNothingOnDiskIsTheCode(t *testing.T) {
	dir := t.TempDir()
	s, _ := cheap(dir)
	code := set(t, s)
	if err := s.Check(context.Background(), "1111-"+code[5:]); !errors.Is(err, ErrWrong) {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(code)) || bytes.Contains(b, []byte(plain(code))) || bytes.Contains(b, []byte(code[5:])) {
			t.Errorf("%s contains the code", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(s.path()); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others can read the file: %v, %v", info, err)
	}
}

func TestFileReplaced(t *testing.T) {
	ctx := context.Background()
	s, _ := cheap(t.TempDir())
	code := set(t, s)
	other, _ := cheap(t.TempDir())
	known := set(t, other)
	b, err := os.ReadFile(other.path())
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(s.path())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"a file of a known code": b, "the same with a space": append(own, ' '), "no JSON": []byte("x")} {
		if err := os.WriteFile(s.path(), content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, typed := range []string{code, known} {
			if err := s.Check(ctx, typed); !errors.Is(err, ErrReplaced) {
				t.Errorf("%s: %v", name, err)
			}
		}
		s.Now = func() int64 { return 1_900_000_000_000 } // no pause
	}
}

func TestLimit(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, now := cheap(dir)
	code := set(t, s)
	for range Tries {
		*now += 1000
		if err := s.Check(ctx, "wrong"); !errors.Is(err, ErrWrong) {
			t.Fatal(err)
		}
	}
	var locked *LockedError
	if err := s.Check(ctx, code); !errors.As(err, &locked) || locked.For != Pause {
		t.Errorf("after %d wrong codes: %v", Tries, err)
	}
	again, later := cheap(dir) // a restart
	*later = *now + time.Minute.Milliseconds()
	if err := again.Check(ctx, code); !errors.As(err, &locked) || locked.For != Pause-time.Minute {
		t.Errorf("after a restart: %v", err)
	}
	*later = *now - time.Hour.Milliseconds()
	if err := again.Check(ctx, code); !errors.As(err, &locked) {
		t.Errorf("with the clock set back: %v", err)
	}
	*later = *now + Pause.Milliseconds() + 1
	if err := again.Check(ctx, code); err != nil {
		t.Errorf("after the pause: %v", err)
	}
}

func TestParallelGuesses(t *testing.T) {
	s, _ := cheap(t.TempDir())
	set(t, s)
	results := make(chan error)
	for range 40 {
		go func() { results <- s.Check(context.Background(), "wrong") }()
	}
	tried := 0
	for range 40 {
		if errors.Is(<-results, ErrWrong) {
			tried++
		}
	}
	if tried != Tries {
		t.Errorf("%d codes were tried", tried)
	}
}

func TestRealCosts(t *testing.T) {
	s := &Store{Log: &audit.Store{Dir: t.TempDir()}}
	code := set(t, s)
	if err := s.Check(context.Background(), code); err != nil {
		t.Error(err)
	}
}
