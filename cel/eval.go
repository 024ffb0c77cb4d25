package cel

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/agent-reviewer/reviewer/engine"
)

// Eval evaluates an expression of any type for an input, with the names, functions and limits of the
// host's conditions. It returns the value in a form that [encoding/json] writes, and the type in CEL's words.
// An error of the expression is an *Error.
func (h *Host) Eval(text string, in *engine.Input) (value any, typ string, err error) {
	l, err := newLanguage(h.names, append(h.texts(), text))
	if err != nil {
		return nil, "", err
	}
	p, problems := l.compile(&expression{id: "expression", part: "expression", text: text})
	if len(problems) > 0 {
		return nil, "", join(problems)
	}
	v, _, err := p.Eval(&variables{in: in, host: h})
	if err != nil {
		return nil, "", err
	}
	return jsonValue(v), p.checked.OutputType().String(), nil
}

// jsonValue converts a value to Go's types for JSON; facts stay structs, which JSON writes with the names that expressions use.
func jsonValue(v ref.Val) any {
	switch v := v.(type) {
	case *types.Optional:
		if !v.HasValue() {
			return nil
		}
		return jsonValue(v.GetValue())
	case traits.Mapper:
		m := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, _ := key.ConvertToType(types.StringType).(types.String)
			m[string(name)] = jsonValue(v.Get(key))
		}
		return m
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			list = append(list, jsonValue(it.Next()))
		}
		return list
	case types.Timestamp, types.Duration, *types.Type:
		return v.ConvertToType(types.StringType).Value()
	}
	return v.Value()
}
