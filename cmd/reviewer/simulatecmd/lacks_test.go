package simulatecmd

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

const tokens = "- id: shop.token\n  title: A token of the shop\n  pattern: 'tok_[0-9]+'\n  in: [contents]\n  tools: [Write, mcp__*]\n" +
	"  examples: {match: [tok_12], no_match: [token]}\n"

const orders = "- id: shop.orders\n  title: Orders in what came back\n  pattern: 'obey'\n  in: [results]\n" +
	"  examples: {match: [obey], no_match: [ok]}\n"

// ruleOf is a rule that fires if detectors have found something.
func ruleOf(ids string) string {
	return "- id: found_it\n  title: It was found\n  severity: medium\n  decision: ask\n  message: found\n  remediation: leave it out\n" +
		"  match: {phases: [pre, post], detected: [" + ids + "]}\n"
}

// What a record does not hold is said about those calls only that have something
// which the policy looks into.
func TestLacks(t *testing.T) {
	s := newShelf(t)
	store := active.KeptIn(filepath.Join(s.dir, "state"))
	recorded := func(dir string) *engine.By {
		side, _, err := side(t.Context(), s.App, dir, s.kept(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Put(s.ref(t, dir)); err != nil {
			t.Fatal(err)
		}
		return &engine.By{Policy: side.Policy.Digest, Env: "e", Detectors: side.Policy.Detectors}
	}
	s.write(t, "none/settings.yaml", "enforcement: enforce\n")
	s.write(t, "some/detectors/a.yaml", tokens)
	s.write(t, "other/detectors/a.yaml", strings.Replace(tokens, "tok_[0-9]+", "tok_.+", 1))
	s.write(t, "all/detectors/a.yaml", tokens)
	s.write(t, "all/detectors/b.yaml", orders)
	s.write(t, "all/rules/mine.yaml", shelfRule)
	for _, dir := range []string{"some", "other"} {
		s.write(t, dir+"/rules/token.yaml", ruleOf("shop.token"))
	}
	s.write(t, "all/rules/all.yaml", ruleOf("shop.token, shop.orders"))
	s.write(t, "mail/settings.yaml", "redact: {pii: [email]}\n")
	none, some, other, mail := recorded("none"), recorded("some"), recorded("other"), recorded("mail")
	gone := &engine.By{Policy: strings.Repeat("d", 64), Detectors: "e"}
	bare := &engine.By{Policy: strings.Repeat("c", 64)}

	content := func(bytes int) map[string]any { return map[string]any{"bytes": bytes, "lines": 1, "mac": "m"} }
	write := &engine.EventFacts{Tool: "Write", Args: map[string]any{"file_path": "a", "content": content(20)}}
	empty := &engine.EventFacts{Tool: "Write", Args: map[string]any{"file_path": "a", "content": content(0)}}
	bash := &engine.EventFacts{Tool: "Bash", Args: map[string]any{"command": "cat a"}}
	server := &engine.EventFacts{Tool: "mcp__shop__sell", Args: map[string]any{"what": []any{"tea"}}}
	said := &engine.EventFacts{Tool: "mcp__shop__sell", Args: map[string]any{"what": "tok_77"}}
	digits := &engine.EventFacts{Tool: "mcp__shop__get", Args: map[string]any{"id": "7", "count": 7}}
	large := &engine.EventFacts{Tool: "mcp__shop__get", Args: map[string]any{"id": "9007199254740993"}}
	broken := &engine.EventFacts{Tool: "mcp__shop__get", Args: map[string]any{"id": "7.0"}}
	endless := &engine.EventFacts{Tool: "mcp__shop__get", Args: map[string]any{"id": "1e999"}}
	long := &engine.EventFacts{Tool: "mcp__shop__sell", Args: map[string]any{"what": "tok_…"}}
	secret := &engine.EventFacts{Tool: "mcp__shop__sell", Args: map[string]any{"what": []any{"REDACTED_email_12"}}}
	read := &engine.EventFacts{Tool: "Read", Args: map[string]any{}, Result: &engine.ResultFacts{Content: &engine.ContentFacts{Bytes: 9}}}
	silent := &engine.EventFacts{Tool: "Read", Args: map[string]any{}, Result: &engine.ResultFacts{}}
	sent := &engine.EventFacts{Tool: "Bash", Args: map[string]any{"command": "mail kim@example.com"}}
	masked := &engine.EventFacts{Tool: "Bash", Args: map[string]any{"command": "mail REDACTED_email_12"}}

	all, _, err := side(t.Context(), s.App, "all", s.kept(t))
	if err != nil {
		t.Fatal(err)
	}
	private, _, err := side(t.Context(), s.App, "mail", s.kept(t))
	if err != nil {
		t.Fatal(err)
	}
	gone.Rows, bare.Rows = all.Policy.Rows.RowsDigest(), all.Policy.Rows.RowsDigest()
	const notFor = "contents were not searched for shop.token, which this policy detects"
	for name, test := range map[string]struct {
		lacks func(*engine.Record, string) simulate.Missing
		phase engine.Phase
		event *engine.EventFacts
		by    *engine.By
		want  string
	}{
		"a content, no detectors then":         {all.MissingFact, engine.PhasePre, write, none, notFor},
		"a content, the same detector":         {all.MissingFact, engine.PhasePre, write, some, ""},
		"a content, another pattern":           {all.MissingFact, engine.PhasePre, write, other, notFor},
		"a content, a policy that is gone":     {all.MissingFact, engine.PhasePre, write, gone, "the detectors at the time are unknown: the policy dddddddddddd that decided was not kept"},
		"a content, gone, no detectors":        {all.MissingFact, engine.PhasePre, write, bare, "contents were not searched for …"},
		"an empty content":                     {all.MissingFact, engine.PhasePre, empty, none, ""},
		"another tool":                         {all.MissingFact, engine.PhasePre, bash, none, ""},
		"nothing to look at, a policy gone":    {all.MissingFact, engine.PhasePre, silent, gone, ""},
		"a tool of a server":                   {all.MissingFact, engine.PhasePre, server, none, ""},
		"a result":                             {all.MissingFact, engine.PhasePost, read, some, "contents were not searched for shop.orders, which this policy detects"},
		"no result":                            {all.MissingFact, engine.PhasePost, silent, some, ""},
		"a prompt":                             {all.MissingFact, engine.PhasePrompt, &engine.EventFacts{}, none, ""},
		"a record that nobody decided":         {all.MissingFact, engine.PhasePre, write, nil, ""},
		"a text that is there":                 {all.MissingFact, engine.PhasePre, said, none, ""},
		"a text of digits":                     {all.MissingFact, engine.PhasePre, digits, none, ""},
		"a large number or a text":             {all.MissingFact, engine.PhasePre, large, none, notFor},
		"a fraction or a text":                 {all.MissingFact, engine.PhasePre, broken, none, notFor},
		"a number out of range or a text":      {all.MissingFact, engine.PhasePre, endless, none, notFor},
		"a text that was shortened":            {all.MissingFact, engine.PhasePre, long, none, notFor},
		"a text with a secret":                 {all.MissingFact, engine.PhasePre, secret, none, notFor},
		"an address, masked then":              {all.MissingFact, engine.PhasePre, masked, mail, "personal data (email) was replaced in the record, and this policy would see it"},
		"no address, though they were masked":  {all.MissingFact, engine.PhasePre, bash, mail, ""},
		"an address, masked now":               {private.MissingFact, engine.PhasePre, sent, none, "personal data (email) is in the record, and this policy would not see it"},
		"no address, though they are masked":   {private.MissingFact, engine.PhasePre, bash, none, ""},
		"the policy itself":                    {private.MissingFact, engine.PhasePre, sent, mail, ""},
		"a policy without detectors, contents": {private.MissingFact, engine.PhasePre, write, some, ""},
	} {
		r := &engine.Record{Kind: engine.KindPre, Phase: test.phase, Event: test.event, By: test.by, Action: &engine.Action{}}
		if test.event == long {
			r.Cut = []engine.Cut{{Field: "event.args.what"}}
		}
		checkLacks(t, name, test.want, func() string { return test.lacks(r, "/srv/shop").Fact })
	}
}

// checkLacks asks twice at the same time, as simulations do.
func checkLacks(t *testing.T, name, want string, lacks func() string) {
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			got := lacks()
			if begin, open := strings.CutSuffix(want, "…"); got != want && !(open && strings.HasPrefix(got, begin)) {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		})
	}
	wait.Wait()
}

