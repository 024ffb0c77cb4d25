package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// grammar returns how arguments are parsed according to a row.
func grammar(c *shell.Call, p rows.Program) options.Grammar { return options.OfRow(c.Shell.In.Rows, p) }

// padded adds a space before the first word of a list and after the last.
func padded(words string) string { return options.Padded(words) }

// rowReader applies a row to one call.
type rowReader struct {
	*shell.Call
	operands []abstract.Arg // after the names of subcommands that have a row
	behind   int            // how many of them the case's sub names
	meaning  *meaning       // what the words say, as far as that has been asked for
	meant    string         // the part of it that the case asked for
}

// follow records what a call does according to a row.
func follow(c *shell.Call, p rows.Program) {
	r := &rowReader{Call: c, operands: c.Opts.Operands}
	var dirs []abstract.Arg
	for _, option := range strings.Fields(p.Dir) {
		dirs = append(dirs, c.Opts.All(option)...)
	}
	c.InDirectory(dirs, func() { r.row(p) })
}

// row applies the row of a program, or of the subcommand that is called.
func (r *rowReader) row(p rows.Program) {
	r.notes(p.Before)
	if sub, ok := r.subcommand(p); ok {
		r.row(sub)
		r.notes(p.Notes)
		return
	}
	defer r.far(p.Daemon)()
	r.Service = r.talksTo(p)
	r.names(p)
	if r.surely(p.DryRun) || r.asksUsage(p) {
		r.Signal(engine.SignalDryRun)
		return
	}
	r.cases(p)
	r.notes(p.Notes)
	r.embedded(p)
}

// asksUsage reports whether a call contains only names of subcommands and operations, and
// one of the words with which the program prints its usage.
func (r *rowReader) asksUsage(p rows.Program) bool {
	names, n := len(r.Subs), len(r.Args)
	if p.Depth != nil {
		names += *p.Depth
	}
	return p.Usage != "" && n > 0 && n <= names+1 && rows.Has(p.Usage, r.Args[n-1].Text) &&
		!slices.ContainsFunc(r.Args[:n-1], func(a abstract.Arg) bool { return a.HasPrefix("-") || !a.Known() })
}

// notes applies all cases whose conditions are true.
func (r *rowReader) notes(cases []rows.Case) {
	for _, n := range cases {
		if r.holds(n, false) {
			r.steps(n)
		}
	}
}

// subcommand applies the row of the subcommand that is called.
func (r *rowReader) subcommand(p rows.Program) (sub rows.Program, ok bool) {
	if len(p.Subcommands) == 0 {
		return p, false
	}
	if len(r.operands) > 1 && r.operands[0].Known() && rows.Has(p.Optional, r.operands[0].Text) {
		r.enter(p)
	}
	if len(r.operands) > 0 {
		name := "*" // whatever it is
		if r.operands[0].Known() {
			name = r.operands[0].Text
		}
		sub, ok = p.Subcommand(name)
	}
	if !ok {
		r.reread(p)
		return p, false
	}
	sub = inside(p, sub)
	if !r.operands[0].Known() {
		sub.DryRun, sub.Usage = "", "" // it may not have these
	}
	r.enter(sub)
	return sub, true
}

// inside returns the row of a subcommand with the parts of its program's row that apply to all
// subcommands.
func inside(p, sub rows.Program) rows.Program {
	if !sub.Does() { // it only defines how the arguments are parsed
		sub.Cases, sub.Go, sub.Language = p.Cases, p.Go, p.Language
	}
	for _, word := range strings.Fields(p.Grammar) {
		if word != rows.First && word != rows.Own {
			sub.Grammar += " " + word
		}
	}
	join := func(a, b string) string { return strings.TrimSpace(a + " " + b) }
	sub.Persistent, sub.DryRun = join(rows.Without(p.Persistent, sub.Flags), sub.Persistent), join(p.DryRun, sub.DryRun)
	sub.Usage = join(p.Usage, sub.Usage)
	sub.Endpoint, sub.Daemon = join(p.Endpoint, sub.Endpoint), join(p.Daemon, sub.Daemon)
	if sub.Service == "" {
		sub.Service = p.Service
	}
	return sub
}

