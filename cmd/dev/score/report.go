package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Report is the score of a policy over a corpus.
type Report struct {
	Policy    string        `json:"policy"` // its digest
	Dangerous Recall        `json:"dangerous"`
	Benign    Alarms        `json:"benign"`
	Context   Alarms        `json:"context"`
	Sessions  Whole         `json:"sessions"`
	Projects  Projects      `json:"projects"`
	Denials   Denials       `json:"denials"`
	Sweep     []Swept       `json:"sweep,omitempty"`
	Runs      Runs          `json:"runs"`
	Acted     Interventions `json:"interventions"`
	Secrets   Redaction     `json:"secrets"`
	Latency   Latency       `json:"latency"`
	Literals  []Shared      `json:"literals"` // shared with the corpus

	misses []missed
	stops  []Stop
}

// Group counts the verdicts on some calls; saved is a call that runs after what it destroys was saved. Stopped is block, ask or
// modify, and of dangerous calls also saved.
type Group struct {
	Name     string                 `json:"name"`
	Verdicts map[engine.Verdict]int `json:"verdicts"`
	Errors   int                    `json:"errors"` // calls that could not be decided: they are denied
	Stopped  Rate                   `json:"stopped"`
	Held     Rate                   `json:"held"` // block or ask
	Block    Rate                   `json:"block"`
}

// Recall is the share of dangerous calls that were stopped.
type Recall struct {
	All      Group              `json:"all"`
	Clusters Rate               `json:"clusters"` // clusters of near-duplicates of which every row was stopped
	By       map[string]Rate    `json:"clusters_by_strength"`
	Groups   map[string][]Group `json:"groups"` // by strength, source, tool, category, family
}

// Alarms is the share of benign or context-dependent calls that were stopped.
type Alarms struct {
	All    Group              `json:"all"`
	Groups map[string][]Group `json:"groups"` // by source, tool, category; and rule: the first that fired, where a call was stopped
}

// Whole is the result for whole sessions.
type Whole struct {
	Calls   Group          `json:"calls"`
	Stopped Rate           `json:"sessions_stopped"`  // sessions with a call that was stopped
	Blocked Rate           `json:"sessions_blocked"`  // with one that was blocked
	Skipped map[string]int `json:"skipped,omitempty"` // files of agents that cannot be read, by their ending
	Rules   []Group        `json:"rules"`
}

// Redaction counts replaced secrets and look-alikes.
type Redaction struct {
	Found     Rate       `json:"found"`
	Partly    int        `json:"partly"`   // found, and the second half of the value is still there
	Mistaken  int        `json:"mistaken"` // found, although the value named by the corpus remains: it is an address or a name
	Lookalike Rate       `json:"lookalikes_hit"`
	Disputed  int        `json:"disputed"` // redacted look-alikes whose value is a secret in another sample
	Kinds     []KindRate `json:"kinds"`
}

// KindRate is a row of Redaction.
type KindRate struct {
	Kind  string `json:"kind"`
	Found Rate   `json:"found"`          // of its secrets
	Hit   Rate   `json:"lookalikes_hit"` // of its look-alikes
}

// group sums up verdicts.
func group(name string, list []verdict, counts func(verdict) bool) Group {
	g := Group{Name: name, Verdicts: map[engine.Verdict]int{saved: 0}}
	for _, v := range engine.Verdicts() {
		g.Verdicts[engine.Verdict(v)] = 0
	}
	stopped := 0
	for _, v := range list {
		g.Verdicts[v.Effect]++
		if counts(v) {
			stopped++
		}
		if v.Error != "" {
			g.Errors++
		}
	}
	block, ask := g.Verdicts[engine.Block], g.Verdicts[engine.Ask]
	g.Block, g.Held, g.Stopped = rate(block, len(list)), rate(block+ask, len(list)), rate(stopped, len(list))
	return g
}

// decided is a row with its verdict.
type decided struct {
	Row
	verdict
}

func verdicts(list []decided) []verdict {
	out := make([]verdict, len(list))
	for i, d := range list {
		out[i] = d.verdict
	}
	return out
}

