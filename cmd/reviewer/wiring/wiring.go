// Package wiring compiles the files of a policy into one that decides: it gives
// conditions to CEL, modules and data to OPA, patterns to the detectors. The
// commands of this folder share it.
//
// Out of scope: where the files of a policy are, and the use of its decisions.
package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/detect"
	"github.com/agent-reviewer/reviewer/engine/review"
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
		Inherit: inherit(e), Approvals: approvals(e), Grants: grants(e), Headless: headless(e),
		Unsaved: unsaved(e), Rollback: rollback(e), Kinds: e.OwnKinds()}
	if e.Notice != "" {
		p.Notice = "reviewer: " + e.Notice
	}
	if e.Settings["mode"] == "async" {
		early, err := decider.Early(ctx)
		if err != nil {
			return nil, fmt.Errorf("compile policy: %w", err)
		}
		if early != nil {
			p.Early = early
		}
	}
	p.MaxCPU = number(e.Settings, "performance", "max_review_time_ms")
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

// inherit reads from the settings to which other sessions a stop, a denial or a limit applies. A policy
// that does not stop sessions itself does not stop them for events of other sessions either;
// a copy of a stopped session is that session.
func inherit(e *bundles.Effective) review.Inherit {
	interventions, _ := e.Settings["interventions"].(map[string]any)
	stops, _ := interventions["stops"].(map[string]any)
	said, _ := interventions["texts"].(map[string]any)
	modes, _ := e.Settings["unattended_modes"].([]any)
	shared, _ := interventions["shared"].(map[string]any)
	p := review.Inherit{Unattended: words(modes)}
	p.Scope, _ = stops["scope"].(string)
	p.Denials, _ = shared["denials"].(string)
	p.Limits, _ = shared["limits"].(string)
	p.Within, p.MS = int64(number(interventions, "shared", "within")), int64(number(interventions, "shared", "minutes"))*60_000
	active := interventions["enabled"] == true && e.Settings["enforcement"] == "enforce" && e.Settings["enabled"] == true
	if !active || interventions["hard_stop"] != true {
		p.Scope = "session"
	}
	if !active {
		p.Denials, p.Limits = "session", "session"
	}
	p.Copied, _ = said["copied"].(string)
	p.Nearby, _ = said["nearby"].(string)
	p.Conditions, _ = said["conditions"].(string)
	p.Unsigned, _ = said["unsigned"].(string)
	return p
}

// approvals reads from the settings which questions wait for a person outside the agent.
func approvals(e *bundles.Effective) review.Approvals {
	set, _ := e.Settings["approvals"].(map[string]any)
	said, _ := set["texts"].(map[string]any)
	modes, _ := e.Settings["unattended_modes"].([]any)
	a := review.Approvals{MS: int64(number(e.Settings, "approvals", "wait_seconds")) * 1000, Unattended: words(modes)}
	a.Queue, _ = set["queue"].(string)
	a.Texts.Denied, _ = said["denied"].(string)
	a.Texts.Silent, _ = said["no_reason"].(string)
	a.Texts.Expired, _ = said["expired"].(string)
	a.Texts.Stopped, _ = said["stopped"].(string)
	a.Texts.Changed, _ = said["changed"].(string)
	a.Texts.Nobody, _ = said["nobody"].(string)
	return a
}

// headless reads from the settings whether prompts of clients that a schedule or a service started count as a person's.
func headless(e *bundles.Effective) bool {
	section, _ := e.Settings["words"].(map[string]any)
	return section["headless"] == "permits"
}

// grants reads from the settings whether calls are granted, and how far back the answers of people count.
func grants(e *bundles.Effective) review.Grants {
	s := e.Settings
	section, _ := s["grants"].(map[string]any)
	return review.Grants{
		On: s["grant"] == "proven" && s["enabled"] == true && s["enforcement"] == "enforce",
		MS: int64(number(section, "approved", "refused_days")) * 24 * 60 * 60_000,
	}
}

// unsaved reads from the settings what happens to a call whose checkpoint failed. A policy
// that only warns or observes denies none for it either.
func unsaved(e *bundles.Effective) review.Unsaved {
	checkpoints, _ := e.Settings["checkpoints"].(map[string]any)
	said, _ := checkpoints["texts"].(map[string]any)
	u := review.Unsaved{Effect: engine.Block}
	u.Denied, _ = said["failed"].(string)
	u.Allowed, _ = said["unsaved"].(string)
	switch {
	case e.Settings["enforcement"] == "observe":
		u.Effect = engine.Allow
	case e.Settings["enforcement"] == "warn" || checkpoints["on_failure"] == "warn":
		u.Effect = engine.Warn
	}
	return u
}

// rollback reads from the settings how rollbacks are worded.
func rollback(e *bundles.Effective) review.Rollback {
	interventions, _ := e.Settings["interventions"].(map[string]any)
	said, _ := interventions["texts"].(map[string]any)
	var r review.Rollback
	r.Restored, _ = said["restored"].(string)
	r.Unchanged, _ = said["unchanged"].(string)
	r.Failed, _ = said["not_restored"].(string)
	r.NotRun, _ = said["not_run"].(string)
	return r
}

// number reads a number of the settings; 0 if there is none.
func number(settings map[string]any, section, key string) float64 {
	inner, _ := settings[section].(map[string]any)
	switch n := inner[key].(type) {
	case float64:
		return n
	case int:
		return float64(n)
	case json.Number:
		f, _ := n.Float64()
		return f
	}
	return 0
}

func words(list []any) []string {
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// AllConditions lists the conditions of rules and of access lists.
func AllConditions(e *bundles.Effective) []cel.Condition {
	all := Conditions(e.EffectiveRules())
	for _, l := range e.Access() {
		all = append(all, AccessConditions(l)...)
	}
	return all
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
			Facts: r.Match.Facts,
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
