package bundles

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/conform"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/schemas"
)

// Value is a value of a setting. The key may be below settings., reviewer. or data.reviewer.
type Value struct {
	Key   string
	Value any // as encoding/json reads it
}

// String writes KEY = VALUE.
func (v Value) String() string {
	if number, ok := v.Value.(float64); ok {
		return v.Key + " = " + decimal(number)
	}
	raw, _ := json.Marshal(v.Value) // it was read from JSON, or is a word
	return v.Key + " = " + string(raw)
}

// WithSetting is WithSettings for one setting that is a number.
func (e *Effective) WithSetting(key string, value float64) (*Effective, error) {
	return e.WithSettings(Value{key, value})
}

// WithSettings returns the same policy with other values of some settings, regardless of the layers that set them, as if
// the layers had merged to those values. They are checked like any settings, and the policy has its own digest.
func (e *Effective) WithSettings(values ...Value) (*Effective, error) {
	settings, _ := Normal(e.Document).(map[string]any)
	for _, v := range values {
		path := SettingPath(v.Key)
		if err := e.sweepable(path, settings, v.Value); err != nil {
			return nil, err
		}
		set(settings, strings.Split(path, "."), v.Value)
	}
	tree, err := SettingsSchema()
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		v.Key = SettingPath(v.Key)
		if err := tree.allows(v.Key, settings, v.Value); err != nil {
			return nil, fmt.Errorf("%s: %w", v, err)
		}
	}
	layers, before := e.Layers, objectAt(e.Document, "rules")
	for _, v := range values {
		if ids, ok := v.Value.([]any); ok && SettingPath(v.Key) == "rules.disabled" && !reflect.DeepEqual(ids, before["disabled"]) {
			layers = disabling(layers, ids)
		}
	}
	other, err := assemble(layers, settings, e.Sources)
	if err != nil {
		return nil, err
	}
	names := namesCheck{policy: other, layer: &Bundle{Layer: User}, words: map[string][]string{}}
	for _, v := range values {
		alone := map[string]any{}
		nest(alone, strings.Split(SettingPath(v.Key), "."), v.Value)
		names.visit("", tree, alone)
	}
	var wrong *positionedError
	if len(names.errs) > 0 && errors.As(names.errs[0], &wrong) {
		return nil, errors.New(wrong.what) // the position does not apply to the changed value
	}
	return other, errors.Join(names.errs...)
}

// disabling returns layers each of which disables those of its own rules that are listed, since no other layer can.
func disabling(layers []*Bundle, ids []any) []*Bundle {
	layers = slices.Clone(layers)
	for i, l := range layers {
		if l.Layer == Base {
			continue
		}
		own := []any{}
		for _, r := range l.Rules {
			if slices.Contains(ids, any(r.ID)) {
				own = append(own, r.ID)
			}
		}
		b, rules := *l, map[string]any{}
		b.Settings = map[string]any{}
		maps.Copy(b.Settings, l.Settings)
		maps.Copy(rules, objectAt(l.Settings, "rules"))
		rules["disabled"], b.Settings["rules"] = own, rules
		layers[i] = &b
	}
	return layers
}

// WithGrants returns the policy with grant: proven.
func (e *Effective) WithGrants() (*Effective, error) {
	settings, _ := Normal(e.Document).(map[string]any)
	settings["grant"] = "proven"
	return assemble(e.Layers, settings, e.Sources)
}

// With returns a policy with other layers and merged settings, which are a mixture of
// two checked policies, so nothing is checked again.
func (e *Effective) With(layers []*Bundle, settings map[string]any) (*Effective, error) {
	own := make([]*Bundle, len(layers))
	for i, l := range layers {
		b := *l
		was := e.Layer(l.Layer)
		b.checked, b.shipped = true, was != nil && was.shipped && maps.Equal(was.Modules, l.Modules)
		b.Digest += " in part" // so that records of either policy are not attributed to this one
		own[i] = &b
	}
	return assemble(own, settings, e.Sources)
}

