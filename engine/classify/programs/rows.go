package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// grammar is how a row says that arguments are read.
func grammar(p rows.Program) shell.Program {
	g := shell.Program{Values: padded(p.Values + " " + p.Persistent + " " + p.Code + " " + p.Scripts), Glued: padded(p.Glued)}
	g.First = len(p.Subcommands) > 0
	for _, word := range strings.Fields(p.Grammar) {
		switch word {
		case rows.First:
			g.First = true
		case rows.Long:
			g.Long = true
		case rows.Literal:
			g.Literal = true
		case rows.Exact:
			g.Exact = true
		case rows.Undashed:
			g.Undashed = true
		case rows.Own:
			g.Own = true
		}
	}
	return g
}

// padded puts a blank before the first word of a list and behind the last.
func padded(words string) string {
	if strings.TrimSpace(words) == "" {
		return ""
	}
	return " " + strings.TrimSpace(words) + " "
}

// reader follows a row through one call.
type reader struct {
	*shell.Call
	operands []abstract.Arg // behind the names of subcommands that have a row
	behind   int            // how many of them the case's sub names
	meaning  *meaning       // what the words say, as far as that has been asked for
	meant    string         // which of it the case has asked for
}

// follow notes what a row says that a call does.
func follow(c *shell.Call, p rows.Program) {
	r := &reader{Call: c, operands: c.Opts.Operands}
	var dirs []abstract.Arg
	for _, option := range strings.Fields(p.Dir) {
		dirs = append(dirs, c.Opts.All(option)...)
	}
	c.InDirectory(dirs, func() { r.row(p) })
}

// row follows the row of a program or, below it, of the subcommand that is called.
func (r *reader) row(p rows.Program) {
	r.notes(p.Before)
	if sub, ok := r.subcommand(p); ok {
		r.row(sub)
		r.notes(p.Notes)
		return
	}
	defer r.far(p.Daemon)()
	r.Service = r.talksTo(p)
	r.names(p)
	if p.DryRun != "" && given(r.Opts, p.DryRun) {
		r.Signal(engine.SignalDryRun)
		return
	}
	r.cases(p)
	r.notes(p.Notes)
	r.embedded(p)
}

// notes does what all of the cases say that hold.
func (r *reader) notes(cases []rows.Case) {
	for _, n := range cases {
		if r.holds(n) {
			r.steps(n)
		}
	}
}

// subcommand goes into the row of the subcommand that is called.
func (r *reader) subcommand(p rows.Program) (sub rows.Program, ok bool) {
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
		sub.DryRun = "" // who knows whether it has that
	}
	r.enter(sub)
	return sub, true
}

// inside is the row of a subcommand with what holds of it by its program's row.
func inside(p, sub rows.Program) rows.Program {
	if !sub.Does() { // it only says how the arguments are read
		sub.Cases, sub.Go, sub.Language = p.Cases, p.Go, p.Language
	}
	for _, word := range strings.Fields(p.Grammar) {
		if word != rows.First && word != rows.Own {
			sub.Grammar += " " + word
		}
	}
	join := func(a, b string) string { return strings.TrimSpace(a + " " + b) }
	sub.Persistent, sub.DryRun = join(rows.Without(p.Persistent, sub.Flags), sub.Persistent), join(p.DryRun, sub.DryRun)
	sub.Endpoint, sub.Daemon = join(p.Endpoint, sub.Endpoint), join(p.Daemon, sub.Daemon)
	if sub.Service == "" {
		sub.Service = p.Service
	}
	return sub
}

// enter takes the first operand as a subcommand's name, and those behind it
// apart by its row.
func (r *reader) enter(sub rows.Program) {
	outer, name := r.Opts, r.operands[0]
	names := outer.Operands[:len(outer.Operands)-len(r.operands)+1]
	r.Opts = shell.ParseOptions(r.operands[1:], grammar(sub))
	r.operands = r.Opts.Operands
	r.Opts.Operands = slices.Concat(names, r.operands)
	r.Opts.List, r.Opts.Flags = slices.Concat(outer.List, r.Opts.List), slices.Concat(outer.Flags, r.Opts.Flags)
	r.Subs = append(r.Subs, name.Show())
}