// groupsBy groups rows by a word, in the order of the words.
func groupsBy(list []decided, counts func(verdict) bool, word func(decided) string) []Group {
	parts := map[string][]verdict{}
	for _, d := range list {
		parts[word(d)] = append(parts[word(d)], d.verdict)
	}
	groups := []Group{}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		groups = append(groups, group(name, parts[name], counts))
	}
	return groups
}

// bySource and the functions below return the words by which rows are grouped.
func bySource(d decided) string   { return d.Source }
func byTool(d decided) string     { return d.Tool }
func byCategory(d decided) string { return d.Category }
func byFamily(d decided) string   { return d.Family }
func byStrength(d decided) string { return d.Strength }
func byRule(d decided) string     { return d.rule() }

func recall(list []decided) Recall {
	by := func(word func(decided) string) []Group { return groupsBy(list, verdict.harmless, word) }
	r := Recall{All: group(dangerous, verdicts(list), verdict.harmless), By: map[string]Rate{}, Groups: map[string][]Group{
		"strength": by(byStrength), "source": by(bySource), "tool": by(byTool), "category": by(byCategory), "family": by(byFamily),
	}}
	r.Clusters = clusters(list)
	for _, g := range r.Groups["strength"] {
		r.By[g.Name] = clusters(only(list, func(d decided) bool { return d.Strength == g.Name }))
	}
	return r
}

// clusters counts the clusters of which every row was stopped. A row without a
// cluster is one of its own.
func clusters(list []decided) Rate {
	whole := map[string]bool{}
	for _, d := range list {
		name := cmp.Or(d.Cluster, "row "+d.ID)
		before, there := whole[name]
		whole[name] = d.harmless() && (before || !there)
	}
	k := 0
	for _, stopped := range whole {
		if stopped {
			k++
		}
	}
	return rate(k, len(whole))
}

func only(list []decided, want func(decided) bool) []decided {
	var out []decided
	for _, d := range list {
		if want(d) {
			out = append(out, d)
		}
	}
	return out
}

func alarms(name string, list []decided) Alarms {
	by := func(word func(decided) string) []Group { return groupsBy(list, verdict.stopped, word) }
	return Alarms{All: group(name, verdicts(list), verdict.stopped), Groups: map[string][]Group{
		"source": by(bySource), "tool": by(byTool), "category": by(byCategory),
		"rule": groupsBy(only(list, decided.stopped), verdict.stopped, byRule),
	}}
}

// stage is called with the name of a part of the work and its progress.
type stage func(name string, done, of int)

// score computes the whole report. literals are the folders whose literals are
// compared.
func score(ctx context.Context, j judge, c Corpus, literals []string, tell stage) (Report, error) {
	p := j.policy
	j.cwd = c.Sessions.CWD
	r := Report{Policy: p.Digest}
	list, err := j.rows(ctx, c.Rows, tell)
	if err != nil {
		return r, err
	}
	labelled := func(label string) []decided { return only(list, func(d decided) bool { return d.Label == label }) }
	r.Dangerous, r.Benign, r.Context = recall(labelled(dangerous)), alarms(benign, labelled(benign)), alarms(contextual, labelled(contextual))
	r.note(list)
	all, err := j.sessions(ctx, c.Sessions, tell)
	if err != nil {
		return r, err
	}
	r.sessions(all, c)
	r.secrets(c.Samples)
	if r.Literals, err = sharedLiterals(c, literals...); err != nil {
		return r, err
	}
	r.Latency, err = j.measure(ctx, c.Rows, func(n int) { tell("time", n, len(c.Rows)) })
	return r, err
}

func (j judge) rows(ctx context.Context, rows []Row, tell stage) ([]decided, error) {
	list := make([]decided, len(rows))
	err := each(len(rows), func(n int) { tell("commands", n, len(rows)) }, func(i int) error {
		v, err := j.row(ctx, rows[i])
		list[i] = decided{rows[i], v}
		return err
	})
	return list, err
}

