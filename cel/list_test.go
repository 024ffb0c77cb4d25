package cel

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

// Of a list the first condition that is true is found, whatever its name; other lists
// and single conditions do not affect it.
func TestListFindsItsFirst(t *testing.T) {
	in := func(list, id string, order int, when string) Condition {
		return Condition{ID: id, List: list, Order: order, When: when}
	}
	broken := `event.args.missing == ""`
	for name, test := range map[string]struct {
		conditions []Condition
		want       string // ids; ! marks those that failed
	}{
		"the first":           {[]Condition{in("a", "z", 0, "true"), in("a", "b", 1, "true")}, "z"},
		"the first that does": {[]Condition{in("a", "z", 0, "false"), in("a", "b", 1, "true"), in("a", "a", 2, "true")}, "b"},
		"none":                {[]Condition{in("a", "z", 0, "false"), in("a", "b", 1, "false")}, ""},
		"whatever the order of writing": {
			[]Condition{in("a", "b", 2, "true"), in("a", "c", 0, "false"), in("a", "z", 1, "true")}, "z"},
		"several lists": {
			[]Condition{in("a", "z", 0, "true"), in("b", "b", 0, "false"), in("b", "y", 1, "true"), in("a", "x", 1, "true")}, "y z"},
		"and conditions of no list": {
			[]Condition{in("", "y", 0, "true"), in("", "a", 0, "true"), in("a", "m", 0, "true"), in("a", "b", 1, "true")}, "a m y"},
		"one that fails is an answer":     {[]Condition{in("a", "z", 0, broken), in("a", "b", 1, "true")}, "z!"},
		"one after the answer is nothing": {[]Condition{in("a", "z", 0, "true"), in("a", "b", 1, broken)}, "z"},
	} {
		var got []string
		for _, f := range match(t, host(t, test.conditions...), sample()) {
			if f.Error != "" {
				f.ID += "!"
			}
			got = append(got, f.ID)
		}
		if d := cmp.Diff(test.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Conditions after the finding are not even compiled.
func TestListStopsAtItsAnswer(t *testing.T) {
	h := host(t, Condition{ID: "a", List: "l", Match: Match{Phases: []string{"pre"}}}, Condition{ID: "b", List: "l", Order: 1, When: "true"})
	compiled := false
	last := &h.conditions[1].when.compile
	compile := *last
	*last = func() (*program, []*Error) { compiled = true; return compile() }
	if match(t, h, sample()); compiled {
		t.Error("the second condition of a list was compiled, though the first holds")
	}
	in := sample()
	in.Phase = engine.PhasePost
	if match(t, h, in); !compiled {
		t.Error("the second condition was not compiled, though the first does not hold: nothing was tested")
	}
}

func TestListPlaceTakenTwice(t *testing.T) {
	_, err := Compile([]Condition{{ID: "a", List: "l", Order: 1, When: "true"}, {ID: "b", List: "l", Order: 1, When: "true"}})
	want := "condition b: order: 1 of list l is also that of a; give each its own number"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// at is a call at a moment of 2026, such as "01-05 22:00".
func at(t *testing.T, moment string) *engine.Input {
	t.Helper()
	m, err := time.Parse("2006-01-02 15:04", "2026-"+moment)
	if err != nil {
		t.Fatal(err)
	}
	return &engine.Input{Phase: engine.PhasePre, Time: engine.TimeFacts{
		MS: m.UnixMilli(), Hour: int64(m.Hour()), Minute: int64(m.Minute()), Weekday: strings.ToLower(m.Weekday().String()),
	}}
}

func TestMatchTime(t *testing.T) {
	noon, err := time.Parse(time.RFC3339, "2026-01-05T12:00:00Z") // a Monday
	if err != nil {
		t.Fatal(err)
	}
	night := Match{Hours: []int64{22, 6}}
	for _, test := range []struct {
		match  Match
		moment string
		want   bool
	}{
		{Match{Hours: []int64{9, 17}}, "01-05 08:59", false},
		{Match{Hours: []int64{9, 17}}, "01-05 09:00", true},
		{Match{Hours: []int64{9, 17}}, "01-05 16:59", true},
		{Match{Hours: []int64{9, 17}}, "01-05 17:00", false},
		{night, "01-05 21:59", false}, {night, "01-05 22:00", true}, {night, "01-05 23:59", true},
		{night, "01-05 00:00", true}, {night, "01-05 05:59", true}, {night, "01-05 06:00", false},
		{Match{Hours: []int64{22, 0}}, "01-05 23:00", true}, {Match{Hours: []int64{22, 0}}, "01-05 00:00", false},
		{Match{Hours: []int64{18, 24}}, "01-05 23:59", true}, {Match{Hours: []int64{18, 24}}, "01-05 00:00", false},
		{Match{Hours: []int64{0, 24}}, "01-05 00:00", true},
		{Match{Weekdays: []string{"saturday", "monday"}}, "01-05 12:00", true},
		{Match{Weekdays: []string{"saturday", "monday"}}, "01-06 12:00", false},
		{Match{Weekdays: []string{"monday"}, Hours: night.Hours}, "01-06 01:00", false}, // the weekday of the moment itself
		{Match{Before: noon.UnixMilli()}, "01-05 11:59", true},
		{Match{Before: noon.UnixMilli()}, "01-05 12:00", false},
		{Match{Before: noon.UnixMilli(), Hours: []int64{12, 13}}, "01-04 12:00", true},
	} {
		if got := len(match(t, host(t, Condition{ID: "x", Match: test.match}), at(t, test.moment))) == 1; got != test.want {
			t.Errorf("%+v at %s: %t, want %t", test.match, test.moment, got, test.want)
		}
	}
}

func TestMatchActions(t *testing.T) {
	for _, test := range []struct {
		actions string
		name    string
		want    bool
	}{
		{"code.exec", "code.exec", true},
		{"code.exec", "code.exec.kill", false},
		{"code.exec*", "code.exec.kill", true},
		{"filesystem.*", "filesystem.write", true},
		{"filesystem.*", "filesystem", false},
		{"file*", "filesystem.write", true},
		{"mcp.github.*", "mcp.gitlab.read", false},
		{"mcp.git*", "mcp.github.read", true},
		{"*", "", true},
		{"network.http code.exec", "code.exec", true},
		{"network.* code.exec", "code.exec", true},
		{"network.* code*", "code.exec", true},
		{"network.*", "code.exec", false},
	} {
		in := &engine.Input{Phase: engine.PhasePre, Action: engine.Action{Name: test.name}}
		h := host(t, Condition{ID: "x", Match: Match{Actions: strings.Fields(test.actions)}})
		if got := len(match(t, h, in)) == 1; got != test.want {
			t.Errorf("%s on %q: %t, want %t", test.actions, test.name, got, test.want)
		}
	}
}

// A condition on actions costs nothing where the action is another one.
func TestActionsAreIndexed(t *testing.T) {
	var conditions []Condition
	for i := range 50 {
		conditions = append(conditions,
			Condition{ID: fmt.Sprintf("exact%d", i), Match: Match{Phases: []string{"pre"}, Actions: []string{fmt.Sprintf("mcp.s.tool%d", i)}}},
			Condition{ID: fmt.Sprintf("family%d", i), Match: Match{Phases: []string{"pre"}, Actions: []string{fmt.Sprintf("f%d.*", i)}}},
		)
	}
	h := host(t, conditions...)
	for name, want := range map[string]string{"mcp.s.tool7": "exact7", "f9.x": "family9", "code.exec": ""} {
		in := &engine.Input{Phase: engine.PhasePre, Action: engine.Action{Name: name}}
		var got []string
		for _, i := range h.index.candidates(in) {
			got = append(got, h.conditions[i].ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: candidates are %v, want %q", name, got, want)
		}
	}
}

// The result of a list is that of evaluating its conditions one after the other.
func TestListsAsAsked(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	actions := []string{"code.exec", "code.*", "c*", "filesystem.write", "filesystem.*", "*"}
	whens := []string{"", "true", "false", `event.args.missing == ""`}
	for range 200 {
		var conditions []Condition
		for l := range 3 {
			for i := range r.IntN(6) {
				m := Match{Phases: []string{"pre"}, Actions: pick(r, actions...)}
				if start, end := r.Int64N(24), r.Int64N(25); start != end && r.IntN(2) == 0 {
					m.Hours = []int64{start, end}
				}
				id := fmt.Sprintf("%d.%d", l, r.IntN(1000)*10+i)
				conditions = append(conditions, Condition{ID: id, List: fmt.Sprint("l", l), Order: i, Match: m, When: whens[r.IntN(len(whens))]})
			}
		}
		shuffled := append([]Condition{}, conditions...)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		in := at(t, fmt.Sprintf("01-05 %02d:00", r.IntN(24)))
		in.Action.Name = []string{"code.exec", "filesystem.write", "mcp.a.b"}[r.IntN(3)]
		var want []string
		answered := map[string]bool{}
		for _, c := range conditions {
			alone := c
			alone.List = ""
			if !answered[c.List] && len(match(t, host(t, alone), in)) == 1 {
				answered[c.List] = true
				want = append(want, c.ID)
			}
		}
		var got []string
		for _, f := range match(t, host(t, shuffled...), in) {
			got = append(got, f.ID)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%+v at %d of %s\n%s", conditions, in.Time.Hour, in.Action.Name, d)
		}
	}
}
