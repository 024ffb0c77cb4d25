package rego

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

func TestQuery(t *testing.T) {
	h := compiled(t, policy(allows+"\nhelp(x) := x + 1\n"), map[string]any{"reviewer": map[string]any{"words": []any{"a", "b"}}})
	in := &engine.Input{Phase: engine.PhasePre}
	findings := []engine.Finding{{ID: "shop.one"}}
	for query, want := range map[string]string{
		`1 + 1`:                           `[{"values":[2]}]`,
		`input.phase`:                     `[{"values":["pre"]}]`,
		`data.reviewer.decision.decision`: `[{"values":["allow"]}]`,
		`data.reviewer.help(2)`:           `[{"values":[3]}]`,
		`some x in data.reviewer.words`:   `[{"values":[true],"variables":{"x":"a"}},{"values":[true],"variables":{"x":"b"}}]`,
		`"shop.one" in input.findings`:    `[{"values":[true]}]`,
		`input.phase == "post"`:           `[{"values":[false]}]`,
		`data.reviewer.missing`:           `[]`,
	} {
		got, err := h.Query(t.Context(), in, findings, query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if doc, _ := json.Marshal(got); string(doc) != want {
			t.Errorf("%s is %s, want %s", query, doc, want)
		}
	}
	for query, want := range map[string]string{
		`input.phase ==`: "1:14: unexpected eof token",
		`http.send({"method": "get", "url": "http://[::1]:1"})`: "1:1: undefined function http.send: not available",
		`time.now_ns()`: "1:1: undefined function time.now_ns: not available",
		`x == 1`:        "1:1: var x is unsafe",
	} {
		if _, err := h.Query(t.Context(), in, nil, query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
}

// A query is undefined because of the shortest part of a reference that is.
func TestUndefined(t *testing.T) {
	h := compiled(t, policy(allows+"\nhelp(x) := x + 1\n"), map[string]any{"reviewer": map[string]any{"words": []any{"a", "b"}}})
	in := &engine.Input{Phase: engine.PhasePre, Action: engine.Action{Commands: []engine.Command{{Name: "git"}}}}
	for query, want := range map[string]string{
		`input.actoin`:                                "input.actoin input.action",
		`input.actoin.commands[0].name`:               "input.actoin input.action",
		`input.action.comands[_].name`:                "input.action.comands input.action.commands",
		`input.action.commands[0].nam`:                "input.action.commands[0].nam input.action.commands[0].name",
		`input.action.commands[7].name`:               "input.action.commands[7] ",
		`input.phase == "pre"; input.session.stoped`:  "input.session.stoped input.session.stopped",
		`data.reviewr.decision`:                       "data.reviewr data.reviewer",
		`data.reviewer.wrods[0]`:                      "data.reviewer.wrods data.reviewer.words",
		`data.reviewer.help(input.phse)`:              "input.phse input.phase",
		`some x in data.reviewer.words; x == "other"`: " ",
		`input.phase == "post"; true`:                 " ",
	} {
		part, near := h.Undefined(t.Context(), in, nil, query)
		if got := part + " " + near; got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// Each rule is measured by itself, and one that is not evaluated is not listed.
func TestProfile(t *testing.T) {
	h := compiled(t, policy(`
decision := {"decision": "allow", "enforced": "allow", "text": sprintf("%d", [total])}

total := sum([help(n) | some n in numbers.range(1, 2000)])

help(n) := m if {
	m := n + 1
}

never if input.phase == "post"
`), nil)
	p := h.Profile()
	for range 3 {
		if _, err := h.Decide(t.Context(), &engine.Input{Phase: engine.PhasePre}, nil); err != nil {
			t.Fatal(err)
		}
	}
	list := p.Spent()
	counts := map[string]int64{}
	for i, s := range list {
		counts[s.Name] = s.Count
		if s.File != "base/a.rego" || s.Line == 0 || s.Time <= 0 || i > 0 && s.Time > list[i-1].Time {
			t.Errorf("%+v", s)
		}
	}
	if counts["reviewer.help"] < 3*2000 || counts["reviewer.decision"] == 0 || counts["reviewer.total"] == 0 || len(list) != 3 {
		t.Errorf("%+v", list)
	}
}
