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

// steps applies the steps of a case.
func (r *rowReader) steps(c rows.Case) {
	for _, s := range c.Do {
		given, unless := r.given, r.on
		if tries(s) {
			given, unless = r.surely, r.given
		}
		if (s.If == "" || given(s.If)) && (s.Unless == "" || !unless(s.Unless)) {
			r.InDirectory(r.Opts.All(strings.Fields(s.In)...), func() { r.step(s) })
		}
	}
}

// step applies one step of a row.
func (r *rowReader) step(s rows.Step) {
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
	case "publish":
		r.Signal(engine.SignalPublish)
		e.Object, e.Egress, e.Reversible = r.object(value), true, engine.R5
		r.does("network", orVerb(s.Verb, "send"), s, e)
	case "meant":
		for _, to := range r.selected(value) {
			r.doesMeant(e, to)
		}
	default:
		r.runs(key, value, s)
	}
}

// runs applies the parts of a step that are not effects.
func (r *rowReader) runs(key, value string, s rows.Step) {
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

// effect returns the effect of a step.
func (r *rowReader) effect(s rows.Step) abstract.RawEffect {
	all := s.Recursive == rows.Usual && everything(r.Call)
	e := abstract.RawEffect{Verb: s.Verb, Object: r.object(s.Object), Recursive: all || r.flag(s.Recursive), Forced: r.flag(s.Forced),
		Contents: s.Contents, Egress: s.Egress, Persistence: s.Persistence, Privileged: s.Privileged, Reversible: engine.Reversibility(s.Reversible)}
	if s.Mode != "" {
		e.Mode = abstract.FirstOr(r.selected(s.Mode)).Show()
	}
	if s.Confirmed == rows.Usual && unasked(r.Call) || r.flag(s.Confirmed) {
		e.Forced = true
		r.Signal(engine.SignalUnconfirmed)
	} else if s.Confirmed != "" && s.Confirmed != "true" && consents(r.Call) {
		answer(r.Call)
	}
	return e
}

// flag evaluates a key that is true, or the options that make it so.
func (r *rowReader) flag(value string) bool {
	return value == "true" || value != "" && r.given(value)
}

// object returns the kind of object that a step names; $0 stands for the first operand.
func (r *rowReader) object(text string) string {
	if text == "$noun" && r.meaning != nil {
		return r.meaning.object
	}
	if a, ok := r.numbered(text); ok {
		return operation.PlainNoun(operation.Singular(a.Text))
	}
	return text
}

// numbered returns the operand that $0 stands for.
func (r *rowReader) numbered(text string) (a abstract.Arg, ok bool) {
	if len(text) != 2 || text[0] != '$' {
		return a, false
	}
	if i := int(text[1] - '0'); i >= 0 && i < len(r.operands) {
		a = r.operands[i]
	}
	return a, true
}

// targets returns the words that a selector selects, with the step's suffix.
func (r *rowReader) targets(selector string, s rows.Step) []abstract.Arg {
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

// sized sets how many bytes are written, or left.
func (r *rowReader) sized(e abstract.RawEffect, selector string) abstract.RawEffect {
	if selector == "" {
		return e
	}
	n, known := abstract.ByteCount(strings.TrimPrefix(lastOf(r.selected(selector)).Text, "+"))
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

// does records an effect with the step's verb.
func (r *rowReader) does(key, verb string, s rows.Step, e abstract.RawEffect) {
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
		for i, t := range targets { // a unit has two names
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
			e.Signal = options.Signal(r.Args)
			r.Aims(targets)
		}
	case "end":
		if known, _ := vocabulary(r.Call).Ending(verb); known != "" {
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

// reads records that files are read. The output of a process substitution is passed on.
func (r *rowReader) reads(e abstract.RawEffect, files []abstract.Arg) {
	for _, f := range files {
		if f.From != nil {
			r.Out.Taint |= f.From.Taint
		}
	}
	switch {
	case e.Verb == "stage":
		e.Kind = engine.EffectFileRead
		r.Emit(e, files...)
	case e.Verb == engine.VerbList:
		r.Lists(files...)
	case e.Verb == "measure":
		e.Kind, e.Verb, e.Names = engine.EffectFileRead, "read", true
		r.Emit(e, files...)
	case e.Verb == "sweep" && len(files) == 0:
		if r.Shell.Frame.Stdin == nil || r.Opts.Has("-r", "-R", "--recursive") { // else its input is searched
			r.Sweeps(abstract.Word("."))
		}
	case e.Verb == "sweep":
		r.Sweeps(files...)
	case e.Recursive:
		r.ReadsTree(files...)
	default:
		r.Call.Reads(files...)
	}
}

// prints applies the parts of a row about standard output.
func (r *rowReader) prints(what, on string) {
	switch what {
	case "names":
		var roots []abstract.Arg
		if on != "" {
			roots = r.selected(on)
		}
		r.Out = relativeNames(roots)
		named := func(a abstract.Arg) bool { return !a.Glob }
		list := r.Opts.Operands
		if len(list) == 0 {
			list = []abstract.Arg{{Text: "./*", Glob: true}}
		}
		if on == "" && !slices.ContainsFunc(list, named) {
			r.Out.Found = abstract.FoundFiles(list) // names that match a pattern are printed as they are
		}
	case "lines":
		if in := r.Shell.Frame.Stdin; in != nil && len(r.selected(on)) == 0 {
			r.Out.Found = in.Found
		}
	case "parts":
		r.printParts(r.selected(on))
	case "none":
		r.Out = abstract.Arg{}
	case "unknown":
		r.Out = abstract.UnknownArg()
	case "local":
		r.Out.Taint &^= abstract.Fetched
	case "decoded":
		r.Out.Taint |= abstract.Decoded
	case "coded":
		if in := r.Shell.Frame.Stdin; len(r.selected(on)) > 0 || in != nil && !in.Known() && in.Taint&(abstract.OfFile|abstract.Picked) != 0 {
			r.Out.Taint |= abstract.Coded
		}
	}
}

// printParts handles the output of a program that selects lines of files, or of its input:
// it is as well known as their whole contents.
func (r *rowReader) printParts(files []abstract.Arg) {
	in := r.Shell.Frame.Stdin
	switch {
	case len(files) > 0 || in == nil:
	case in.Known():
		r.Out = abstract.Concat(r.Out, abstract.Arg{Taint: abstract.Picked, Part: in})
	case in.Found != nil && !whole(in.Found): // else the filter may leave any file
		r.Out = *in
		r.Out.Found = someOf(in.Found.Files)
	case in.Taint.AsFile():
		r.Out = abstract.Concat(r.Out, abstract.Arg{Taint: abstract.Picked, Part: in.Part})
	}
	if slices.ContainsFunc(files, func(a abstract.Arg) bool {
		return !a.Known() || a.Glob || a.From != nil || a.HasPrefix("/dev/") || a.HasPrefix("/proc/")
	}) {
		return
	}
	for _, f := range files {
		r.Out.Taint |= abstract.Picked
		switch code, ok := r.Shell.PrintedCode(f); {
		case ok:
			r.Out = abstract.Concat(r.Out, abstract.Arg{Part: &code.Text})
		case code.Unread():
			unknown := abstract.UnknownArg()
			r.Out = abstract.Concat(r.Out, abstract.Arg{Part: &unknown})
		}
	}
}

// whole reports whether a search selects everything in a folder.
func whole(found *abstract.Found) bool {
	return slices.ContainsFunc(found.Files, func(a abstract.Arg) bool { return strings.HasSuffix(a.Text, "/**") || a.Is("./*") })
}

// someOf returns the names that a filter selects, which may be a single one: head -1.
func someOf(files []abstract.Arg) *abstract.Found {
	some := slices.Clone(files)
	for i := range some {
		some[i].One = true
	}
	return abstract.FoundFiles(some)
}

// as runs the operands after the subcommand as arguments of another program.
func (r *rowReader) as(name string) {
	known, ok, _ := r.Shell.In.Rows.Program(name)
	if !ok || r.Shell.Frame.Depth > shell.MaxDepth {
		r.Call.Process()
		return
	}
	inner := *r.Call
	inner.Name, inner.Args, inner.Subs = name, r.operands[min(r.behind, len(r.operands)):], nil
	inner.Opts = options.Parse(inner.Args, grammar(r.Call, known.Program))
	r.Shell.Frame.Depth++
	follow(&inner, known.Program)
	r.Shell.Frame.Depth--
	r.Out, r.Subs = inner.Out, append(r.Subs, inner.Subs...)
	names := r.Opts.Operands[:len(r.Opts.Operands)-len(inner.Args)]
	r.Opts.Operands = slices.Concat(names, inner.Opts.Operands)
	r.Opts.List, r.Opts.Flags = slices.Concat(r.Opts.List, inner.Opts.List), slices.Concat(r.Opts.Flags, inner.Opts.Flags)
}

// starts interprets the commands that are run according to a row. A row that leads back to itself ends.
func (r *rowReader) starts(f func() shell.Outcome) shell.Outcome {
	if r.Shell.Frame.Depth >= shell.MaxDepth {
		r.Shell.OverBudget(r.Name)
		return shell.Outcome{Out: abstract.UnknownArg()}
	}
	return r.Child(f)
}

// code runs texts as code: of a shell, or in another language.
func (r *rowReader) code(selector, language string) {
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

// script runs a file as a shell does that is given its name.
func (r *rowReader) script(file abstract.Arg) {
	r.starts(func() shell.Outcome { return r.Shell.Invoke([]abstract.Arg{abstract.Word("sh"), file}, r.Node) })
}

// embedded runs code in the arguments according to a row: command lines in options,
// scripts, a command among the operands.
func (r *rowReader) embedded(p rows.Program) {
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
	if p.Dangerous == "true" || p.Dangerous != "" && r.given(p.Dangerous) {
		r.Signal(engine.SignalMarked)
	}
}

// ends records the end of something at a service: its kind, whether everything in it or of
// its kind is affected, and whether confirmation is skipped.
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
