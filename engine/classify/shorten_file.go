package classify

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// slight drops, from an action that is too long, the harmless part of what the code of a
// file on the disk does: it runs programs, reads ordinary files, and creates files in the
// workspace. A script of fifty lines is understood as well as one of five. Changes, requests
// and reads of secrets stay, and so do the programs that cause them.
func (c *cutter) slight(a *engine.Action) {
	if len(a.Commands) <= c.m.commands && len(a.Effects) <= c.m.effects || !fromFile(a) {
		return
	}
	weighty := make([]bool, len(a.Commands))
	var effects []engine.Effect
	for _, e := range a.Effects {
		if inFile(a, e.Command) && leavesNothing(&e) {
			continue
		}
		effects = append(effects, e)
		if e.Command >= 0 && e.Command < len(weighty) {
			weighty[e.Command] = true
		}
	}
	at := make([]int, len(a.Commands))
	var commands []engine.Command
	for i, cmd := range a.Commands {
		at[i] = -1
		if weighty[i] || !inFile(a, i) {
			at[i] = len(commands)
			commands = append(commands, cmd)
		}
	}
	for i := range effects {
		if n := effects[i].Command; n >= 0 && n < len(at) {
			effects[i].Command = at[n]
		}
	}
	if len(commands) < len(a.Commands) {
		c.note("action.commands", len(a.Commands), "")
	}
	if len(effects) < len(a.Effects) {
		c.note("action.effects", len(a.Effects), "")
	}
	a.Commands, a.Effects = commands, effects
}

// fromFile reports whether a part of the action is in a file on the disk.
func fromFile(a *engine.Action) bool {
	for i := range a.Commands {
		if inFile(a, i) {
			return true
		}
	}
	return false
}

// inFile reports whether a command is in a file on the disk.
func inFile(a *engine.Action, command int) bool {
	return command >= 0 && command < len(a.Commands) && slices.Contains(a.Commands[command].Via, "script")
}

// leavesNothing reports whether an effect changes nothing of importance and discloses nothing.
func leavesNothing(e *engine.Effect) bool {
	switch e.Kind {
	case engine.EffectProcess:
		return e.Verb == "exec" && !e.Privileged
	case engine.EffectFileWrite:
		fresh := e.Exists == "no" && e.Certainty == engine.CertaintyExact && e.Location == engine.LocationInside
		return fresh && (e.Class == "" || e.Class == engine.ClassGenerated || e.Class == engine.ClassTest) && !e.Persistence && !e.Privileged
	case engine.EffectFileRead:
		return (e.Class == "" || e.Class == engine.ClassTest) && !e.Egress && e.Location != engine.LocationHome &&
			e.Location != engine.LocationOutside
	}
	return false
}

// maxCode is the part of a record for code that a call writes, in bytes.
const maxCode = 1800

// code keeps as much as fits of the code that a call writes: of each file the worst first.
func (c *cutter) code(list []engine.Code) []engine.Code {
	if len(list) == 0 {
		return nil
	}
	limit, whole := min(maxCode, 4*(c.m.resource+c.m.args)), len(list)
	list = slices.Clone(list)
	for len(list) > 0 && jsonSize(list) > limit {
		longest := slices.MaxFunc(list, func(a, b engine.Code) int { return len(a.Effects) - len(b.Effects) })
		i := slices.IndexFunc(list, func(o engine.Code) bool { return o.Path == longest.Path })
		if n := len(longest.Effects); n > 1 {
			list[i].Effects = longest.Effects[:n-1]
		} else {
			list = list[:len(list)-1]
		}
	}
	if len(list) < whole {
		c.note("action.code", whole, "")
	}
	return list
}
