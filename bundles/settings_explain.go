package bundles

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/schemas"
)

// Setting is one key of a policy's settings: its value, and the layers that set
// it.
type Setting struct {
	Key         string   `json:"key"` // such as risk.low_threshold
	Value       any      `json:"value"`
	Layer       string   `json:"layer"`   // of its last change; base if no layer changed it
	Layers      []string `json:"layers"`  // all whose values are in it: several where lists are joined
	Merge       string   `json:"merge"`   // x-merge of the schema; empty: only the base layer has it
	Default     any      `json:"default"` // value of the base layer; nil: none
	Description string   `json:"description,omitempty"`
	Common      bool     `json:"common,omitempty"` // one of those that people set most
}

// Explain lists all settings in the order of the schema.
func (e *Effective) Explain() ([]Setting, error) {
	tree, err := SettingsSchema()
	if err != nil {
		return nil, err
	}
	order, err := SettingsOrder()
	if err != nil {
		return nil, err
	}
	base, _ := Normal(e.Layers[0].Data["reviewer"]).(map[string]any)
	now, _ := Normal(e.Document).(map[string]any)
	var all []Setting
	tree.walk("", "", now, base, func(s Setting) {
		s.Layer, s.Layers = Base, []string{Base}
		if from := e.Sources[s.Key]; len(from) > 0 {
			s.Layer, s.Layers = from[len(from)-1], from
		}
		s.Common = slices.ContainsFunc(tree.Common, func(key string) bool { return key == s.Key || strings.HasPrefix(s.Key, key+".") })
		all = append(all, s)
	})
	slices.SortStableFunc(all, func(a, b Setting) int { return order.Compare(a.Key, b.Key) })
	return all, nil
}

// walk lists the settings below a node, with the nearest description above each.
func (s *SchemaNode) walk(at, about string, doc, base map[string]any, say func(Setting)) {
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		node := s.Child(key)
		if node == nil {
			continue // a policy stored by another version may have other keys
		}
		text := about
		if node.Description != "" {
			text = node.Description
		}
		sub, _ := doc[key].(map[string]any)
		if node.section() && len(sub) > 0 {
			under, _ := base[key].(map[string]any)
			node.walk(below(at, key), text, sub, under, say)
			continue
		}
		say(Setting{Key: below(at, key), Value: doc[key], Merge: node.merge(), Default: base[key], Description: text})
	}
}

// merge returns how values of a key are merged; for an empty section, how its entries
// are.
func (s *SchemaNode) merge() string {
	if s.Merge == "" && s.Others.SchemaNode != nil {
		return s.Others.Merge
	}
	return s.Merge
}

// LayerSetting is a setting in one layer's own file.
type LayerSetting struct {
	Key   string `json:"key"`
	Layer string `json:"layer"`
	Value any    `json:"value"`
	Holds bool   `json:"holds"` // it contributes to the effective value; false: it is redundant, or milder than allowed
	Now   any    `json:"now"`   // the effective value; nil: none
	Merge string `json:"-"`     // x-merge of the schema
}

// LayerSettings lists what the layers above the base set, by layer, in the order of the
// schema.
func (e *Effective) LayerSettings() ([]LayerSetting, error) {
	tree, err := SettingsSchema()
	if err != nil {
		return nil, err
	}
	all, err := e.Explain()
	if err != nil {
		return nil, err
	}
	order, err := SettingsOrder()
	if err != nil {
		return nil, err
	}
	now := map[string]any{}
	for _, s := range all {
		now[s.Key] = s.Value
	}
	var said []LayerSetting
	for _, l := range e.Layers[1:] {
		from := len(said)
		settings, _ := Normal(l.Settings).(map[string]any)
		tree.walk("", "", settings, nil, func(s Setting) {
			said = append(said, LayerSetting{s.Key, l.Layer, s.Value, slices.Contains(e.Sources[s.Key], l.Layer), now[s.Key], s.Merge})
		})
		slices.SortStableFunc(said[from:], func(a, b LayerSetting) int { return order.Compare(a.Key, b.Key) })
	}
	return said, nil
}

