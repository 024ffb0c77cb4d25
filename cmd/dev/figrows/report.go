package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// counts are the contents of the source; subcommands with several names count once.
type counts struct {
	programs, subcommands, options, next, same, code, scripts, dangerous, runs int
}

func (s *source) counts() counts {
	c := counts{programs: len(s.programs), subcommands: -len(s.programs)}
	for _, p := range s.programs {
		p.walk(c.add)
	}
	return c
}

func (c *counts) add(f *fact) {
	c.subcommands++
	c.dangerous += one(f.Dangerous)
	c.runs += one(f.Runs != nil)
	c.scripts += one(f.Script != nil)
	for _, o := range f.Options {
		c.options++
		c.dangerous += one(o.Dangerous)
		c.next += one(o.Value == takesNext)
		c.same += one(o.Value == takesSame)
		c.code += one(o.Value == takesCode)
		c.scripts += one(o.Value == takesScript)
	}
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// report summarises what was found, written and left out.
func (s *source) report(w io.Writer, rows map[string]*row) error {
	c := s.counts()
	_, err := fmt.Fprintf(w, `%s %s: %d programs, %d subcommands
%d options: %d take the next word, %d may take a value, %d take code
%d operands are commands, %d operands and options are scripts, %d marks of danger
%d programs about which nothing is known but their options without values: no row
`, sourceName, sourceVersion, c.programs, c.subcommands, c.options, c.next, c.same, c.code, c.runs, c.scripts, c.dangerous, silent(rows))
	for _, why := range slices.Sorted(maps.Keys(s.leftOut)) {
		if err == nil {
			_, err = fmt.Fprintf(w, "left out: %4d %s: %s\n", len(s.leftOut[why]), why, most(s.leftOut[why]))
		}
	}
	return err
}

func silent(rows map[string]*row) (n int) {
	for _, r := range rows {
		n += one(text(r) == nothing)
	}
	return n
}

// most lists the programs with the highest counts.
func most(places []string) string {
	n := map[string]int{}
	for _, p := range places {
		name, _, _ := strings.Cut(p, " ")
		n[name]++
	}
	names := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b))
	})
	if len(names) > 12 {
		names = append(names[:12], "…")
	}
	return strings.Join(names, " ")
}
