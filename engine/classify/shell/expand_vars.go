package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"mvdan.cc/sh/v3/syntax"
)

// Get returns the value of a variable or special parameter. Of several alternatives it
// is the one that the current command uses.
func (s *Machine) Get(name string) abstract.Arg {
	if v, ok := s.Scope.Lookup(name); ok {
		return s.pick(name, v)
	}
	if a, ok := s.special(name); ok {
		return a
	}
	if v, ok := s.In.Env[name]; ok {
		return v.Arg()
	}
	return s.ambient(name)
}

// Read is Get for internal use: alternatives are joined.
func (s *Machine) Read(name string) abstract.Arg {
	if v, ok := s.Scope.Lookup(name); ok && len(v.alts) > 0 {
		return abstract.JoinArgs(v.alts)
	}
	return s.Get(name)
}

func (s *Machine) pick(name string, v variable) abstract.Arg {
	switch {
	case v.array && len(v.list) > 0:
		return v.list[0]
	case len(v.alts) == 0:
		return abstract.Arg{}
	case len(v.alts) == 1 || s.Scope.picks == nil:
		return abstract.JoinArgs(v.alts)
	}
	i, ok := s.Scope.picks[name]
	if !ok {
		s.Scope.picks[name] = 0
	}
	if i < 0 || i >= len(v.alts) {
		return abstract.JoinArgs(v.alts)
	}
	return v.alts[i]
}

// outside reports whether the script never sets a variable.
func (s *Machine) outside(name string) bool {
	_, ok := s.Scope.Lookup(name)
	return !ok
}

func (s *Machine) isSet(name string) bool {
	v, ok := s.Scope.Lookup(name)
	return !ok || v.array || len(v.alts) > 0
}

// special returns a parameter that the shell itself sets.
func (s *Machine) special(name string) (abstract.Arg, bool) {
	if n, err := strconv.Atoi(name); err == nil {
		return s.positional(n), true
	}
	switch name {
	case "PWD":
		return JoinDirs(s.Scope.Dirs), true
	case "OLDPWD":
		return JoinDirs(s.Scope.previous), true
	case "#":
		return abstract.Word(strconv.Itoa(len(s.Scope.args))), s.Scope.bound
	case "@", "*":
		return JoinWords(s.Scope.args), true
	case "IFS":
		return abstract.Word(" \t\n"), true
	case "PPID":
		return abstract.Word(parentProcess), true
	case "$", "!", "BASHPID":
		return abstract.Arg{Text: abstract.HoleText, Taint: abstract.OwnProcess}, true
	case "?", "-", "#!", "_", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "UID", "EUID",
		"EPOCHSECONDS", "EPOCHREALTIME", "HOSTNAME", "OSTYPE", "MACHTYPE", "BASH_SOURCE", "FUNCNAME", "BASH_VERSION",
		"REPLY", "PIPESTATUS", "BASH_REMATCH", "COLUMNS", "LINES":
		return abstract.UnknownArg(), true
	}
	return abstract.Arg{}, false
}

func (s *Machine) positional(n int) abstract.Arg {
	switch {
	case n == 0 && s.Scope.name.Text != "":
		return s.Scope.name
	case n == 0:
		return abstract.UnknownArg()
	case !s.Scope.bound:
		return abstract.Word(abstract.VacancyText)
	case n > len(s.Scope.args):
		for _, a := range s.Scope.args {
			if a.Splits {
				return abstract.UnknownArg()
			}
		}
		return abstract.Arg{}
	}
	for _, a := range s.Scope.args[:n-1] {
		if a.Splits {
			return abstract.JoinArgs(s.Scope.args)
		}
	}
	return s.Scope.args[n-1]
}

// JoinDirs returns the common part of the directories that a shell may be in.
func JoinDirs(dirs []abstract.Value) abstract.Arg {
	list := make([]abstract.Arg, len(dirs))
	for i, d := range dirs {
		list[i] = d.Arg()
	}
	if len(list) == 0 {
		return abstract.UnknownArg()
	}
	return abstract.JoinArgs(list)
}

// ambient returns a variable of the environment: unknown, except for those that every
// system has.
func (s *Machine) ambient(name string) abstract.Arg {
	switch name {
	case "HOME":
		if s.In.Home != "" {
			return abstract.Word(s.In.Home)
		}
		return abstract.UnknownArg()
	case "HISTFILE": // who empties or reads it means the history of the person's shell
		if s.In.Home != "" {
			return abstract.Word(s.In.Home + "/.bash_history")
		}
		return abstract.UnknownArg()
	case "REVIEWER_HOME": // reading it as unset would hide what is opened there
		if s.In.State != "" {
			return abstract.Word(s.In.State)
		}
	case "TMPDIR", "TMP", "TEMP", "RUNNER_TEMP":
		return abstract.Arg{Text: "/tmp", Spare: true, Bare: abstract.VacancyText}
	case "PATH", "SHELL", "USER", "LOGNAME", "LANG", "TERM":
		return abstract.UnknownArg()
	}
	if s.unset {
		return abstract.Arg{}
	}
	return abstract.Arg{Text: abstract.VacancyText, Taint: s.variable(name)}
}