// talksTo is what a program talks to: a service, or what stands in for it on
// this machine.
func (r *reader) talksTo(p rows.Program) abstract.Arg {
	if at, ok := r.Opts.Get(strings.Fields(p.Endpoint)...); ok && place.Loopback(place.HostOf(at.Value())) {
		return at
	}
	if p.Service == "" {
		return abstract.Word(r.Name)
	}
	return abstract.Word(p.Service)
}

// far makes a machine that options name the one where all happens, until what
// it returns is called.
func (r *reader) far(options string) (back func()) {
	frame, host := &r.Shell.Frame, r.Shell.Frame.Host
	for _, a := range values(r.Opts, options) {
		if !abstract.IsURL(a) || a.HasPrefix("unix://") || a.HasPrefix("npipe://") || a.HasPrefix("fd://") {
			continue
		}
		if name := a.With(hostText(a.Text[schemeLength(a.Text):])); !place.Loopback(name.Text) {
			frame.Host = r.Shell.HostName("docker", name)
		}
		break
	}
	return func() { frame.Host = host }
}

// reread takes the arguments apart once more, where none of the subcommands is
// named that have a row: options may stand behind operands then.
func (r *reader) reread(p rows.Program) {
	p.Subcommands = nil
	if g := grammar(p); !g.First {
		names := len(r.Opts.Operands) - len(r.operands)
		o := shell.ParseOptions(r.operands, g)
		r.operands = o.Operands
		r.Opts.Operands = slices.Concat(r.Opts.Operands[:names:names], o.Operands)
		r.Opts.List, r.Opts.Flags = slices.Concat(r.Opts.List, o.List), slices.Concat(r.Opts.Flags, o.Flags)
	}
}

// cases runs the first case that holds, or else the row's own function.
func (r *reader) cases(p rows.Program) {
	for _, one := range p.Cases {
		if r.holds(one) {
			r.steps(one)
			return
		}
	}
	switch {
	case p.Go != "":
		r.calls(p.Go)
	case p.Language != "":
		interpret(r.Call, p)
	}
}

// calls runs the function that a row names, with the words behind its name.
// Without it nothing is known of the call.
func (r *reader) calls(text string) {
	name, words, _ := strings.Cut(text, " ")
	r.Words = strings.Fields(words)
	f := r.Shell.In.Knows.Go(name)
	if f == nil {
		r.Shell.Opaque("command", r.Name)
		f = (*shell.Call).Process
	}
	f(r.Call)
}

// names enters the operands that say what is done into the list of subcommands.
func (r *reader) names(p rows.Program) {
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
	}
	for _, a := range r.operands[:depth] {
		if a.Text != "" {
			r.Subs = append(r.Subs, a.Show())
		}
	}
}

// given reports whether one of the options is among those that a call has.
func given(o shell.Options, options string) bool { return o.Has(strings.Fields(options)...) }

// holds reports whether all that a case asks for is there.
func (r *reader) holds(c rows.Case) bool {
	r.behind = 0
	return r.named(c.Sub) && r.called(c.Names) && r.means(c.Means) && (c.Option == "" || given(r.Opts, c.Option)) &&
		(c.Without == "" || !given(r.Opts, c.Without)) && r.valued(c.Value) && r.otherwise(c.Other) && r.counted(c.Operands) &&
		r.worded(c.Words) && r.among(c.Any) && (c.Has == "" || len(r.selected(c.Has)) > 0) && (!c.Bare || len(r.Args) == 0)
}

// among reports whether one of the operands fits a pattern.
func (r *reader) among(patterns string) bool {
	return patterns == "" || slices.ContainsFunc(r.operands, func(a abstract.Arg) bool {
		return rows.Fits(strings.Split(patterns, "|"), a.Text)
	})
}

