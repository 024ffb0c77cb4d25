package simulate

import (
	"context"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// early is a call that was answered before its review, with the history before it.
type early struct {
	rec    *engine.Record
	before *history.State
}

// review recomputes what is in a record with its policy: the review, or the answer before
// it.
func (p *replay) review(ctx context.Context, policy *review.Policy, rec *engine.Record) (review.Result, error) {
	if rec.Source != engine.SourceAsync || policy.Early == nil {
		v, err := policy.Review(ctx, rec, p.history)
		if err == nil {
			p.came = &v
		}
		return v, err
	}
	v, _, err := policy.ReviewEarly(ctx, rec, p.history)
	return v, err
}

// opened keeps the history before a call that was answered before its review.
func (p *replay) opened(rec *engine.Record) error {
	if rec.Source != engine.SourceAsync || rec.Decision == nil {
		return nil
	}
	before, err := p.history.Clone()
	p.early = &early{rec, before}
	return err
}

// late recomputes the review of a call that was answered before it.
func (p *replay) late(ctx context.Context, rec *engine.Record) error {
	was := rec.Act.Late
	if was.Decision == nil {
		p.report.Decisions--
		p.report.Degraded++
		return nil
	}
	call := p.early
	if p.foreign || was.By == nil || was.By.Env != p.env || call == nil || call.rec.ID() != rec.Act.Of {
		p.report.Incomparable++
		return nil
	}
	policy := p.policy(was.By.Policy)
	if policy == nil {
		p.report.Missing[was.By.Policy]++
		return nil
	}
	v, err := policy.Decide(ctx, call.rec, call.before)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.differ(rec, "late.decision", was.Decision.Decision, "an error: "+err.Error())
		return nil
	}
	before := p.report.Different
	err = p.compare(rec, field{"late.findings", orNone(was.Findings), orNone(v.Findings)}, field{"late.decision", was.Decision, v.Decision})
	if err == nil && p.report.Different == before {
		p.report.Same++
	}
	return err
}