// assign carries out x=v, x+=v, x[i]=v and x=(…).
func (s *Machine) assign(as *syntax.Assign) {
	if as.Name == nil || as.Naked && as.Index == nil {
		return
	}
	name := as.Name.Value
	s.GuardVariable(name)
	old, _ := s.Scope.Lookup(name)
	if as.Array != nil {
		s.assignArray(as, old)
		return
	}
	alts := s.alternatives(as.Value)
	if as.Array == nil && as.Index == nil && !as.Append && len(alts) > 0 && alts[0].Is("", abstract.VacancyText) {
		s.TakesMarker(name)
	}
	switch {
	case as.Index != nil:
		s.Scope.set(name, s.putElement(old, as, alts))
	case as.Append && old.array:
		s.Scope.set(name, old.with(alts))
	case as.Append:
		s.Scope.SetText(name, s.appended(s.Read(name), alts)...)
	default:
		for i, a := range alts {
			alts[i] = s.settles(name, a)
		}
		s.Scope.SetText(name, alts...)
	}
	for _, a := range alts {
		s.envCode(name, a)
	}
}

// appended is x+=v. The text of a variable that grows is copied only when its memory is full:
// comparing a string with itself takes no time.
func (s *Machine) appended(old abstract.Arg, alts []abstract.Arg) []abstract.Arg {
	out := make([]abstract.Arg, len(alts))
	for i, a := range alts {
		if out[i] = abstract.Concat(abstract.Arg{Taint: old.Taint, Part: old.Part}, a); len(old.Text)+len(a.Text) > abstract.MaxText {
			out[i] = abstract.Concat(old, a)
			continue
		}
		if s.grown == nil || s.grown.String() != old.Text {
			s.grown = &strings.Builder{}
			s.grown.WriteString(old.Text)
		}
		s.grown.WriteString(a.Text)
		out[i].Text = s.grown.String()
	}
	return out
}

// with returns an array with more elements at its end. If there are very many, what is left
// is one element that stands for all: each assignment would copy them.
func (v variable) with(more []abstract.Arg) variable {
	v.list = slices.Concat(v.list, more)
	if len(v.list) > MaxElements {
		all := abstract.JoinArgs(v.list)
		if all.Known() {
			all.Text += abstract.HoleText
		}
		all.Splits = true
		v.list, v.sparse = []abstract.Arg{all}, true
	}
	return v
}

// putElement carries out x[i]=v. If i is unknown, the positions of all elements become
// unknown.
func (s *Machine) putElement(old variable, as *syntax.Assign, alts []abstract.Arg) variable {
	v := variable{array: true, sparse: old.sparse, list: old.list}
	if !old.array && len(old.alts) == 1 {
		v.list = old.alts
	}
	i, err := strconv.Atoi(s.arithmetic(as.Index).Text)
	switch {
	case err == nil && !v.sparse && i >= 0 && i < len(v.list) && len(v.list) <= MaxElements && len(alts) == 1 && !as.Append:
		v.list = slices.Clone(v.list)
		v.list[i] = alts[0]
		return v
	case err == nil && !v.sparse && i == len(v.list) && plainIndex(as.Index):
	default:
		v.sparse = true
	}
	return v.with(alts)
}

// plainIndex reports whether an index is a literal number: a name may be the key of an
// associative array.
func plainIndex(x syntax.ArithmExpr) bool {
	_, err := strconv.Atoi(subscript(x))
	return err == nil
}

func (s *Machine) assignArray(as *syntax.Assign, old variable) {
	v := variable{array: true, sparse: as.Append && old.sparse}
	at := map[int][]abstract.Arg{}
	for i, e := range as.Array.Elems {
		place := i
		if e.Index != nil {
			n, err := strconv.Atoi(s.arithmetic(e.Index).Text)
			v.sparse = v.sparse || n != i || err != nil || !plainIndex(e.Index)
			if err == nil && plainIndex(e.Index) {
				place = n
			}
		}
		if e.Value != nil {
			at[place] = append(at[place], s.Expand([]*syntax.Word{e.Value})...)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(at)) {
		v.list = append(v.list, at[place]...)
	}
	if as.Append {
		v = variable{array: true, sparse: v.sparse, list: old.list}.with(v.list)
	}
	s.Scope.set(as.Name.Value, v)
}

// alternatives evaluates the right side of an assignment for each alternative
// of the variables in it.
func (s *Machine) alternatives(w *syntax.Word) []abstract.Arg {
	if w == nil {
		return []abstract.Arg{{}}
	}
	var out []abstract.Arg
	s.variants(func() {
		out = append(out, s.Single(w))
	})
	return out
}

// variants calls f once for each combination of the alternatives of the
// variables that f reads, up to a limit; beyond it they are joined.
func (s *Machine) variants(f func()) {
	saved := s.Scope.picks
	scope := s.Scope
	defer func() { scope.picks = saved }()
	scope.picks = map[string]int{}
	f()
	names := slices.Sorted(maps.Keys(scope.picks))
	sizes := make([]int, len(names))
	total := 1
	for i, n := range names {
		v, _ := scope.Lookup(n)
		sizes[i] = len(v.alts)
		total *= len(v.alts)
		if total > maxVariants {
			for _, n := range names {
				scope.picks[n] = -1
			}
			f()
			return
		}
	}
	for k := 1; k < total; k++ {
		rest := k
		for i, n := range names {
			scope.picks[n] = rest % sizes[i]
			rest /= sizes[i]
		}
		f()
	}
}
