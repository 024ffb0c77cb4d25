package code

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// cheap returns a store whose keys take no time, and its clock.
func cheap(dir string) (*Store, *int64) {
	now := int64(1_800_000_000_000)
	clock := func() int64 { return now }
	return &Store{Log: &audit.Store{Dir: dir, Now: clock}, Now: clock, Cheap: true}, &now
}

func set(t *testing.T, s *Store, old *Key) string {
	t.Helper()
	code, err := s.Set(context.Background(), "anna", old)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// refusal returns why a code is refused.
func refusal(s *Store, code string) error {
	_, err := s.UnlockFor(context.Background(), code)
	return err
}

func TestCode(t *testing.T) {
	ctx := context.Background()
	s, _ := cheap(t.TempDir())
	if _, err := s.Unlock(ctx, "0000-0000-0000"); !errors.Is(err, ErrNone) {
		t.Errorf("no code: %v", err)
	}
	code := set(t, s, nil)
	if !regexp.MustCompile(`^([0-9A-HJKMNP-TV-Z]{4}-){2}[0-9A-HJKMNP-TV-Z]{4}$`).MatchString(code) || !engine.HasCodeForm(code) {
		t.Errorf("the code is %q", code)
	}
	for _, typed := range []string{code, strings.ToLower(code), strings.ReplaceAll(code, "-", " "), strings.ReplaceAll(strings.ReplaceAll(code, "0", "o"), "1", "l")} {
		k, err := s.Unlock(ctx, typed)
		if err != nil || !engine.HasCodeForm(typed) {
			t.Errorf("typed as %q: %v", typed, err)
			continue
		}
		if known, _, err := s.Log.PersonKey(); err != nil || k.Key() != *known {
			t.Errorf("the key is %+v, in the ledger %+v, %v", k.Key(), known, err)
		}
	}
	old, err := s.Unlock(ctx, code)
	if err != nil {
		t.Fatal(err)
	}
	if next := set(t, s, old); refusal(s, next) != nil || !errors.Is(refusal(s, code), ErrWrong) {
		t.Error("a new code does not replace the old one")
	}
}

// A code has a form that texts have by chance once in a thousand times at most.
func TestForm(t *testing.T) {
	found := 0
	for range 20_000 {
		code, err := New()
		if err != nil {
			t.Fatal(err)
		}
		b := []byte(engine.PlainCode(code))
		at := rand.IntN(len(b))
		b[at] = engine.CodeAlphabet[(strings.IndexByte(engine.CodeAlphabet, b[at])+1+rand.IntN(31))%32]
		if engine.HasCodeForm(string(b)) {
			found++
		}
	}
	if found > 60 {
		t.Errorf("%d of 20000 codes with one wrong character have the form of a code", found)
	}
	for _, text := range []string{"", "0000", "0000-0000-0000-0000", "UUUU-UUUU-UUUU", strings.Repeat("A", 1000)} {
		if engine.HasCodeForm(text) {
			t.Errorf("%q has the form of a code", text)
		}
	}
}

func TestNothingOnDiskIsTheCode(t *testing.T) {
	dir := t.TempDir()
	s, _ := cheap(dir)
	code := set(t, s, nil)
	if err := refusal(s, "1111-"+code[5:]); !errors.Is(err, ErrWrong) {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(code)) || bytes.Contains(b, []byte(engine.PlainCode(code))) || bytes.Contains(b, []byte(code[5:])) {
			t.Errorf("%s contains the code", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestLimit(t *testing.T) {
	dir := t.TempDir()
	s, now := cheap(dir)
	code := set(t, s, nil)
	for range Tries {
		*now += 1000
		if err := refusal(s, "wrong"); !errors.Is(err, ErrWrong) {
			t.Fatal(err)
		}
	}
	var locked *LockedError
	if err := refusal(s, code); !errors.As(err, &locked) || locked.For != Pause {
		t.Errorf("after %d wrong codes: %v", Tries, err)
	}
	again, later := cheap(dir) // a restart
	*later = *now + time.Minute.Milliseconds()
	if err := refusal(again, code); !errors.As(err, &locked) || locked.For != Pause-time.Minute {
		t.Errorf("after a restart: %v", err)
	}
	*later = *now - time.Hour.Milliseconds()
	if err := refusal(again, code); !errors.As(err, &locked) {
		t.Errorf("with the clock set back: %v", err)
	}
	*later = *now + Pause.Milliseconds() + 1
	if err := refusal(again, code); err != nil {
		t.Errorf("after the pause: %v", err)
	}
}

func TestParallelGuesses(t *testing.T) {
	s, _ := cheap(t.TempDir())
	set(t, s, nil)
	results := make(chan error)
	for range 40 {
		go func() { results <- refusal(s, "wrong") }()
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
	code := set(t, s, nil)
	if err := refusal(s, code); err != nil {
		t.Error(err)
	}
}

func TestSeenCode(t *testing.T) {
	ctx := context.Background()
	s, _ := cheap(t.TempDir())
	if seen, err := s.Expose(ctx, "0000-0000-0000"); seen || err != nil {
		t.Errorf("no code is set, and one was seen: %v", err)
	}
	code := set(t, s, nil)
	other, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for text, is := range map[string]bool{other: false, strings.ToLower(code): true} {
		if seen, err := s.Expose(ctx, text); seen != is || err != nil {
			t.Errorf("%s: seen %v, %v", text, seen, err)
		}
	}
	if err := refusal(s, code); !errors.Is(err, ErrSeen) {
		t.Errorf("a code that was seen: %v", err)
	}
	if err := refusal(s, other); !errors.Is(err, ErrSeen) {
		t.Errorf("another code, when it was seen: %v", err) // it shows nothing about the code
	}
	k, err := s.UnlockToReplace(ctx, code)
	if err != nil {
		t.Fatal(err)
	}
	if next := set(t, s, k); refusal(s, next) != nil {
		t.Errorf("its successor: %v", refusal(s, next))
	}
}

func TestPast(t *testing.T) {
	ctx := context.Background()
	s, now := cheap(t.TempDir())
	open := func(session string) {
		err := s.Log.Update(ctx, engine.SessionKey{Harness: "claude-code", Session: session}, func(h history.Tail) error {
			return h.Append(&engine.Record{Kind: engine.KindOpen, T: *now, Open: &engine.Open{Workspace: "/srv"}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	open("before")
	if p, err := s.Past(); p.First != 0 || err != nil || s.AtStart() != "" {
		t.Errorf("no code is set: %+v, %v", p, err)
	}
	*now += 1000
	began := *now
	code := set(t, s, nil)
	open("a")
	*now += 1000
	k, err := s.Unlock(ctx, code)
	if err != nil {
		t.Fatal(err)
	}
	set(t, s, k)
	open("b")
	if p, err := s.Past(); p.First != began || p.By != "anna" || p.Sessions != 2 || err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	for i := range 2 * Announced {
		told := s.AtStart()
		if p, _ := s.Past(); strings.Contains(told, "first made on") != (p.Sessions <= Announced) {
			t.Errorf("at the start of session %d: %q", p.Sessions, told)
		}
		open(fmt.Sprint(i))
	}
}

func TestGuessesAreTold(t *testing.T) {
	s, now := cheap(t.TempDir())
	set(t, s, nil)
	for range Tries {
		if strings.Contains(s.AtStart(), "wrong") {
			t.Error("too early")
		}
		*now += 1000
		if err := refusal(s, "wrong"); !errors.Is(err, ErrWrong) {
			t.Fatal(err)
		}
	}
	if !strings.Contains(s.AtStart(), "5 wrong approval codes") {
		t.Errorf("told %q", s.AtStart())
	}
	*now += 24 * time.Hour.Milliseconds()
	if strings.Contains(s.AtStart(), "wrong") {
		t.Error("a day later")
	}
}

// A hook that was given a fingerprint says so where the ledger has no such key.
func TestMissingKeyIsTold(t *testing.T) {
	dir := t.TempDir()
	s, _ := cheap(dir)
	pinned := &Store{Log: &audit.Store{Dir: dir, Fingerprint: "0123456789abcdef0123456789abcdef"}}
	for _, when := range []string{"no key", "another key"} {
		if told := pinned.AtPrompt(); !strings.Contains(told, "does not have the key") || pinned.AtStart() != told || s.AtPrompt() != "" {
			t.Errorf("%s: %q, at the start %q, without a fingerprint %q", when, told, pinned.AtStart(), s.AtPrompt())
		}
		if when == "no key" {
			set(t, s, nil)
		}
	}
}

// Two first codes at once: one counts, and the other is refused.
func TestTwoCodesAtOnce(t *testing.T) {
	dir := t.TempDir()
	results := make(chan error, 2)
	for range 2 {
		go func() {
			s, _ := cheap(dir)
			_, err := s.Set(context.Background(), "anna", nil)
			results <- err
		}()
	}
	if one, other := <-results, <-results; (one == nil) == (other == nil) {
		t.Errorf("%v, %v", one, other)
	}
}
