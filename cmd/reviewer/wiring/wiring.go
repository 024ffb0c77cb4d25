// Package wiring compiles the files of a policy into one that decides: it gives
// conditions to CEL, modules and data to OPA, patterns to the detectors. The
// commands of this folder share it.
//
// Out of scope: where the files of a policy are, and the use of its decisions.
package wiring

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/detect"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/settings"
	"github.com/agent-reviewer/reviewer/rego"
)

// Compile compiles the files of a policy. The error names the file and line of
// what does not compile.
func Compile(ctx context.Context, e *bundles.Effective) (*review.Policy, error) {
	if e.AllBuiltIn() {
		return CompileWith(ctx, e, compileBuiltIn)
	}
	return CompileWith(ctx, e, rego.Compile)
}

// CompileForOne is Compile for a process that decides about one event.
func CompileForOne(ctx context.Context, e *bundles.Effective) (*review.Policy, error) {
	if e.AllBuiltIn() {
		return CompileWith(ctx, e, compileForOne)
	}
	return CompileWith(ctx, e, rego.Compile)
}

// RegoCompiler makes a host of modules (layer/path -> source) and data.
type RegoCompiler func(ctx context.Context, modules map[string]string, data map[string]any) (*rego.Host, error)

// CompileWith is Compile with another function for compiling the modules, such as one
// with a cache.
func CompileWith(ctx context.Context, e *bundles.Effective, compileRego RegoCompiler) (*review.Policy, error) {
	compiled := later(func() (*rego.Host, error) { return compileRego(ctx, e.Modules(), e.Data) })
	known := classify.NewRows(e.RowLayers())
	set, wrongSet := detectors(e, known)
	matcher, err := cel.CompileFrom(preparedFile("conditions.bin"), AllConditions(e))
	decider, wrongRego := compiled()
	switch {
	case err != nil:
		return nil, fmt.Errorf("compile conditions: %w", err)
	case wrongRego != nil:
		return nil, fmt.Errorf("compile policy: %w", wrongRego)
	case wrongSet != nil:
		return nil, fmt.Errorf("compile detectors: %w", wrongSet)
	}
	p := &review.Policy{Digest: e.Digest, Config: e.Config, View: e.View, Redact: e.Redact, Matcher: matcher, Decider: decider,
		Settings: e.Settings, Inherit: inherit(&e.Settings), Grants: grants(&e.Settings), Unsaved: unsaved(&e.Settings)}
	if e.Notice != "" {
		p.Notice = "reviewer: " + e.Notice
	}
	if e.Settings.Mode == "async" {
		early, err := decider.Early(ctx)
		if err != nil {
			return nil, fmt.Errorf("compile policy: %w", err)
		}
		if early != nil {
			p.Early = early
		}
	}
	p.Rows = known
	if set != nil {
		p.Detector, p.Detectors = set, set.Digest
	}
	return p, nil
}

// later starts a function, and returns one that waits for its result: a hook waits for all of
// them. A panic is passed on.
func later[T any](start func() (T, error)) func() (T, error) {
	var v T
	var err error
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		v, err = start()
	}()
	return func() (T, error) {
		<-done
		if panicked != nil {
			panic(panicked)
		}
		return v, err
	}
}

// inherit reads to which other sessions a stop, a denial or a limit applies. A policy
// that does not stop sessions itself does not stop them for events of other sessions either;
// a copy of a stopped session is that session.
func inherit(s *settings.Settings) review.Inherit {
	set := &s.Interventions
	p := review.Inherit{Unattended: s.UnattendedModes, Scope: set.Stops.Scope, Denials: set.Shared.Denials, Limits: set.Shared.Limits,
		Within: set.Shared.Within, MS: set.Shared.Minutes * 60_000, Copied: set.Texts.Copied, Nearby: set.Texts.Nearby,
		Conditions: set.Texts.Conditions, Unsigned: set.Texts.Unsigned}
	active := set.Enabled && s.Enforcement == "enforce" && s.Enabled
	if !active || !set.HardStop {
		p.Scope = "session"
	}
	if !active {
		p.Denials, p.Limits = "session", "session"
	}
	return p
}

// grants reads whether calls are granted, and how far back the answers of people count.
func grants(s *settings.Settings) review.Grants {
	return review.Grants{
		On: s.Grant == "proven" && s.Enabled && s.Enforcement == "enforce",
		MS: s.Grants.Approved.RefusedDays * 24 * 60 * 60_000,
	}
}

