package bundles

import (
	"slices"
	"strings"
	"testing"
)

// tunedThreshold is a pattern's threshold and first level under the layers'
// settings; 0 where the pattern is not looked at.
func tunedThreshold(t *testing.T, id string, layers ...[2]string) (threshold, level float64) {
	t.Helper()
	e, err := assembled(t, layers...)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(e.EffectiveRules(), func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return 0, 0
	}
	r := e.EffectiveRules()[i]
	return *r.Threshold, r.Levels[0].At
}

// A layer sets the threshold of a single pattern; those after it only lower it,
// and the project never raises one.
func TestThresholdsOfPatterns(t *testing.T) {
	own := func(layer, n string) [2]string { return [2]string{layer, "patterns: {thresholds: {loop: " + n + "}}"} }
	for name, test := range map[string]struct {
		layers []([2]string)
		want   float64
	}{
		"as it ships":                   {nil, 3},
		"the user raises it":            {[][2]string{own(User, "6")}, 6},
		"the user lowers it":            {[][2]string{own(User, "2")}, 2},
		"the organisation, then a user": {[][2]string{own(Organisation, "4"), own(User, "6")}, 4},
		"the user is stricter":          {[][2]string{own(Organisation, "4"), own(User, "2")}, 2},
		"the project raises it":         {[][2]string{own(Project, "9")}, 3},
		"the project lowers it":         {[][2]string{own(Project, "2")}, 2},
		"with the sensitivity":          {[][2]string{{User, "patterns: {sensitivity: low, thresholds: {loop: 4}}"}}, 5},
	} {
		if got, level := tunedThreshold(t, "loop", test.layers...); got != test.want || level != test.want {
			t.Errorf("%s: threshold %v, first level %v, want %v", name, got, level, test.want)
		}
	}
	if got, _ := tunedThreshold(t, "exfiltration", [2]string{User, "patterns: {thresholds: {exfiltration: 5}}"}); got != 1 {
		t.Errorf("the threshold of a fixed pattern became %v", got)
	}
}

// A list of patterns leaves the others out. The first layer that has one chooses;
// those after it only add, and the project takes nothing away.
func TestEnabledPatterns(t *testing.T) {
	only := func(layer, ids string) [2]string {
		return [2]string{layer, "patterns: {enabled_patterns: [" + ids + "]}"}
	}
	for name, test := range map[string]struct {
		layers []([2]string)
		loop   bool
	}{
		"as it ships":                    {nil, true},
		"the user looks at another one":  {[][2]string{only(User, "exfiltration")}, false},
		"the user looks at it":           {[][2]string{only(User, "loop")}, true},
		"at none":                        {[][2]string{only(User, "")}, false},
		"at all, by the sign":            {[][2]string{only(User, `"*"`)}, true},
		"at all, by the word":            {[][2]string{only(User, "all")}, true},
		"at all, and at another one":     {[][2]string{only(User, "all, exfiltration")}, true},
		"the organisation wants it":      {[][2]string{only(Organisation, "loop"), only(User, "exfiltration")}, true},
		"the organisation wants another": {[][2]string{only(Organisation, "exfiltration"), only(User, "loop")}, true},
		"the project takes it away":      {[][2]string{only(Project, "exfiltration")}, true},
	} {
		if got, _ := tunedThreshold(t, "loop", test.layers...); (got > 0) != test.loop {
			t.Errorf("%s: threshold %v", name, got)
		}
	}
}

// Names of patterns that there are not keep the policy from being loaded, each with the one that
// was meant. A fixed threshold is only reported.
func TestNamedPatterns(t *testing.T) {
	_, err := assembled(t, [2]string{User, "patterns: {enabled_patterns: [lop, exfiltration], thresholds: {ping_pog: 4, loop: 4}, composites: [{of: [loop, scope_crep], factor: 2}]}"})
	for _, want := range []string{`user/settings.yaml:1: patterns.enabled_patterns: no pattern has the name "lop"; did you mean "loop"?`,
		`"ping_pog"; did you mean "ping_pong"?`, `"scope_crep"; did you mean "scope_creep"?`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not said: %v", want, err)
		}
	}
	e, err := assembled(t, [2]string{User, "patterns: {thresholds: {injected_action: 2, loop: 4}}"})
	if err != nil {
		t.Fatal(err)
	}
	if all := e.PointlessSettings(); len(all) != 1 || !strings.Contains(all[0].Error(), "threshold of injected_action is fixed") {
		t.Errorf("problems: %v", all)
	}
}
