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
	made, err := cel.NewRewordings()
	if err != nil {
		return nil, err
	}
	var all []attempt
	for _, m := range mutate.Changes(b.bundle(), b.whole.Data(), made.Of) {
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
	runner        *Runner
	host          *rego.Host // over the changed data
	before, after *cel.Host  // the conditions of the file in question; nil: it has none
}

func (b *mutationBench) changed(m *mutate.Change) (*changedRows, error) {
	own, err := m.Apply(b.bundle())
	if err != nil {
		return nil, err
	}
	layers := slices.Clone(b.Layers)
	layers[slices.Index(layers, b.bundle())] = own
	c := &changedRows{mutationBench: b, mutant: m}
	c.runner = NewRunner(b.Env, layers...)
	c.runner.hosts = b.runner.hosts
	p, err := c.runner.policy(context.Background(), plain())
	if err != nil {
		return nil, err
	}
	c.host, _ = p.Decider.(*rego.Host)
	if m.Kind == mutant.Data {
		return c, nil // no condition reads data
	}
	if c.before, err = conditionsOf(b.bundle(), m.File); err == nil {
		c.after, err = conditionsOf(own, m.File)
	}
	return c, err
}

// conditionsOf compiles the conditions of one file.
func conditionsOf(b *bundles.Bundle, file string) (*cel.Host, error) {
	rules, access := b.RowsOf(file)
	list := wiring.Conditions(rules)
	for _, l := range access {
		list = append(list, wiring.AccessConditions(l)...)
	}
	return cel.Compile(list)
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
		p, err := c.runner.policy(ctx, of)
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
	e, err := bundles.Assemble(c.runner.Layers()...)
	if err != nil {
		return // unreachable: the policy has compiled
	}
	t.effective = e
	t.finders = sync.OnceValues(func() (*detect.Set, error) { return wiring.Detectors(e) })
}

func (c *changedRows) fileOfDetectors() bool { return topFolder(c.mutant.File) == "detectors" }