// enter takes the first operand as a subcommand's name, and parses the following arguments
// by its row.
func (r *rowReader) enter(sub rows.Program) {
	outer, name := r.Opts, r.operands[0]
	names := outer.Operands[:len(outer.Operands)-len(r.operands)+1]
	r.Opts = options.Parse(r.operands[1:], grammar(r.Call, sub))
	r.operands = r.Opts.Operands
	r.Opts.Operands = slices.Concat(names, r.operands)
	r.Opts.List, r.Opts.Flags = slices.Concat(outer.List, r.Opts.List), slices.Concat(outer.Flags, r.Opts.Flags)
	r.Subs = append(r.Subs, name.Show())
}

// talksTo returns what a program talks to: a service, or its replacement on this machine.
func (r *rowReader) talksTo(p rows.Program) abstract.Arg {
	if at, ok := r.Opts.Get(strings.Fields(p.Endpoint)...); ok && place.Loopback(place.HostOf(at.Value())) {
		return at
	}
	if p.Service == "" {
		return abstract.Word(r.Name)
	}
	return abstract.Word(p.Service)
}

// far makes the machine that options name the one where everything happens, until the
// returned function is called.
func (r *rowReader) far(options string) (back func()) {
	frame, host := &r.Shell.Frame, r.Shell.Frame.Host
	for _, one := range strings.Fields(options) {
		var a abstract.Arg
		if name, ok := strings.CutPrefix(one, "$"); ok {
			a = r.Shell.Read(name)
		} else {
			a, _ = r.Opts.Get(one)
		}
		named := strings.HasSuffix(strings.ToLower(one), "context") || one == "--connection"
		switch {
		case named && a.Known() && a.Text != "" && !slices.Contains(r.Shell.In.Rows.Words("programs.local_engines"), a.Text):
			frame.Host = r.Shell.HostName("docker", a)
		case !named && abstract.IsURL(a) && !a.HasPrefix("unix://") && !a.HasPrefix("npipe://") && !a.HasPrefix("fd://"):
			if name := a.With(hostText(a.Text[operation.SchemeLength(a.Text):])); !place.Loopback(name.Text) {
				frame.Host = r.Shell.HostName("docker", name)
			}
		default:
			continue
		}
		break
	}
	return func() { frame.Host = host }
}

// reread parses the arguments again if none of the subcommands with a row is named: options
// may then follow operands.
func (r *rowReader) reread(p rows.Program) {
	p.Subcommands = nil
	if g := grammar(r.Call, p); !g.First {
		names := len(r.Opts.Operands) - len(r.operands)
		o := options.Parse(r.operands, g)
		r.operands, r.Opts.Ends = o.Operands, o.Ends
		r.Opts.Operands = slices.Concat(r.Opts.Operands[:names:names], o.Operands)
		r.Opts.List, r.Opts.Flags = slices.Concat(r.Opts.List, o.List), slices.Concat(r.Opts.Flags, o.Flags)
	}
}

// cases applies the first case whose conditions are true, or else the row's own function.
func (r *rowReader) cases(p rows.Program) {
	for _, one := range p.Cases {
		if !r.holds(one, true) {
			continue
		}
		if r.shows(p, one) {
			r.Call.Process()
			return
		}
		r.NoRow = others(p, one) && len(r.operands) == len(r.Opts.Operands) // and not in the row of a subcommand
		r.steps(one)
		return
	}
	r.NoRow = r.NoRow || p.Go+p.Language == "" && len(p.Cases)+len(p.Subcommands) > 0
	switch {
	case p.Go != "":
		r.calls(p.Go)
	case p.Language != "":
		interpret(r.Call, p)
	}
}

