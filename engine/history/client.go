package history

import "github.com/agent-reviewer/reviewer/engine"

// foldClient records the process from which the session's events come.
func (h *State) foldClient(c *engine.Client) {
	if c == nil {
		return
	}
	own := *c
	for _, text := range []*string{&own.Boot, &own.Program, &own.Spaces} {
		*text = boundKey(*text, keyLength)
	}
	own.Missing = engine.ClipJSON(own.Missing, reasonLength)
	h.Client = &own
}
