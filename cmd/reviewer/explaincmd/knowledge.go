package explaincmd

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// matchedRow is a row that was used to interpret a program, a tool or a path of the
// call.
type matchedRow struct {
	Name    string `json:"name"` // of the program, the tool, or the class of paths
	Place   string `json:"place"`
	Says    string `json:"says"`              // tool; class; of a program: known, wraps, adds, or converted (facts from another source: it counts as unknown)
	Effects []int  `json:"effects,omitempty"` // the indexes of those in action.effects that come from it
}

// rowsOf lists the rows about the tool, the programs and the classes of paths of a
// call, wrappers before the commands that they run.
func rowsOf(set *rows.Set, tool string, act *engine.Action, shown func(layer, place string) string) []matchedRow {
	list := rowsIn(set, rows.ToolsFolder, tool, matchedRow{Name: tool, Says: "tool", Effects: effectsOf(act, -1)}, shown)
	list = append(list, programRows(set, act, shown)...)
	classes := map[string][]int{}
	for i, e := range act.Effects {
		if e.Class != "" {
			classes[string(e.Class)] = append(classes[string(e.Class)], i)
		}
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		list = append(list, rowsIn(set, rows.PlacesFolder, class, matchedRow{Name: class, Says: "class", Effects: classes[class]}, shown)...)
	}
	return list
}

// rowsIn lists the rows of a folder that have a name.
func rowsIn(set *rows.Set, folder, name string, seen matchedRow, shown func(layer, place string) string) []matchedRow {
	var list []matchedRow
	for _, p := range set.Where(folder, name) {
		seen.Place = shown(p.Layer, strings.TrimPrefix(p.String(), p.Layer+"/"))
		list = append(list, seen)
	}
	return list
}

// programRows lists the rows of the programs of a call.
func programRows(set *rows.Set, act *engine.Action, shown func(layer, place string) string) []matchedRow {
	var list []matchedRow
	for i, c := range act.Commands {
		for _, name := range append(slices.Clone(c.Wrappers), c.Name) {
			for _, seen := range rowsNamed(set, name, shown) {
				if name == c.Name {
					seen.Effects = effectsOf(act, i)
				}
				if !slices.ContainsFunc(list, func(r matchedRow) bool { return r.Place == seen.Place && r.Name == seen.Name }) {
					list = append(list, seen)
				}
			}
		}
	}
	return list
}

// rowsNamed lists the rows of a program.
func rowsNamed(set *rows.Set, name string, shown func(layer, place string) string) []matchedRow {
	k, _, err := set.Program(name)
	if err != nil {
		return nil // unreachable: a policy with a row that cannot be read does not load
	}
	var list []matchedRow
	at := func(p rows.Place) string { return shown(p.Layer, strings.TrimPrefix(p.String(), p.Layer+"/")) }
	says := map[bool]string{true: "known", false: "wraps"}[k.Does()]
	if k.Converted {
		says = "converted"
	}
	if k.Place.File != "" {
		list = append(list, matchedRow{Name: name, Place: at(k.Place), Says: says})
	}
	for _, added := range k.Added {
		list = append(list, matchedRow{Name: name, Place: at(added.Place), Says: "adds"})
	}
	return list
}

// effectsOf are the effects of a command.
func effectsOf(act *engine.Action, command int) []int {
	var list []int
	for i, e := range act.Effects {
		if e.Command == command {
			list = append(list, i)
		}
	}
	return list
}

// known prints the rows that were used for programs, paths and tools, except the
// client's own tools.
func (g page) known(x *explanation) {
	for _, r := range x.Rows {
		if r.Says == "tool" && !strings.HasPrefix(r.Name, "mcp__") {
			continue
		}
		text := map[string]string{
			"known": "read by the row %s", "wraps": "runs another program, by the row %s", "adds": "the row %s adds to what it does",
			"converted": "unknown; options are read by the row %s", "tool": "read by the row %s", "class": "a class of paths, by the row %s"}[r.Says]
		g.row(r.Name, strings.Replace(text, "%s", r.Place, 1))
	}
}