// others reports whether a case is for all operations that the row does not name.
func others(p rows.Program, c rows.Case) bool {
	names := func(other rows.Case) bool { return other.Sub+other.Means != "" }
	return c.Always() && (len(p.Subcommands) > 0 || slices.ContainsFunc(p.Cases, names))
}

// shows reports whether the verb of a call only shows something, although the case that applies, which is
// for all operations that the row does not name, says that they change something. What the guard allows,
// its row names.
func (r *rowReader) shows(p rows.Program, c rows.Case) bool {
	guards := func(s rows.Step) bool { return rows.Has(s.Signal, string(engine.SignalGuardTamper)) }
	return others(p, c) && !onlyReads(c) && len(r.operands) > 0 && listed(r.Call, "shows", r.operands[0].Text) &&
		!slices.ContainsFunc(c.Do, guards)
}

// calls runs the function that a row names, with the words after its name. Without it
// nothing is known about the call.
func (r *rowReader) calls(text string) {
	name, words, _ := strings.Cut(text, " ")
	r.Words = strings.Fields(words)
	f := r.Shell.In.Knows.Go(name)
	if f == nil {
		r.Shell.Opaque("command", r.Name)
		f = (*shell.Call).Process
	}
	f(r.Call)
}

// names adds the operands that name an operation to the list of subcommands.
func (r *rowReader) names(p rows.Program) {
	asks := func(f func(rows.Case) bool) bool { return slices.ContainsFunc(p.Cases, f) }
	words, depth := r.operands, 0
	if p.Depth != nil {
		depth = min(*p.Depth, len(words))
		words = words[:depth]
	}
	if asks(func(c rows.Case) bool { return c.Means != "" }) {
		r.meaning = meaningOf(r.Call, words)
	}
	switch {
	case p.Depth != nil:
	case r.meaning != nil:
		depth = r.meaning.names
	case asks(func(c rows.Case) bool { return c.Sub != "" }):
		depth = min(1, len(words))
	case len(p.Subcommands) > 0: // one without a row of its own
		depth = min(1, plainWords(words))
	}
	for _, a := range r.operands[:depth] {
		if a.Text != "" {
			r.Subs = append(r.Subs, a.Show())
		}
	}
}

// given reports whether a call has one of the options, with whatever value.
func given(o options.Options, options string) bool { return o.Has(strings.Fields(options)...) }

func (r *rowReader) given(options string) bool { return given(r.Opts, options) }

// on reports whether a call has one of the options, and no value that may switch it off.
func (r *rowReader) on(options string) bool { return r.On(false, strings.Fields(options)...) }

// surely reports whether a call has one of the options, and no value but those that switch
// it on.
func (r *rowReader) surely(options string) bool { return r.On(true, strings.Fields(options)...) }

// holds reports whether all conditions of a case are true, which applies instead of those
// after it or in addition. Where an option may be switched off, it counts if that makes the
// call worse.
func (r *rowReader) holds(c rows.Case, instead bool) bool {
	r.behind = 0
	given, without, valued := r.given, r.on, r.valued
	if onlyTries(c) {
		given, without, valued = r.surely, r.given, r.lastValued
	} else if instead && onlyReads(c) {
		given, without, valued = r.on, r.given, r.lastValued
	}
	return r.named(c.Sub) && r.called(c.Names) && r.means(c.Means) && (c.Option == "" || given(c.Option)) &&
		(c.Without == "" || !without(c.Without)) && valued(c.Value) && r.otherwise(c.Other) && r.counted(c.Operands) &&
		r.worded(c.Words) && r.among(c.Any) && (c.Has == "" || len(r.selected(c.Has)) > 0) && (!c.Bare || len(r.Args) == 0) &&
		(!c.Answered || consents(r.Call))
}

