package simulate

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Report describes how many decisions of a log reproduce.
type Report struct {
	Records      int64             `json:"records"`
	Decisions    int64             `json:"decisions"`         // records with a decision
	Same         int64             `json:"same"`              // of them, those that reproduce byte for byte
	Different    int64             `json:"different"`         // those that do not, and keyframes whose state does not
	Incomparable int64             `json:"incomparable"`      // made in another environment or with another fold: not an error
	Missing      map[string]int64  `json:"missing,omitempty"` // digest of a policy that is not available -> decisions made with it
	Why          map[string]string `json:"why,omitempty"`     // the same digest -> why it is not available
	Degraded     int64             `json:"degraded"`          // denials without a decision, because something had failed
	Keyframes    int64             `json:"keyframes"`         // whose state was compared
	First        *Difference       `json:"first,omitempty"`
}

// Difference is a value that does not reproduce.
type Difference struct {
	ID       string `json:"id"`    // of the record
	Field    string `json:"field"` // such as decision.risk.score
	Recorded string `json:"recorded"`
	Computed string `json:"computed"`
}

// String reports what differs, in one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s is recorded as %s but recomputed as %s", d.ID, d.Field, d.Recorded, d.Computed)
}

// Divergence is an error if a decision or a state was recomputed and differs.
func (r Report) Divergence() error {
	if r.First == nil {
		return nil
	}
	return fmt.Errorf("%d of %s or states differ, first %s", r.Different, engine.Counted(r.Decisions, "decision", "decisions"), r.First)
}

// Err returns an error unless every decision reproduced that this version of reviewer can compare.
func (r Report) Err() error {
	switch {
	case r.First != nil:
		return r.Divergence()
	case len(r.Missing) > 0:
		digests := slices.Sorted(maps.Keys(r.Missing))
		return fmt.Errorf("policies that decided then are not available: %d, such as %s: %s", len(digests), digests[0], r.Why[digests[0]])
	}
	return nil
}

// Replay folds records and recomputes every decision that they contain. The
// records of a chain come together, in order; several chains may follow each
// other, and a chain may start with a keyframe. policies finds a policy by its
// digest, env is the current environment. An error means that the records could
// not be read to the end; differences are in the Report.
func Replay(ctx context.Context, records iter.Seq2[*engine.Record, error], policies func(digest string) (*review.Policy, error),
	env engine.Env) (Report, error) {
	p := newReplay(policies, env)
	for rec, err := range records {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = p.check(ctx, rec)
		}
		if err != nil {
			return p.report, fmt.Errorf("replay: %w", err)
		}
		p.history.Append(rec)
	}
	return p.report, nil
}

type replay struct {
	folding
	report Report
	env    string
	find   func(digest string) (*review.Policy, error)
	known  map[string]*review.Policy // by digest; nil: not available
	early  *early                    // the latest call that was answered before its review; nil: none is open
	came   *review.Result            // the result of the latest record's policy for it now; nil: it was not evaluated
}

func newReplay(policies func(digest string) (*review.Policy, error), env engine.Env) *replay {
	p := &replay{env: env.Digest(), find: policies, known: map[string]*review.Policy{}, folding: folding{history: history.New()}}
	p.report.Missing, p.report.Why = map[string]int64{}, map[string]string{}
	return p
}

// check recomputes the decision of a record, which is folded afterwards.
func (p *replay) check(ctx context.Context, rec *engine.Record) error {
	p.report.Records++
	p.came = nil
	kept, err := p.begin(rec)
	if err == nil && kept != nil {
		p.report.Keyframes++
		err = p.compare(rec, field{"state", kept, p.history})
	}
	if err != nil {
		return err
	}
	switch {
	case rec.Kind == engine.KindKeyframe && rec.State == nil:
		p.differ(rec, "state", nil, p.history)
	case rec.Decision != nil:
		p.report.Decisions++
		if err := p.opened(rec); err != nil {
			return err
		}
		return p.decision(ctx, rec)
	case rec.Act != nil && rec.Act.Late != nil:
		p.report.Decisions++
		return p.late(ctx, rec)
	case rec.Answer != nil && rec.Answer.Mode == engine.ModeDegraded:
		p.report.Degraded++
	}
	return nil
}

