package reread

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// rereading classifies recorded calls again, by the rows of then and by those of now. Nothing of a disk is known, so
// what it finds is compared with the record.
type rereading struct {
	then, now             *rows.Set
	redactThen, redactNow []string
}

// Why the facts about a call remain unknown.
const (
	notInFull   = "its arguments were not recorded in full"
	readsFiles  = "it reads files, whose contents were not recorded"
	namesFiles  = "it touches other files now, and the state of these was not recorded"
	notTheSame  = "from the arguments alone, the former rows do not show what was recorded"
	notComputed = "it could not be classified again"
)

// action returns what a call means by the rows of now, or why that is unknown.
func (q *rereading) action(r *engine.Record, workspace string) (a *engine.Action, why string) {
	if len(r.Cut) > 0 || r.Event.Asked != nil || r.Action.Terminals != nil || len(r.Action.Contents) > 0 || !whole(r.Event.Args) ||
		strings.Contains(r.Event.CWD+workspace, masked) {
		return nil, notInFull
	}
	raw, err := json.Marshal(r.Event.Args)
	if err != nil {
		return nil, notInFull
	}
	e := engine.Event{Phase: r.Phase, Name: r.Event.Name, Session: r.Session, Agent: r.Agent, Call: r.Call, Harness: r.Harness,
		Tool: r.Event.Tool, CWD: r.Event.CWD, Mode: r.Event.Mode, PromptID: r.Event.PromptID, Args: raw}
	home := homeOf(r, workspace)
	e.Rows, e.Redact = q.then, q.redactThen
	then, why := factsOf(e, home, workspace)
	switch {
	case why != "":
		return nil, why
	case !alike(then.Event.Args, r.Event.Args) || len(then.Cut) > 0 || !alike(withoutFiles(r.Action), withoutFiles(then.Action)):
		return nil, notTheSame
	}
	e.Rows, e.Redact = q.now, q.redactNow
	now, why := factsOf(e, home, workspace)
	switch {
	case why != "":
		return nil, why
	case !alike(then.Event, now.Event) || !alike(then.Prompts, now.Prompts) || len(now.Cut) > 0:
		return nil, notTheSame
	}
	return mergedAction(r.Action, then.Action, now.Action)
}

// factsOf classifies a call without a disk, unless it reads files.
func factsOf(e engine.Event, home, workspace string) (f engine.Facts, why string) {
	set, _ := e.Rows.(*rows.Set)
	disk := &probe{folders: []string{e.CWD, workspace}}
	if _, err := classifierIn(disk.world(), set).Classify(context.Background(), e, workspace); err != nil {
		return f, notComputed
	}
	if disk.reads {
		return f, readsFiles
	}
	f, err := classifierIn(classify.System{Home: home}, set).Classify(context.Background(), e, workspace)
	if err != nil {
		return f, notComputed
	}
	return f, ""
}

// whole reports whether arguments were recorded as they were.
func whole(v any) bool {
	switch v := v.(type) {
	case string:
		return !strings.Contains(v, masked)
	case []any:
		return !slices.ContainsFunc(v, func(v any) bool { return !whole(v) })
	case map[string]any:
		if _, stored := v["bytes"]; stored && v["lines"] != nil {
			return false
		}
		for key, item := range v {
			if !whole(key) || !whole(item) {
				return false
			}
		}
	}
	return true
}

// homeOf returns the home directory of whoever ran a call.
func homeOf(r *engine.Record, workspace string) string {
	for _, e := range r.Action.Effects {
		if below, ok := strings.CutPrefix(e.Short, "~"); ok && (below == "" || below[0] == '/') && strings.HasSuffix(e.Target, below) {
			return strings.TrimSuffix(e.Target, below)
		}
	}
	for _, dir := range []string{r.Event.CWD, workspace} {
		if home := classify.HomeOf(dir); home != "" {
			return home
		}
	}
	return ""
}

// classifierIn classifies in a world, with a key of no one: keyed digests are only compared with each other.
func classifierIn(w classify.System, set *rows.Set) *classify.Classifier {
	digest := func(b []byte) string {
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:])
	}
	return &classify.Classifier{World: w, MAC: digest, Secrets: bundles.BuiltInTokens(), Rows: set}
}

// probe is a disk on which every name exists. It notes whether contents are read.
type probe struct {
	folders []string
	reads   bool
}

func (p *probe) world() classify.System {
	read := func(name string, _ int64) ([]byte, error) {
		// The name of the branch is not marked; where a repository is shows in the location of paths.
		p.reads = p.reads || !strings.HasSuffix(name, "/.git/HEAD") && !strings.HasSuffix(name, "/.git")
		return nil, fs.ErrPermission
	}
	return classify.System{
		Lstat:    func(name string) (fs.FileInfo, error) { return p.info(name), nil },
		Readlink: func(string) (string, error) { return "", fs.ErrInvalid },
		ReadDir: func(string, int) ([]fs.DirEntry, error) {
			p.reads = true
			return nil, fs.ErrPermission
		},
		ReadFile: read, ReadHead: read,
	}
}

func (p *probe) info(name string) fs.FileInfo {
	for _, dir := range p.folders {
		if name == dir || strings.HasPrefix(dir, strings.TrimSuffix(name, "/")+"/") {
			return pretended{name, fs.ModeDir | 0o755}
		}
	}
	return pretended{name, 0o644}
}

// pretended describes a file of a probe.
type pretended struct {
	name string
	mode fs.FileMode
}

func (f pretended) Name() string       { return path.Base(f.name) }
func (f pretended) Size() int64        { return 1 }
func (f pretended) Mode() fs.FileMode  { return f.mode }
func (f pretended) ModTime() time.Time { return time.Time{} }
func (f pretended) IsDir() bool        { return f.mode.IsDir() }
func (f pretended) Sys() any           { return nil }