// SettingPath returns the path of a setting as `config show` prints it.
func SettingPath(key string) string {
	key = strings.TrimPrefix(key, "data.")
	return strings.TrimPrefix(strings.TrimPrefix(key, "settings."), "reviewer.")
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// set changes a value at an existing path.
func set(settings map[string]any, path []string, value any) {
	for _, key := range path[:len(path)-1] {
		settings, _ = settings[key].(map[string]any)
	}
	settings[path[len(path)-1]] = value
}

// Numbers lists the settings that are numbers, sorted: those that WithSetting
// can change.
func (e *Effective) Numbers() []string {
	all := map[string]bool{}
	numbers("", Normal(e.Document), all)
	return slices.Sorted(maps.Keys(all))
}

func numbers(at string, v any, all map[string]bool) {
	switch v := v.(type) {
	case float64:
		all[at] = true
	case map[string]any:
		for key, v := range v {
			numbers(below(at, key), v, all)
		}
	}
}

// sweepable reports why a setting cannot be changed to another value.
func (e *Effective) sweepable(path string, settings map[string]any, value any) error {
	known := e.Numbers()
	if slices.Contains(known, path) {
		return nil
	}
	_, isNumber := value.(float64)
	var at any = settings
	for _, key := range strings.Split(path, ".") {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	if at != nil && !isNumber {
		return nil
	}
	if at != nil {
		raw, _ := json.Marshal(at) // settings are JSON
		return fmt.Errorf("%s is %.60s, not a number; `reviewer config show` lists numeric settings, such as %s", path, raw, someOf(known))
	}
	if first, _, _ := strings.Cut(path, "."); first == "patterns" || first == "rules" {
		if slices.ContainsFunc(e.Rules(), func(r Rule) bool { return strings.Contains(path+".", "."+r.ID+".") }) {
			return fmt.Errorf("%s: the numbers of single rules and patterns are in their rows, not in the settings; "+
				"patterns.factors.medium is a factor on the thresholds of all patterns", path)
		}
	}
	return fmt.Errorf("unknown setting %s", e.meant(path, known))
}

// shortWord is the length up to which a name resembles too many others to suggest one.
const shortWord = 4

// meant suggests similar settings, or some examples.
func (e *Effective) meant(path string, known []string) string {
	if near := engine.Nearest(path, known); near != "" {
		return fmt.Sprintf("%q; did you mean %q?", path, near)
	}
	last := path[strings.LastIndexByte(path, '.')+1:]
	var likely []string
	for _, k := range known {
		if own := k[strings.LastIndexByte(k, '.')+1:]; own == last || len(last) > shortWord && engine.Nearest(last, []string{own}) != "" {
			likely = append(likely, k)
		}
	}
	if len(likely) == 0 {
		likely = inSection(path, known)
	}
	if len(likely) == 0 {
		return fmt.Sprintf("%q; `reviewer config show` lists numeric settings, such as %s", path, someOf(known))
	}
	return fmt.Sprintf("%q; did you mean one of %s?", path, strings.Join(likely[:min(8, len(likely))], ", "))
}

// inSection lists those of a key's own section.
func inSection(path string, known []string) []string {
	section := path[:strings.LastIndexByte(path, '.')+1]
	if section == "" {
		section = path + "."
	}
	return slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.HasPrefix(k, section) })
}

// someOf returns a well-known setting, if it exists.
func someOf(known []string) string {
	const usual = "risk.high_threshold"
	if slices.Contains(known, usual) || len(known) == 0 {
		return usual
	}
	return known[0]
}

// allows checks settings of which one value was changed: the value itself, and its
// order among others.
func (s *SchemaNode) allows(path string, settings map[string]any, value any) error {
	alone := map[string]any{}
	nest(alone, strings.Split(path, "."), value)
	schema, err := settingsDocument()
	if err != nil {
		return err
	}
	if wrong := conform.Check(schema, alone); len(wrong) > 0 {
		if node := schemaOf(path); node.Type == "number" || node.Type == "integer" {
			return fmt.Errorf("expected %s", rangeOf(path))
		}
		return errors.New(wrong[0].Message)
	}
	m := newMerger([]*Bundle{{Layer: Base}})
	m.ascending("", s, settings)
	var wrong *positionedError
	if len(m.errs) > 0 && errors.As(m.errs[0], &wrong) {
		return errors.New(wrong.what) // the position does not apply to the changed value
	}
	return errors.Join(m.errs...)
}

// nest sets a value at a path, creating its parents.
func nest(doc map[string]any, path []string, value any) {
	for _, key := range path[:len(path)-1] {
		next := map[string]any{}
		doc[key] = next
		doc = next
	}
	doc[path[len(path)-1]] = value
}

// rangeOf describes which numbers the schema accepts for a setting.
func rangeOf(path string) string {
	node := schemaOf(path)
	what := "a number"
	if node.Type == "integer" {
		what = "a whole number"
	}
	var bounds []string
	for _, b := range []struct {
		word  string
		limit *float64
	}{{"at least", node.Minimum}, {"more than", node.Above}, {"at most", node.Maximum}} {
		if b.limit != nil {
			bounds = append(bounds, b.word+" "+decimal(*b.limit))
		}
	}
	if len(bounds) == 0 {
		return what
	}
	return what + ", " + strings.Join(bounds, " and ")
}

// numeric is the schema's limits for a number.
type numeric struct {
	Type       string                     `json:"type"`
	Minimum    *float64                   `json:"minimum"`
	Above      *float64                   `json:"exclusiveMinimum"`
	Maximum    *float64                   `json:"maximum"`
	Properties map[string]json.RawMessage `json:"properties"`
	Others     json.RawMessage            `json:"additionalProperties"`
}

// schemaOf returns the schema's limits for a setting; the zero value if there are
// none.
func schemaOf(path string) numeric {
	raw, err := schemas.FS.ReadFile(settingsSchema)
	var node numeric
	if err != nil || json.Unmarshal(raw, &node) != nil {
		return numeric{}
	}
	for _, key := range strings.Split(path, ".") {
		next, there := node.Properties[key]
		if !there {
			next = node.Others
		}
		node = numeric{}
		if json.Unmarshal(next, &node) != nil {
			return numeric{}
		}
	}
	return node
}
