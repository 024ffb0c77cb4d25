package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/notifycmd"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/serve"
)

// questions shows the question about one call to people while the call waits.
type questions struct {
	app   *cli.App
	store *audit.Store
	mask  func(string) string
	pause *serve.Pause
	until time.Time     // when the agent must have its answer
	waits chan struct{} // closed once the call waits
}

// Limit returns how much longer the agent waits for this hook.
func (q *questions) Limit() time.Duration { return time.Until(q.until) }

// Open writes the request, and starts a process that tells people about it.
func (q *questions) Open(
	ctx context.Context, p *review.Policy, r approval.Request, a *engine.Action, workspace string,
) (act.Question, error) {
	pending := queue.Queue{Log: q.store}
	fresh, err := pending.Put(r)
	if err != nil {
		return nil, err
	}
	if fresh {
		if err := notifycmd.Asked(q.app, q.store, p, &r); err != nil {
			return nil, errors.Join(err, pending.Remove(r.ID))
		}
	}
	close(q.waits)
	one := &question{policy: p, queue: pending, id: r.ID, files: stamps(r.Effects), resume: func() {}, opened: time.Now(),
		code: func() []stamp { return stampsOfCode(ctx, p, a, workspace) }}
	one.loads = one.code()
	runtime.UnlockOSThread() // see answer; Close locks it again
	if q.pause != nil {
		one.resume = q.pause.Begin(q.Limit())
	}
	return one, nil
}

// question is a question that people can answer.
type question struct {
	policy *review.Policy
	queue  queue.Queue
	id     string
	files  []stamp
	code   func() []stamp // of the files that the call may run
	loads  []stamp        // these, when the question was opened
	resume func()
	opened time.Time
}

// Changed returns which file that the call reads, changes or may run has changed since the question was opened.
func (q *question) Changed() string {
	for _, s := range q.files {
		if stampOf(s.path) != s {
			return s.path
		}
	}
	before, now := q.loads, q.code()
	for n := range max(len(before), len(now)) {
		switch {
		case n == len(now), n < len(before) && before[n].path < now[n].path:
			return before[n].path // it is gone
		case n == len(before) || before[n] != now[n]:
			return now[n].path // it is new, or was written
		}
	}
	return ""
}

// pollEvery is how often a waiting call looks for an answer: often enough for an approval
// to feel immediate, and rarely enough for 500 waiting calls to cost next to nothing.
const pollEvery = 200 * time.Millisecond

// Pause waits until it is time to look for an answer again.
func (q *question) Pause(ctx context.Context) error {
	next := time.NewTimer(pollEvery)
	defer next.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-next.C:
		return nil
	}
}

// Waited returns how long ago the question was opened, in milliseconds.
func (q *question) Waited() int64 { return time.Since(q.opened).Milliseconds() }

// Close withdraws the question. A request that is left behind is ignored.
func (q *question) Close() {
	_ = notifycmd.Answered(q.queue.Log, q.policy, q.id)
	_ = q.queue.Remove(q.id)
	q.resume()
	runtime.LockOSThread()
}

// stamp distinguishes the contents of a file at two times.
type stamp struct {
	path     string
	exists   bool
	size     int64
	modified time.Time
	changed  int64
}

// stamps describes the files that a call reads, runs or changes, as far as they are known.
func stamps(effects []engine.Effect) []stamp {
	var list []stamp
	for i := range effects {
		e := &effects[i]
		if e.Short != "" && e.Host == "" && e.Certainty == engine.CertaintyExact && e.Entry != "dir" {
			list = append(list, stampOf(e.Target))
		}
	}
	return list
}

// stampsOfCode describes the files of code in the workspace that a call may run: modules that it imports, files that it
// includes, scripts of a build. In the order of their paths. Of a workspace, no more is
// looked at than a checkpoint stores (checkpoints.max_files, checkpoints.generated).
func stampsOfCode(ctx context.Context, p *review.Policy, a *engine.Action, workspace string) (list []stamp) {
	if a == nil || len(a.Loads) == 0 || workspace == "" {
		return nil
	}
	limits := &p.Settings.Checkpoints
	var seen int64
	_ = filepath.WalkDir(workspace, func(path string, d fs.DirEntry, err error) error {
		seen++
		switch {
		case seen > limits.MaxFiles || ctx.Err() != nil:
			return fs.SkipAll
		case err != nil:
			return nil
		case d.IsDir() && (d.Name() == ".git" || slices.Contains(limits.Generated, d.Name())):
			return fs.SkipDir
		case !d.IsDir() && classify.MayRun(p.Rows, a, path):
			list = append(list, stampOf(path))
		}
		return nil
	})
	return list
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{path: path}
	}
	return stamp{path, true, info.Size(), info.ModTime(), osfile.Changed(info)}
}
