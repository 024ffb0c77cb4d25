package bundles

import (
	"slices"
	"testing"
)

// tuned returns a built-in pattern as settings have it, and whether it is there.
func tuned(t *testing.T, id string, settings ...[2]string) (Rule, bool) {
	t.Helper()
	e, err := assembled(t, settings...)
	if err != nil {
		t.Fatal(err)
	}
	rows := e.EffectiveRules()
	i := slices.IndexFunc(rows, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return rows[i], true
}

// Thresholds follow the sensitivity, and its factors; those of what is dangerous
// once do not.
// In a session that was resumed with limits, patterns are as sensitive as the setting
// for it says, and never less than elsewhere.
func TestSensitivityOfLimitedSessions(t *testing.T) {
	for settings, want := range map[string]float64{
		"# nothing": 0.8,
		"interventions: {resume: {sensitivity: medium}}":                               1,
		"interventions: {resume: {sensitivity: low}}\npatterns: {sensitivity: medium}": 1,
		"patterns: {sensitivity: low}":                                                 0.8 / 1.25,
		"patterns: {sensitivity: high}":                                                1,
	} {
		if got, _ := tuned(t, "repetitive_errors", [2]string{User, settings}); got.Limited != want {
			t.Errorf("%s: the factor is %g, want %g", settings, got.Limited, want)
		}
		if fixed, _ := tuned(t, "deny_workaround", [2]string{User, settings}); fixed.Limited != 0 {
			t.Errorf("%s: the factor of a fixed row is %g", settings, fixed.Limited)
		}
	}
}

func TestSensitivity(t *testing.T) {
	plain, ok := tuned(t, "repetitive_errors")
	if !ok || len(plain.Levels) < 2 {
		t.Fatalf("repetitive_errors ships as %+v", plain)
	}
	for name, test := range map[string]struct {
		settings string
		factor   float64
	}{
		"as shipped": {"# nothing", 1},
		"high":       {"patterns: {sensitivity: high}", 0.8},
		"low":        {"patterns: {sensitivity: low}", 1.25},
	} {
		got, _ := tuned(t, "repetitive_errors", [2]string{User, test.settings})
		if *got.Threshold != *plain.Threshold*test.factor {
			t.Errorf("%s: the threshold is %g, want %g times %g", name, *got.Threshold, test.factor, *plain.Threshold)
		}
		for i, l := range got.Levels {
			if l.At != plain.Levels[i].At*test.factor {
				t.Errorf("%s: %s begins at %g, want %g times %g", name, l.Level, l.At, test.factor, plain.Levels[i].At)
			}
		}
		once, _ := tuned(t, "deny_workaround", [2]string{User, test.settings})
		if *once.Threshold != 1 || once.Levels[0].At != 1 {
			t.Errorf("%s: deny_workaround begins at %g and %g", name, *once.Threshold, once.Levels[0].At)
		}
	}
	again, _ := tuned(t, "repetitive_errors")
	if *again.Threshold != *plain.Threshold || again.Levels[1].At != plain.Levels[1].At {
		t.Error("tuning changed the built-in bundle")
	}
}

func TestSwitchedOffPatterns(t *testing.T) {
	for name, test := range map[string]struct {
		settings [2]string
		loop     bool
		rule     bool
	}{
		"none":              {[2]string{User, "# nothing"}, true, true},
		"all":               {[2]string{User, "patterns: {enabled: false}"}, false, true},
		"one":               {[2]string{User, "rules: {disabled: [loop]}"}, false, true},
		"all, by a project": {[2]string{Project, "patterns: {enabled: false}"}, true, true},
		"one, by a project": {[2]string{Project, "rules: {disabled: [loop]}"}, true, true},
	} {
		e, err := assembled(t, test.settings)
		if err != nil {
			t.Fatal(err)
		}
		has := func(id string) bool {
			return slices.ContainsFunc(e.EffectiveRules(), func(r Rule) bool { return r.ID == id })
		}
		if has("loop") != test.loop || has("delete_broad") != test.rule {
			t.Errorf("%s: loop is there: %t, delete_broad: %t", name, has("loop"), has("delete_broad"))
		}
	}
}
