package cel

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/agent-reviewer/reviewer/engine"
)

// ordered is a map whose keys are iterated in order: Go's own order is random, and
// findings must be deterministic.
type ordered struct{ traits.Mapper }

// Iterator iterates over the keys, which are strings, in order.
func (o ordered) Iterator() traits.Iterator {
	var keys []string
	for it := o.Mapper.Iterator(); it.HasNext() == types.True; {
		if k, ok := it.Next().(types.String); ok {
			keys = append(keys, string(k))
		}
	}
	slices.Sort(keys)
	return types.NewStringList(types.DefaultTypeAdapter, keys).Iterator()
}

// Equal compares by content.
func (o ordered) Equal(other ref.Val) ref.Val {
	if m, ok := other.(ordered); ok {
		other = m.Mapper
	}
	return o.Mapper.Equal(other)
}

// argument returns a value of event.args as CEL sees it: the same whether the
// record was just made (integers, ContentFacts) or read from a log
// (json.Number, maps).
func argument(v any) ref.Val {
	switch v := v.(type) {
	case nil:
		return types.NullValue
	case ref.Val:
		return v
	case string:
		return types.String(v)
	case bool:
		return types.Bool(v)
	case int:
		return types.Int(v)
	case int64:
		return types.Int(v)
	case float64:
		return decimal(v)
	case json.Number:
		return numeral(v)
	case engine.ContentFacts:
		return content(v)
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = argument(e)
		}
		return ordered{types.NewStringInterfaceMap(types.DefaultTypeAdapter, m)}
	case []any:
		l := make([]ref.Val, len(v))
		for i, e := range v {
			l[i] = argument(e)
		}
		return types.NewRefValList(types.DefaultTypeAdapter, l)
	}
	return recorded(v)
}

// content returns the replacement for a string that is not stored, as in a log.
func content(c engine.ContentFacts) ref.Val {
	m := map[string]any{"bytes": types.Int(c.Bytes), "lines": types.Int(c.Lines)}
	if c.MAC != "" {
		m["mac"] = types.String(c.MAC)
	}
	if len(c.Secrets) > 0 {
		secrets := make(map[string]any, len(c.Secrets))
		for kind, n := range c.Secrets {
			secrets[kind] = types.Int(n)
		}
		m["secrets"] = secrets
	}
	return argument(m)
}

// recorded returns a value as it would be read from the log.
func recorded(v any) ref.Val {
	raw, err := json.Marshal(v)
	if err != nil {
		return types.NewErr("argument of type %T: %v", v, err)
	}
	var plain any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&plain); err != nil {
		return types.NewErr("argument of type %T: %v", v, err)
	}
	return argument(plain)
}

func numeral(n json.Number) ref.Val {
	if i, err := n.Int64(); err == nil {
		return types.Int(i)
	}
	f, err := n.Float64()
	if err != nil {
		return types.NewErr("argument %s is out of range", n)
	}
	return decimal(f)
}

// exact bounds the integers that a JSON number represents exactly.
const exact = 1 << 53

// decimal converts a number without a fraction to an integer: a log does not
// distinguish 3.0 from 3.
func decimal(f float64) ref.Val {
	if f == math.Trunc(f) && math.Abs(f) < exact {
		return types.Int(f)
	}
	return types.Double(f)
}