func (p *replay) decision(ctx context.Context, rec *engine.Record) error {
	switch {
	case rec.By == nil || rec.SHA == nil:
		p.differ(rec, "by", rec.By, "a decision must name its policy and its input")
		return nil
	case p.history.Empty():
		p.differ(rec, "n", rec.N, "a chain must start with an open record or a keyframe")
		return nil
	case p.foreign || rec.By.Env != p.env:
		p.report.Incomparable++
		return nil
	}
	policy := p.policy(rec.By.Policy)
	if policy == nil {
		p.report.Missing[rec.By.Policy]++
		return nil
	}
	v, err := p.review(ctx, policy, rec)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.differ(rec, "decision", rec.Decision.Decision, "an error: "+err.Error())
		return nil
	}
	before := p.report.Different
	err = p.compare(rec,
		field{"sha.state", rec.SHA.State, v.SHA.State}, field{"sha.input", rec.SHA.Input, v.SHA.Input},
		field{"findings", orNone(rec.Findings), orNone(v.Findings)}, field{"decision", rec.Decision, v.Decision})
	if form := rec.AsModified(); err == nil && form != nil && p.report.Different == before {
		err = p.form(ctx, policy, rec, form)
	}
	if err == nil && p.report.Different == before {
		p.report.Same++
	}
	return err
}

// form reviews the other form of a call again.
func (p *replay) form(ctx context.Context, policy *review.Policy, rec, form *engine.Record) error {
	v, err := policy.Review(ctx, form, p.history)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.differ(rec, "rewritten.decision", rec.Rewritten.Decision, "an error: "+err.Error())
		return nil
	}
	was := rec.Rewritten
	return p.compare(rec, field{"rewritten.sha.input", was.SHA.Input, v.SHA.Input},
		field{"rewritten.decision", was.Decision, v.Decision.Enforced},
		field{"rewritten.rules", orEmpty(was.Rules), orEmpty(v.Decision.RuleIDs())})
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func (p *replay) policy(digest string) *review.Policy {
	if known, asked := p.known[digest]; asked {
		return known
	}
	policy, err := p.find(digest)
	if err != nil {
		policy = nil
		p.report.Why[digest] = err.Error()
	}
	p.known[digest] = policy
	return policy
}

// orNone treats nil and an empty list of findings as equal, as records do.
func orNone(f []engine.Finding) []engine.Finding {
	if f == nil {
		return []engine.Finding{}
	}
	return f
}

type field struct {
	name               string
	recorded, computed any
}

// compare counts one difference for the record, at the first field that
// differs.
func (p *replay) compare(rec *engine.Record, fields ...field) error {
	for _, f := range fields {
		recorded, err := engine.CanonicalOf(f.recorded)
		if err != nil {
			return fmt.Errorf("compare %s of %s: %w", f.name, rec.ID(), err)
		}
		computed, err := engine.CanonicalOf(f.computed)
		if err != nil {
			return fmt.Errorf("compare %s of %s: %w", f.name, rec.ID(), err)
		}
		if bytes.Equal(recorded, computed) {
			continue
		}
		p.found(narrow(rec.ID(), f.name, recorded, computed))
		return nil
	}
	return nil
}

func (p *replay) differ(rec *engine.Record, name string, recorded, computed any) {
	p.found(Difference{ID: rec.ID(), Field: name, Recorded: show(recorded), Computed: show(computed)})
}

func (p *replay) found(d Difference) {
	p.report.Different++
	if p.report.First == nil {
		p.report.First = &d
	}
}

// narrow descends to the first value that differs.
func narrow(id, name string, recorded, computed []byte) Difference {
	a, errA := engine.DecodeStrict(recorded)
	b, errB := engine.DecodeStrict(computed)
	if errA == nil && errB == nil {
		name, a, b = descend(name, a, b)
	}
	return Difference{ID: id, Field: name, Recorded: show(a), Computed: show(b)}
}

func descend(name string, a, b any) (string, any, any) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return name, a, b
		}
		keys := slices.Sorted(maps.Keys(x))
		keys = append(keys, slices.Sorted(maps.Keys(y))...)
		for _, k := range keys {
			if !same(x[k], y[k]) {
				return descend(name+"."+k, x[k], y[k])
			}
		}
	case []any:
		y, ok := b.([]any)
		if !ok {
			return name, a, b
		}
		for i := range x {
			if i < len(y) && !same(x[i], y[i]) {
				return descend(name+"."+strconv.Itoa(i), x[i], y[i])
			}
		}
	}
	return name, a, b
}

func same(a, b any) bool {
	x, errA := engine.CanonicalOf(a)
	y, errB := engine.CanonicalOf(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// maxShown bounds a value in a message, in bytes.
const maxShown = 200

func show(v any) string {
	if v == nil {
		return "absent"
	}
	b, err := engine.CanonicalOf(v)
	if err != nil {
		return err.Error()
	}
	if len(b) > maxShown {
		return string(bytes.ToValidUTF8(b[:maxShown], nil)) + "…"
	}
	return string(b)
}