// sessions evaluates whole sessions under the policy, each with its own history, the
// longest first: the last one to end should be a short one.
func (j judge) sessions(ctx context.Context, s Sessions, tell stage) ([]played, error) {
	all := make([]played, len(s.List))
	err := s.each(tell, func(i int) error {
		p, err := j.session(ctx, s.List[i])
		all[i] = p.of(s)
		return err
	})
	return all, err
}

// each calls fn with the numbers of the sessions, those of the longest first.
func (s Sessions) each(tell stage, fn func(i int) error) error {
	order := make([]int, len(s.List))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(s.List[b].Events) - len(s.List[a].Events) })
	return each(len(order), func(n int) { tell("sessions", n, len(order)) }, func(n int) error { return fn(order[n]) })
}

// of returns the origin of a session.
func (p played) of(s Sessions) played {
	p.Agent, p.Origin = s.Agent[p.Session], s.Origin[p.Session]
	for i := range p.Stops {
		p.Stops[i].Project, p.Stops[i].Client = p.Project, p.Client
	}
	return p
}

// sessions sums up whole sessions.
func (r *Report) sessions(all []played, c Corpus) {
	s := c.Sessions
	calls, stopped, blocked := []decided{}, 0, 0
	for _, p := range all {
		list := p.Calls
		calls = append(calls, list...)
		if slices.ContainsFunc(list, decided.stopped) {
			stopped++
		}
		if slices.ContainsFunc(list, func(d decided) bool { return d.Effect == engine.Block }) {
			blocked++
		}
	}
	r.Sessions = Whole{
		Calls: group("calls", verdicts(calls), verdict.stopped), Stopped: rate(stopped, len(all)), Blocked: rate(blocked, len(all)),
		Skipped: s.Skipped, Rules: groupsBy(only(calls, decided.stopped), verdict.stopped, byRule),
	}
	r.Runs = runsOf(all)
	r.Acted = interventionsOf(all, c.Labels)
	r.Projects = projectsOf(all, c.Labels)
	r.Projects.Unread, r.Projects.Derived = s.Unread, s.Derived
	r.Denials = denialsOf(c.Denials, s.Files, all)
	r.stops = stopsOf(all)
	for i, stop := range r.stops {
		r.stops[i].Label = c.Labels.of[stop.Digest]
	}
	r.noteCalls(calls)
}

// secrets redacts the samples.
func (r *Report) secrets(samples []Sample) {
	all := make([]seen, len(samples))
	for i, s := range samples {
		all[i] = redact(s)
	}
	known := secretTags(samples, all)
	var sum tally
	kinds := map[string]*tally{}
	for i, s := range samples {
		kind := cmp.Or(s.Kind, s.Like)
		if kinds[kind] == nil {
			kinds[kind] = &tally{}
		}
		got := all[i]
		sum.add(s, got)
		kinds[kind].add(s, got)
		switch {
		case s.Secret && got.Partly:
			r.Secrets.Partly++
		case s.Secret && got.Mistaken:
			r.Secrets.Mistaken++
		case !s.Secret && got.Touched && got.disputed(known):
			r.Secrets.Disputed++
		}
		r.noteSample(s, got)
	}
	r.Secrets.Found, r.Secrets.Lookalike = rate(sum.found, sum.secrets), rate(sum.hit, sum.likes)
	r.Secrets.Kinds = []KindRate{}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		t := kinds[name]
		r.Secrets.Kinds = append(r.Secrets.Kinds, KindRate{name, rate(t.found, t.secrets), rate(t.hit, t.likes)})
	}
}

// tally counts samples.
type tally struct{ found, secrets, hit, likes int }

func (t *tally) add(s Sample, got seen) {
	if s.Secret {
		t.secrets++
		if !got.Leaked {
			t.found++
		}
		return
	}
	t.likes++
	if got.Touched {
		t.hit++
	}
}

// errorsOf describes how many calls could not be decided.
func (r Report) errorsOf() error {
	n := r.Dangerous.All.Errors + r.Benign.All.Errors + r.Context.All.Errors + r.Sessions.Calls.Errors
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%d calls could not be decided, and were denied: --misses names them", n)
}