// IneffectiveSettings lists the settings of the user and project layers that would loosen the
// effective ones and may only tighten them: they have no effect.
func (e *Effective) IneffectiveSettings() []*engine.Problem {
	said, err := e.LayerSettings()
	if err != nil {
		return nil // settings that cannot be read are an error of their own
	}
	all := e.disabledElsewhere()
	ordered := []string{"strictest", "min", "max", mergeFirst}
	for _, l := range e.Layers {
		who, ok := map[string]string{User: "the organisation's layer allows only stricter values", Project: "a project may only tighten"}[l.Layer]
		if !ok || l.Layer == User && e.Sources == nil { // nothing was merged, since a value is wrong
			continue
		}
		for _, s := range said {
			if s.Layer != l.Layer || s.Holds || reflect.DeepEqual(s.Value, s.Now) ||
				l.Layer == User && (!slices.Contains(ordered, s.Merge) || slices.Contains(e.Sources[s.Key], Project)) {
				continue
			}
			at := l.where(s.Key)
			all = append(all, &engine.Problem{
				File: l.Layer + "/" + at.file, Line: at.line, Col: at.col, Warning: true, Code: "setting.no_effect",
				Message: fmt.Sprintf("%s has no effect: %s%s", s.Key, who, instead(s.Now)),
			})
		}
	}
	return all
}

// disabledElsewhere warns about rules of another layer above the base, which only that layer can disable.
func (e *Effective) disabledElsewhere() (all []*engine.Problem) {
	owner := map[string]string{}
	for _, l := range e.Layers {
		for _, r := range l.Rules {
			if l.Layer != Base && !r.Pattern() {
				owner[r.ID] = l.Layer
			}
		}
	}
	for _, l := range e.Layers {
		for i, id := range l.disabled() {
			if other := owner[id]; other != "" && other != l.Layer {
				at := l.where(fmt.Sprintf("rules.disabled.%d", i))
				all = append(all, &engine.Problem{
					File: l.Layer + "/" + at.file, Line: at.line, Col: at.col, Warning: true, Code: "setting.no_effect",
					Message: fmt.Sprintf("rules.disabled has no effect on %s: only the %s layer, whose rule it is, can disable it; "+
						"if the rule is overridable, make an exception", id, other),
				})
			}
		}
	}
	return all
}

// instead reports the effective value, unless it is long.
func instead(now any) string {
	const most = 60
	text, err := json.Marshal(now)
	if now == nil || err != nil || len(text) > most {
		return ""
	}
	return fmt.Sprintf(", and %s applies", text)
}

// KeyOrder is the position of each key in the schema.
type KeyOrder map[string]int

// Compare orders keys as the schema does; keys that it does not name
// follow their section alphabetically.
func (o KeyOrder) Compare(a, b string) int {
	if d := o.place(a) - o.place(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

func (o KeyOrder) place(path string) int {
	for {
		if n, ok := o[path]; ok {
			return n
		}
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return len(o)
		}
		path = path[:i]
	}
}

// SettingsOrder returns the order of the keys in the settings schema.
func SettingsOrder() (KeyOrder, error) { return settingsOrder() }

// settingsOrder reads the schema's text once more, as YAML: a decoded JSON
// object has no order.
var settingsOrder = sync.OnceValues(func() (KeyOrder, error) {
	raw, err := schemas.FS.ReadFile(settingsSchema)
	if err != nil {
		return nil, fmt.Errorf("read the settings schema: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("read the settings schema: %w", err)
	}
	order := KeyOrder{}
	order.add("", doc.Content[0])
	return order, nil
})

func (o KeyOrder) add(at string, node *yaml.Node) {
	properties := valueOf(node, "properties")
	if properties == nil {
		return
	}
	for i := 0; i < len(properties.Content); i += 2 {
		path := below(at, properties.Content[i].Value)
		o[path] = len(o)
		o.add(path, properties.Content[i+1])
	}
}

// valueOf returns the value of an object's key; nil if there is none.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
