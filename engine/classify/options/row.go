package options

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// OfRow returns how arguments are parsed according to a row.
func OfRow(set *rows.Set, p rows.Program) Grammar {
	g := Grammar{Values: Padded(p.Values + " " + p.Persistent + " " + p.Code + " " + p.Scripts), Glued: Padded(p.Glued),
		Flags: Padded(p.Flags), First: len(p.Subcommands) > 0, Offs: offs(set)}
	for _, word := range strings.Fields(p.Grammar) {
		switch word {
		case rows.First:
			g.First = true
		case rows.Long:
			g.Long = true
		case rows.Literal:
			g.Literal = true
		case rows.Abbreviates:
			g.Abbreviates, g.Names = true, p.HasOption
		case rows.Undashed:
			g.Undashed = true
		case rows.Booleans:
			g.Booleans = true
		case rows.Switches:
			g.Switches = true
		case rows.Own:
			g.Own = true
		}
	}
	return g
}

// offs returns the values with which an option is off, whatever it does. A layer that may only add has
// no say: without the option, the call may do less.
func offs(set *rows.Set) []string {
	return rows.Once(set, "offs", func() []string { return set.OwnWords("programs.switched_off") })
}

// Padded adds a space before the first word of a list and after the last.
func Padded(words string) string {
	if strings.TrimSpace(words) == "" {
		return ""
	}
	return " " + strings.TrimSpace(words) + " "
}