// called reports whether the program, or the subcommand whose row this is, was
// called by one of the names.
func (r *reader) called(names string) bool {
	return names == "" || rows.Has(names, r.Name) || slices.ContainsFunc(r.Subs, func(sub string) bool { return rows.Has(names, sub) })
}

// means reports whether the words say one of what a case asks for.
func (r *reader) means(asked string) bool {
	for _, what := range strings.Fields(asked) {
		if r.meaning != nil && r.meaning.says(what) {
			r.meant = what
			return true
		}
	}
	return asked == ""
}

// named reports whether the first operands are as a case's sub says.
func (r *reader) named(sub string) bool {
	patterns := rows.SubPatterns(sub)
	for _, p := range patterns {
		if r.fits(p) {
			r.behind = len(p)
			return true
		}
	}
	return len(patterns) == 0
}

func (r *reader) fits(p rows.SubPattern) bool {
	for i, words := range p {
		a := abstract.Arg{}
		if i < len(r.operands) {
			a = r.operands[i]
		}
		if !rows.Fits(words, a.Text) { // of a text that is not known, * stands for that
			return false
		}
	}
	return true
}

func (r *reader) valued(wanted map[string]string) bool {
	for options, want := range wanted {
		patterns := strings.Split(want, "|")
		for _, v := range values(r.Opts, options) {
			if rows.Fits(patterns, v.Text) || holdsPart(patterns, v) {
				return true
			}
		}
		if slices.Contains(patterns, "-") && given(r.Opts, options) && len(values(r.Opts, options)) == 0 {
			return true
		}
	}
	return len(wanted) == 0
}

// holdsPart reports whether a text, of which not all may be known, holds a part
// that is asked for.
func holdsPart(patterns []string, v abstract.Arg) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		part, ok := rows.Part(p)
		return ok && strings.Contains(v.Text, part)
	})
}

// otherwise reports whether an option has a value that is none of those named.
func (r *reader) otherwise(values map[string]string) bool {
	for options, usual := range values {
		if slices.ContainsFunc(r.Opts.All(strings.Fields(options)...), func(v abstract.Arg) bool {
			return !rows.Fits(strings.Split(usual, "|"), v.Text)
		}) {
			return true
		}
	}
	return len(values) == 0
}

func (r *reader) counted(operands string) bool {
	if operands == "" {
		return true
	}
	n, more, err := rows.Count(operands)
	return err == nil && (len(r.operands) == n || more && len(r.operands) > n)
}

// worded reports whether all words stand among the operands, letter case aside.
func (r *reader) worded(all []string) bool {
	if len(all) == 0 {
		return true
	}
	text := " " + strings.ToLower(shell.JoinWords(r.operands).Text) + " "
	return !slices.ContainsFunc(all, func(words string) bool {
		return !slices.ContainsFunc(strings.Split(words, "|"), func(w string) bool { return strings.Contains(text, w) })
	})
}

// steps does what a case says.
func (r *reader) steps(c rows.Case) {
	for _, s := range c.Do {
		if (s.If == "" || given(r.Opts, s.If)) && (s.Unless == "" || !given(r.Opts, s.Unless)) {
			r.InDirectory(r.Opts.All(strings.Fields(s.In)...), func() { r.step(s) })
		}
	}
}

// step does one thing that a row says.
func (r *reader) step(s rows.Step) {
	key, value := s.Op()
	e := r.effect(s)
	switch key {
	case "read":
		r.reads(e, r.targets(value, s))
	case "write":
		e.Verb = orVerb(e.Verb, "write")
		r.WritesAs(r.sized(e, s.Size), r.targets(value, s)...)
	case "delete":
		e.Verb = orVerb(e.Verb, "delete")
		r.Out = abstract.Arg{}
		r.Removes(e, r.targets(value, s)...)
	case "fetch":
		for _, from := range r.selected(value) {
			r.Fetches(from)
		}
	case "send":
		for _, to := range r.selected(value) {
			r.SendsObject(orVerb(s.Verb, "send"), e.Object, to.With(strings.TrimPrefix(to.Text, "//"))) // of a share of Windows
		}
	case "listen":
		r.Listens(abstract.FirstOr(r.selected(value)), nil)
	case "install":
		r.installs(r.selected(value), s)
	case "network", "system", "process", "end":
		r.does(key, value, s, e)
	case "meant":
		for _, to := range r.selected(value) {
			r.doesMeant(e, to)
		}
	default:
		r.runs(key, value, s)
	}
}

