package runcmd

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	text "github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/run/tree"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// WatchCommand returns `reviewer watch`.
func WatchCommand(a *cli.App) *cobra.Command {
	var f flags
	var stop bool
	cmd := &cobra.Command{
		Use:   "watch [flags] PID|SESSION",
		Short: "Watch a running agent that reviewer did not start",
		Long: "Follows the log, the transcript and the processes of a running agent until it ends: calls without a verdict,\n" +
			"tokens, memory, files, connections to other machines as far as the system shows them, and the limits that\n" +
			"`reviewer run` would enforce. For a SESSION, the agent is the one that runs in the session's workspace. Nothing\n" +
			"is confined, and a process that was detached from its parents before it was seen is not found.\n\n" +
			"Whatever would end a run (a limit, a stop of the session, the policy) is reported; with --stop, it also ends\n" +
			"the agent and all its processes, as s and Enter do in a terminal. An interrupt ends only the watch.\n\n" +
			"Summary and exit code are those of `reviewer run`, but the agent's own exit code is unknown: 0 stands for it.",
		Example: "  reviewer watch 4711\n  reviewer watch --stop --max-time 20m --summary run.json last",
		Args:    cli.Needs(cli.Argument{Name: "PID|SESSION", What: "the process of an agent, or a session"}),
		RunE:    func(cmd *cobra.Command, args []string) error { return watch(cmd.Context(), a, f, stop, args[0]) },
	}
	cmd.Flags().BoolVar(&stop, "stop", false, "end the agent where reviewer run would")
	cmd.Flags().StringVar(&f.summary, "summary", "", "write the summary as JSON to this `file`")
	cmd.Flags().IntVar(&f.base, "exit-base", exitBase,
		"exit code for a run in which something was blocked; the next two are for a stop and a limit")
	f.limits.add(cmd)
	return cmd
}

// watch watches until the agent ends, or somebody interrupts it.
func watch(ctx context.Context, a *cli.App, f flags, stop bool, target string) error {
	if err := f.check(); err != nil {
		return err
	}
	p, pid, err := watchPlan(a, f, target)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(ctx, os.Interrupt)
	defer cancel()
	before := takeSnapshot(ctx, p)
	o := p.options()
	o.Report = !stop
	w := &watcher{p: p}
	o.Review = w.review
	r, err := run.Attach(ctx, pid, o)
	if err != nil {
		return err
	}
	w.run.Store(r)
	if !a.Quiet {
		fmt.Fprintf(a.Stderr, "reviewer watch: process %d (%s) in %s\n", pid, cmp.Or(p.agent, "not a known agent"), p.dir)
	}
	go stopOnKey(a, r)
	for e := range r.Events() {
		p.observer.event(e)
		if !a.Quiet && e.Kind != run.EventStarted && e.Kind != run.EventEnded {
			fmt.Fprintf(a.Stderr, "  %s: %s\n", e.Kind, text.OneLine(e.Text, 140))
		}
	}
	s := p.observer.summary(r.Wait())
	s.Files = before.changes(context.WithoutCancel(ctx), p)
	return report(a, f, s)
}

// stopOnKey stops the run when a person says so.
func stopOnKey(a *cli.App, r *run.Run) {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return
	}
	fmt.Fprintln(a.Stderr, "  s and Enter stop it; an interrupt ends the watch")
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadString('\n')
		if strings.TrimSpace(line) == "s" {
			r.Stop("a person stopped it")
			return
		}
		if err != nil {
			return
		}
	}
}

// watchPlan is what is known about a run that somebody else started.
func watchPlan(a *cli.App, f flags, target string) (p *plan, pid int, err error) {
	p = &plan{app: a, flags: f, profile: profileObserve}
	var only engine.SessionKey
	if pid, err = strconv.Atoi(target); err != nil {
		if only, pid, err = processOf(a, target); err != nil {
			return nil, 0, err
		}
	}
	if p.command, p.dir, err = processAt(pid); err != nil {
		return nil, 0, err
	}
	p.agent = agentOf(p.command)
	if p.policy, err = loadPolicy(a, p.dir); err != nil {
		return nil, 0, err
	}
	p.settings = p.policy.Settings
	if err := f.limits.lower(&p.settings); err != nil {
		return nil, 0, err
	}
	if p.home, err = a.UserHome(); err != nil {
		return nil, 0, err
	}
	if p.observer, err = newObserver(p); err != nil {
		return nil, 0, err
	}
	t, err := tree.Watch(pid)
	if err != nil {
		return nil, 0, err
	}
	p.observer.watching, p.observer.began = true, t.Began()
	if only.Session != "" {
		p.observer.follow(only)
		p.observer.only = true
	}
	return p, pid, nil
}

