package programs

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// wrapped runs the command inside a wrapper.
func wrapped(c *shell.Call, k rows.Known) (shell.Outcome, bool) {
	switch {
	case k.Wraps == nil:
		return shell.Outcome{}, false
	case k.Wraps.Go != "":
		return oddWrapper(c, k.Program)
	}
	w := *k.Wraps
	if look := escape(w.Before); look != nil {
		look(c)
	}
	if w.After != "" {
		return behind(c, w)
	}
	if w.Splits != "" {
		c.Args = splitStrings(c.Args)
	}
	first := w.CommandWith == "" || startsWith(c.Args, strings.Fields(w.CommandWith)...)
	o := options.Parse(c.Args, options.Grammar{Values: padded(w.Values), First: first,
		Abbreviates: rows.Has(k.Grammar, rows.Abbreviates), Names: k.HasOption})
	rest := o.Operands
	if w.Sub != "" {
		if len(rest) == 0 || !rows.Has(w.Sub, rest[0].Text) {
			return shell.Outcome{}, false
		}
		if w.FetchesWith != "" && !rows.Has(w.FetchesWith, rest[0].Text) {
			w.Fetches = ""
		}
		inner := options.Parse(rest[1:], options.Grammar{Values: padded(w.Values), First: true})
		o.List, rest = append(o.List, inner.List...), inner.Operands
	}
	wrapperSignals(c, w, o)
	for _, name := range values(o, w.Unsets) {
		c.Shell.GuardVariable(name.Text)
		c.Shell.TakesMarker(name.Text)
	}
	wrapperWrites(c, w, o)
	runsPackage(c, w, o, rest)
	if code, ok := o.Get(strings.Fields(w.Code)...); ok && w.Code != "" {
		return under(c, w, o, func() shell.Outcome { return c.Shell.Embed(code, c.Name, false) }), true
	}
	if w.CommandWith != "" && !given(o, w.CommandWith) {
		return shell.Outcome{}, false
	}
	return unwrap(c, w, o, rest)
}

// wrapperWrites records the files that a wrapper itself writes.
func wrapperWrites(c *shell.Call, w rows.Wrapper, o options.Options) {
	if w.Writes == "" {
		return
	}
	own := *c
	own.Opts = o
	r := &rowReader{Call: &own, operands: o.Operands}
	c.Writes("create", r.selected(w.Writes)...)
}

// behind runs the words after one of the options that the row names.
func behind(c *shell.Call, w rows.Wrapper) (shell.Outcome, bool) {
	for i, a := range c.Args {
		if rows.Has(w.After, a.Text) && i+1 < len(c.Args) {
			return under(c, w, options.Options{}, func() shell.Outcome { return runsLine(c, c.Args[i+1:]) }), true
		}
	}
	return shell.Outcome{}, false
}

// runsLine runs a command whose words may all be in one argument: just -c 'rm a.txt'.
func runsLine(c *shell.Call, words []abstract.Arg) shell.Outcome {
	if len(words) == 1 && strings.ContainsAny(words[0].Text, " \t\n") {
		return c.Shell.Embed(words[0], c.Name, false)
	}
	return c.Shell.Invoke(words, c.Node)
}

// values returns the values of some options.
func values(o options.Options, options string) []abstract.Arg {
	return o.All(strings.Fields(options)...)
}

func wrapperSignals(c *shell.Call, w rows.Wrapper, o options.Options) {
	if w.Privileged {
		c.Signal(engine.SignalPrivilege)
	}
	if detaches(w, o) || w.Ignores {
		c.Signal(engine.SignalDeferred)
	}
	if w.Persists != "" && given(o, w.Persists) {
		c.Signal(engine.SignalPersistence)
		c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "enable", Persistence: true}, abstract.Word(c.Name))
	}
}

// detaches reports whether the command continues after its wrapper has ended.
func detaches(w rows.Wrapper, o options.Options) bool {
	return w.Deferred && (w.Waits == "" || !given(o, w.Waits)) || w.Detaches != "" && given(o, w.Detaches)
}

