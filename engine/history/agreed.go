package history

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// agreeCommands records the commands that no row describes, and that a person let run.
func (h *State) agreeCommands(a *engine.Action) {
	for i := range a.Commands {
		if key := commandKey(&a.Commands[i]); key != "" {
			h.addMarks(labelAgreed, []string{key})
		}
	}
}

// agreedCommands returns the commands of an action, with those that a person approved marked.
func (h *State) agreedCommands(list []engine.Command) []engine.Command {
	if h.Marks[labelAgreed] == "" {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		key := commandKey(&list[i])
		list[i].Agreed = key != "" && hasDigits(h.Marks[labelAgreed], key)
	}
	return list
}

// commandKey returns a digest of a command that no row describes, without the text that it passes on: words with spaces between
// them. Empty: a row describes the command, or some of its words are unknown.
func commandKey(c *engine.Command) string {
	if !c.Unlisted || c.Name == "" {
		return ""
	}
	words := slices.Concat([]string{c.Name}, c.Sub, []string{"--"}, c.Operands, c.Flags, c.Wrappers)
	for i, w := range words {
		option, value, ok := strings.Cut(w, "=")
		switch {
		case w == "?" || ok && value == "?":
			return ""
		case ok && strings.HasPrefix(option, "-") && strings.Contains(value, " "):
			words[i] = option
		case strings.Contains(w, " "):
			words[i] = " "
		}
	}
	return engine.HexSum([]byte(strings.Join(words, "\x00")))[:8]
}
