package classify

import (
	"maps"
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// get is the value of a variable or special parameter. Of several alternatives
// it is the one that the present command has picked.
func (s *shell) get(name string) arg {
	if v, ok := s.scope.lookup(name); ok {
		return s.pick(name, v)
	}
	if a, ok := s.special(name); ok {
		return a
	}
	if v, ok := s.in.env[name]; ok {
		return v.arg()
	}
	return s.ambient(name)
}

// read is get for internal use: alternatives are joined.
func (s *shell) read(name string) arg {
	if v, ok := s.scope.lookup(name); ok && len(v.alts) > 0 {
		return joinArgs(v.alts)
	}
	return s.get(name)
}

func (s *shell) pick(name string, v variable) arg {
	switch {
	case v.array && len(v.list) > 0:
		return v.list[0]
	case len(v.alts) == 0:
		return arg{}
	case len(v.alts) == 1 || s.scope.picks == nil:
		return joinArgs(v.alts)
	}
	i, ok := s.scope.picks[name]
	if !ok {
		s.scope.picks[name] = 0
	}
	if i < 0 || i >= len(v.alts) {
		return joinArgs(v.alts)
	}
	return v.alts[i]
}

// outside tells whether the script never sets a variable.
func (s *shell) outside(name string) bool {
	_, ok := s.scope.lookup(name)
	return !ok
}

func (s *shell) isSet(name string) bool {
	v, ok := s.scope.lookup(name)
	return !ok || v.array || len(v.alts) > 0
}

// special is a parameter that the shell itself keeps.
func (s *shell) special(name string) (arg, bool) {
	if n, err := strconv.Atoi(name); err == nil {
		return s.positional(n), true
	}
	switch name {
	case "PWD":
		return joinDirs(s.scope.dirs), true
	case "OLDPWD":
		return joinDirs(s.scope.previous), true
	case "#":
		return word(strconv.Itoa(len(s.scope.args))), s.scope.bound
	case "@", "*":
		return joinWords(s.scope.args), true
	case "IFS":
		return word(" \t\n"), true
	case "PPID":
		return word(parentProcess), true
	case "?", "$", "!", "-", "#!", "_", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "UID", "EUID", "BASHPID",
		"EPOCHSECONDS", "EPOCHREALTIME", "HOSTNAME", "OSTYPE", "MACHTYPE", "BASH_SOURCE", "FUNCNAME", "BASH_VERSION",
		"REPLY", "PIPESTATUS", "BASH_REMATCH", "COLUMNS", "LINES":
		return unknownArg(), true
	}
	return arg{}, false
}

func (s *shell) positional(n int) arg {
	switch {
	case n == 0 && s.scope.name.text != "":
		return s.scope.name
	case n == 0:
		return unknownArg()
	case !s.scope.bound:
		return word(vacancyText)
	case n > len(s.scope.args):
		for _, a := range s.scope.args {
			if a.splits {
				return unknownArg()
			}
		}
		return arg{}
	}
	for _, a := range s.scope.args[:n-1] {
		if a.splits {
			return joinArgs(s.scope.args)
		}
	}
	return s.scope.args[n-1]
}

func joinDirs(dirs []value) arg {
	list := make([]arg, len(dirs))
	for i, d := range dirs {
		list[i] = d.arg()
	}
	if len(list) == 0 {
		return unknownArg()
	}
	return joinArgs(list)
}

// ambient is a variable of the environment that nothing is known about, except
// for those that every system has.
func (s *shell) ambient(name string) arg {
	switch name {
	case "HOME":
		if s.in.home != "" {
			return word(s.in.home)
		}
		return unknownArg()
	case "TMPDIR", "TMP", "TEMP", "RUNNER_TEMP":
		return arg{text: "/tmp", spare: true, bare: vacancyText}
	case "PATH", "SHELL", "USER", "LOGNAME", "LANG", "TERM":
		return unknownArg()
	}
	return word(vacancyText)
}

// assign carries out x=v, x+=v, x[i]=v and x=(…).
func (s *shell) assign(as *syntax.Assign) {
	if as.Name == nil || as.Naked && as.Index == nil {
		return
	}
	name := as.Name.Value
	s.guardVariable(name)
	old, _ := s.scope.lookup(name)
	if as.Array != nil {
		s.assignArray(as, old)
		return
	}
	alts := s.alternatives(as.Value)
	switch {
	case as.Index != nil:
		s.scope.set(name, s.putElement(old, as, alts))
	case as.Append && old.array:
		s.scope.set(name, variable{array: true, sparse: old.sparse, list: append(old.list[:len(old.list):len(old.list)], alts...)})
	case as.Append:
		s.scope.setText(name, appended(s.read(name), alts)...)
	default:
		s.scope.setText(name, alts...)
	}
	for _, a := range alts {
		s.envCode(name, a)
	}
}

func appended(old arg, alts []arg) []arg {
	out := make([]arg, len(alts))
	for i, a := range alts {
		out[i] = concat(old, a)
	}
	return out
}

// putElement is x[i]=v. Where i is not known, nobody knows any more which
// element stands where.
func (s *shell) putElement(old variable, as *syntax.Assign, alts []arg) variable {
	v := variable{array: true, sparse: old.sparse, list: slices.Clone(old.list)}
	if !old.array && len(old.alts) == 1 {
		v.list = slices.Clone(old.alts)
	}
	i, err := strconv.Atoi(s.arithmetic(as.Index).text)
	switch {
	case err == nil && !v.sparse && i >= 0 && i < len(v.list) && len(alts) == 1 && !as.Append:
		v.list[i] = alts[0]
	case err == nil && !v.sparse && i == len(v.list) && plainIndex(as.Index):
		v.list = append(v.list, alts...)
	default:
		v.list, v.sparse = append(v.list, alts...), true
	}
	return v
}

// plainIndex tells whether an index is a number as it stands there: a name may
// be the key of another kind of array.
func plainIndex(x syntax.ArithmExpr) bool {
	_, err := strconv.Atoi(subscript(x))
	return err == nil
}

func (s *shell) assignArray(as *syntax.Assign, old variable) {
	v := variable{array: true}
	if as.Append {
		v.list, v.sparse = append(v.list, old.list...), old.sparse
	}
	at := map[int][]arg{}
	for i, e := range as.Array.Elems {
		place := i
		if e.Index != nil {
			n, err := strconv.Atoi(s.arithmetic(e.Index).text)
			v.sparse = v.sparse || n != i || err != nil || !plainIndex(e.Index)
			if err == nil && plainIndex(e.Index) {
				place = n
			}
		}
		if e.Value != nil {
			at[place] = append(at[place], s.expand([]*syntax.Word{e.Value})...)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(at)) {
		v.list = append(v.list, at[place]...)
	}
	s.scope.set(as.Name.Value, v)
}

// alternatives evaluates the right side of an assignment for each alternative
// of the variables in it.
func (s *shell) alternatives(w *syntax.Word) []arg {
	if w == nil {
		return []arg{{}}
	}
	var out []arg
	s.variants(func() {
		out = append(out, s.single(w))
	})
	return out
}

// variants calls f once for each combination of the alternatives of the
// variables that f reads, up to a limit; beyond it they are joined.
func (s *shell) variants(f func()) {
	saved := s.scope.picks
	scope := s.scope
	defer func() { scope.picks = saved }()
	scope.picks = map[string]int{}
	f()
	names := slices.Sorted(maps.Keys(scope.picks))
	sizes := make([]int, len(names))
	total := 1
	for i, n := range names {
		v, _ := scope.lookup(n)
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
