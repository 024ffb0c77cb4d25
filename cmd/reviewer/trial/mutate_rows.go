package trial

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/mutate"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/detect"
	"github.com/agent-reviewer/reviewer/engine/mutant"
	"github.com/agent-reviewer/reviewer/rego"
)

// rowAttempts makes an attempt of each change of a row or of data.
func (b *mutationBench) rowAttempts() ([]attempt, error) {
	made, err := cel.NewRewordings(wiring.NamesOf(b.Layers...))
	if err != nil {
		return nil, err
	}
	var all []attempt
	var ids []string
	var reads func(path string) bool
	if b.Rule != "" {
		ids = []string{b.Rule} // so that no data are changed
	} else {
		reads = b.whole.Data()
	}
	for _, m := range mutate.Changes(b.bundle(), reads, made.Of, ids...) {
		all = append(all, b.attempt(m.Mutant, func(ctx context.Context) (string, bool) { return b.killRow(ctx, m) }))
	}
	return all, nil
}

func topFolder(file string) string {
	top, _, _ := strings.Cut(file, "/")
	return top
}

func (b *mutationBench) killRow(ctx context.Context, m *mutate.Change) (outcome string, valid bool) {
	c, err := b.changed(m)
	if err != nil {
		return "", false
	}
	jobs, tests := c.jobs(), c.tests.Reading(c.mutant.Path)
	if len(jobs)+len(tests) == 0 {
		return Unreached, true
	}
	// Data that nearly all decisions read are numbers of the scores, which Rego tests
	// usually test.
	first := len(jobs) > early
	switch {
	case first && b.testsFail(ctx, b.whole, c.host, tests),
		b.anyFails(ctx, c.on(), jobs),
		!first && b.testsFail(ctx, b.whole, c.host, tests):
		return Killed, true
	}
	return Survived, true
}

// changedRows is the policy with a change of a row or of data.
type changedRows struct {
	*mutationBench
	mutant        *mutate.Change
	layers        []*bundles.Bundle
	policy        func(context.Context, cases.Case) (*policy, error)
	host          *rego.Host // over the changed data
	before, after *cel.Host  // the conditions in question; nil: there are none
}

func (b *mutationBench) changed(m *mutate.Change) (*changedRows, error) {
	own, err := m.Apply(b.bundle())
	if err != nil {
		return nil, err
	}
	c := &changedRows{mutationBench: b, mutant: m, layers: slices.Clone(b.Layers)}
	c.layers[slices.Index(c.layers, b.bundle())] = own
	list := wiring.WithNames(conditionsOf(own, m), wiring.NamesOf(c.layers...))
	if m.Kind != mutant.Data { // no condition reads data
		compile := func() (*cel.Host, error) {
			return cel.Compile(wiring.WithNames(conditionsOf(b.bundle(), m), wiring.NamesOf(b.Layers...)))
		}
		if c.before, err = once(&b.mu, b.conditions, m.File+" "+m.Rule, compile); err != nil {
			return nil, err
		}
	}
	if i := slices.IndexFunc(list, func(one cel.Condition) bool { return one.ID == m.Rule }); m.Kind == mutant.Conditions && i >= 0 {
		c.reword(list[i])
		return c, nil
	}
	runner := NewRunner(b.Env, bundles.RowsChecked(c.layers)...) // rows about programs and places never change
	runner.hosts = b.runner.hosts
	p, err := runner.policy(context.Background(), plain())
	if err != nil {
		return nil, err
	}
	c.policy = runner.policy
	c.host, _ = p.Decider.(*rego.Host)
	if c.before != nil {
		c.after, err = cel.Compile(list)
	}
	return c, err
}

// reword changes only the expressions of one condition: neither data nor modules depend on them.
func (c *changedRows) reword(to cel.Condition) {
	c.after = c.before.Reworded(to.ID, to.When, to.Measure)
	c.host, _ = c.mutationBench.policy.Decider.(*rego.Host)
	made := map[*policy]*policy{}
	c.policy = func(ctx context.Context, of cases.Case) (*policy, error) {
		p, err := c.mutationBench.runner.policy(ctx, of)
		if err != nil || made[p] != nil {
			return made[p], err
		}
		other := *p.Policy
		if host, ok := p.Matcher.(*cel.Host); ok {
			other.Matcher = host.Reworded(to.ID, to.When, to.Measure)
		}
		made[p] = p.having(&other)
		return made[p], nil
	}
}

