package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// longestList is how many tests a list may name.
const longestList = 10

// An entry of the list: tests that may be repeated.
type entry struct{ pkg, test, reason string }

// computing lists packages whose tests must pass at the first try: what they test decides about calls, and
// where a test of them waits, it can wait for what happens. It holds for packages below them, too.
var computing = []string{"bundles", "rego", "cel", "schemas", "engine",
	"cmd/reviewer/lint", "cmd/reviewer/report", "cmd/reviewer/trial", "cmd/reviewer/wiring"}

// readList reads lines such as "./cmd/reviewer TestScript/serve waits for a child process". Lines
// that begin with # are comments.
func readList(file string) ([]entry, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []entry
	for i, line := range strings.Split(string(raw), "\n") {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		where := fmt.Sprintf("%s:%d", file, i+1)
		words := strings.Fields(line)
		if len(words) < 3 || !strings.HasPrefix(words[0], "./") || !strings.HasPrefix(words[1], "Test") {
			return nil, fmt.Errorf("%s: want ./PACKAGE TEST REASON", where)
		}
		e := entry{strings.TrimPrefix(words[0], "./"), words[1], strings.Join(words[2:], " ")}
		if slices.ContainsFunc(computing, func(p string) bool { return e.pkg == p || strings.HasPrefix(e.pkg, p+"/") }) {
			return nil, fmt.Errorf("%s: tests of %s are not repeated; repair the test", where, e.pkg)
		}
		if list = append(list, e); len(list) > longestList {
			return nil, fmt.Errorf("%s: more than %d tests; repair one", where, longestList)
		}
	}
	return list, nil
}

// entry returns the entry that lists a test, or a test around it.
func (r *runner) entry(f failure) *entry {
	for _, e := range r.listed {
		if f.pkg == r.module+"/"+e.pkg && (f.test == e.test || strings.HasPrefix(f.test, e.test+"/")) {
			return &e
		}
	}
	return nil
}
