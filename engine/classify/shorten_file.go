package classify

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// slight leaves out of an action that is too long what the code of a file on
// the disk does without leaving a trace: that it runs programs, reads files of
// no account, and makes new ones in the workspace. A script of fifty lines is no
// less understood than one of five. What it changes, sends, or reads of secrets
// stays, as do the programs that do so.
func (c *cutter) slight(a *engine.Action) {
	if len(a.Commands) <= c.m.commands && len(a.Effects) <= c.m.effects || !fromFile(a) {
		return
	}
	weighty := make([]bool, len(a.Commands))
	var effects []engine.Effect
	for _, e := range a.Effects {
		if inFile(a, e.Command) && traceless(&e) {
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

// fromFile says that a part of the action stands in a file on the disk.
func fromFile(a *engine.Action) bool {
	for i := range a.Commands {
		if inFile(a, i) {
			return true
		}
	}
	return false
}

// inFile says that a command stands in a file on the disk.
func inFile(a *engine.Action, command int) bool {
	return command >= 0 && command < len(a.Commands) && slices.Contains(a.Commands[command].Via, "script")
}

// traceless says that an effect leaves nothing behind that anybody could miss or
// mind, and tells nobody anything.
func traceless(e *engine.Effect) bool {
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
