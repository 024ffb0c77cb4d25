package run

import (
	"context"
	"time"

	"github.com/agent-reviewer/reviewer/engine/run/tree"
)

// ResultLeft is the result of a run that was watched, and goes on.
const ResultLeft = "left"

// ExitUnknown is the exit code of a run that somebody else started.
const ExitUnknown = -1

// Attach watches a run that somebody else started, by its first process. Its streams are not read, its end is not
// caused by the end of ctx, and its exit code is unknown. The other options than Review, Report, Interval, Grace, KillWait and the
// Limits of all processes together are ignored.
func Attach(ctx context.Context, pid int, o Options) (*Run, error) {
	t, err := tree.Watch(pid)
	if err != nil {
		return nil, err
	}
	r := newRun(o, t)
	r.pid, r.watched, r.out.Began = pid, true, t.Began()
	go func() {
		defer close(r.done)
		defer close(r.events)
		defer context.AfterFunc(ctx, func() { r.end(ending{ResultLeft, "", ""}) })()
		r.tell(Event{Kind: EventStarted, Text: "watched", Pid: pid})
		r.leave(r.watch())
	}()
	return r, nil
}

// leave ends a watch. The processes are ended only if something was a reason to.
func (r *Run) leave(why ending) {
	r.out.Result, r.out.Limit, r.out.Reason, r.out.Exit = why.result, why.limit, why.reason, ExitUnknown
	if why.result == ResultLimit || why.result == ResultStopped {
		r.stopping(why)
		r.out.Stuck = r.tree.Kill(r.o.KillWait)
	}
	r.review(true)
	r.out.Ended = time.Now()
	r.tell(Event{Kind: EventEnded, Text: r.out.Result})
}

// report adds an event about a reason to end the run, once.
func (r *Run) report(e ending) {
	if key := e.result + e.limit; !r.told[key] {
		r.told[key] = true
		r.tell(Event{Kind: e.event(), Text: e.reason})
	}
}
