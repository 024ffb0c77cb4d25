package main

import (
	"maps"
	"slices"
	"strings"
)

// row is the row of a program or a subcommand; lists are words separated by blanks.
// Persistent options and a grammar apply to all subcommands; runs and script are
// numbers of operands.
type row struct {
	Code        string          `yaml:"code,omitempty"`
	Dangerous   any             `yaml:"dangerous,omitempty"` // options, or true: the whole program
	Glued       string          `yaml:"glued,omitempty"`     // a value is in the same word, or there is none
	Grammar     string          `yaml:"grammar,omitempty"`   // first: options end at the first operand; long: -name is one
	Persistent  string          `yaml:"persistent,omitempty"`
	Runs        *int            `yaml:"runs,omitempty"`
	Script      *int            `yaml:"script,omitempty"`
	Scripts     string          `yaml:"scripts,omitempty"`
	Values      string          `yaml:"values,omitempty"` // options that take the next word
	Subcommands map[string]*row `yaml:"subcommands,omitempty"`
}

// Rows are embedded, so very large ones are shortened: rare options are left out.
const (
	largeRow   = 32 << 10
	fewestRows = 5
)

// rowOf makes the row of a program.
func rowOf(f *fact) *row {
	f.settle(nil)
	r := f.row()
	if len(text(r)) > largeRow {
		f.settle(nil)
		f.forgetRare(fewestRows)
		r = f.row()
	}
	return r
}

// row makes the row of a settled fact. An option with an optional value is only
// written if it is a short one: -pVALUE is not -p -V -A…, while --option=VALUE reads
// the same in any case.
func (f *fact) row() *row {
	r := &row{Runs: f.Runs, Script: f.Script, Grammar: f.grammar(), Dangerous: f.dangerous()}
	if len(f.Subcommands) > 0 {
		r.Persistent = strings.Join(f.agreed(), " ")
	}
	r.Values, r.Code, r.Scripts = f.options(takesNext), f.options(takesCode), f.options(takesScript)
	r.Glued = f.options(takesSame)
	r.Subcommands = subcommands(f.Subcommands)
	return r
}

// options lists the options that take this kind of value.
func (f *fact) options(v value) string {
	var names []string
	for n, is := range f.takes {
		if is == v && (v != takesSame || !strings.HasPrefix(n, "--")) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func (f *fact) grammar() string {
	var words []string
	if f.First {
		words = append(words, "first")
	}
	if f.Long {
		words = append(words, "long")
	}
	return strings.Join(words, " ")
}

func (f *fact) dangerous() any {
	if f.Dangerous {
		return true
	}
	var names []string
	for _, o := range f.Options {
		if o.Dangerous {
			names = append(names, o.Names...)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

func subcommands(list []*fact) map[string]*row {
	rows := map[string]*row{}
	for _, f := range list {
		r := f.row()
		for _, n := range f.Names {
			if rows[n] == nil { // of duplicates, the first counts
				rows[n] = r
			}
		}
	}
	return shared(rows)
}

// nothing is the text of an empty row.
const nothing = "{}\n"

// shared leaves out empty rows and puts equal ones under one key.
func shared(rows map[string]*row) map[string]*row {
	names := map[string][]string{}
	for _, n := range slices.Sorted(maps.Keys(rows)) {
		if t := text(rows[n]); t != nothing {
			names[t] = append(names[t], n)
		}
	}
	all := map[string]*row{}
	for _, same := range names {
		for _, key := range keys(same) {
			all[key] = rows[same[0]]
		}
	}
	return all
}

// longestKey is about the maximum length of a plain YAML key.
const longestKey = 120

// keys joins names into as few keys as possible.
func keys(names []string) []string {
	list := []string{names[0]}
	for _, n := range names[1:] {
		if last := &list[len(list)-1]; len(*last)+1+len(n) <= longestKey {
			*last += " " + n
		} else {
			list = append(list, n)
		}
	}
	return list
}