// unwrap removes a wrapper's own arguments and runs the rest.
func unwrap(c *shell.Call, w rows.Wrapper, o options.Options, rest []abstract.Arg) (shell.Outcome, bool) {
	if len(rest) < w.Skip {
		return shell.Outcome{}, false
	}
	w.Bounds = w.Bounds && endsAll(rest[0], o)
	root, rooted := o.Get(strings.Fields(w.RootOption)...)
	if w.Root {
		root, rooted = rest[0], true
	}
	rest = rest[w.Skip:]
	if w.Skip > 0 && w.Code != "" && len(rest) > 1 && rows.Has(w.Code, rest[0].Text) {
		return under(c, w, o, func() shell.Outcome { return c.Shell.Embed(rest[1], c.Name, false) }), true
	}
	if w.Assigns && len(rest) > 0 && rest[0].Is("-") { // env -
		rest = rest[1:]
	}
	var assigns []abstract.Arg
	for w.Assigns && len(rest) > 0 && definesFunction(rest[0]) {
		assigns, rest = append(assigns, rest[0]), rest[1:]
	}
	for w.Assigns && len(rest) > 0 && abstract.IsAssignment(rest[0]) {
		assigns = append(assigns, rest[0])
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0].Is("--") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return shell.Outcome{}, false
	}
	if rooted {
		c.At(c.ChangedRoot(root), func() { c.Shell.Invoke(rest, c.Node) })
		return shell.Outcome{Fail: c.Shell.Scope.Dirs}, true
	}
	return under(c, w, o, func() shell.Outcome {
		for _, a := range assigns {
			c.AssignWord(a)
		}
		if w.Joined {
			return c.Shell.Embed(shell.JoinWords(rest), c.Name, false)
		}
		return c.Shell.Invoke(rest, c.Node)
	}), true
}

// definesFunction reports whether a word is a variable that bash imports as a function:
// BASH_FUNC_ls%%=() { …; }.
func definesFunction(a abstract.Arg) bool {
	return a.HasPrefix("BASH_FUNC_") && strings.Contains(a.Text, "=")
}

// under runs f as a child process of the wrapper.
func under(c *shell.Call, w rows.Wrapper, o options.Options, f func() shell.Outcome) shell.Outcome {
	s := c.Shell
	return c.Nested(func() shell.Outcome {
		s.Frame.Privileged = s.Frame.Privileged || w.Privileged
		s.Frame.Cleared = s.Frame.Cleared || w.Clears != "" && given(o, w.Clears)
		s.Frame.Bounded = s.Frame.Bounded && !w.Deferred && !detaches(w, o) || w.Bounds
		if d, ok := o.Get(strings.Fields(w.Dir)...); ok {
			s.Scope.Enter([]abstract.Value{abstract.JoinDir(s.Scope.Dirs[0], d)})
		}
		if w.Fetches != "" {
			s.Note(engine.EffectNetwork, "fetch", abstract.Word(w.Fetches))
		}
		return f()
	})
}

// endingSignals are signals that end a program.
var endingSignals = []string{"term", "kill", "int", "hup", "quit", "15", "9", "2", "1", "3"}

// endsAll reports whether a timeout(1) ends its command and the processes that it starts: the
// time is known and greater than 0, and the signal is one that ends programs.
func endsAll(limit abstract.Arg, o options.Options) bool {
	if !positiveTime(limit) || o.Has("-f", "--foreground") {
		return false
	}
	if after, ok := o.Get("-k", "--kill-after"); ok {
		return positiveTime(after)
	}
	signal, ok := o.Get("-s", "--signal")
	return !ok || slices.Contains(endingSignals, strings.TrimPrefix(strings.ToLower(signal.Text), "sig"))
}

// positiveTime reports whether a string is a time of sleep(1) that is greater than 0.
func positiveTime(a abstract.Arg) bool {
	n := strings.TrimRight(a.Text, "smhd")
	return len(a.Text)-len(n) <= 1 && strings.Trim(n, "0123456789.") == "" && strings.Count(n, ".") <= 1 && strings.Trim(n, "0.") != ""
}

