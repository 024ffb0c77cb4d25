package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestProblemText(t *testing.T) {
	for want, p := range map[string]Problem{
		"a.rego:3:7: no such field; expected one of a, b, found c; did you mean \"b\"?": {
			File: "a.rego", Line: 3, Col: 7, Message: "no such field", Expected: "one of a, b", Found: "c", Suggestion: "b"},
		"a.rego:3: wrong; expected x": {File: "a.rego", Line: 3, Message: "wrong", Expected: "x"},
		"a.rego: wrong; found y":      {File: "a.rego", Message: "wrong", Found: "y"},
		"wrong":                       {Message: "wrong"},
	} {
		if got := p.Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestNotOneOf(t *testing.T) {
	known := []string{"pre", "post"}
	if p := (&Problem{}).ExpectOneOf("pree", known); p.Suggestion != "pre" || p.Expected != "" {
		t.Errorf("a near word: %+v", p)
	}
	if p := (&Problem{}).ExpectOneOf("another", known); p.Suggestion != "" || p.Expected != "one of pre, post" {
		t.Errorf("a far word of few: %+v", p)
	}
	if p := (&Problem{}).ExpectOneOf("x", slices.Repeat([]string{"another"}, 50)); p.Expected != "" {
		t.Errorf("a far word of many: %+v", p)
	}
}

func TestSortProblems(t *testing.T) {
	list := SortProblems([]*Problem{{File: "b", Line: 1}, {File: "a", Line: 9}, {File: "a", Line: 2}, {File: "b", Line: 1}})
	var got []string
	for _, p := range list {
		got = append(got, p.Error())
	}
	if want := "a:2: |a:9: |b:1: "; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDemand(t *testing.T) {
	for name, test := range map[string]struct {
		ask  func(*Demand)
		want bool
	}{
		"nothing":              {func(*Demand) {}, true},
		"one of the same":      {func(d *Demand) { d.OneOf("a", "b"); d.OneOf("b") }, true},
		"one of others":        {func(d *Demand) { d.OneOf("a"); d.OneOf("b") }, false},
		"all of them excluded": {func(d *Demand) { d.NoneOf("a"); d.OneOf("a", "b"); d.NoneOf("b") }, false},
		"a range":              {func(d *Demand) { d.Number(">", 1); d.Number("<", 2) }, true},
		"an empty range":       {func(d *Demand) { d.Number(">", 2); d.Number("<", 2) }, false},
		"a half-open point":    {func(d *Demand) { d.Number(">=", 2); d.Number("<", 2) }, false},
		"a point":              {func(d *Demand) { d.Number(">=", 2); d.Number("<=", 2); d.Number("==", 2) }, true},
		"a point outside":      {func(d *Demand) { d.Number("==", 3); d.Number("<", 3) }, false},
	} {
		d := NewDemand()
		test.ask(d)
		if got := d.Possible(); got != test.want {
			t.Errorf("%s: possible is %t, want %t", name, got, test.want)
		}
	}
}

// The schema of a policy has its own words as closed sets, and takes whatever
// the policy's Rego is given.
func TestPolicySchema(t *testing.T) {
	schema := PolicySchema(Vocabulary{Windows: []string{"recent"}, Findings: []string{"b", "a", "b"}, Detectors: []string{"x.y"}})
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"findings":{"items":{"enum":["a","b"],"type":"string"},"type":"array"}`,
		`"windows":{"additionalProperties":false,"properties":{"recent":{"$ref":"#/definitions/windowFacts"}},"type":"object"}`,
		`"detected":{"additionalProperties":false,"properties":{"x.y":{"type":"integer"}},"type":"object"}`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is not in\n%s", want, raw)
		}
	}
	for _, name := range []string{"findings", "finding", "phase"} {
		if !slices.Contains(schema["required"].([]string), name) {
			t.Errorf("%s is not required", name)
		}
	}
}
