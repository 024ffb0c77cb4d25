package shell

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// Bounds of the interpreter. Code beyond them does not count as harmless: it is
// reported as opaque "budget".
const (
	MaxSource   = 256 << 10 // above the longest single argument on Linux, 128 KiB
	MaxEmbedded = 1 << 20   // bytes of code found in code; each level is parsed again
	MaxCommands = 8192      // in practice more than the longest script above contains
	MaxEffects  = 16384     // several directories and targets for each command
	MaxSteps    = 200_000   // statements, words and loop passes; about 50 ms
	MaxBytes    = 16 << 20  // text made by expansions
	MaxNesting  = 200       // depth of the syntax tree; people write less than 20
	MaxDepth    = 16        // code in code: sh -c in eval in sh -c …
	maxVariants = 64        // argument lists of one command, from loops and alternatives
	MaxAlts     = 32        // values of one variable
	MaxElements = 1024      // elements of an array that grows
	MaxDirs     = 8         // directories in which the shell may be
)

// Notes is the findings of an interpreter of code, and how much of its budget it has used.
type Notes struct {
	Out     abstract.Script
	Steps   int
	Bytes   int
	Parsed  int  // bytes of code found in code
	Full    bool // a budget is used up
	effects map[abstract.RawEffect]bool
	opaques map[engine.Opaque]bool
}

// NewNotes returns empty notes.
func NewNotes() Notes {
	return Notes{Out: abstract.Script{Signals: map[engine.Signal]bool{}}, effects: map[abstract.RawEffect]bool{},
		opaques: map[engine.Opaque]bool{}}
}

// Unread records why the code of a file that runs was not read.
func (n *Notes) Unread(name, why string) {
	if n.Out.Unread == nil {
		n.Out.Unread = map[string]string{}
	}
	if len(n.Out.Unread) < MaxCodeFiles {
		n.Out.Unread[name] = why
	}
}

// Opaque records something that was not understood, once.
func (n *Notes) Opaque(reason, where string) {
	o := engine.Opaque{Reason: reason, Where: abstract.Arg{Text: abstract.Clip(where, 200)}.Show()}
	if n.opaques[o] || len(n.Out.Opaque) >= 64 && reason != "budget" {
		return
	}
	n.opaques[o] = true
	n.Out.Opaque = append(n.Out.Opaque, o)
}

// OverBudget stops the interpretation: nothing that follows is examined.
func (n *Notes) OverBudget(where string) {
	if !n.Full {
		n.Full = true
		n.Opaque("budget", where)
	}
}

// Spend uses one step and some bytes of the budget.
func (n *Notes) Spend(bytes int) bool {
	n.Steps++
	n.Bytes += bytes
	if n.Steps > MaxSteps || n.Bytes > MaxBytes {
		n.OverBudget("steps")
	}
	return !n.Full
}

// Effect records an effect and reports whether it is new.
func (n *Notes) Effect(e abstract.RawEffect) bool {
	if n.effects[e] {
		return false
	}
	if len(n.Out.Effects)+len(n.Out.Guarded) >= MaxEffects {
		n.OverBudget("effects")
		return false
	}
	n.effects[e] = true
	if e.ForGuard {
		n.Out.Guarded = append(n.Out.Guarded, e)
		return false
	}
	n.Out.Effects = append(n.Out.Effects, e)
	return true
}