func startsWith(args []abstract.Arg, options ...string) bool {
	return len(args) > 0 && args[0].Is(options...)
}

// splitStrings replaces env's -S option with its words.
func splitStrings(args []abstract.Arg) []abstract.Arg {
	for i, a := range args {
		text, ok := strings.CutPrefix(a.Text, "--split-string=")
		switch {
		case a.Is("-S", "--split-string", "-vS", "-iS") && i+1 < len(args):
			return slices.Concat(args[:i], fieldsOf(args[i+1]), args[i+2:])
		case ok:
			return slices.Concat(args[:i], fieldsOf(a.With(text)), args[i+1:])
		case a.HasPrefix("-S"):
			return slices.Concat(args[:i], fieldsOf(a.With(a.Text[2:])), args[i+1:])
		case !a.HasPrefix("-") && !abstract.IsAssignment(a):
			return args
		}
	}
	return args
}

func fieldsOf(a abstract.Arg) []abstract.Arg {
	var out []abstract.Arg
	for _, f := range strings.Fields(a.Text) {
		out = append(out, a.With(strings.Trim(f, `'"`)))
	}
	if len(out) > shell.MaxWords {
		return append(out[:shell.MaxWords], abstract.Arg{Text: abstract.HoleText, Splits: true})
	}
	return out
}

// xargs runs a command with the words of its standard input as arguments.
func xargs(c *shell.Call, p rows.Program) (shell.Outcome, bool) {
	s := c.Shell
	o := options.Parse(c.Args, options.Grammar{First: true, Values: padded(p.Wraps.Values), Glued: padded(p.Glued)})
	argv := o.Operands
	if len(argv) == 0 {
		argv = []abstract.Arg{abstract.Word("echo")}
	}
	for _, file := range o.All("-a", "--arg-file") {
		s.Note(engine.EffectFileRead, "read", file)
	}
	mark, each := o.Get("-I", "--replace", "-J", "-i")
	if !each && o.Has("--replace", "-i") {
		mark, each = abstract.Word("{}"), true
	}
	words := inputWords(s, xargsSeparator(o, each))
	if o.Has("-a", "--arg-file") {
		words = []abstract.Arg{{Text: abstract.HoleText, Splits: true, Taint: abstract.Filed}}
	}
	var o2 shell.Outcome
	run := func(argv []abstract.Arg) {
		o2 = c.Nested(func() shell.Outcome {
			s.Frame.Wrappers = s.Frame.Wrappers[:len(s.Frame.Wrappers)-1]
			s.Frame.Via = shell.AppendText(s.Frame.Via, "xargs")
			s.Frame.Stdin, s.Frame.Piped = nil, false
			return s.Invoke(argv, c.Node)
		})
	}
	if !each {
		run(append(argv[:len(argv):len(argv)], words...))
		return o2, true
	}
	for _, w := range words {
		run(replaceMark(argv, mark.Text, w))
	}
	return o2, true
}

// xargsSeparator returns what separates the arguments that xargs reads: blanks, or line ends
// if each line is inserted somewhere.
func xargsSeparator(o options.Options, lines bool) func(rune) bool {
	end, given := o.Get("-d", "--delimiter")
	switch {
	case o.Has("-0", "--null"):
		return func(r rune) bool { return r == 0 }
	case given && end.Known() && len(end.Text) == 1:
		return func(r rune) bool { return r == rune(end.Text[0]) }
	case lines || given:
		return func(r rune) bool { return r == '\n' || r == 0 }
	}
	return blankOrNUL
}

// blankOrNUL reports whether a character is a blank, a line end or NUL.
func blankOrNUL(r rune) bool { return unicode.IsSpace(r) || r == 0 }

