package bundles

import (
	"path"
	"slices"
	"strings"
)

// mergeNarrow is the x-merge of a list of places in the workspace: of two such
// lists, what is in both.
const mergeNarrow = "narrow"

// CleanPlaces spells the places of a list as effects do: . for the workspace, ./src
// for a folder in it.
func CleanPlaces(list []any) []any {
	out := []any{}
	for _, v := range list {
		text, _ := v.(string)
		if text = path.Clean(text); text != "." {
			text = "./" + text
		}
		out = union(out, []any{text})
	}
	return out
}

// narrow keeps of two lists of places those that are in one of the other list.
func narrow(a, b []any) []any {
	within := func(all []any) func(any) bool {
		return func(v any) bool { return slices.ContainsFunc(all, func(o any) bool { return ContainsPlace(o, v) }) }
	}
	inA, inB := within(CleanPlaces(a)), within(CleanPlaces(b))
	out := []any{}
	for _, v := range union(CleanPlaces(b), CleanPlaces(a)) {
		if inA(v) && inB(v) {
			out = append(out, v)
		}
	}
	return out
}

// ContainsPlace reports whether a place is another one or holds it.
func ContainsPlace(outer, inner any) bool {
	o, _ := outer.(string)
	i, _ := inner.(string)
	return o == "." || i == o || strings.HasPrefix(i, o+"/")
}
