package rows

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Remark is what is suspicious about a place in a file.
type Remark struct {
	Line, Col int // from 1
	Message   string
}

// Unreached lists the parts of a file of programs that never apply: cases after a wider one, and words that are not options.
func Unreached(programs []byte) (list []Remark) {
	var file yaml.Node
	if yaml.Unmarshal(programs, &file) != nil {
		return nil
	}
	for _, document := range file.Content {
		programCases(document, func(n *yaml.Node, format string, args ...any) {
			list = append(list, Remark{n.Line, n.Column, fmt.Sprintf(format, args...)})
		})
	}
	return list
}

// valuesOf returns the values of an object by their keys.
func valuesOf(n *yaml.Node) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		values[n.Content[i].Value] = n.Content[i+1]
	}
	return values
}

// programCases examines the cases of all programs of a file, and of their subcommands.
func programCases(programs *yaml.Node, warn func(n *yaml.Node, format string, args ...any)) {
	for i := 1; i < len(programs.Content); i += 2 {
		values := valuesOf(programs.Content[i])
		var cases []Case
		if list := values["cases"]; list != nil && list.Kind == yaml.SequenceNode && list.Decode(&cases) == nil {
			for i, c := range cases {
				before := slices.IndexFunc(cases[:i], func(o Case) bool { return covers(o, c) })
				if before >= 0 {
					warn(list.Content[i], "this case never applies, since the one in line %d applies wherever it does, and the first counts; "+
						"move it first", list.Content[before].Line)
				}
				stepOptions(valuesOf(list.Content[i])["do"], c.Do, warn)
			}
		}
		if subs := values["subcommands"]; subs != nil {
			programCases(subs, warn)
		}
	}
}

// stepOptions examines the options of steps.
func stepOptions(n *yaml.Node, steps []Step, warn func(n *yaml.Node, format string, args ...any)) {
	if n == nil || n.Kind != yaml.SequenceNode { // an alias, which is an error
		return
	}
	for i, s := range steps {
		values := valuesOf(n.Content[i])
		for _, o := range []op{{"recursive", s.Recursive}, {"forced", s.Forced}, {"confirmed", s.Confirmed}} {
			for _, word := range strings.Fields(o.value) {
				if first := word[:1]; first != "-" && first != "/" && first != "+" && word != "true" && word != Usual && values[o.key] != nil {
					warn(values[o.key], "%s: %q is not an option, so it is never given: write true, %s, or options such as --%[2]s", o.key, word, Usual)
				}
			}
		}
	}
}

// covers reports whether a case surely applies wherever another one does.
func covers(wide, narrow Case) bool {
	if wide.Option+wide.Without+wide.Means != "" || len(wide.Value)+len(wide.Other) > 0 || !coversSub(wide.Sub, narrow.Sub) {
		return false
	}
	wide.Sub, wide.Do = "", nil
	w, n := reflect.ValueOf(wide), reflect.ValueOf(narrow)
	for i := range w.NumField() {
		if !w.Field(i).IsZero() && !reflect.DeepEqual(w.Field(i).Interface(), n.Field(i).Interface()) {
			return false
		}
	}
	return true
}

// coversSub reports whether all first operands that a pattern accepts are accepted by another one.
func coversSub(wide, narrow string) bool {
	if wide == "" {
		return true
	}
	all := SubPatterns(narrow)
	return len(all) > 0 && !slices.ContainsFunc(all, func(n SubPattern) bool {
		return !slices.ContainsFunc(SubPatterns(wide), func(w SubPattern) bool { return len(w) <= len(n) && coversWords(w, n) })
	})
}

func coversWords(wide, narrow SubPattern) bool {
	for i, words := range wide {
		if slices.ContainsFunc(narrow[i], func(word string) bool {
			return !slices.Contains(words, word) && (word == "-" || strings.ContainsAny(word, "*?") || word == "number" || !Fits(words, word))
		}) {
			return false
		}
	}
	return true
}
