package rego

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// randomLayer is a settings.yaml with some random settings that a layer may have.
func randomLayer(t *testing.T, g *rand.Rand, layer string, settings map[string]*schema, usual map[string]any) *bundles.Bundle {
	t.Helper()
	doc := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(settings)) {
		s := settings[path]
		if layer == bundles.User && strings.HasPrefix(path, "matrix.") {
			continue // random cells are refused: see bundles
		}
		refused := s.Merge == "" && path != "rules.enforcement" ||
			layer == bundles.Project && slices.Contains([]string{"replace", "append", "first"}, s.Merge)
		if refused || g.IntN(4) > 0 {
			continue
		}
		into := doc
		keys := strings.Split(path, ".")
		for _, key := range keys[:len(keys)-1] {
			if into[key] == nil {
				into[key] = map[string]any{}
			}
			into = into[key].(map[string]any)
		}
		from, key := reach(usual, path)
		into[keys[len(keys)-1]] = s.random(g, path, from[key])
	}
	raw, err := json.Marshal(doc) // which is YAML
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundles.FromFiles(map[string][]byte{"settings.yaml": raw}, layer)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// random returns a value that the schema allows.
func (s *schema) random(g *rand.Rand, path string, usual any) any {
	switch s.Merge {
	case "min", "max":
		high := 1000.0
		if s.Maximum != nil {
			high = *s.Maximum
		}
		v := s.Minimum + g.Float64()*(high-s.Minimum)
		if s.Type == "integer" {
			return int64(v)
		}
		return v
	case "union", "intersect":
		words := []any{}
		for _, w := range slices.Concat(usual.([]any), otherLists()[path]) {
			if !slices.ContainsFunc(words, func(o any) bool { return reflect.DeepEqual(o, w) }) {
				words = append(words, w)
			}
		}
		g.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		return words[:g.IntN(len(words)+1)]
	case "narrow":
		words := []any{".", "src", "src/api", "docs"}
		g.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		return words[:1+g.IntN(len(words)-1)]
	case "strictest":
		words := append(slices.Clone(s.Order), s.Enum...)
		return words[g.IntN(len(words))]
	case "replace", "first":
		if s.Type == "boolean" {
			return g.IntN(2) == 0
		}
		return usual
	case "append", "extend":
		return usual
	}
	return map[string]any{"git_force_push": pick(g, "observe", "warn", "enforce"), "environment_dump": pick(g, "observe", "warn", "enforce")}
}

func pick(g *rand.Rand, words ...string) string { return words[g.IntN(len(words))] }

// Whatever the project's settings say, no question is answered milder than
// without them, over the built-in policy and over what a person made of it. Five
// random policies are compared; twenty with REVIEWER_EVERY=1 (`make fidelity`).
func TestProjectSettingsOnlyTighten(t *testing.T) {
	shippedPolicy, _ := shipped(t)
	compiler, err := compileModules(shippedPolicy.Modules())
	if err != nil {
		t.Fatal(err)
	}
	settings, usual := settingsOf(t), asJSON(t, shippedPolicy.Data).(map[string]any)["reviewer"].(map[string]any)
	g := rand.New(rand.NewPCG(7, 8))
	base := shippedPolicy.Layers[0]
	stricter, compared, wanted := 0, 0, sweep.Some(5, 20)
	sweep.Count(t, "policies with random settings of a project").Add(int64(wanted))
	for tries := 0; compared < wanted; tries++ {
		if tries == 200 {
			t.Fatal("hardly any random policy is accepted")
		}
		layers := []*bundles.Bundle{base}
		if g.IntN(2) == 0 {
			layers = append(layers, randomLayer(t, g, bundles.User, settings, usual))
		}
		without, err := bundles.Assemble(layers...)
		if err != nil {
			continue // levels out of order: such a policy denies everything
		}
		with, err := bundles.Assemble(append(layers, randomLayer(t, g, bundles.Project, settings, usual))...)
		if err != nil {
			continue
		}
		compared++
		before := slices.Collect(second(answers(t, compiler, without.Data)))
		for i, d := range answers(t, compiler, with.Data) {
			if milder(d, before[i]) && !rewritten(d, before[i]) && !saved(d, before[i]) {
				t.Errorf("question %d: %s, answered %s (grant %t); without the project %s, answered %s\n%s\nover %s",
					i, d.Decision, d.Enforced, d.Grant, before[i].Decision, before[i].Enforced, with.Layers[len(layers)].Files["settings.yaml"], layers[len(layers)-1].Files["settings.yaml"])
			}
			if d.Decision.Strictness() > before[i].Decision.Strictness() {
				stricter++
			}
		}
	}
	if stricter == 0 {
		t.Error("no project's settings made anything stricter")
	}
}

// rewritten reports whether a rule that the project turned on has a form for a call that the scores want changed, and that no rule
// asked about: without a form they ask. The call itself runs no sooner than before: where the form does not fit, it is asked about as well.
func rewritten(d, before engine.Decision) bool {
	return d.Enforced == engine.Modify && len(d.Rewrite) > 0 && d.Otherwise != nil && !d.Grant &&
		d.Otherwise.Effect.Strictness() >= max(before.Decision.Strictness(), before.Enforced.Strictness()) &&
		!slices.ContainsFunc(before.Rules, func(r engine.RuleResult) bool { return r.Decision.Strictness() >= engine.Ask.Strictness() })
}

// saved reports whether a rule that the project made wider saves first what a call would lose: a warning about the call is then left
// out, as it is for any call that is saved. Where it cannot be saved, it is asked about.
func saved(d, before engine.Decision) bool {
	return before.Decision == engine.Warn && before.Enforced == engine.Warn && len(d.Saves) > 0 && d.Otherwise != nil && !d.Grant &&
		d.Otherwise.Effect.Strictness() >= engine.Ask.Strictness()
}

// milder reports whether one decision lets more happen than another. No decision
// at all is a denial.
func milder(d, than engine.Decision) bool {
	if d.Decision == "" || than.Decision == "" {
		return d.Decision != ""
	}
	return d.Decision.Strictness() < than.Decision.Strictness() || d.Enforced.Strictness() < than.Enforced.Strictness() || d.Grant && !than.Grant
}
