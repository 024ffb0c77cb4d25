package cel

import (
	"strings"
	"testing"

	"cel.dev/cel-go/common/types"

	"github.com/agent-reviewer/reviewer/engine"
)

// Each example is a condition that is true of an empty input.
func TestReferenceExamples(t *testing.T) {
	l, err := newLanguage(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Reference() {
		p, problems := l.compile(&expression{id: f.Name, part: "when", text: f.Example, want: []*types.Type{types.BoolType}})
		if len(problems) > 0 {
			t.Errorf("%s: %s: %v", f.Name, f.Example, problems[0])
			continue
		}
		v, _, err := p.Eval(&variables{in: &engine.Input{}})
		if err != nil || v != types.True {
			t.Errorf("%s: %s is %v, %v", f.Name, f.Example, v, err)
		}
		last := f.Name[strings.LastIndex(f.Name, ".")+1:]
		if !strings.Contains(f.Example, last) || !strings.Contains(f.Signature, last) || !strings.HasSuffix(f.About, ".") && !strings.HasSuffix(f.About, "…") {
			t.Errorf("%s: %+v does not show it, or has no sentence", f.Name, f)
		}
	}
}

// unlisted are functions that are not written by these names.
func unlisted(name string) bool {
	switch name {
	case "dyn": // refused, see plain
		return true
	case "math.@max", "math.@min", "@sortByAssociatedKeys", "cel.@block": // expansions of macros
		return true
	}
	return strings.HasPrefix(name, "_") || strings.HasPrefix(name, "@") || strings.HasPrefix(name, "!") || strings.HasPrefix(name, "-") // operators
}

func TestReferenceIsComplete(t *testing.T) {
	l, err := newLanguage(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	listed, known := map[string]bool{}, map[string]bool{}
	for _, f := range Reference() {
		if listed[f.Name] {
			t.Errorf("%s is listed twice", f.Name)
		}
		listed[f.Name] = true
	}
	for name := range l.env.Functions() {
		known[name] = true
	}
	for _, m := range l.env.Macros() {
		known[prefixed(m.Function())] = true
	}
	for name := range known {
		if !listed[name] && !unlisted(name) {
			t.Errorf("Reference does not list %s", name)
		}
	}
	for name := range listed {
		if !known[name] {
			t.Errorf("Reference lists %s, which conditions do not have", name)
		}
	}
}

// prefixed adds the receiver to macros that are called on one.
func prefixed(macro string) string {
	switch macro {
	case "greatest", "least":
		return "math." + macro
	case "bind":
		return "cel." + macro
	}
	return macro
}