// onlyTries reports whether a case says that the program only shows what it would do.
func onlyTries(c rows.Case) bool {
	return slices.ContainsFunc(c.Do, func(s rows.Step) bool { return s.If == "" && tries(s) })
}

func tries(s rows.Step) bool { return rows.Has(s.Signal, string(engine.SignalDryRun)) }

// onlyReads reports whether a case does nothing but read, or run the program itself.
func onlyReads(c rows.Case) bool {
	return !slices.ContainsFunc(c.Do, func(s rows.Step) bool {
		return s.Read == "" && s.Fetch == "" && s.Out == "" && (s.Process != "exec" || s.On != "")
	})
}

// among reports whether one of the operands matches a pattern.
func (r *rowReader) among(patterns string) bool {
	return patterns == "" || slices.ContainsFunc(r.operands, func(a abstract.Arg) bool {
		return rows.Fits(strings.Split(patterns, "|"), a.Text)
	})
}

// called reports whether the program, or the subcommand of this row, was called by one of
// the names.
func (r *rowReader) called(names string) bool {
	return names == "" || rows.Has(names, r.Name) || slices.ContainsFunc(r.Subs, func(sub string) bool { return rows.Has(names, sub) })
}

// means reports whether the words mean one of the things that a case asks for.
func (r *rowReader) means(asked string) bool {
	for _, what := range strings.Fields(asked) {
		if r.meaning != nil && r.meaning.says(what) {
			r.meant = what
			return true
		}
	}
	return asked == ""
}

// named reports whether the first operands match a case's sub.
func (r *rowReader) named(sub string) bool {
	patterns := rows.SubPatterns(sub)
	for _, p := range patterns {
		if r.fits(p) {
			r.behind = len(p)
			return true
		}
	}
	return len(patterns) == 0
}

func (r *rowReader) fits(p rows.SubPattern) bool {
	for i, words := range p {
		a := abstract.Arg{}
		if i < len(r.operands) {
			a = r.operands[i]
		}
		if !rows.Fits(words, a.Text) { // only * fits an unknown string
			return false
		}
	}
	return true
}

func (r *rowReader) valued(wanted map[string]string) bool {
	for options, want := range wanted {
		patterns := strings.Split(want, "|")
		for _, v := range values(r.Opts, options) {
			if rows.Fits(patterns, v.Text) || holdsPart(patterns, v) {
				return true
			}
		}
		if slices.Contains(patterns, "-") && r.given(options) && len(values(r.Opts, options)) == 0 {
			return true
		}
	}
	return len(wanted) == 0
}

// lastValued reports whether one of the options has such a value and is not given again, with
// another one.
func (r *rowReader) lastValued(wanted map[string]string) bool {
	for options, want := range wanted {
		patterns, last, given := strings.Split(want, "|"), "-", false
		for _, opt := range r.Opts.List {
			if slices.ContainsFunc(strings.Fields(options), opt.Matches) {
				last, given = "-", true
				if opt.Has {
					last = opt.Value.Text
				}
			}
		}
		if given && rows.Fits(patterns, last) {
			return true
		}
	}
	return len(wanted) == 0
}

// holdsPart reports whether a string, which may be only partly known, contains
// the text of one of the patterns *text*.
func holdsPart(patterns []string, v abstract.Arg) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		part, ok := rows.Part(p)
		return ok && strings.Contains(v.Text, part)
	})
}

// otherwise reports whether an option has a value that is not one of those listed.
func (r *rowReader) otherwise(values map[string]string) bool {
	for options, usual := range values {
		if slices.ContainsFunc(r.Opts.All(strings.Fields(options)...), func(v abstract.Arg) bool {
			return !rows.Fits(strings.Split(usual, "|"), v.Text) || v.Text != "" && strings.Trim(v.Text, abstract.Holes) == ""
		}) {
			return true
		}
	}
	return len(values) == 0
}

