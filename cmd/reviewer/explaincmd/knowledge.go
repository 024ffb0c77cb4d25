package explaincmd

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// rowSeen is a row by which a program of the call was read.
type rowSeen struct {
	Program string `json:"program"`
	Place   string `json:"place"`
	Says    string `json:"says"`              // known: what it does; wraps: that it runs another; adds; converted: facts of others, it counts as unknown
	Effects []int  `json:"effects,omitempty"` // of action.effects, those of the program
}

// rowsOf lists the rows that say something of the programs of an action, wrappers
// before what they run.
func rowsOf(set *rows.Set, act *engine.Action, shown func(layer, place string) string) []rowSeen {
	var list []rowSeen
	for i, c := range act.Commands {
		for _, name := range append(slices.Clone(c.Wrappers), c.Name) {
			for _, seen := range rowsNamed(set, name, shown) {
				if name == c.Name {
					seen.Effects = effectsOf(act, i)
				}
				if !slices.ContainsFunc(list, func(r rowSeen) bool { return r.Place == seen.Place && r.Program == seen.Program }) {
					list = append(list, seen)
				}
			}
		}
	}
	return list
}

// rowsNamed lists the rows of a program.
func rowsNamed(set *rows.Set, name string, shown func(layer, place string) string) []rowSeen {
	k, _, err := set.Program(name)
	if err != nil {
		return nil // not reached: a policy with a row that cannot be read does not load
	}
	var list []rowSeen
	at := func(p rows.Place) string { return shown(p.Layer, strings.TrimPrefix(p.String(), p.Layer+"/")) }
	says := map[bool]string{true: "known", false: "wraps"}[k.Does()]
	if k.Converted {
		says = "converted"
	}
	if k.Place.File != "" {
		list = append(list, rowSeen{Program: name, Place: at(k.Place), Says: says})
	}
	for _, added := range k.Added {
		list = append(list, rowSeen{Program: name, Place: at(added.Place), Says: "adds"})
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

// known prints the rows by which programs were read.
func (g page) known(x *explanation) {
	for _, r := range x.Rows {
		text := map[string]string{
			"known": "read by the row %s", "wraps": "runs another program, by the row %s", "adds": "the row %s adds to what it does",
			"converted": "unknown; options are read by the row %s"}[r.Says]
		g.row(r.Program, strings.Replace(text, "%s", r.Place, 1))
	}
}
