package simulate

import (
	"context"
	"math"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Prompts describes which calls an agent itself asks a person about.
type Prompts struct {
	Mode     string   // permission mode in which all calls are assumed to have been made; empty: the recorded one, or Usual
	Usual    string   // mode of calls whose mode is unknown
	Silent   []string // modes in which the agent asks about nothing
	Edits    []string // modes in which it does not ask about edits in the workspace
	Programs []string // commands about which it does not ask if they only read files of the workspace
	EditWith []string // commands about which it does not ask, where it does not ask about edits
	// Rules are the person's own permission rules, as the conditions of one list: the first that
	// applies decides whether the agent asks. nil: they are unknown.
	Rules engine.Matcher
	Ask   map[string]bool // by the id of a rule: whether the agent asks
}

// ModeOf returns the permission mode of a call.
func (p *Prompts) ModeOf(e *engine.Event) string {
	switch {
	case p.Mode != "":
		return p.Mode
	case e.Mode != "":
		return e.Mode
	}
	return p.Usual
}

// Asks reports whether the agent asks a person about a call that was classified.
func (p *Prompts) Asks(mode string, a *engine.Action) bool {
	if a == nil || slices.Contains(p.Silent, mode) || !slices.ContainsFunc(a.Types, asksAbout) {
		return false
	}
	edits := slices.Contains(p.Edits, mode)
	for i := range a.Commands {
		name := a.Commands[i].Name
		if !slices.Contains(p.Programs, name) && !(edits && slices.Contains(p.EditWith, name)) {
			return true
		}
	}
	if len(a.Opaque) > 0 || len(a.Effects)+len(a.Commands) == 0 {
		return true
	}
	return slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return p.asksEffect(&e, edits) })
}

// asks reports whether the agent asks a person about a call, by the person's own rules if one of
// them applies.
func (p *Prompts) asks(ctx context.Context, mode string, in *engine.Input) (bool, error) {
	if p.Rules == nil || slices.Contains(p.Silent, mode) {
		return p.Asks(mode, &in.Action), nil
	}
	findings, err := p.Rules.Match(ctx, in)
	if err != nil {
		return false, err
	}
	if len(findings) == 1 && findings[0].Error == "" {
		return p.Ask[findings[0].ID], nil
	}
	return p.Asks(mode, &in.Action), nil
}

// asksAbout reports whether agents ask about actions of a type at all.
func asksAbout(t engine.Type) bool { return t != engine.TypeMessage && t != engine.TypeAgentSpawn }

func (p *Prompts) asksEffect(e *engine.Effect, edits bool) bool {
	within := slices.Contains([]engine.Location{engine.LocationInside, engine.LocationSelf, engine.LocationNull}, e.Location)
	switch e.Kind {
	case engine.EffectFileRead:
		return !within
	case engine.EffectFileWrite, engine.EffectFileDelete:
		plain := e.Class == "" || e.Class == engine.ClassGenerated || e.Class == engine.ClassTest
		return e.Location != engine.LocationNull && !(edits && within && plain)
	}
	return true
}

// Grants counts how many of the calls that agents ask a person about are granted by a policy.
type Grants struct {
	Sessions       int64            `json:"sessions"`
	Calls          int64            `json:"calls"`
	Modes          map[string]int64 `json:"modes"`           // calls by permission mode
	Held           int64            `json:"held"`            // calls that the policy itself does not allow: nothing is granted
	Asked          int64            `json:"asked"`           // calls about which the agent asks by itself
	Granted        int64            `json:"granted"`         // of these, calls that the policy grants
	Proofs         map[string]int64 `json:"proofs"`          // of these, by the proof
	Refused        int64            `json:"refused"`         // of those asked about, calls that a person refused or interrupted
	GrantedRefused int64            `json:"granted_refused"` // of those granted, calls that a person refused or interrupted
	Failed         int64            `json:"failed"`          // calls that could not be reviewed
	Tools          map[string]int64 `json:"tools"`           // calls asked about and not granted, by tool and first program
	Lacks          map[string]int64 `json:"lacks"`           // the same calls, by what is missing for a proof; several can be

	Examples []string `json:"examples,omitempty"` // calls that were granted and refused, at most maxGrantExamples
}

const maxGrantExamples = 20

// Share returns the share of the calls asked about that is granted.
func (g *Grants) Share() float64 {
	if g.Asked == 0 {
		return 0
	}
	return float64(g.Granted) / float64(g.Asked)
}

