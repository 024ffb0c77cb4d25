package classify

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// commands keeps the first commands of an action, those with an effect before
// the others. It says whether one is missing.
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
	if dropped = len(keep) < len(a.Commands); dropped {
		c.note("action.commands", len(a.Commands), "")
	}
	effects := slices.Clone(a.Effects)
	for i := range effects {
		if n := effects[i].Command; n >= 0 && n < len(at) {
			effects[i].Command = at[n]
		}
	}
	a.Commands, a.Effects = list, effects
	return dropped
}

// keepCommands returns the indexes of at most n commands in their order: those
// of the worst effects first.
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
	for i := range a.Commands {
		add(i)
	}
	slices.Sort(keep)
	return keep
}

func (c *cutter) command(cmd engine.Command) engine.Command {
	cmd.Name = c.string("action.commands.name", cmd.Name, c.m.text)
	cmd.Sub = c.words("action.commands.sub", cmd.Sub)
	cmd.Flags = c.words("action.commands.flags", cmd.Flags)
	cmd.Operands = c.words("action.commands.operands", cmd.Operands)
	cmd.Wrappers = c.words("action.commands.wrappers", cmd.Wrappers)
	cmd.Via = c.words("action.commands.via", cmd.Via)
	return cmd
}

// effects keeps the worst effects. Reads of many files of one directory become
// one read of a pattern in it, which says more than a list that is cut.
func (c *cutter) effects(a *engine.Action) (dropped bool) {
	list := a.Effects
	if len(list) > c.m.effects {
		list = gather(list)
	}
	if len(list) < len(a.Effects) || len(list) > c.m.effects {
		c.note("action.effects", len(a.Effects), "")
	}
	if dropped = len(list) > c.m.effects; dropped {
		list = list[:c.m.effects]
	}
	out := make([]engine.Effect, len(list))
	for i, e := range list {
		e.Target = c.string("action.effects.target", e.Target, c.m.text)
		e.Short = c.string("action.effects.short", e.Short, c.m.text)
		e.Verb = c.string("action.effects.verb", e.Verb, 24)
		out[i] = e
	}
	a.Effects = out
	return dropped
}

// gather joins reads that differ only in the file, by directory.
func gather(list []engine.Effect) []engine.Effect {
	count := map[engine.Effect]int{}
	for _, e := range list {
		if e.Kind == engine.EffectFileRead {
			count[gathered(e)]++
		}
	}
	var out []engine.Effect
	done := map[engine.Effect]bool{}
	for _, e := range list {
		g := gathered(e)
		if e.Kind != engine.EffectFileRead || count[g] < 2 || e.Target == "" {
			out = append(out, e)
			continue
		}
		if !done[g] {
			done[g] = true
			out = append(out, g)
		}
	}
	return out
}

// gathered is the read of some files of a directory that an effect belongs to.
func gathered(e engine.Effect) engine.Effect {
	if e.Certainty != engine.CertaintyExact || e.Entry == "dir" || !strings.Contains(e.Short, "/") {
		return e
	}
	e.Target, e.Short = path.Dir(e.Target), e.Short[:strings.LastIndexByte(e.Short, '/')+1]+"*"
	e.Certainty, e.Exists, e.Entry, e.Git, e.Command = engine.CertaintyGlob, "", "", "", -1
	return e
}

// opaque keeps the pieces that were not understood, one of each reason first,
// and adds what was left out.
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