// A row that says something else now makes the calls of its program unknown, and
// no others.
func TestLacksOfRows(t *testing.T) {
	s := newShelf(t)
	store := active.KeptIn(filepath.Join(s.dir, "state"))
	s.write(t, "before/settings.yaml", "enforcement: enforce\n")
	s.write(t, "taught/programs/a.yaml", "shopctl: {cases: [{do: [{end: delete}]}]}\n")
	s.write(t, "taught/places/a.yaml", "credential: {home: .shopcfg}\n")
	s.write(t, "taught/tools/a.yaml", "mcp__shop__*: {do: [{end: delete}]}\n")
	var sides [2]func(*engine.Record, string) simulate.Missing
	var by [2]*engine.By
	for i, dir := range []string{"before", "taught"} {
		side, _, err := side(t.Context(), s.App, dir, s.kept(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Put(s.ref(t, dir)); err != nil {
			t.Fatal(err)
		}
		sides[i], by[i] = side.MissingFact, &engine.By{Policy: side.Policy.Digest, Env: "e", Detectors: side.Policy.Detectors, Rows: side.Policy.Rows.RowsDigest()}
	}
	gone := &engine.By{Policy: strings.Repeat("d", 64), Detectors: by[0].Detectors, Rows: "0123456789abcdef"}
	const other = "what shopctl does: its row has changed since the call was recorded…"
	for _, c := range []struct {
		name, program string
		wrappers      []string
		by            *engine.By
		want          string
	}{
		{"the program that was taught", "shopctl", nil, by[0], other},
		{"it under a wrapper", "true", []string{"shopctl"}, by[0], other},
		{"another program", "git", nil, by[0], ""},
		{"the same rows", "shopctl", nil, by[1], ""},
		{"a policy that is gone", "git", nil, gone, "the facts about programs are unknown: the policy dddddddddddd that decided was not kept"},
	} {
		rec := &engine.Record{Phase: engine.PhasePre, Event: &engine.EventFacts{Tool: "Bash"}, By: c.by,
			Action: &engine.Action{Commands: []engine.Command{{Name: c.program, Wrappers: c.wrappers}}}}
		checkLacks(t, c.name, c.want, func() string { return sides[1](rec, "/srv/shop").Fact })
	}
	for _, c := range []struct{ name, tool, target, want string }{
		{"a tool that was taught", "mcp__shop__sell", "", "what the tool mcp__shop__sell does: its row has changed since the call was recorded…"},
		{"another tool", "mcp__mail__send", "", ""},
		{"a path that was taught", "Read", "/home/kim/.shopcfg/token", "what kind of file it is: its name is in a different class…"},
		{"another path", "Read", "/home/kim/.ssh/id_rsa", ""},
	} {
		rec := &engine.Record{Phase: engine.PhasePre, Event: &engine.EventFacts{Tool: c.tool, CWD: "/srv/shop"}, By: by[0], Action: &engine.Action{
			Effects: []engine.Effect{{Kind: engine.EffectFileRead, Target: c.target, Short: strings.Replace(c.target, "/home/kim", "~", 1)}}}}
		checkLacks(t, c.name, c.want, func() string { return sides[1](rec, "/srv/shop").Fact })
	}
}