// inputWords returns the words of standard input, as far as they are known.
func inputWords(s *shell.Machine, separator func(rune) bool) []abstract.Arg {
	in := s.Frame.Stdin
	if in == nil {
		return []abstract.Arg{{Text: abstract.HoleText, Splits: true}}
	}
	if in.Found != nil {
		words := slices.Clone(in.Found.Files)
		for i := range words {
			words[i].Taint |= in.Taint
		}
		return words
	}
	var out []abstract.Arg
	seen := map[string]bool{}
	for _, f := range inputFields(in.Text, separator) {
		f = strings.Trim(f, "'\" \t")
		if strings.Contains(f, abstract.HoleText) {
			f = strings.TrimRight(f, "\n")
		}
		if !seen[f] {
			seen[f] = true
			out = append(out, abstract.Arg{Text: f, Taint: in.Taint, Splits: f == abstract.HoleText})
		}
	}
	if len(out) > shell.MaxAlts {
		return []abstract.Arg{abstract.JoinArgs(out)}
	}
	return out
}

// inputFields splits standard input; separators in quotes do not count.
func inputFields(text string, separator func(rune) bool) []string {
	if !separator(' ') || !strings.ContainsAny(text, `'"`) {
		return strings.FieldsFunc(text, separator)
	}
	quote := rune(0)
	return strings.FieldsFunc(text, func(r rune) bool {
		switch {
		case quote == r:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		}
		return quote == 0 && separator(r)
	})
}

// replaceMark inserts a word into a template. In quotes in code, as in sh -c 'cat "{}"', a
// pattern would be a name, so only what precedes it is inserted there.
func replaceMark(argv []abstract.Arg, mark string, with abstract.Arg) []abstract.Arg {
	out := make([]abstract.Arg, len(argv))
	for i, a := range argv {
		if mark != "" && strings.Contains(a.Text, mark) {
			word := with
			if strings.ContainsAny(a.Text, `'"`) {
				word = with.Unnamed()
			}
			a.Glob = a.Glob || word.Glob && a.Text == mark
			a.Text = strings.ReplaceAll(a.Text, mark, word.Text)
			a.Taint |= word.Taint
			a.Quoted = true
		}
		out[i] = a
	}
	return out
}

// parallel runs a template for each argument after ::: or each line of input.
func parallel(c *shell.Call, p rows.Program) (shell.Outcome, bool) {
	s := c.Shell
	o := options.Parse(c.Args, options.Grammar{First: true, Values: padded(p.Wraps.Values)})
	wrapperWrites(c, *p.Wraps, o)
	var template, items []abstract.Arg
	list := &template
	for _, a := range o.Operands {
		if a.Is(":::", ":::+") {
			list = &items
			continue
		}
		*list = append(*list, a)
	}
	if items == nil { // each line is an argument, or without a template a command line
		items = inputWords(s, func(r rune) bool { return r == '\n' || r == 0 })
	}
	if len(items) > shell.MaxAlts {
		items = []abstract.Arg{abstract.JoinArgs(items)}
	}
	code := shell.JoinWords(plainMarks(template))
	var last shell.Outcome
	for _, item := range items {
		var text abstract.Arg
		if strings.Contains(code.Text, "{}") {
			text = abstract.Concat(code.With(strings.ReplaceAll(code.Text, "{}", item.Text)), abstract.Arg{Taint: item.Taint})
		} else {
			text = abstract.Concat(abstract.Concat(code, abstract.Word(" ")), item)
		}
		last = s.Embed(text, "parallel", false)
		if len(template) > 1 && slices.ContainsFunc(template, hasBlank) || o.Has("-q", "--quote") || shellCode(template) {
			c.Nested(func() shell.Outcome { return s.Invoke(replaceMark(plainMarks(template), "{}", item), c.Node) })
		}
	}
	return last, true
}

func hasBlank(a abstract.Arg) bool { return strings.ContainsAny(a.Text, " \t\n") }

// shellCode reports whether a template is a shell that is given its code: sh -c {}.
func shellCode(template []abstract.Arg) bool {
	return len(template) > 2 && shell.IsShell(shell.BaseName(template[0].Text)) && template[1].HasPrefix("-")
}