// conditionsOf lists the conditions that a change can affect: that of its rule, or those of the access lists
// in its file.
func conditionsOf(b *bundles.Bundle, m *mutate.Change) []cel.Condition {
	rules, access := b.RowsOf(m.File)
	list := wiring.Conditions(slices.DeleteFunc(rules, func(r bundles.Rule) bool { return r.ID != m.Rule }))
	for _, l := range access {
		list = append(list, wiring.AccessConditions(l)...)
	}
	return list
}

// jobs lists the jobs that the change can affect: those that read the changed data,
// and those with a different result of a condition. The examples of a removed row are
// removed with it.
func (c *changedRows) jobs() []int {
	reading := c.cases.Reading(c.mutant.Path)
	var all []int
	for i, j := range c.mutationBench.jobs {
		if c.mutant.Dropped != "" && c.exampleOf(j, c.mutant.Dropped) {
			continue
		}
		_, reads := slices.BinarySearch(reading, i)
		if reads || c.widens() || j.kind == kindDetector && c.exampleOf(j, c.mutant.Rule) || c.tuned(c.books[i]) || c.touches(c.books[i]) {
			all = append(all, i)
		}
	}
	return all
}

// widens reports whether a detector searches more texts than before.
func (c *changedRows) widens() bool {
	key, _, _ := strings.Cut(c.mutant.Before, ":")
	return c.fileOfDetectors() && c.mutant.Dropped == "" && (key == "in" || key == "tools")
}

// tuned reports whether a job has settings of its own for the patterns that are
// changed: its thresholds differ from those that are compared here.
func (c *changedRows) tuned(book *decisionLog) bool {
	_, tuned := book.of.Settings["patterns"]
	return tuned && topFolder(c.mutant.File) == "patterns" && len(book.asked) > 0
}

// exampleOf reports whether a job is an example of a rule or detector.
func (c *changedRows) exampleOf(j job, id string) bool {
	return (j.kind == kindExample || j.kind == kindDetector) && j.about == id
}

func (c *changedRows) touches(book *decisionLog) bool {
	return slices.ContainsFunc(book.asked, func(a recordedDecision) bool {
		return a.input.Action.Detected[c.mutant.Rule] > 0 || c.finds(a)
	})
}

// finds reports whether the conditions of the file find something else.
func (c *changedRows) finds(a recordedDecision) bool {
	if c.after == nil {
		return false
	}
	before, _ := c.before.Match(context.Background(), a.input)
	after, err := c.after.Match(context.Background(), a.input)
	return err != nil || !reflect.DeepEqual(before, after)
}

// on tries jobs with the changed rows. A policy is compiled for each combination of
// settings and layers that cases add, when it is first needed.
func (c *changedRows) on() *attemptOn {
	under := func(ctx context.Context, of cases.Case) (*policy, error) {
		p, err := c.policy(ctx, of)
		if err != nil {
			return nil, err
		}
		was, err := c.mutationBench.runner.policy(ctx, of)
		if err != nil {
			return nil, err
		}
		p.rules = was.rules // a case may name the removed rule
		return p, nil
	}
	t := c.under(under)
	if c.fileOfDetectors() {
		c.changeDetectors(t)
	}
	return &attemptOn{rule: c.mutant.Rule, trial: t, differ: func(ctx context.Context, book *decisionLog) bool {
		if c.fileOfDetectors() || c.tuned(book) || slices.ContainsFunc(book.asked, c.finds) {
			return true
		}
		p, err := under(ctx, book.of)
		return err != nil || c.decides(ctx, p, book)
	}}
}

// changeDetectors makes the examples of detectors use the detectors of the changed
// rows.
func (c *changedRows) changeDetectors(t *trial) {
	e, err := bundles.Assemble(c.layers...)
	if err != nil {
		return // unreachable: the policy has compiled
	}
	t.effective = e
	t.finders = sync.OnceValues(func() (*detect.Set, error) { return wiring.Detectors(e) })
}

func (c *changedRows) fileOfDetectors() bool { return topFolder(c.mutant.File) == "detectors" }
