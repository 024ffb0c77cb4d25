package operation

import "strings"

// SchemeLength returns the length of the part before the host of an address.
func SchemeLength(address string) int {
	if i := strings.Index(address, "://"); i >= 0 {
		return i + len("://")
	}
	return 0
}

// URLPath returns the path of an address without its first slash, query and fragment.
func URLPath(address string) string {
	_, path, _ := strings.Cut(address[SchemeLength(address):], "/")
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	return path
}

// NounOfPath returns the kind of object that a path of a REST interface is about: the last
// plural segment before the name of the object.
func NounOfPath(address string) string {
	segments := strings.Split(strings.Trim(URLPath(address), "/"), "/")
	for i := len(segments) - 1; i >= 0; i-- {
		s := strings.ToLower(segments[i])
		if noun := Singular(s); noun != s && PlainNoun(noun) != "" {
			return noun
		}
	}
	return ""
}
