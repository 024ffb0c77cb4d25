package bundles

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func shippedPolicy(t testing.TB) *Effective {
	t.Helper()
	base, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The value that holds anyway makes the same policy; another one makes another,
// and changes nothing of the first.
func TestWithSetting(t *testing.T) {
	e := shippedPolicy(t)
	before := e.Digest
	for _, key := range []string{"risk.high_threshold", "data.reviewer.risk.high_threshold", "settings.risk.high_threshold"} {
		same, err := e.WithSetting(key, 0.8)
		if err != nil || same.Digest != e.Digest || same.Config != e.Config {
			t.Errorf("%s: the same value makes another policy: %v", key, err)
		}
	}
	other, err := e.WithSetting("risk.high_threshold", 0.65)
	if err != nil {
		t.Fatal(err)
	}
	risk := other.Data["reviewer"].(map[string]any)["risk"].(map[string]any)
	if risk["high_threshold"] != 0.65 || other.Digest == e.Digest || other.Config == e.Config {
		t.Errorf("high_threshold is %v, digest %s", risk["high_threshold"], other.Digest)
	}
	if e.sum() != before || e.Document["risk"].(map[string]any)["high_threshold"] != 0.8 {
		t.Error("the policy itself was changed")
	}
	if !cmp.Equal(len(other.Rules()), len(e.Rules())) || other.Data["reviewer"].(map[string]any)["catalog"] == nil {
		t.Error("the rules are gone")
	}
}

// Windows and the sensitivity of patterns count where they are read.
func TestWithSettingReachesAll(t *testing.T) {
	e := shippedPolicy(t)
	wide, err := e.WithSetting("windows.recent.last", 50)
	if err != nil {
		t.Fatal(err)
	}
	if i := len(wide.View.Windows); i != len(e.View.Windows) || wide.View.Windows[1].Name != "recent" || wide.View.Windows[1].Last != 50 {
		t.Errorf("windows: %+v", wide.View.Windows)
	}
	seen, err := e.WithSetting("history.last", 5)
	if err != nil || seen.View.Last != 5 {
		t.Errorf("history.last: %d (%v)", seen.View.Last, err)
	}
	late, err := e.WithSetting("patterns.factors.medium", 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range late.EffectiveRules() {
		if was := e.EffectiveRules()[i]; r.Pattern() && !r.Fixed && r.Threshold != nil && *r.Threshold != 2**was.Threshold {
			t.Errorf("%s: threshold %v, was %v", r.ID, *r.Threshold, *was.Threshold)
		}
	}
}

// Of a policy of several layers it is the value that they come to.
func TestWithSettingOfLayers(t *testing.T) {
	base, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	user, err := FromFiles(map[string][]byte{"settings.yaml": []byte("risk: {high_threshold: 0.7}\n")}, User)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Assemble(base, user)
	if err != nil {
		t.Fatal(err)
	}
	same, err := e.WithSetting("risk.high_threshold", 0.7)
	if err != nil || same.Digest != e.Digest {
		t.Errorf("the same value makes another policy: %v", err)
	}
	other, err := e.WithSetting("risk.high_threshold", 0.9)
	if err != nil || other.Document["risk"].(map[string]any)["high_threshold"] != 0.9 {
		t.Errorf("high_threshold: %v", err)
	}
}

// Each number can be swept, within what the schema allows.
func TestNumbers(t *testing.T) {
	e := shippedPolicy(t)
	all := e.Numbers()
	if len(all) < 70 {
		t.Errorf("%d settings are numbers: %v", len(all), all)
	}
	for _, key := range all {
		var at any = Normal(e.Document)
		for _, part := range strings.Split(key, ".") {
			at = at.(map[string]any)[part]
		}
		same, err := e.WithSetting(key, at.(float64))
		if err != nil || same.Digest != e.Digest {
			t.Errorf("%s = %v: %v", key, at, err)
		}
	}
}

func TestWithSettingRefuses(t *testing.T) {
	e := shippedPolicy(t)
	for _, test := range []struct {
		key   string
		value float64
		want  string
	}{
		{"risk.high_treshold", 0.7, `"risk.high_treshold"; did you mean "risk.high_threshold"?`},
		{"high_threshold", 0.7, "did you mean one of rationality.high_threshold, risk.high_threshold?"},
		{"nope", 0.7, "\"nope\"; `reviewer config show` lists numeric settings, such as"},
		{"risk", 0.7, "not a number"},
		{"risk.nothing", 0.7, "did you mean one of risk.active_pattern.critical"},
		{"nothing.at.all", 0.7, "reviewer config show"},
		{"matrix.low.low", 1, `matrix.low.low is "warn", not a number`},
		{"patterns.loop.threshold", 3, "are in their rows, not in the settings"},
		{"rules.git_force_push.threshold", 3, "are in their rows, not in the settings"},
		{"risk.high_threshold", 1.2, "risk.high_threshold = 1.2: expected a number, at least 0 and at most 1"},
		{"risk.high_threshold", 0.5, "risk.medium_threshold (0.6) is above risk.high_threshold (0.5)"},
		{"history.last", 2.5, "expected a whole number, at least 0 and at most 20"},
		{"windows.recent.last", 0, "expected a whole number, at least 1 and at most 200"},
		{"windows.wide.last", 10, "windows.recent.last, windows.short.last?"},
		{"confidence.near_boundary", 0, "expected a number, more than 0 and at most 1"},
	} {
		if _, err := e.WithSetting(test.key, test.value); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s = %v: got %v, want an error with %q", test.key, test.value, err, test.want)
		}
	}
}

// Settings that are not numbers, and several at once, which are checked together.
func TestWithSettings(t *testing.T) {
	e := shippedPolicy(t)
	other, err := e.WithSettings(Value{"enforcement", "observe"}, Value{"rules.disabled", []any{"git_force_push"}}, Value{"patterns.enabled", false})
	if err != nil || other.Settings.Enforcement != "observe" || other.Settings.Patterns.Enabled || len(other.Settings.Rules.Disabled) != 1 {
		t.Errorf("%v", err)
	}
	if _, err := e.WithSettings(Value{"risk.medium_threshold", 0.85}, Value{"risk.high_threshold", 0.9}); err != nil {
		t.Errorf("two that fit together: %v", err)
	}
	for _, test := range []struct {
		values []Value
		want   string
	}{
		{[]Value{{"enforcement", "nope"}}, `enforcement = "nope": `},
		{[]Value{{"enforcement", 3.0}}, "not a number"},
		{[]Value{{"rules.disabled", "git_force_push"}}, "expected array"},
		{[]Value{{"rules.nothing", true}}, "unknown setting"},
		{[]Value{{"rules.disabled", []any{"nope_rule"}}}, `rules.disabled: no rule has the name "nope_rule"`},
		{[]Value{{"risk.high_threshold", "high"}}, "expected a number"},
		{[]Value{{"enforcement", "observe"}, {"risk.high_threshold", 0.5}}, "is above risk.high_threshold (0.5)"},
	} {
		if _, err := e.WithSettings(test.values...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v, want an error with %q", test.values, err, test.want)
		}
	}
}
