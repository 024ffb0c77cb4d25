package reuse

import (
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
)

const kept = `package p

constant := 1

phase := input.phase

reads if "reads" in input.facts

either if reads

either if input.phase == "post"

late if input.time.ms > 5

raw := input.event.args.file

tool := input.event.tool

hidden if f(input)

f(x) if x.a
`

func inputOf(t *testing.T, text string) ast.Value {
	t.Helper()
	v, err := ast.ParseTerm(text)
	if err != nil {
		t.Fatal(err)
	}
	return v.Value
}

// TestMemory shows for which documents an evaluation finds the value of an earlier one.
func TestMemory(t *testing.T) {
	all := []string{"constant", "phase", "reads", "either", "late", "raw", "tool", "hidden"}
	before := `{"phase": "pre", "facts": ["a", "reads"], "time": {"ms": 1}, "event": {"tool": "x", "args": {"file": "f"}}}`
	for name, c := range map[string]struct {
		input string
		after time.Duration
		size  int
		want  []string
	}{
		"the same":      {before, time.Second, 100, []string{"constant", "phase", "reads", "either", "tool"}},
		"other facts":   {`{"phase": "pre", "facts": ["reads"], "event": {"tool": "x"}}`, 0, 100, []string{"constant", "phase", "tool"}},
		"another phase": {`{"phase": "post", "facts": ["a", "reads"], "event": {"tool": "y"}}`, 0, 100, []string{"constant", "reads"}},
		"nothing":       {`{}`, 0, 100, []string{"constant"}},
		"too late":      {before, time.Minute, 100, nil},
		"too many":      {before, 0, 3, nil},
	} {
		now := time.Unix(1000, 0)
		var counts Counts
		m := NewMemory(planOf(t, kept, 1), Limits{Size: c.size, Life: time.Minute, Now: func() time.Time { return now }}, &counts)
		first := m.Begin(inputOf(t, before))
		for _, doc := range all {
			if term, known := first.Get(ast.MustParseRef("data.p." + doc)); term != nil || known {
				t.Errorf("%s: %s is known at first", name, doc)
			}
			first.Put(ast.MustParseRef("data.p."+doc), ast.StringTerm(doc))
		}
		now = now.Add(c.after)
		next := m.Begin(inputOf(t, c.input))
		var got []string
		for _, doc := range all {
			if term, _ := next.Get(ast.MustParseRef("data.p." + doc)); term != nil {
				got = append(got, doc)
			}
		}
		if len(got) != len(c.want) || int64(len(got)) != counts.Hits.Load() {
			t.Errorf("%s: found %q (%d hits), want %q", name, got, counts.Hits.Load(), c.want)
		}
	}
}

// TestMemoryOfUndefined: that a document is undefined is kept as well, and so is nothing that an
// evaluation from before the memory was emptied computes.
func TestMemoryOfUndefined(t *testing.T) {
	now := time.Unix(1000, 0)
	m := NewMemory(planOf(t, kept, 1), Limits{Size: 100, Life: time.Minute, Now: func() time.Time { return now }}, &Counts{})
	phase, in := ast.MustParseRef("data.p.phase"), inputOf(t, `{"phase": "pre"}`)
	m.Begin(in).Put(phase, nil)
	if term, undefined := m.Begin(in).Get(phase); term != nil || !undefined {
		t.Errorf("%v, %v", term, undefined)
	}
	slow := m.Begin(in)
	now = now.Add(time.Hour)
	m.Begin(in)
	slow.Put(phase, ast.StringTerm("pre"))
	if term, undefined := m.Begin(in).Get(phase); term != nil || undefined {
		t.Errorf("%v, %v", term, undefined)
	}
}

// TestUselessDocuments: what is hardly ever found again is not kept.
func TestUselessDocuments(t *testing.T) {
	var counts Counts
	m := NewMemory(planOf(t, kept, 1), Limits{Size: 10_000, Life: time.Minute, Now: time.Now}, &counts)
	tool := ast.MustParseRef("data.p.tool")
	for i := range 2 * trial {
		one := m.Begin(ast.NewObject([2]*ast.Term{ast.StringTerm("event"), ast.ObjectTerm([2]*ast.Term{ast.StringTerm("tool"), ast.InternedTerm(i)})}))
		one.Get(tool)
		one.Put(tool, ast.InternedTerm(i))
	}
	if got := counts.Misses.Load(); got != trial {
		t.Errorf("%d questions, want %d", got, trial)
	}
}
