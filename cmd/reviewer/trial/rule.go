package trial

import (
	"context"
	"io/fs"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/rego"
)

// RuleIDs lists the ids of a bundle's rules, in rows or in Rego, and those under which its access lists fire.
func RuleIDs(b *bundles.Bundle) []string {
	ids, _ := rego.Findings((&Subject{Layers: []*bundles.Bundle{b}, Layer: b.Layer}).modules())
	for _, r := range b.Rules {
		ids = append(ids, r.ID)
	}
	for _, l := range b.Access {
		ids = append(ids, l.FindingIDs()...)
	}
	return ids
}

// LoadRule is Load with only the tests of one rule: its examples, the cases that expect it to
// fire or not to fire, and the Rego tests that name it.
func LoadRule(fsys fs.FS, at, layer, id string, layers ...*bundles.Bundle) (Subject, error) {
	naming := cases.Naming(id)
	s, err := load(fsys, at, layer, naming, bundles.RowsChecked(layers)...) // what it knows about programs is not tested
	s.Rule = id
	s.Cases = slices.DeleteFunc(s.Cases, func(c cases.Case) bool { return !slices.Contains(aboutRules(c), id) })
	if err == nil {
		s.Tests, s.regoTests, err = rego.SelectTests(s.Tests, naming)
	}
	return s, err
}

// TestRule runs the tests of a rule. If all pass, it also makes small changes to the rule, one at a
// time, and returns those that none of its own tests detects.
func TestRule(ctx context.Context, s Subject, o MutateOptions) (*report.Report, *Mutation, error) {
	start := time.Now()
	t, err := newTrial(ctx, s, o.forMutants())
	if err != nil {
		return nil, nil, err
	}
	b, suites, err := t.bench(ctx)
	if err != nil {
		return nil, nil, err
	}
	r := &report.Report{Command: "policy test", Policy: t.effective.Digest, Suites: suites}
	r.Sort()
	m := &Mutation{}
	if len(failed(suites)) == 0 {
		trials, err := b.trials(s.Rule)
		if err != nil {
			return nil, nil, err
		}
		if m, err = b.run(ctx, trials, o.Tried); err != nil {
			return nil, nil, err
		}
	}
	r.Duration = time.Since(start)
	return r, m, nil
}