// runs does what a step says that is no effect by itself.
func (r *reader) runs(key, value string, s rows.Step) {
	switch key {
	case "signal":
		for _, id := range strings.Fields(value) {
			r.Signal(engine.Signal(id))
		}
	case "out":
		r.prints(value, s.On)
	case "go":
		r.calls(value)
	case "as":
		r.as(value)
	case "run":
		if argv := r.selected(value); len(argv) > 0 {
			r.Out = r.starts(func() shell.Outcome { return r.Shell.Invoke(argv, r.Node) }).Out
		}
	case "aims":
		r.Aims(r.selected(value))
	case "seeks":
		r.LooksUp(r.selected(value)...)
	case "takes":
		r.Takes(r.selected(value))
	case "code":
		saved := r.Shell.Frame.Privileged
		r.Shell.Frame.Privileged = saved || s.Privileged
		r.code(value, s.Language)
		r.Shell.Frame.Privileged = saved
	case "script":
		for _, file := range r.selected(value) {
			r.script(file)
		}
	}
}

func orVerb(verb, usual string) string {
	if verb == "" {
		return usual
	}
	return verb
}

// effect is what a step says of the effect that it stands for.
func (r *reader) effect(s rows.Step) abstract.RawEffect {
	all := s.Recursive == rows.Usual && everything(r.Opts)
	e := abstract.RawEffect{Verb: s.Verb, Object: r.object(s.Object), Recursive: all || r.flag(s.Recursive), Forced: r.flag(s.Forced),
		Contents: s.Contents, Egress: s.Egress, Persistence: s.Persistence, Privileged: s.Privileged, Reversible: engine.Reversibility(s.Reversible)}
	if s.Mode != "" {
		e.Mode = abstract.FirstOr(r.selected(s.Mode)).Show()
	}
	if s.Confirmed == rows.Usual && unasked(r.Opts) || r.flag(s.Confirmed) {
		e.Forced = true
		r.Signal(engine.SignalUnconfirmed)
	}
	return e
}

// flag reads a key that is true, or the options that make it so.
func (r *reader) flag(value string) bool {
	return value == "true" || value != "" && given(r.Opts, value)
}

// object is the kind of thing that a step names; $0 stands for the first operand.
func (r *reader) object(text string) string {
	if text == "$noun" && r.meaning != nil {
		return r.meaning.object
	}
	if a, ok := r.numbered(text); ok {
		return operation.PlainNoun(operation.Singular(a.Text))
	}
	return text
}

// numbered is the operand that $0 stands for.
func (r *reader) numbered(text string) (a abstract.Arg, ok bool) {
	if len(text) != 2 || text[0] != '$' {
		return a, false
	}
	if i := int(text[1] - '0'); i >= 0 && i < len(r.operands) {
		a = r.operands[i]
	}
	return a, true
}

// targets are the words that a selector selects, with what a step says that
// stands behind them.
func (r *reader) targets(selector string, s rows.Step) []abstract.Arg {
	list := r.selected(selector)
	if s.Suffix == "" {
		return list
	}
	suffix := strings.ReplaceAll(s.Suffix, "?", abstract.HoleText)
	list = slices.Clone(list)
	for i, a := range list {
		if suffix[0] == '/' {
			a.Text = strings.TrimSuffix(a.Text, "/")
		}
		list[i] = a.With(a.Text + suffix)
	}
	return list
}