// processAt returns the command line and the working directory of a process.
func processAt(pid int) (command []string, dir string, err error) {
	at := filepath.Join("/proc", strconv.Itoa(pid))
	raw, err := os.ReadFile(filepath.Join(at, "cmdline"))
	if err != nil || len(raw) == 0 {
		return nil, "", fmt.Errorf("process %d does not run, or is not visible here (processes can be watched on Linux only)", pid)
	}
	if dir, err = os.Readlink(filepath.Join(at, "cwd")); err != nil {
		return nil, "", fmt.Errorf("the working directory of process %d is unknown: %w", pid, err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00"), dir, nil
}

// processOf finds the agent of a session: the one that runs in its workspace.
func processOf(a *cli.App, selector string) (key engine.SessionKey, pid int, err error) {
	log, err := a.OpenStore()
	if err != nil {
		return key, 0, err
	}
	one, _, err := log.Resolve(selector)
	if err != nil {
		return key, 0, err
	}
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	var found []string
	for _, at := range processes {
		n, _ := strconv.Atoi(filepath.Base(at))
		command, dir, err := processAt(n)
		if err == nil && agentOf(command) == one.Key.Harness && inside(dir, one.Workspace) && !parentIs(n, one.Key.Harness) {
			pid = n
			found = append(found, filepath.Base(at))
		}
	}
	switch len(found) {
	case 0:
		return key, 0, fmt.Errorf("no %s runs in %s, the workspace of session %s; name its process", one.Key.Harness, one.Workspace,
			one.Key.Session)
	case 1:
		return one.Key, pid, nil
	}
	return key, 0, fmt.Errorf("several processes of %s run in %s: %s; name one of them", one.Key.Harness, one.Workspace,
		strings.Join(found, ", "))
}

// parentIs reports whether the parent of a process is the same agent, of which it is a part.
func parentIs(pid int, agent string) bool {
	command, _, err := processAt(tree.Parent(pid))
	return err == nil && agentOf(command) == agent
}

// connections reports those to other machines, each once.
func (w *watcher) connections() {
	r := w.run.Load()
	if r == nil {
		return
	}
	for _, c := range r.Tree().Connections() {
		if !w.seen[c.To] {
			w.seen[c.To] = true
			w.p.observer.note("connection", fmt.Sprintf("%s by %s", c.To, c.Command), run.Event{Pid: c.Pid, Program: c.Command})
		}
	}
}

// tail reads what was added to the transcripts, if the agent reports there what the model used.
func (o *observer) tail(file string) {
	if o.agent.logged == nil {
		return
	}
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	if _, err := f.Seek(o.tails[file], io.SeekStart); err != nil {
		return
	}
	o.tails[file] += run.EachLine(f, func(line []byte) {
		if at, ok := written(line); ok && !at.Before(o.began) {
			o.stream.mu.Lock()
			o.agent.logged(&o.stream, line)
			o.stream.mu.Unlock()
		}
	})
}

// watcher is what a watch knows besides what a run does.
type watcher struct {
	p    *plan
	run  atomic.Pointer[run.Run]
	seen map[netip.AddrPort]bool
}

func (w *watcher) review(last bool) run.Reviewed {
	if w.seen == nil {
		w.seen = map[netip.AddrPort]bool{}
	}
	w.connections()
	return w.p.observer.review(last)
}

// written returns when a line of a transcript was written.
func written(line []byte) (time.Time, bool) {
	var l struct {
		Timestamp time.Time `json:"timestamp"`
	}
	err := json.Unmarshal(line, &l)
	return l.Timestamp, err == nil
}
