package simulatecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/catalogue"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

// Profile shows where the time of a policy's decisions goes.
type Profile struct {
	Decisions    int64          `json:"decisions"`     // of calls and events
	Evaluations  int64          `json:"evaluations"`   // more than decisions: what was not recorded is tried in several ways
	ConditionsUS float64        `json:"conditions_us"` // of an evaluation, on average: CEL, without measuring rules
	RegoUS       float64        `json:"rego_us"`       // and Rego
	Rules        []ProfiledRule `json:"rules"`         // the slowest first
}

// ProfiledRule is the part of a rule in the time of the evaluations. Each language was measured rule by rule in a second
// evaluation, which is slower; US divides the time of the first among its rules.
type ProfiledRule struct {
	Rule     string  `json:"rule"`     // its id; the name, for Rego that fires for none
	Language string  `json:"language"` // cel, rego
	File     string  `json:"file,omitempty"`
	Line     int     `json:"line,omitempty"`
	Count    int64   `json:"count"` // of CEL: evaluations of the rule; of Rego: of its expressions
	US       float64 `json:"us"`    // microseconds of an evaluation, on average, without what it refers to
}

// ProfileCommand is `reviewer policy profile`.
func ProfileCommand(a *cli.App) *cobra.Command {
	s := simulation{baseline: active.RefRecorded, candidateFlag: "--policy", noFidelity: true, parallel: 1}
	s.inputs.store = &objects.Access{Cloud: a.Cloud}
	var out term.Output
	var top int
	cmd := &cobra.Command{
		Use:   "profile [SOURCE…]",
		Short: "Show which rules take the time of a policy, over recorded sessions",
		Long: "Decides recorded sessions again, and measures each rule: the conditions in CEL, and the rules\n" +
			"of Rego, each without those that it refers to. A SOURCE is as for `policy simulate`; without\n" +
			"one it is the log of this machine. `reviewer policy bench` measures one event.\n\n" +
			"A decision that depends on something that was not recorded is evaluated several times. The column EVALUATED counts how\n" +
			"often a condition in CEL was evaluated, or the expressions of a rule in Rego, which can be more or fewer.",
		Example: "  reviewer policy profile\n  reviewer policy profile ~/.claude/projects --policy ./policy --top 40",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if top < 0 {
				return cli.Usage("--top %d: expected a number of rules, or 0 for all", top)
			}
			p, err := profiled(cmd.Context(), a, &s, args)
			if err != nil {
				return err
			}
			return out.Result(a.Stdout, p, func(w io.Writer) { p.write(w, top) })
		},
	}
	cli.PolicyVar(cmd.Flags(), &s.candidate, "policy", active.RefActive, "`REF` of the policy")
	cmd.Flags().StringArrayVar(&s.sessions, "session", nil, "only sessions whose id starts with `ID`; may be repeated")
	cmd.Flags().IntVar(&top, "top", 20, "in text, the `NUMBER` of rules to list; 0: all")
	out.Flags(cmd, "text", "json")
	return cmd
}

// profiled decides the sessions of sources, and measures.
func profiled(ctx context.Context, a *cli.App, s *simulation, args []string) (*Profile, error) {
	defer limitMemory()()
	start := time.Now()
	s.given = func(string) bool { return false }
	if err := s.read(a, args, start); err != nil {
		return nil, err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	progress := a.ShowProgress(start)
	defer progress.End()
	r, err := prepare(ctx, a, s, progress)
	if err != nil {
		return nil, err
	}
	m, err := newMeasurement(ctx, r.candidate)
	if err != nil {
		return nil, err
	}
	m.attach(&r.comparison.Candidates[0])
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	progress.End()
	sum := r.sums[0]
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted: nothing is shown, since the part that was decided may not be typical")
	case m.evaluations == 0:
		return nil, errors.New("the sources have no decisions to measure")
	case len(sum.Errors) > 0:
		return nil, fmt.Errorf("decision %s failed: %s", sum.Errors[0].ID, sum.Errors[0].Error)
	}
	p := m.profile()
	p.Decisions = r.progress.Decisions.Load()
	return p, nil
}

// measurement evaluates each input twice: as a hook would, and rule by rule.
type measurement struct {
	matcher     engine.Matcher
	decider     engine.Decider
	watched     *cel.Host
	traced      *rego.Host
	rego        *rego.Profile
	places      map[string]catalogue.Entry
	cel         map[string]*ProfiledRule
	times       map[string]time.Duration
	matching    time.Duration
	deciding    time.Duration
	evaluations int64
}