// sized says how many bytes are written, or are left.
func (r *reader) sized(e abstract.RawEffect, selector string) abstract.RawEffect {
	if selector == "" {
		return e
	}
	n, known := byteCount(strings.TrimPrefix(lastOf(r.selected(selector)).Text, "+"))
	e.Bytes = n
	if known && e.Verb == "truncate" {
		e.Leaves = n + 1
	}
	return e
}

func lastOf(list []abstract.Arg) abstract.Arg {
	if len(list) == 0 {
		return abstract.Arg{}
	}
	return list[len(list)-1]
}

// does notes an effect whose verb a step gives.
func (r *reader) does(key, verb string, s rows.Step, e abstract.RawEffect) {
	e.Verb = verb
	if verb == "$sub" && len(r.Subs) > 0 {
		e.Verb = r.Subs[len(r.Subs)-1]
	} else if a, ok := r.numbered(verb); ok {
		e.Verb = a.Show()
	}
	usual := rows.SelectProgram
	if key == "network" || key == "end" {
		usual = rows.SelectService
	}
	targets := slices.Clone(r.targets(orVerb(s.On, usual), s))
	switch key {
	case "network":
		e.Kind = engine.EffectNetwork
	case "system":
		e.Kind = engine.EffectSystemCall
		for i, t := range targets { // a unit goes by two names
			if unit, ok := strings.CutSuffix(t.Text, ".service"); ok && !strings.Contains(unit, "/") {
				targets[i] = t.With(unit)
			}
		}
	case "process":
		e.Kind = engine.EffectProcess
		if s.On == "" && verb == "exec" {
			r.Call.Process()
			return
		}
		if verb == "kill" {
			r.Aims(targets)
		}
	case "end":
		if known, _ := operation.EndingVerb(verb); known != "" {
			verb = known // purge is delete, to policy
		}
		for _, t := range targets {
			ends(r.Call, verb, e.Object, e.Recursive, e.Forced, t)
		}
		return
	}
	if len(targets) == 0 {
		targets = []abstract.Arg{{}}
	}
	r.Emit(e, targets...)
}

// reads notes that files are read. What a process substitution prints flows on.
func (r *reader) reads(e abstract.RawEffect, files []abstract.Arg) {
	for _, f := range files {
		if f.From != nil {
			r.Out.Taint |= f.From.Taint
		}
	}
	if e.Recursive {
		r.ReadsTree(files...)
		return
	}
	r.Call.Reads(files...)
}

// prints is what a row says of standard output.
func (r *reader) prints(what, on string) {
	switch what {
	case "names":
		var roots []abstract.Arg
		if on != "" {
			roots = r.selected(on)
		}
		r.Out = relativeNames(roots)
	case "none":
		r.Out = abstract.Arg{}
	case "unknown":
		r.Out = abstract.UnknownArg()
	case "local":
		r.Out.Taint &^= abstract.Fetched
	case "decoded":
		r.Out.Taint |= abstract.Decoded
	}
}

