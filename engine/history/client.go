package history

import "github.com/agent-reviewer/reviewer/engine"

// maxClientText bounds each text about the process from which a session's events come, in bytes of JSON.
const maxClientText = 300

// boundClient returns a client as the state keeps it.
func boundClient(c engine.Client) *engine.Client {
	for _, text := range []*string{&c.Boot, &c.Program, &c.Spaces, &c.Missing} {
		*text = engine.ClipJSON(*text, maxClientText)
	}
	return &c
}
