package history

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// typeSet is a set of types, one bit each in the order of Types: in the ring's
// JSON, names would take a tenth of the state.
type typeSet int64

// typesOf counts a word that is not a type as unknown.
func typesOf(types []engine.Type) typeSet {
	var set typeSet
	all := engine.Types()
	for _, t := range types {
		i := slices.Index(all, string(t))
		if i < 0 {
			i = slices.Index(all, string(engine.TypeUnknown))
		}
		set |= 1 << i
	}
	return set
}

// UnmarshalJSON also reads a list of names, as in keyframes of older fold
// versions: their lines must stay readable.
func (s *typeSet) UnmarshalJSON(b []byte) error {
	if !bytes.HasPrefix(b, []byte("[")) {
		return json.Unmarshal(b, (*int64)(s))
	}
	var names []engine.Type
	err := json.Unmarshal(b, &names)
	*s = typesOf(names)
	return err
}

// list names the types, sorted.
func (s typeSet) list() []engine.Type {
	list := []engine.Type{}
	for i, t := range engine.Types() {
		if s&(1<<i) != 0 {
			list = append(list, engine.Type(t))
		}
	}
	slices.Sort(list)
	return list
}