// selected are the words that a selector selects.
func (r *reader) selected(text string) []abstract.Arg {
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

// chosen are the words of one selector, those that its filters let through, or
// else those of the next one.
func (r *reader) chosen(s rows.Selector) []abstract.Arg {
	list := r.select1(s)
	if s.After+s.Like+s.Unlike != "" {
		list = filtered(list, s)
	}
	if len(list) == 0 && s.Or != nil {
		return r.chosen(*s.Or)
	}
	return list
}

// filtered are the words that a selector's filters let through.
func filtered(list []abstract.Arg, s rows.Selector) (some []abstract.Arg) {
	for _, a := range list {
		rest, begins := strings.CutPrefix(a.Text, s.After)
		if s.After != "" {
			a = a.With(rest)
		}
		fits := s.Like == "" || like(strings.Split(s.Like, "|"), a)
		if begins && fits && (s.Unlike == "" || !rows.Fits(strings.Split(s.Unlike, "|"), a.Text)) {
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

func (r *reader) select1(s rows.Selector) []abstract.Arg {
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

// text is a text of the row, filled in.
func (r *reader) text(text string) abstract.Arg {
	text = strings.ReplaceAll(text, "$program", r.Name)
	if below, ok := strings.CutPrefix(text, "~"); ok {
		return abstract.Concat(r.Shell.Read("HOME"), abstract.Word(below))
	}
	return abstract.Word(text)
}

// as runs the operands behind the subcommand as arguments of another program.
func (r *reader) as(name string) {
	known, ok, _ := r.Shell.In.Rows.Program(name)
	if !ok || r.Shell.Frame.Depth > shell.MaxDepth {
		r.Call.Process()
		return
	}
	inner := *r.Call
	inner.Name, inner.Args, inner.Subs = name, r.operands[min(r.behind, len(r.operands)):], nil
	inner.Opts = shell.ParseOptions(inner.Args, grammar(known.Program))
	r.Shell.Frame.Depth++
	follow(&inner, known.Program)
	r.Shell.Frame.Depth--
	r.Out, r.Subs = inner.Out, append(r.Subs, inner.Subs...)
	names := r.Opts.Operands[:len(r.Opts.Operands)-len(inner.Args)]
	r.Opts.Operands = slices.Concat(names, inner.Opts.Operands)
	r.Opts.List, r.Opts.Flags = slices.Concat(r.Opts.List, inner.Opts.List), slices.Concat(r.Opts.Flags, inner.Opts.Flags)
}

// starts runs what a row says that is run. A row that leads back to itself comes
// to an end.
func (r *reader) starts(f func() shell.Outcome) shell.Outcome {
	if r.Shell.Frame.Depth >= shell.MaxDepth {
		r.Shell.OverBudget(r.Name)
		return shell.Outcome{Out: abstract.UnknownArg()}
	}
	return r.Child(f)
}

// code runs texts as code: of a shell, or in another language.
func (r *reader) code(selector, language string) {
	via := r.Name
	if selector == rows.SelectInput {
		via = inputVia(r.Call)
	}
	for _, text := range r.selected(selector) {
		switch language {
		case "", "shell":
			r.starts(func() shell.Outcome { return r.Shell.Embed(text, via, false) })
		case "sql":
			r.Sql(text)
		default:
			r.Extract(language, text, r.Name+"-e")
		}
	}
}

// script runs a file as the shell would that is told its name.
func (r *reader) script(file abstract.Arg) {
	r.starts(func() shell.Outcome { return r.Shell.Invoke([]abstract.Arg{abstract.Word("sh"), file}, r.Node) })
}

// embedded runs what the arguments hold that a row says is run: command lines in
// options, scripts, a command among the operands.
func (r *reader) embedded(p rows.Program) {
	if p.Language == "" {
		r.code(orVerb(p.Code, "--"), "")
	}
	for _, file := range r.Opts.All(strings.Fields(p.Scripts)...) {
		r.script(file)
	}
	if p.Script != nil && *p.Script < len(r.operands) {
		r.script(r.operands[*p.Script])
	}
	if p.Runs != nil && *p.Runs < len(r.operands) {
		argv := r.operands[*p.Runs:]
		r.starts(func() shell.Outcome { return r.Shell.Invoke(argv, r.Node) })
	}
	if p.Dangerous == "true" || p.Dangerous != "" && given(r.Opts, p.Dangerous) {
		r.Signal(engine.SignalMarked)
	}
}

// ends is the end of something at a service: of what kind it is, whether all
// that is in it or of its kind goes too, and whether nobody is asked before.
func ends(c *shell.Call, verb, object string, all, confirmed bool, target abstract.Arg) {
	if !place.Loopback(place.HostOf(target.Value())) {
		c.Signal(engine.SignalInfraDelete)
	}
	if confirmed {
		c.Signal(engine.SignalUnconfirmed)
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: verb, Object: object, Egress: true, Recursive: all, Forced: confirmed,
		Reversible: engine.R5}, target)
}
