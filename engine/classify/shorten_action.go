package classify

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// commands keeps the first commands of an action; commands with an effect come first. It
// reports whether a dropped command does more than print.
func (c *cutter) commands(a *engine.Action) (dropped bool) {
	keep := keepCommands(a, c.m.commands)
	at := make([]int, len(a.Commands))
	list := make([]engine.Command, 0, len(keep))
	for i := range at {
		at[i] = -1
	}
	for _, i := range keep {
		at[i] = len(list)
		list = append(list, c.command(a.Commands[i]))
	}
	if len(keep) < len(a.Commands) {
		c.note("action.commands", len(a.Commands), "")
	}
	for i, cmd := range a.Commands {
		dropped = dropped || at[i] < 0 && !onlyPrints(cmd.Name)
	}
	a.Commands, a.Effects = list, pointed(a.Effects, at)
	pointFlows(a.Flows, at)
	return dropped
}

// pointed returns effects after their commands moved to other indexes; equal ones are joined.
func pointed(list []engine.Effect, at []int) []engine.Effect {
	out := make([]engine.Effect, 0, len(list))
	seen := map[engine.Effect]bool{}
	for _, e := range list {
		if n := e.Command; n >= 0 && n < len(at) {
			e.Command = at[n]
		}
		if !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	return out
}

// joinCommands joins commands that differ only in their operands: a script that prints thirty
// lines is understood as well as one that prints three. Flags and subcommands, which rules
// examine, are kept.
func (c *cutter) joinCommands(a *engine.Action) {
	at := make([]int, len(a.Commands))
	var list []engine.Command
	first := map[string]int{}
	plain := plainCommands(a)
	for i, cmd := range a.Commands {
		key := commandForm(cmd)
		n, ok := first[key]
		if ok = ok && (plain[i] || onlyPrints(cmd.Name) || len(list[n].Operands)+len(cmd.Operands) <= c.m.operands); !ok {
			n, first[key] = len(list), len(list)
			list = append(list, cmd)
		} else {
			list[n].Operands = joinOperands(list[n].Operands, cmd.Operands, c.m.operands)
		}
		at[i] = n
	}
	a.Commands, a.Effects = list, pointed(a.Effects, at)
	pointFlows(a.Flows, at)
}

// pointFlows is pointed for flows.
func pointFlows(list []engine.Flow, at []int) {
	for i := range list {
		if n := list[i].Command; n >= 0 && n < len(at) {
			list[i].Command = at[n]
		}
	}
}

// commandForm is equal for commands that differ only in their operands.
func commandForm(cmd engine.Command) string {
	var b strings.Builder
	b.WriteString(cmd.Name)
	for _, words := range [][]string{cmd.Sub, cmd.Flags, cmd.Wrappers, cmd.Via} {
		b.WriteByte(1)
		for _, w := range words {
			b.WriteString(w)
			b.WriteByte(0)
		}
	}
	return b.String()
}

func joinOperands(list, more []string, limit int) []string {
	list = slices.Clone(list)
	for _, w := range more {
		if len(list) < limit && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// plainCommands returns the commands that only read and write ordinary files of the workspace,
// all of which are among their effects.
func plainCommands(a *engine.Action) []bool {
	plain, other := make([]bool, len(a.Commands)), make([]bool, len(a.Commands))
	for _, e := range a.Effects {
		if i := e.Command; i >= 0 && i < len(plain) {
			plain[i] = true
			other[i] = other[i] || !plainRead(e) && !plainWrite(e)
		}
	}
	for i := range plain {
		plain[i] = plain[i] && !other[i]
	}
	return plain
}

// onlyPrints reports whether a program only prints or compares its operands, so that not all
// of them are needed.
func onlyPrints(name string) bool {
	return slices.Contains([]string{"echo", "printf", "test", "[", "true", "false", ":", "sleep", "exit", "return"}, name)
}

// keepCommands returns the indexes of at most n commands in their order: those with the worst
// effects first.
func keepCommands(a *engine.Action, n int) []int {
	var keep []int
	seen := make([]bool, len(a.Commands))
	add := func(i int) {
		if i >= 0 && i < len(seen) && !seen[i] && len(keep) < n {
			seen[i] = true
			keep = append(keep, i)
		}
	}
	if len(a.Commands) > n {
		for _, e := range a.Effects { // sorted, the worst first
			add(e.Command)
		}
	}
	for _, prints := range []bool{false, true} {
		for i, cmd := range a.Commands {
			if onlyPrints(cmd.Name) == prints {
				add(i)
			}
		}
	}
	slices.Sort(keep)
	return keep
}

func (c *cutter) command(cmd engine.Command) engine.Command {
	cmd.Name = c.string("action.commands.name", cmd.Name, c.m.text)
	cmd.Sub = c.words("action.commands.sub", cmd.Sub)
	cmd.Flags = c.words("action.commands.flags", cmd.Flags)
	cmd.Options = c.words("action.commands.options", cmd.Options)
	cmd.Operands = c.words("action.commands.operands", cmd.Operands)
	cmd.Wrappers = c.words("action.commands.wrappers", cmd.Wrappers)
	cmd.Via = c.words("action.commands.via", cmd.Via)
	return cmd
}

// possible keeps as many of the commands that an unknown program may run as of the commands of the call.
func (c *cutter) possible(list []engine.Command) []engine.Command {
	n := min(len(list), c.m.commands)
	if n < len(list) {
		c.note("action.possible_commands", len(list), "")
	}
	var kept []engine.Command
	for _, cmd := range list[:n] {
		kept = append(kept, c.command(cmd))
	}
	return kept
}

// join reduces the number of commands and effects without losing one: commands that differ
// only in their operands become one. Effects that are the same for several files of a
// directory become one effect on a pattern, which says more than a truncated list: first equal
// effects of several commands, then reads, then writes for which the file makes no difference,
// then effects on ordinary files anywhere in the workspace.
func (c *cutter) join(a *engine.Action) {
	commands, effects := len(a.Commands), len(a.Effects)
	if commands > min(c.m.join, c.m.commands) {
		c.joinCommands(a)
	}
	for _, form := range []func(engine.Effect) engine.Effect{anyCommand, anyRead, anyWrite, anyBelow} {
		if len(a.Effects) > c.m.join {
			a.Effects = gather(a.Effects, form)
		}
	}
	if len(a.Commands) < commands {
		c.note("action.commands", commands, "")
	}
	if len(a.Effects) < effects {
		c.note("action.effects", effects, "")
	}
}

// effects keeps the worst effects.
func (c *cutter) effects(a *engine.Action) (dropped bool) {
	list := a.Effects
	if dropped = len(list) > c.m.effects; dropped {
		c.note("action.effects", len(list), "")
		list = list[:c.m.effects]
	}
	out := make([]engine.Effect, len(list))
	for i, e := range list {
		e.Target = c.string("action.effects.target", e.Target, c.m.text)
		e.Short = c.string("action.effects.short", e.Short, c.m.text)
		e.Verb = c.string("action.effects.verb", e.Verb, 24)
		e.Host = c.string("action.effects.host", e.Host, c.m.text)
		out[i] = e
	}
	a.Effects = out
	return dropped
}

// gather joins the effects of the same form; an effect with a form of its own stays the same.
func gather(list []engine.Effect, form func(engine.Effect) engine.Effect) []engine.Effect {
	count := map[engine.Effect]int{}
	for _, e := range list {
		count[form(e)]++
	}
	var out []engine.Effect
	done := map[engine.Effect]bool{}
	for _, e := range list {
		g := form(e)
		if count[g] < 2 {
			out = append(out, e)
			continue
		}
		if !done[g] {
			done[g] = true
			if g.Command = -1; g.Target == e.Target && g.Short == e.Short {
				g.Command = e.Command
			}
			out = append(out, g)
		}
	}
	return out
}

func anyCommand(e engine.Effect) engine.Effect {
	e.Command = -1
	return e
}

func anyRead(e engine.Effect) engine.Effect {
	if e.Kind != engine.EffectFileRead {
		return e
	}
	return anyFile(e)
}

func anyWrite(e engine.Effect) engine.Effect {
	if !plainWrite(e) {
		return e
	}
	return anyFile(e)
}

func plainRead(e engine.Effect) bool {
	return e.Kind == engine.EffectFileRead && ordinary(e)
}

func plainWrite(e engine.Effect) bool {
	return e.Kind == engine.EffectFileWrite && ordinary(e) && !e.Recursive && !e.Forced && !e.Persistence && !e.Privileged
}

func ordinary(e engine.Effect) bool {
	class := e.Class == "" || e.Class == engine.ClassTest || e.Class == engine.ClassGenerated
	own := e.Location == engine.LocationInside || e.Location == engine.LocationTemp
	return class && own && e.Guard == ""
}

// anyBelow returns the effect on some files of the workspace, such as a loop over many
// folders. Effects that would lose data if they were writes are kept separate.
func anyBelow(e engine.Effect) engine.Effect {
	below, inside := strings.CutPrefix(e.Short, "./")
	below = "/" + below
	if i := strings.LastIndexByte(below, '/'); strings.ContainsAny(below[i:], "*?[") { // the target of a pattern is its directory
		below = below[:i]
	}
	root, known := strings.CutSuffix(e.Target, below)
	sure := e.Certainty == engine.CertaintyExact || e.Certainty == engine.CertaintyGlob
	if !plainRead(e) && !plainWrite(e) || !inside || !known || !sure || e.Git == "dirty" || e.Git == "untracked" {
		return e
	}
	e.Target, e.Short = root, "./**"
	e.Certainty, e.Exists, e.Entry, e.Git, e.Command = engine.CertaintyGlob, "", "", "", -1
	return e
}

// anyFile returns the effect on some files of the directory of an effect.
func anyFile(e engine.Effect) engine.Effect {
	if e.Certainty != engine.CertaintyExact || e.Entry == "dir" || !strings.Contains(e.Short, "/") {
		return e
	}
	e.Target, e.Short = path.Dir(e.Target), e.Short[:strings.LastIndexByte(e.Short, '/')+1]+"*"
	e.Certainty, e.Exists, e.Entry, e.Git, e.Command = engine.CertaintyGlob, "", "", "", -1
	return e
}

// opaque keeps the pieces that were not understood, first one of each reason, and adds what
// was left out.
func (c *cutter) opaque(a *engine.Action, dropped bool) {
	if dropped {
		with := *a
		with.Opaque = slices.Clone(a.Opaque)
		addOpaque(&with, "budget", "")
		if a.Opaque = with.Opaque; !slices.Contains(a.Types, engine.TypeUnknown) {
			a.Types = append(slices.Clone(a.Types), engine.TypeUnknown)
			slices.Sort(a.Types)
		}
	}
	list := make([]engine.Opaque, 0, len(a.Opaque))
	seen := map[string]int{}
	for _, o := range a.Opaque {
		if seen[o.Reason]++; seen[o.Reason] > 1 && (len(list) >= c.m.list || seen[o.Reason] > 4) {
			continue
		}
		o.Where = c.string("action.opaque.where", o.Where, min(c.m.text, 120))
		list = append(list, o)
	}
	a.Opaque = list
}