// newMeasurement compiles a policy that is measured rule by rule.
func newMeasurement(ctx context.Context, e *bundles.Effective) (*measurement, error) {
	policy, err := wiring.Compile(ctx, e)
	if err != nil {
		return nil, err
	}
	m := &measurement{places: map[string]catalogue.Entry{}, cel: map[string]*ProfiledRule{}, times: map[string]time.Duration{}}
	m.watched, _ = policy.Matcher.(*cel.Host)
	m.traced, _ = policy.Decider.(*rego.Host)
	m.watched.Check() // compiles every condition, which is not measured
	m.watched.Watch(m.condition)
	m.rego = m.traced.Profile()
	for _, entry := range catalogue.Of(e) {
		m.places[entry.ID] = entry
	}
	return m, nil
}

// attach makes one side of a comparison decide through the measurement.
func (m *measurement) attach(side *simulate.Side) {
	policy := *side.Policy
	m.matcher, m.decider = policy.Matcher, policy.Decider
	if h, ok := m.matcher.(*cel.Host); ok {
		h.Check()
	}
	policy.Matcher, policy.Decider = m, m
	side.Policy = &policy
}

// condition measures one evaluation of a condition.
func (m *measurement) condition(id string) func() {
	begun := time.Now()
	return func() {
		m.times[id] += time.Since(begun)
		if m.cel[id] == nil {
			m.cel[id] = &ProfiledRule{Rule: id, Language: "cel", File: m.places[id].Layer + "/" + m.places[id].File, Line: m.places[id].Line}
		}
		m.cel[id].Count++
	}
}

// Match implements engine.Matcher.
func (m *measurement) Match(ctx context.Context, in *engine.Input) ([]engine.Finding, error) {
	begun := time.Now()
	found, err := m.matcher.Match(ctx, in)
	m.matching += time.Since(begun)
	if err != nil {
		return found, err
	}
	_, err = m.watched.Match(ctx, in)
	return found, err
}

// Decide implements engine.Decider.
func (m *measurement) Decide(ctx context.Context, in *engine.Input, findings []engine.Finding) (engine.Decision, error) {
	begun := time.Now()
	d, err := m.decider.Decide(ctx, in, findings)
	m.deciding += time.Since(begun)
	m.evaluations++
	if err != nil {
		return d, err
	}
	_, err = m.traced.Decide(ctx, in, findings)
	return d, err
}

// profile divides the time among the rules.
func (m *measurement) profile() *Profile {
	each := func(t time.Duration) float64 { return float64(t.Nanoseconds()) / 1000 / float64(m.evaluations) }
	p := &Profile{Evaluations: m.evaluations, ConditionsUS: each(m.matching), RegoUS: each(m.deciding), Rules: []ProfiledRule{}}
	var all time.Duration
	for _, t := range m.times {
		all += t
	}
	for id, r := range m.cel {
		r.US = p.ConditionsUS * float64(m.times[id]) / float64(max(all, 1))
		p.Rules = append(p.Rules, *r)
	}
	spent := m.rego.Spent()
	all = 0
	for _, s := range spent {
		all += s.Time
	}
	for _, s := range spent {
		p.Rules = append(p.Rules, ProfiledRule{s.Name, "rego", s.File, s.Line, s.Count, p.RegoUS * float64(s.Time) / float64(max(all, 1))})
	}
	slices.SortFunc(p.Rules, func(a, b ProfiledRule) int {
		return cmp.Or(cmp.Compare(b.US, a.US), strings.Compare(a.Rule, b.Rule), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	return p
}

// write writes the profile for people.
func (p *Profile) write(w io.Writer, top int) {
	total := p.ConditionsUS + p.RegoUS
	fmt.Fprintf(w, "%s in %s, %.0f µs each: conditions %.0f µs, Rego %.0f µs\n\n", term.Counted(int(p.Decisions), "decision", "decisions"),
		term.Counted(int(p.Evaluations), "evaluation", "evaluations"), total, p.ConditionsUS, p.RegoUS)
	shown := p.Rules
	if top > 0 && top < len(shown) {
		shown = shown[:top]
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SHARE\tµs\tEVALUATED\tRULE\tPLACE")
	for _, r := range shown {
		place := ""
		if r.File != "" {
			place = fmt.Sprintf("%s:%d", r.File, r.Line)
		}
		fmt.Fprintf(table, "%.1f %%\t%.1f\t%s\t%s\t%s\n", 100*r.US/total, r.US, term.Thousands(r.Count), term.PrintableLine(r.Rule),
			term.PrintableLine(place))
	}
	table.Flush() //nolint:errcheck // what it writes to reports it
	if rest := len(p.Rules) - len(shown); rest > 0 {
		fmt.Fprintf(w, "%s (--top 0)\n", term.Counted(rest, "more rule", "more rules"))
	}
}