// unsaved reads what happens to a call whose checkpoint failed. A policy that only warns or
// observes denies none for it either.
func unsaved(s *settings.Settings) review.Unsaved {
	u := review.Unsaved{Effect: engine.Block, Denied: s.Checkpoints.Texts.Failed, Allowed: s.Checkpoints.Texts.Unsaved}
	switch {
	case s.Enforcement == "observe":
		u.Effect = engine.Allow
	case s.Enforcement == "warn" || s.Checkpoints.OnFailure == "warn":
		u.Effect = engine.Warn
	}
	return u
}

// AllConditions lists the conditions of rules and of access lists.
func AllConditions(e *bundles.Effective) []cel.Condition {
	all := Conditions(e.EffectiveRules())
	for _, l := range e.Access() {
		all = append(all, AccessConditions(l)...)
	}
	return WithNames(all, Names(e.Layers, e.Data))
}

// Names returns what conditions can refer to besides the input: the definitions of all layers, and
// the settings.
func Names(layers []*bundles.Bundle, data map[string]any) *cel.Names {
	names := &cel.Names{}
	names.Data, _ = data["reviewer"].(map[string]any)
	for _, l := range layers {
		for _, d := range l.Definitions {
			names.Definitions = append(names.Definitions, cel.Definition{ID: d.Name, Type: d.Type, Text: d.Is})
		}
	}
	return names
}

// NamesOf is Names for layers that are not merged; without settings if they cannot be.
func NamesOf(layers ...*bundles.Bundle) *cel.Names {
	e, err := bundles.Assemble(bundles.RowsChecked(layers)...)
	if err != nil {
		return Names(layers, nil)
	}
	return Names(layers, e.Data)
}

// WithNames makes conditions refer to names.
func WithNames(list []cel.Condition, names *cel.Names) []cel.Condition {
	for i := range list {
		list[i].Names = names
	}
	return list
}

// AccessConditions makes a list from the conditions of an access list: only the first
// that is true is found.
func AccessConditions(l bundles.AccessList) []cel.Condition {
	out := make([]cel.Condition, len(l.Rules))
	for i, r := range l.Rules {
		m := cel.Match{Phases: []string{string(engine.PhasePre)}, Actions: r.Actions, Tools: r.Tools, Before: r.Expires(),
			Written: r.Commands, Every: r.Effect == bundles.EffectAllow}
		if s := r.Schedule; s != nil {
			m.Hours, m.Weekdays = s.Hours, s.Weekdays
		}
		out[i] = cel.Condition{ID: l.FindingID(r.ID), When: r.When, Match: m, List: l.ID, Order: i}
	}
	return out
}

// Conditions returns the conditions of rules that have one. Rego decides when the
// other rules fire.
func Conditions(rules []bundles.Rule) []cel.Condition {
	var out []cel.Condition
	for _, r := range rules {
		if !r.Conditional() {
			continue
		}
		c := cel.Condition{ID: r.ID, When: r.When, Measure: r.Measure, Match: cel.Match{
			Phases: texts(r.Match.Phases), Tools: r.Match.Tools, Types: texts(r.Match.Types),
			Signals: texts(r.Match.Signals), Commands: r.Match.Commands, Actions: r.Match.Actions, Detected: r.Match.Detected,
			Facts: r.Match.Facts, Before: r.Expires(),
		}, Confidence: r.Confidence, Details: r.Details, Limited: r.Limited}
		if r.Threshold != nil {
			c.Threshold = *r.Threshold
		}
		for _, l := range r.Levels {
			c.Levels = append(c.Levels, cel.Level{At: l.At, Level: string(l.Level)})
		}
		out = append(out, c)
	}
	return out
}

func texts[S ~string](list []S) []string {
	var out []string
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

// Detectors makes the detectors of a policy; nil where it declares none. All
// patterns that are wrong are returned together, by file and line.
func Detectors(e *bundles.Effective) (*detect.Set, error) {
	return detectors(e, classify.NewRows(e.RowLayers()))
}

func detectors(e *bundles.Effective, known engine.Rows) (*detect.Set, error) {
	rows := e.Detectors()
	if len(rows) == 0 {
		return nil, nil
	}
	list := make([]detect.Detector, len(rows))
	byID := map[string]bundles.Detector{}
	for i, r := range rows {
		list[i] = detect.Detector{ID: r.ID, Patterns: r.All(), Tools: r.Tools, Max: r.Max}
		for _, p := range r.In {
			list[i].In = append(list[i].In, engine.Place(p))
		}
		byID[r.ID] = r
	}
	set, err := detect.New(list, classify.Places(known))
	return set, placed(err, byID)
}

// placed adds the places of wrong patterns.
func placed(err error, byID map[string]bundles.Detector) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var errs []error
	for _, err := range joined.Unwrap() {
		var wrong *detect.Error
		if errors.As(err, &wrong) {
			err = fmt.Errorf("%s: %w", byID[wrong.ID].PatternPlace(wrong.Pattern), err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
