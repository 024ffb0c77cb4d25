package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/engine/run/tree"
)

// Run is a run that was started.
type Run struct {
	o      Options
	tree   *tree.Tree
	cmd    *exec.Cmd
	events chan Event
	stop   chan ending
	ended  chan struct{} // the first process has ended
	done   chan struct{}
	copied sync.WaitGroup
	out    Outcome

	pid     int
	watched bool            // somebody else started it
	input   *input          // nil: the command has standard input itself
	told    map[string]bool // reasons to end it
	near    map[string]bool // limits that are near
}

// ending is why a run ends before it does so itself.
type ending struct{ result, limit, reason string }

// maxEvents are kept for a reader that is slow; more are dropped, oldest first.
const maxEvents = 1024

// Start starts a run. When ctx ends, it is stopped.
func Start(ctx context.Context, o Options) (*Run, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("no command to run")
	}
	t, err := tree.New(tree.Limits{Memory: o.Limits.Memory, Processes: o.Limits.Processes})
	if err != nil {
		return nil, err
	}
	r := newRun(o, t)
	started := make(chan error, 1)
	go r.supervise(ctx, started)
	if err := <-started; err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return r, nil
}

func newRun(o Options, t *tree.Tree) *Run {
	o.Interval, o.Grace = cmp.Or(o.Interval, 200*time.Millisecond), cmp.Or(o.Grace, 500*time.Millisecond)
	o.KillWait = cmp.Or(o.KillWait, 2*time.Second)
	r := &Run{o: o, tree: t, events: make(chan Event, maxEvents), stop: make(chan ending, 1), ended: make(chan struct{}),
		done: make(chan struct{}), told: map[string]bool{}, near: map[string]bool{}}
	r.out.Ways, r.out.Began = t.Ways(), time.Now()
	return r
}

// Events returns what happens, until the run has ended.
func (r *Run) Events() <-chan Event { return r.events }

// Stop ends the run: its processes get SIGTERM, and after Options.Grace SIGKILL.
func (r *Run) Stop(reason string) { r.end(ending{ResultStopped, "", reason}) }

// Pid returns the process ID of the first process.
func (r *Run) Pid() int { return r.pid }

// Tree returns the processes of the run.
func (r *Run) Tree() *tree.Tree { return r.tree }

// Wait waits for the end of the run.
func (r *Run) Wait() Outcome {
	<-r.done
	return r.out
}

// end asks for the end of the run; the first reason counts.
func (r *Run) end(e ending) {
	select {
	case r.stop <- e:
	default:
	}
}

// tell passes on an event. It never waits.
func (r *Run) tell(e Event) {
	if e.Time == 0 {
		e.Time = time.Now().UnixMilli()
	}
	for {
		select {
		case r.events <- e:
			return
		default:
		}
		select {
		case <-r.events:
		default:
		}
	}
}

// supervise starts the command and supervises it. It keeps its thread, since the kernel
// kills the command when the thread that started it ends.
func (r *Run) supervise(ctx context.Context, started chan<- error) {
	runtime.LockOSThread()
	defer close(r.done)
	defer close(r.events)
	if err := r.start(); err != nil {
		started <- err
		return
	}
	started <- nil
	r.tell(Event{Kind: EventStarted, Text: r.o.Command[0], Pid: r.Pid()})
	defer context.AfterFunc(ctx, func() { r.Stop("the supervisor was asked to terminate") })()
	why := r.watch()
	r.finish(why)
}

// start starts the command, through the helper if there is one.
func (r *Run) start() error {
	line, dir := r.o.Command, r.o.Dir
	var order *order
	if r.o.Helper != nil {
		var err error
		if order, err = newOrder(r.o); err != nil {
			return err
		}
		defer order.close()
		line = r.o.Helper
	}
	r.cmd = exec.Command(line[0], line[1:]...)
	r.cmd.Dir, r.cmd.Env = dir, r.o.Env
	r.cmd.SysProcAttr = &syscall.SysProcAttr{}
	r.tree.Attr(r.cmd.SysProcAttr)
	output, err := r.streams()
	if err != nil {
		return err
	}
	if order != nil {
		order.attach(r.cmd)
	}
	if err = r.cmd.Start(); err == nil {
		r.pid = r.cmd.Process.Pid
		err = r.tree.Add(r.Pid())
	}
	output.started()
	if err == nil && order != nil {
		err = order.give(r.cmd.Process)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", r.o.Command[0], err), r.abandon())
	}
	go r.reap()
	return nil
}

// abandon terminates a command that could not be started completely.
func (r *Run) abandon() error {
	if r.cmd.Process == nil {
		return nil
	}
	r.tree.Kill(time.Second)
	_ = r.cmd.Wait() // it was ended here
	return nil
}

// reap waits for the end of the first process.
func (r *Run) reap() {
	_ = r.cmd.Wait() // the state says how it ended
	close(r.ended)
}

// output is the ends of pipes for the command, which are closed here once it has them.
type output struct{ command []*os.File }

func (o output) started() {
	for _, f := range o.command {
		_ = f.Close() // it was only passed on
	}
}

