package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/prompt"
)

// statement reports what the agent's last message claims; nil: nothing.
func (c *Classifier) statement(m *mask.Masker, e engine.Event, workspace string) *engine.Statement {
	if e.Said == "" {
		return nil
	}
	said, files := prompt.ClaimsOf(c.rowsOf(e), m, e.Said)
	if said == nil {
		return nil
	}
	said.Again = e.Again
	res := place.NewResolver(c.World, workspace, c.rowsOf(e))
	for _, name := range files {
		if short, missing := missingFile(res, name, e.CWD, workspace); missing {
			said.Missing = append(said.Missing, m.Text(short))
		}
	}
	return said
}

// missingFile looks for a file by the name that a message gives it: in the
// agent's directory, and in the workspace.
func missingFile(res *place.Resolver, name, cwd, workspace string) (short string, missing bool) {
	for _, dir := range []string{cwd, workspace} {
		full, ok := res.Named(name, place.Slashes(dir))
		if !ok || !res.Looking() || res.Lstat(full) != nil {
			return "", false
		}
		short = res.Short(full)
	}
	return strings.TrimSuffix(short, "/"), true
}