func (r *rowReader) counted(operands string) bool {
	if operands == "" {
		return true
	}
	n, more, err := rows.Count(operands)
	return err == nil && (len(r.operands) == n || more && len(r.operands) > n)
}

// worded reports whether all words are among the operands, ignoring case.
func (r *rowReader) worded(all []string) bool {
	if len(all) == 0 {
		return true
	}
	text := " " + strings.ToLower(shell.JoinWords(r.operands).Text) + " "
	return !slices.ContainsFunc(all, func(words string) bool {
		return !slices.ContainsFunc(strings.Split(words, "|"), func(w string) bool { return strings.Contains(text, w) })
	})
}

// selected returns the words that a selector selects.
func (r *rowReader) selected(text string) []abstract.Arg {
	list, err := rows.Selectors(text)
	if err != nil {
		return []abstract.Arg{abstract.UnknownArg()}
	}
	var out []abstract.Arg
	for _, s := range list {
		out = append(out, r.chosen(s)...)
	}
	return out
}

// chosen returns the words that pass the filters of one selector, or else those of the next
// one.
func (r *rowReader) chosen(s rows.Selector) []abstract.Arg {
	list := r.every(s)
	if s.After+s.Like+s.Unlike != "" {
		list = filtered(list, s)
	}
	if len(list) == 0 && s.Or != nil {
		return r.chosen(*s.Or)
	}
	return list
}

// filtered returns the words that pass a selector's filters.
func filtered(list []abstract.Arg, s rows.Selector) (some []abstract.Arg) {
	for _, a := range list {
		rest, begins := strings.CutPrefix(a.Text, s.After)
		if s.After != "" {
			a = a.With(rest)
		}
		fits := s.Like == "" || like(rows.FilterPatterns(s.Like), a)
		if begins && fits && (s.Unlike == "" || !rows.Fits(rows.FilterPatterns(s.Unlike), a.Text)) {
			some = append(some, a)
		}
	}
	return some
}

// like reports whether a word is one of those given, or may be.
func like(patterns []string, a abstract.Arg) bool {
	number := strings.Trim(a.Text, "0123456789"+abstract.Holes) == ""
	return rows.Fits(patterns, a.Text) ||
		!a.Known() && slices.ContainsFunc(patterns, func(p string) bool { return p != "number" || number })
}

// every returns what a selector selects, before filtering.
func (r *rowReader) every(s rows.Selector) []abstract.Arg {
	n := len(r.operands)
	switch s.Kind {
	case rows.SelectOperands:
		to := n
		if s.To >= 0 {
			to = min(n, s.To+1)
		}
		return r.operands[min(s.From, to):to]
	case rows.SelectRest:
		return r.operands[min(r.behind, n):]
	case rows.SelectLast:
		return r.operands[max(n-1, 0):]
	case rows.SelectButLast:
		return r.operands[:max(n-1, 0)]
	case rows.SelectArgs:
		return r.Args
	case rows.SelectValues:
		return r.Opts.PerhapsFiles()
	case rows.SelectOptions:
		return r.Opts.All(strings.Fields(s.Options)...)
	case rows.SelectText:
		return []abstract.Arg{r.text(s.Text)}
	case rows.SelectService:
		return []abstract.Arg{r.Service}
	case rows.SelectProgram:
		return []abstract.Arg{abstract.Word(r.Name)}
	case rows.SelectNone:
		return nil
	case rows.SelectInput:
		if in := r.Shell.Frame.Stdin; in != nil {
			return []abstract.Arg{*in}
		}
		return nil
	}
	return []abstract.Arg{abstract.UnknownArg()}
}

// text returns a string of the row, filled in.
func (r *rowReader) text(text string) abstract.Arg {
	text = strings.ReplaceAll(text, "$program", r.Name)
	if below, ok := strings.CutPrefix(text, "~"); ok {
		return abstract.Concat(r.Shell.Read("HOME"), abstract.Word(below))
	}
	return abstract.Word(text)
}