// scriptCommand handles script(1): -c takes code on Linux, operands are the command on BSD.
func scriptCommand(c *shell.Call, p rows.Program) (shell.Outcome, bool) {
	o := options.Parse(c.Args, options.Grammar{Values: padded(p.Wraps.Values)})
	wrapperWrites(c, *p.Wraps, o)
	if code, ok := o.Get(strings.Fields(p.Wraps.Code)...); ok {
		return c.Nested(func() shell.Outcome { return c.Shell.Embed(code, "script", false) }), true
	}
	if len(o.Operands) > 1 {
		return c.Nested(func() shell.Outcome { return c.Shell.Invoke(o.Operands[1:], c.Node) }), true
	}
	return shell.Outcome{}, false
}

// oddWrapper handles wrappers that fit no grammar. It reads the options of the row.
func oddWrapper(c *shell.Call, p rows.Program) (shell.Outcome, bool) {
	name, words, _ := strings.Cut(p.Wraps.Go, " ")
	c.Words = strings.Fields(words)
	if f := oddWrappers()[name]; f != nil {
		return f(c, p)
	}
	return shell.Outcome{}, false
}

// oddWrappers are the functions that the row of a wrapper may name.
func oddWrappers() map[string]func(*shell.Call, rows.Program) (shell.Outcome, bool) {
	return map[string]func(*shell.Call, rows.Program) (shell.Outcome, bool){
		"xargs": xargs, "parallel": parallel, "script": scriptCommand, "coreutils": multicall, "multiplexer": multiplexer, "bwrap": bubble,
	}
}

// multicall handles coreutils --coreutils-prog=NAME.
func multicall(c *shell.Call, _ rows.Program) (shell.Outcome, bool) {
	if len(c.Args) == 0 || !c.Args[0].HasPrefix("--coreutils-prog=") {
		return shell.Outcome{}, false
	}
	argv := append([]abstract.Arg{abstract.Word(strings.TrimPrefix(c.Args[0].Text, "--coreutils-prog="))}, c.Args[1:]...)
	return c.Nested(func() shell.Outcome { return c.Shell.Invoke(argv, c.Node) }), true
}

// bubble handles bwrap: the command sees the files that are mounted for it, which is treated
// as seeing all files. The words are options with two values.
func bubble(c *shell.Call, p rows.Program) (shell.Outcome, bool) {
	args, other := c.Args, false
	for len(args) > 0 && args[0].HasPrefix("--") && !args[0].Is("--") {
		n := 2
		switch option := args[0].Text; {
		case rows.Has(p.Flags, option):
			n = 1
		case slices.Contains(c.Words, option):
			n = 3
		}
		if n > len(args) {
			return shell.Outcome{}, false
		}
		other = other || n == 3 && strings.Contains(args[0].Text, "bind") && args[1].Text != args[2].Text || args[0].Is("--tmpfs")
		args = args[n:]
	}
	if len(args) > 0 && args[0].Is("--") {
		args = args[1:]
	}
	if len(args) == 0 {
		return shell.Outcome{}, false
	}
	return c.Nested(func() shell.Outcome {
		c.Shell.Frame.Remade = c.Shell.Frame.Remade || other
		return c.Shell.Invoke(args, c.Node)
	}), true
}

// entryPoint runs the program that an option names, or the word after =, with the words after
// the second operand: flatpak run --command=sh APP -c CODE.
func entryPoint(c *shell.Call) {
	app := slices.IndexFunc(c.Args, func(a abstract.Arg) bool { return len(c.Opts.Operands) > 1 && a.Text == c.Opts.Operands[1].Text })
	for _, word := range c.Words {
		program, ok := c.Opts.Get(word)
		if name, said := strings.CutPrefix(word, "="); said {
			program, ok = abstract.Word(name), true
		}
		if ok && app >= 0 {
			c.Shell.Invoke(append([]abstract.Arg{program}, c.Args[app+1:]...), c.Node)
			return
		}
	}
}
