package place

import "strings"

// Pathspec returns the file or folder that contains everything a pathspec of git selects,
// and whether it is relative to the root of the working tree. git itself expands patterns,
// in all folders, and knows prefixes such as :/ for the root and :! for all other files.
func Pathspec(spec string) (name string, root bool) {
	name, magic := strings.CutPrefix(spec, ":")
	any := false // what it selects may have any name
	if long, ok := strings.CutPrefix(name, "("); magic && ok {
		var words string
		words, name, _ = strings.Cut(long, ")")
		for word := range strings.SplitSeq(words, ",") {
			root = root || word == "top"
			any = any || word == "exclude" || word == "icase"
		}
	} else if magic {
		rest := strings.TrimLeft(name, "/!^")
		signs := strings.TrimSuffix(name, rest)
		root, any = strings.Contains(signs, "/"), strings.ContainsAny(signs, "!^")
		name = strings.TrimPrefix(rest, ":")
	}
	if i := strings.IndexAny(name, "*?["); i >= 0 {
		name = name[:strings.LastIndexByte(name[:i], '/')+1]
		any = any || name == ""
	}
	if any || magic && name == "" {
		name = "."
	}
	return name, root
}
