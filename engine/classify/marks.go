package classify

import (
	"maps"
	"slices"
)

// markedTexts returns the raw texts of a call: first those that describe the call, then
// contents.
func markedTexts(r *toolReader) []string {
	var short, long []string
	for _, name := range slices.Sorted(maps.Keys(r.args)) {
		texts := appendTexts(nil, r.args[name])
		if _, content := r.contents[name]; content || slices.Contains(r.tool.contents, name) {
			long = append(long, texts...)
		} else {
			short = append(short, texts...)
		}
	}
	return append(short, long...)
}
