package classify

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Places classifies the texts of a tool's argument, at any depth. An unknown tool may write
// any of its arguments. The text that an edit replaces has no place: it already exists, and
// is removed.
func Places(known engine.Rows) func(name, argument string) []engine.Place {
	set := setOf(known)
	return func(name, argument string) []engine.Place {
		t := toolOf(set, name)
		content := slices.Contains(t.contents, argument) || slices.ContainsFunc(t.args, func(a toolArg) bool {
			return a.name == argument && (a.role == rows.RoleText || a.role == rows.RolePrivate || a.role == rows.RoleCode)
		})
		switch {
		case !t.known:
			return []engine.Place{engine.PlaceArguments, engine.PlaceContents}
		case content && argument == "old_string":
			return nil
		case content:
			return []engine.Place{engine.PlaceContents}
		}
		return []engine.Place{engine.PlaceArguments}
	}
}

// Actions lists the dotted names of actions. A name that ends in * covers all with that
// prefix: the tools of MCP servers, and unknown tools.
func Actions(known engine.Rows) []string {
	set := setOf(known)
	names := map[string]bool{"mcp.*": true, "unknown.*": true}
	for _, name := range set.NamesIn(rows.ToolsFolder) {
		if action := toolOf(set, name).action; action != "" {
			names[action] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// ActionOf returns the dotted name of a tool's action; empty: no row has the tool.
func ActionOf(known engine.Rows, tool string) string { return toolOf(setOf(known), tool).action }

// Unreached lists the parts of a file with rows about programs that never apply.
func Unreached(programs []byte) []rows.Remark { return rows.Unreached(programs) }

// Programs lists the programs that have a row. A name that ends in * is a prefix.
func Programs(known engine.Rows) []string { return setOf(known).Names(false) }

// Subcommand reports whether the first word after a program's name is its subcommand, as
// the classifier reads a command line: it is then in the command's sub, not in its operands.
func Subcommand(ctx context.Context, known engine.Rows, program, word string) bool {
	args, err := json.Marshal(map[string]any{"command": program + " " + word})
	if err != nil {
		return false
	}
	c := &Classifier{World: place.World{Home: exampleHome}, MAC: exampleMAC, Rows: setOf(known)}
	facts, err := c.Classify(ctx, engine.Event{Phase: engine.PhasePre, Tool: "Bash", Args: args, CWD: exampleWorkspace}, exampleWorkspace)
	if err != nil || len(facts.Action.Commands) != 1 {
		return false
	}
	cmd := facts.Action.Commands[0]
	return cmd.Name == program && slices.Contains(cmd.Sub, word) && !slices.Contains(cmd.Operands, word)
}

// MayRun reports whether the programs of a call may run a file, by its name.
func MayRun(known engine.Rows, a *engine.Action, name string) bool {
	return slices.ContainsFunc(kindsOf(setOf(known), name, ""), func(kind string) bool {
		return slices.Contains(a.Loads, kind) ||
			slices.Contains(a.Loads, engine.CodeAny) && kind != engine.CodeText && kind != engine.CodeData && kind != engine.CodeMarkdown
	})
}
