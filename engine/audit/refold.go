package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// foldAll folds the chains whose lines fit each other from their first lines on, several at a time. What a keyframe says has to
// follow from the records before it, and what makes policy milder has to be signed by the person.
func (v *verifier) foldAll(ctx context.Context, known *choices) error {
	var fit []*verified
	for _, c := range v.chains {
		if !slices.ContainsFunc(v.report.Problems, func(p Problem) bool { return p.Chain == c.chain }) {
			fit = append(fit, c)
		}
	}
	found := make([]*Problem, len(fit))
	numbers := make([]int, len(fit))
	for i := range fit {
		numbers[i] = i
	}
	err := inParallel(ctx, v.check.Workers, numbers, func() func(int) {
		return func(i int) { found[i] = fit[i].refold(known) }
	})
	for i, p := range found {
		if p != nil {
			v.problem(fit[i], *p)
		}
	}
	return err
}

// refold folds a chain and returns the first problem.
func (one *verified) refold(known *choices) *Problem {
	c := newChain(one.dir)
	c.whole = true
	defer c.close()
	_, err := c.load(nil)
	if err == nil {
		_, err = c.follow()
	}
	var damage *Damage
	switch {
	case errors.As(err, &damage):
		return &Problem{File: damage.File, Line: damage.Line, N: c.state.N + 1, What: damage.What}
	case errors.Is(err, fs.ErrNotExist):
		return nil // retention was faster
	case err != nil:
		return &Problem{File: one.dir, What: err.Error()}
	case len(c.vain) > 0:
		many := engine.Counted(len(c.vain), "choice without the person's signature", "choices without the person's signature")
		return &Problem{File: c.path(c.end.File), What: fmt.Sprintf("%s, the first in record %s: another program wrote it, and it changed "+
			"nothing", many, engine.RecordID(one.chain, c.vain[0]))}
	case one.key == engine.SessionKey{}:
		return nil
	}
	what := known.unbacked(c.state)
	if what == "" && c.state.Stop == nil && known.stopped(one.key) {
		what = "the ledger has a stop of this session that the log lacks: its end was cut, or a process ended while it wrote; " +
			"the next call stops the session"
	}
	if what != "" {
		return &Problem{File: c.path(c.end.File), What: what}
	}
	return nil
}
