package trial

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/rego"
)

// mostTwice limits the cases and examples, and the inputs for rules, that are decided
// twice. Together with the dozen usual calls this takes at most half a second of CPU
// time if cases are single calls, and a tenth for a bundle with a few rules.
const mostTwice = 32

// DecideTwice compares the decisions of a policy with and without OPA's rule index and early exit.
// own are its layers that do not ship with the program, with their files.
func DecideTwice(ctx context.Context, env engine.Env, e *bundles.Effective, host *rego.Host, own map[string]fs.FS) (*Shortcuts, error) {
	o := ShortcutOptions{Env: env, Host: host, Most: mostTwice}
	for _, l := range e.Layers {
		files := own[l.Layer]
		if files == nil {
			continue
		}
		o.Own = append(o.Own, l.Layer)
		if _, err := fs.Stat(files, "cases"); err == nil {
			list, _ := cases.LoadBelow(files, "cases", l.Layer) // `policy check` reports errors
			o.Cases = append(o.Cases, list...)
		}
	}
	return TryShortcuts(ctx, e.Layers, o)
}

// Err describes the decisions that depend on OPA's shortcuts, and what can be done; nil:
// nothing does.
func (found *Shortcuts) Err() error {
	if found == nil || len(found.Differ) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s differ when OPA evaluates every rule completely, the first in %s; "+
		"change the rule so that no built-in function in it fails; if none does, it is a bug in OPA %s: "+
		"write the comparison differently",
		len(found.Differ), engine.Counted(found.Decisions, "decision", "decisions"), found.Differ[0], rego.Version())
}
