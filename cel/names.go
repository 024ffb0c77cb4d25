package cel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/agent-reviewer/reviewer/engine"
)

// Names are what expressions can refer to besides the input. All conditions of a host share them.
type Names struct {
	Definitions []Definition   // each can use those before it
	Data        map[string]any // the settings, as data.NAME: texts, numbers, lists of texts
}

// Definition is an expression with a name.
type Definition struct {
	ID   string // the name
	Type string // one of DefinitionTypes
	Text string // CEL
}

// DefinitionTypes lists the types that a definition can have.
func DefinitionTypes() []string { return []string{"bool", "int", "double", "string", "list"} }

func typeNamed(name string) *types.Type {
	switch name {
	case "bool":
		return types.BoolType
	case "int":
		return types.IntType
	case "double":
		return types.DoubleType
	case "list":
		return types.NewListType(types.StringType)
	}
	return types.StringType
}

// dataName is how a condition names a setting.
var dataName = engine.Regexp(`\bdata\.([a-z_][a-z_0-9]*(?:\.[a-z_][a-z_0-9]*)*)`)

var definedName = engine.Regexp(`^[a-z][a-z_0-9]*$`)

// settings returns the values of the settings that some texts name; of all if there are no texts.
func (n *Names) settings(texts []string) map[string]any {
	found := map[string]any{}
	if n == nil || len(n.Data) == 0 {
		return found
	}
	if texts == nil {
		n.leaves("", n.Data, found)
		return found
	}
	for _, text := range texts {
		if !strings.Contains(text, "data.") {
			continue
		}
		for _, match := range dataName().FindAllStringSubmatch(text, -1) {
			name := match[1]
			v, ok := n.setting(name)
			if at := strings.LastIndexByte(name, '.'); !ok && at > 0 { // a method of a list, such as exists
				name = name[:at]
				v, ok = n.setting(name)
			}
			if ok {
				found[name] = v
			}
		}
	}
	return found
}

func (n *Names) leaves(above string, data, found map[string]any) {
	for key, v := range data {
		if below, ok := v.(map[string]any); ok {
			n.leaves(above+key+".", below, found)
		} else if settingType(v) != nil {
			found[above+key] = v
		}
	}
}

// setting returns the value of the setting with a dotted name.
func (n *Names) setting(name string) (any, bool) {
	var at any = n.Data
	for key := range strings.SplitSeq(name, ".") {
		object, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		at = object[key]
	}
	return at, settingType(at) != nil
}

// settingType returns the type of a setting in conditions; nil: they cannot use it.
func settingType(v any) *types.Type {
	switch v := v.(type) {
	case bool:
		return types.BoolType
	case string:
		return types.StringType
	case []any:
		if slices.ContainsFunc(v, func(e any) bool { _, text := e.(string); return !text }) {
			return nil
		}
		return types.NewListType(types.StringType)
	}
	switch argument(v).(type) {
	case types.Int:
		return types.IntType
	case types.Double:
		return types.DoubleType
	}
	return nil
}

// declare makes CEL know the names.
func (n *Names) declare(texts []string) (options []cel.EnvOption) {
	if n == nil {
		return nil
	}
	for _, d := range n.Definitions {
		options = append(options, cel.Variable(d.ID, typeNamed(d.Type)))
	}
	settings := n.settings(texts)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		options = append(options, cel.Variable("data."+name, settingType(settings[name])))
	}
	return options
}

// types describes the names that a text may use, with their types: a compiled expression is valid
// only for these.
func (n *Names) types(text string) string {
	var b strings.Builder
	if n == nil {
		return ""
	}
	for _, d := range n.Definitions {
		if strings.Contains(text, d.ID) {
			fmt.Fprintf(&b, "\x00%s %s", d.ID, d.Type)
		}
	}
	settings := n.settings([]string{text})
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "\x00%s %s", name, settingType(settings[name]))
	}
	return b.String()
}

// validate reports definitions that cannot be used.
func (n *Names) validate(fields []string) (problems []*Error) {
	if n == nil {
		return nil
	}
	for i, d := range n.Definitions {
		wrong := func(part, message string) {
			problems = append(problems, &Error{ID: DefinitionID(d.ID), Part: part, Code: "row.meaning", Message: message})
		}
		switch {
		case !definedName().MatchString(d.ID):
			wrong("name", "a definition's name consists of lower-case letters, digits and _, and begins with a letter")
		case slices.Contains(fields, d.ID) || d.ID == "data":
			wrong("name", "is the name of a part of the input; give the definition another one")
		case slices.ContainsFunc(n.Definitions[:i], func(o Definition) bool { return o.ID == d.ID }):
			wrong("name", "is already defined; give the definition another name")
		}
		if !slices.Contains(DefinitionTypes(), d.Type) {
			wrong("type", "expected one of "+strings.Join(DefinitionTypes(), ", "))
		}
		for _, used := range FreeNames(d.Text) {
			if slices.ContainsFunc(n.Definitions[i:], func(o Definition) bool { return o.ID == used }) {
				wrong("is", "uses "+used+", which is not defined before it")
			}
		}
	}
	return problems
}

var (
	freeName   = engine.Regexp(`(?:^|[^.\w])([a-z]\w*)`)
	quotedText = engine.Regexp(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)
)

// FreeNames lists the names in an expression that are not fields of something else: parts of the input, definitions,
// functions and variables.
func FreeNames(text string) (names []string) {
	for _, found := range freeName().FindAllStringSubmatch(quotedText().ReplaceAllString(text, "''"), -1) {
		names = append(names, found[1])
	}
	return names
}

// DefinitionID is what errors call a definition: a rule may have the same id.
func DefinitionID(name string) string { return "definition " + name }

func (e *Error) defines() bool { return strings.HasPrefix(e.ID, DefinitionID("")) }

// define makes the expressions of the definitions.
func (h *Host) define(names *Names) {
	h.names, h.definitions = names, map[string]*expression{}
	if names == nil {
		return
	}
	for _, d := range names.Definitions {
		h.definitions[d.ID] = h.expression(DefinitionID(d.ID), "is", d.Text, typeNamed(d.Type))
	}
}

// named returns the value of a definition or a setting.
func (v *variables) named(name string) (any, bool) {
	if v.host == nil {
		return nil, false
	}
	if setting, ok := strings.CutPrefix(name, "data."); ok && v.host.names != nil {
		value, known := v.host.names.setting(setting)
		return argument(value), known
	}
	e, ok := v.host.definitions[name]
	if !ok {
		return nil, false
	}
	if value, known := v.made[name]; known {
		return value, true
	}
	value, err := e.eval(v)
	if err != nil {
		value = types.WrapErr(fmt.Errorf("%s: %w", name, err))
	}
	if v.made == nil {
		v.made = map[string]ref.Val{}
	}
	v.made[name] = value
	return value, true
}

// texts lists the texts of all expressions.
func (h *Host) texts() []string {
	list := []string{}
	for _, e := range h.expressions() {
		list = append(list, e.text)
	}
	return list
}

// sharedNames returns the names of conditions; nil: they have none.
func sharedNames(conditions []Condition) (names *Names) {
	for _, c := range conditions {
		names = cmp.Or(names, c.Names)
	}
	return names
}
