package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A value is chosen without the project that it is tried on. One with which less
// of what is dangerous is stopped is not chosen, and of equal ones the nearest.
func TestChosen(t *testing.T) {
	at := func(value float64, loses bool, a, b, c int) trial {
		held := func(wrong int) Held { return Held{Ask: wrong, Wrong: wrong, calls: 100} }
		return trial{value: value, loses: loses, held: map[string]Held{"a": held(a), "b": held(b), "c": held(c)}}
	}
	s := chosen(threshold{Key: "x", Values: []float64{1, 2, 3, 4, 5}}, []trial{
		at(3, false, 5, 5, 5), at(1, false, 5, 5, 5), at(2, false, 9, 1, 3), at(4, false, 1, 9, 6), at(5, true, 0, 0, 0)})
	if s.Today != 3 || s.Chosen != 2 || s.Now.Ask != 15 || s.Then.Ask != 13 {
		t.Errorf("chosen by all: %v, %+v, then %+v", s.Chosen, s.Now, s.Then)
	}
	if d := cmp.Diff([]float64{5}, s.Loses); d != "" {
		t.Error(d)
	}
	var got []float64
	for _, p := range s.Projects {
		got = append(got, p.Chosen)
	}
	if d := cmp.Diff([]float64{2, 4, 3}, got); d != "" { // without a: 2; without b: 4; without c: all cost the same
		t.Error(d)
	}
	var b strings.Builder
	printSweep(&b, []Swept{s})
	for _, want := range []string{"x of 1 2 3 4 5!", "    a  "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// A stop that was right and is gone costs more than one that is wrong.
func TestLost(t *testing.T) {
	stops := []Stop{{Digest: "1", Session: "s", Call: 1, Project: "p", Decision: "block"}, {Digest: "2", Session: "s", Call: 2, Project: "p", Decision: "ask"}}
	labels := Labels{map[string]string{"1": right, "2": wrong}, nil}
	calls := map[string]int{"p": 1000}
	if got := newTrial(stops[1:], calls, stops, labels).held["p"]; got.Lost != 1 || got.Wrong != 1 || got.cost() != 11 {
		t.Errorf("%+v costs %v", got, got.cost())
	}
	softer := []Stop{{Digest: "3", Session: "s", Call: 1, Project: "p", Decision: "ask"}}
	if got := newTrial(softer, calls, stops, labels).held["p"]; got.Lost != 0 {
		t.Errorf("a block that became a question is gone: %+v", got)
	}
}

func TestSweep(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list.yaml")
	if err := os.WriteFile(list, []byte("- {key: risk.high_threshold, values: [0.8, 0.9]}"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := command(&out, &out)
		cmd.SetArgs(append([]string{"testdata/corpus", "--literals", "testdata/rules"}, args...))
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	if text, err := run("--sweep=" + list); err != nil || !strings.Contains(text, "risk.high_threshold of 0.8 0.9") {
		t.Errorf("%v in\n%s", err, text)
	}
	for text, want := range map[string]string{
		"- {key: risk.nothing, values: [1, 2]}":        "risk.nothing is not a numeric setting",
		"- {key: risk.high_threshold, values: [1]}":    "entry 1 needs a key and two values",
		"- {key: risk.high_threshold, valeus: [1]}":    "valeus",
		"- {key: unattended_modes, values: [1, 2]}":    "not a numeric setting",
		"- {key: risk.high_threshold, values: [7, 8]}": "risk.high_threshold",
	} {
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := run("--sweep=" + list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	builtin, err := readThresholds(builtIn)
	if err != nil || len(builtin) == 0 {
		t.Fatalf("the list that is built in: %v", err)
	}
	j, err := options{}.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range builtin {
		for _, v := range th.Values {
			if _, err := j.effective.WithSetting(th.Key, v); err != nil {
				t.Error(err)
			}
		}
	}
}

// What is remembered of an event is what is said about it.
func TestRemembering(t *testing.T) {
	j, err := options{}.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := readSessions("testdata/corpus")
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range s.List {
		fresh, err := j.session(t.Context(), tr)
		if err != nil {
			t.Fatal(err)
		}
		seen := remembering(tr)
		for range 3 {
			again, err := j.sessionWith(t.Context(), tr, seen)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(fresh, again, cmp.AllowUnexported(refused{}, decided{})); d != "" {
				t.Error(d)
			}
		}
	}
}
