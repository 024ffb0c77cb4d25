package history

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// truncateKey shortens a key without making two keys equal.
func truncateKey(s string) string { return boundKey(s, keyLength) }

// boundKey returns a key of at most n bytes that takes n bytes in JSON too: one
// that is longer, or would grow, ends in 64 bits of its digest.
func boundKey(s string, n int) string {
	if len(s) <= n && plain(s) {
		return s
	}
	sum := engine.HexSum([]byte(s))[:digestLength]
	if n <= digestLength+1 {
		return sum[:min(n, digestLength)]
	}
	return flat(s[:min(len(s), n-digestLength-1)]) + "~" + sum
}

// stemOf returns what is left of a path in its key, and whether it was cut short.
func stemOf(key string) (stem string, cut bool) {
	end := len(key) - digestLength - 1
	if end < 0 || key[end] != '~' || !plainASCII(key[end:]) || strings.Trim(key[end+1:], "0123456789abcdef") != "" {
		return key, false
	}
	return strings.TrimRight(key[:end], "?"), true // a last character may have been cut in two
}

// flat replaces characters that need escaping in JSON.
func flat(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !engine.PlainRune(r) {
			return '?'
		}
		return r
	}, s)
}

// prefix keeps the first n digits of a digest.
func prefix(digest string, n int) string {
	if len(digest) <= n || !plainASCII(digest) {
		return boundKey(digest, n)
	}
	return digest[:n]
}

// plain reports whether a string is the same in JSON as outside.
func plain(s string) bool {
	if plainASCII(s) {
		return true
	}
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !engine.PlainRune(r) }) < 0
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// count adds one to a bounded map of counters; when it is full, the smallest
// counter (the first in order among equals) makes room.
func count(m map[string]int64, key string, bound int) {
	m[key]++
	if len(m) > bound {
		delete(m, rarest(m, key))
	}
}

// rarest returns the key of the smallest counter, ignoring one of them.
func rarest(m map[string]int64, except string) string {
	least, found := "", false
	for k, n := range m {
		if k != except && (!found || n < m[least] || n == m[least] && k < least) {
			least, found = k, true
		}
	}
	return least
}

func keepLast[T any](s []T, n int) []T {
	if len(s) <= n {
		return s
	}
	return slices.Delete(s, 0, len(s)-n)
}

// keyDigits is the digest of a key as it is in a string of digests.
func keyDigits(key string) string { return engine.HexSum([]byte(key))[:hashDigits] }

// maxUpwards is the number of folders above a path that are examined; below
// more of them, it counts as not named.
const maxUpwards = 40

// upwards lists a path and the folders above it.
func upwards(path string) []string {
	list := []string{path}
	for i := len(path) - 1; i > 0 && len(list) < maxUpwards; i-- {
		if path[i] == '/' {
			list = append(list, path[:i])
		}
	}
	if strings.HasPrefix(path, "/") {
		list = append(list, "/")
	}
	return list
}

// namesPath reports whether a name stands for a path: it is the path, a folder
// above it, or parts of it that follow each other.
func namesPath(name, path string) bool {
	name, path = strings.TrimPrefix(strings.TrimSuffix(name, "/"), "./"), strings.TrimPrefix(path, "./")
	if name == "" || name == "." || name == "~" {
		return false
	}
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") {
		return path == name || strings.HasPrefix(path, name+"/")
	}
	return strings.Contains("/"+path+"/", "/"+name+"/")
}

// matchesPath reports whether a pattern such as stacks/prod-*/ stands for a path, or for a folder above it.
func matchesPath(pattern, path string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	want := strings.Split(strings.TrimPrefix(strings.TrimSuffix(pattern, "/"), "./"), "/")
	if want[0] != "" && want[0] != "~" {
		want = append([]string{"**"}, want...)
	}
	return wildcard.Path(append(want, "**"), strings.Split(strings.TrimPrefix(path, "./"), "/"))
}

// shared counts the hashes of a list that are among others, 8 digits each.
func shared(list []string, among string) int {
	n := 0
	for _, w := range list {
		if hasDigits(among, w) {
			n++
		}
	}
	return n
}

// hashDigits is the number of digits of a hash that are kept.
const hashDigits = 8

// addDigits appends hashes to a string of them, each once and at its last
// position, and keeps the last n.
func addDigits(row string, hashes []string, n int) string {
	for _, h := range hashes {
		if len(h) < hashDigits || !plainASCII(h[:hashDigits]) {
			continue
		}
		if i := findDigits(row, h); i >= 0 {
			row = row[:i] + row[i+hashDigits:]
		}
		row += h[:hashDigits]
		row = row[max(0, len(row)-n*hashDigits):]
	}
	return row
}

func hasDigits(row, hash string) bool { return findDigits(row, hash) >= 0 }

// findDigits returns where a hash is in a string of them, or -1.
func findDigits(row, hash string) int {
	if len(hash) < hashDigits {
		return -1
	}
	for i := 0; i+hashDigits <= len(row); i += hashDigits {
		if row[i:i+hashDigits] == hash[:hashDigits] {
			return i
		}
	}
	return -1
}

// appendOnce moves an element to the end of a list.
func appendOnce[T comparable](list []T, e T) []T {
	return append(slices.DeleteFunc(list, func(o T) bool { return o == e }), e)
}

// knownWords removes words outside a closed vocabulary.
func knownWords[T ~string](list []T, all []string) []T {
	var known []T
	for _, w := range list {
		if slices.Contains(all, string(w)) {
			known = append(known, w)
		}
	}
	return known
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