// streams connects the command's streams. Standard output is read only if somebody wants its lines.
func (r *Run) streams() (output, error) {
	var o output
	r.cmd.Stdin, r.cmd.Stderr = file(r.o.Stdin), file(r.o.Stderr)
	if r.o.Interrupt != nil || r.o.Talk {
		in, err := r.pipeInput()
		if err != nil {
			return o, err
		}
		r.cmd.Stdin, o.command = in, append(o.command, in)
	}
	if r.o.Lines == nil {
		r.cmd.Stdout = file(r.o.Stdout)
		return o, nil
	}
	from, to, err := os.Pipe()
	if err != nil {
		return o, fmt.Errorf("read the command's output: %w", err)
	}
	r.cmd.Stdout, o.command = to, append(o.command, to)
	r.copied.Go(func() { r.copyOutput(from) })
	return o, nil
}

// file is f for exec.Cmd, whose streams are interfaces.
func file(f *os.File) interface {
	io.ReadWriter
} {
	if f == nil {
		return nil
	}
	return f
}

// copyOutput copies the command's output as it arrives. If nobody reads it any longer, the
// command gets a broken pipe, as it would without a supervisor.
func (r *Run) copyOutput(from *os.File) {
	defer from.Close()
	l := &splitter{each: r.o.Lines}
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			l.write(buffer[:n])
			if r.o.Stdout != nil {
				if _, werr := r.o.Stdout.Write(buffer[:n]); werr != nil {
					return
				}
			}
		}
		if err != nil {
			l.end()
			return
		}
	}
}

// watch measures until the run ends, or has to.
func (r *Run) watch() ending {
	tick := time.NewTicker(r.o.Interval)
	defer tick.Stop()
	ended := r.ended
	for {
		select {
		case <-ended:
			if !r.o.Wait || len(r.tree.Processes()) == 0 {
				return ending{result: ResultEnded}
			}
			ended = nil // the others go on
		case e := <-r.stop:
			return e
		case <-tick.C:
			e, over := r.measure()
			switch {
			case over && r.o.Report:
				r.report(e)
			case over:
				return e
			}
			if r.watched && !r.tree.Runs() {
				return ending{result: ResultEnded}
			}
			if ended == nil && len(r.tree.Processes()) == 0 {
				return ending{result: ResultEnded}
			}
		}
	}
}

// finish ends what still runs, and completes the outcome.
func (r *Run) finish(why ending) {
	r.out.Result, r.out.Limit, r.out.Reason = why.result, why.limit, why.reason
	if why.result == ResultEnded {
		r.leftover()
	} else {
		r.stopping(why)
	}
	r.out.Stuck = r.tree.Kill(r.o.KillWait)
	select {
	case <-r.ended:
		r.out.Exit = exitOf(r.cmd.ProcessState)
		r.account(r.cmd.ProcessState)
	case <-time.After(r.o.KillWait):
		r.out.Exit = 128 + int(syscall.SIGKILL) // it waits for a device
	}
	if r.input != nil {
		r.input.close()
	}
	r.copied.Wait()
	if r.tree.OutOfMemory() && r.out.Result == ResultEnded && r.out.Exit != 0 {
		r.out.Result, r.out.Limit = ResultLimit, LimitMemory
		r.out.Reason = "the kernel killed a process of the run that used too much memory"
	}
	r.review(true)
	r.out.Ended = time.Now()
	r.tell(Event{Kind: EventEnded, Text: r.out.Result})
	_ = r.tree.Close() // what is stuck keeps its group
}

// account adds what the system counted for the command and the processes that it waited for. Without
// this, a command that ends before it is measured would have used nothing.
func (r *Run) account(s *os.ProcessState) {
	if s == nil {
		return
	}
	u := &r.out.Usage
	u.CPU = max(u.CPU, s.UserTime()+s.SystemTime())
	u.Peak = max(u.Peak, tree.MaxResident(s))
	r.out.Most = max(r.out.Most, 1)
}

// leftover notes the processes that outlive the command.
func (r *Run) leftover() {
	r.out.Leftover = r.tree.Processes()
	for _, p := range r.out.Leftover {
		r.tell(Event{Kind: EventLeftover, Text: "still ran when the command had ended, and was terminated", Pid: p.Pid, Program: p.Command})
	}
}

// event is the kind of event about a reason.
func (e ending) event() string {
	return map[string]string{ResultLimit: EventLimit, ResultStopped: EventStopping}[e.result]
}

// stopping reports why the run ends, and asks its processes to.
func (r *Run) stopping(why ending) {
	r.tell(Event{Kind: why.event(), Text: why.reason})
	r.interrupt()
	r.askToEnd()
}

// askToEnd gives the processes time to end on their own.
func (r *Run) askToEnd() {
	r.tree.Signal(syscall.SIGTERM)
	for begin := time.Now(); time.Since(begin) < r.o.Grace; time.Sleep(10 * time.Millisecond) {
		if len(r.tree.Processes()) == 0 {
			return
		}
	}
}

// exitOf is the exit code as a shell reports it.
func exitOf(s *os.ProcessState) int {
	if s == nil {
		return 1
	}
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}

// Signal sends a signal to the first process, as a terminal or a shell would.
func (r *Run) Signal(sig syscall.Signal) {
	if r.cmd != nil {
		_ = r.cmd.Process.Signal(sig) // it may have ended
	}
}
