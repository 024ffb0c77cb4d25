package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	longestFunction = 80  // lines
	widestLine      = 140 // columns, a tab counts as one
)

// limits are the limits of every package, by kind.
func limits() map[string]int {
	return map[string]int{"files": 30, "lines": 8000, "component": 15, "functions": 0, "wide": 0}
}

// counts are the measured values of a package.
func (p *Package) counts() map[string]int {
	return map[string]int{
		"files": p.Files, "lines": p.Lines, "component": len(p.Component), "functions": len(p.Functions), "wide": len(p.Wide),
	}
}

// exceptionsFile lists the packages that are above a limit and still have to
// become smaller. Each line has a package and what it may have for now:
//
//	engine files=35 wide=12
const exceptionsFile = "cmd/dev/structure/exceptions.txt"

const exceptionsHead = `# Packages that may exceed the limits of limits.go for now.
# The file may only become shorter: make structure reports where it can.
`

// exceptions are what packages may have for now, by package and count.
type exceptions map[string]map[string]int

func readExceptions(root string) (exceptions, error) {
	raw, err := os.ReadFile(filepath.Join(root, exceptionsFile))
	if err != nil {
		return nil, err
	}
	return parseExceptions(string(raw))
}

func parseExceptions(text string) (exceptions, error) {
	all := exceptions{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		all[words[0]] = map[string]int{}
		for _, word := range words[1:] {
			name, value, _ := strings.Cut(word, "=")
			n, err := strconv.Atoi(value)
			if _, known := limits()[name]; !known || err != nil {
				names := slices.Sorted(maps.Keys(limits()))
				return nil, fmt.Errorf("%s: %s: %q: expected one of %s with a number", exceptionsFile, words[0], word, strings.Join(names, ", "))
			}
			all[words[0]][name] = n
		}
	}
	return all, nil
}

// exceptionsOf are the exceptions that packages need.
func exceptionsOf(list []*Package) exceptions {
	all := exceptions{}
	for _, p := range list {
		for name, most := range limits() {
			if n := p.counts()[name]; n > most {
				if all[p.Dir] == nil {
					all[p.Dir] = map[string]int{}
				}
				all[p.Dir][name] = n
			}
		}
	}
	return all
}

// text formats exceptions as in their file.
func (e exceptions) text() string {
	text := exceptionsHead
	for _, dir := range slices.Sorted(maps.Keys(e)) {
		text += dir
		for _, name := range slices.Sorted(maps.Keys(e[dir])) {
			text += fmt.Sprintf(" %s=%d", name, e[dir][name])
		}
		text += "\n"
	}
	return text
}

// check lists measurements that exceed the limits and are not exceptions.
func check(list []*Package, known exceptions) []string {
	needed := exceptionsOf(list)
	var above []string
	for _, p := range list {
		for _, name := range slices.Sorted(maps.Keys(needed[p.Dir])) {
			most := max(limits()[name], known[p.Dir][name])
			if n := needed[p.Dir][name]; n > most {
				above = append(above, fmt.Sprintf("%s: %s: %d, at most %d%s", p.Dir, name, n, most, p.example(name)))
			}
		}
	}
	return above
}

// example is a place that exceeds a limit.
func (p *Package) example(name string) string {
	places := map[string][]string{"functions": p.Functions, "wide": p.Wide}[name]
	if len(places) == 0 {
		return ""
	}
	return ", such as " + places[0]
}

// stale lists the exceptions that can become smaller, or be removed.
func stale(list []*Package, known exceptions) []string {
	needed := exceptionsOf(list)
	var all []string
	for _, dir := range slices.Sorted(maps.Keys(known)) {
		for _, name := range slices.Sorted(maps.Keys(known[dir])) {
			if n := needed[dir][name]; n == 0 {
				all = append(all, fmt.Sprintf("%s: %s can go", dir, name))
			} else if n < known[dir][name] {
				all = append(all, fmt.Sprintf("%s: %s=%d", dir, name, n))
			}
		}
	}
	return all
}
