package main

import (
	"cmp"
	"maps"
	"slices"
)

// fact is the output of convert.mjs about a program or a subcommand.
type fact struct {
	Names       []string
	First       bool // options end at the first operand
	Long        bool // -name is one option
	Dangerous   bool
	Runs        *int // the operand with which a command begins that is run
	Script      *int // the operand that is a script that is run
	Options     []option
	Subcommands []*fact

	takes map[string]value // what each option takes, once settled
}

type option struct {
	Names                 []string
	Value                 value
	Dangerous, Persistent bool
}

// value describes what an option takes; if a spec has an option twice, the later value
// in this list counts.
type value string

const (
	takesNothing value = ""
	takesSame    value = "optional" // a value in the same word, or none
	takesNext    value = "next"     // the next word
	takesScript  value = "script"   // a script that is run
	takesCode    value = "code"     // a command line, or code
)

func stronger(a, b value) value {
	order := []value{takesNothing, takesSame, takesNext, takesScript, takesCode}
	return slices.MaxFunc([]value{a, b}, func(a, b value) int {
		return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
	})
}

// settle determines what each option takes, given the persistent options of the parent
// rows.
func (f *fact) settle(above map[string]value) {
	own, below := map[string]value{}, map[string]value{}
	for _, o := range f.Options {
		for _, n := range o.Names {
			own[n] = stronger(own[n], o.Value)
			if o.Persistent {
				below[n] = own[n]
			}
		}
	}
	f.takes = over(above, own)
	for _, s := range f.Subcommands {
		s.settle(over(above, below))
	}
}

func over(base, more map[string]value) map[string]value {
	all := map[string]value{}
	maps.Copy(all, base)
	maps.Copy(all, more)
	return all
}

// walk calls a function for a row and for all rows under it.
func (f *fact) walk(visit func(*fact)) {
	visit(f)
	for _, s := range f.Subcommands {
		s.walk(visit)
	}
}

// agreed returns the options that take the next word in every row that has them. They
// are removed from the rows and written once.
func (f *fact) agreed() []string {
	differ, all := map[string]bool{}, map[string]bool{}
	f.walk(func(f *fact) {
		for n, v := range f.takes {
			differ[n] = differ[n] || v != takesNext
			all[n] = true
		}
	})
	var names []string
	for n := range all {
		if !differ[n] {
			names = append(names, n)
		}
	}
	f.walk(func(f *fact) {
		for _, n := range names {
			delete(f.takes, n)
		}
	})
	slices.Sort(names)
	return names
}

// forgetRare removes options with plain values that fewer than a number of rows have.
func (f *fact) forgetRare(fewest int) {
	rows := map[string]int{}
	f.walk(func(f *fact) {
		for n := range f.takes {
			rows[n]++
		}
	})
	f.walk(func(f *fact) {
		for n, v := range f.takes {
			if v == takesNext && rows[n] < fewest {
				delete(f.takes, n)
			}
		}
	})
}