// Bound returns the upper bound, with a one-sided confidence of 95 %, for the share of the
// granted calls that a person would have refused.
func (g *Grants) Bound() float64 { return UpperBound(g.GrantedRefused, g.Granted, 0.05) }

// UpperBound is the one-sided Clopper-Pearson bound for a share of which k of n were observed: the
// share at which k or fewer are seen with probability alpha. It is 1 where n is 0.
func UpperBound(k, n int64, alpha float64) float64 {
	if k >= n {
		return 1
	}
	low, high := float64(k)/float64(n), 1.0
	for range 60 {
		if mid := (low + high) / 2; binomialUpTo(k, n, mid) > alpha {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// binomialUpTo is the probability of at most k of n.
func binomialUpTo(k, n int64, p float64) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	sum := 0.0
	for i := range k + 1 {
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(all - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}

// GrantRun evaluates sessions one after another, in the order of time: what people answered in
// one counts in the next.
type GrantRun struct {
	Policy  *review.Policy
	Env     engine.Env
	Prompts Prompts
	Sum     Grants

	shared map[string][]*Rehearsal // by workspace
}

// Session evaluates the events of a session of a transcript.
func (g *GrantRun) Session(ctx context.Context, id string, events []engine.Event, c engine.Classifier) error {
	if g.Sum.Modes == nil {
		g.Sum.Modes, g.Sum.Proofs, g.Sum.Tools, g.Sum.Lacks = map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}
		g.shared = map[string][]*Rehearsal{}
	}
	r := Start(id, c, g.Policy, g.Env)
	r.Recorded = true
	r.PretendCheckpoints()
	place := ""
	for i := range events {
		if place == "" {
			place = events[i].Project + "\x00" + events[i].CWD
		}
	}
	g.shared[place] = append(g.shared[place], r)
	r.ShareWorkspace(func() []*Rehearsal { return g.shared[place] })
	ended := outcomesOf(events)
	g.Sum.Sessions++
	for _, e := range events {
		e.Mode = g.Prompts.ModeOf(&e)
		a, _ := r.Next(ctx, e)
		if e.Phase == engine.PhasePre {
			if err := g.call(ctx, r, e, a, ended[e.Call] == TranscriptRefused); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	r.chain.records = nil
	return nil
}

// call asks the policy about a call that it allowed and about which the agent asks.
func (g *GrantRun) call(ctx context.Context, r *Rehearsal, e engine.Event, a Action, refused bool) error {
	g.Sum.Calls++
	g.Sum.Modes[e.Mode]++
	rec := a.Record
	if rec == nil || rec.Action == nil || rec.Decision == nil {
		g.Sum.Failed++
		return nil
	}
	in := history.NewInput(rec, r.chain.history, g.Policy.View)
	if asks, err := g.Prompts.asks(ctx, e.Mode, &in); err != nil || !asks {
		return err
	}
	g.Sum.Asked++
	if refused {
		g.Sum.Refused++
	}
	if a.Decision != engine.Allow {
		g.Sum.Held++
		return nil
	}
	q := e
	q.Name, q.Phase = "PermissionRequest", engine.PhaseRequest
	answer, _ := r.Next(ctx, q)
	if answer.Record == nil || answer.Record.Answer.Granted == nil {
		g.Sum.Tools[kindOfCall(rec)]++
		g.lacks(answer.Record)
		return nil
	}
	g.Sum.Granted++
	g.Sum.Proofs[answer.Record.Answer.Granted.By]++
	if refused {
		g.Sum.GrantedRefused++
		if len(g.Sum.Examples) < maxGrantExamples {
			g.Sum.Examples = append(g.Sum.Examples, answer.Record.Answer.Granted.By+": "+e.Tool+" "+rec.Action.Resource)
		}
	}
	return nil
}

// lacks counts why a call is not granted. The first reason says that it is not.
func (g *GrantRun) lacks(rec *engine.Record) {
	if rec == nil || rec.Decision == nil || len(rec.Decision.Reasons) == 0 {
		return
	}
	for _, why := range rec.Decision.Reasons[1:] {
		g.Sum.Lacks[why]++
	}
}

// kindOfCall names a call by its tool and its first program.
func kindOfCall(rec *engine.Record) string {
	if len(rec.Action.Commands) == 0 {
		return rec.Event.Tool
	}
	c := &rec.Action.Commands[len(rec.Action.Commands)-1]
	name := rec.Event.Tool + " " + c.Name
	if len(c.Sub) > 0 {
		name += " " + c.Sub[0]
	}
	return name
}
