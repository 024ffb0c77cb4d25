// Package runcmd implements `reviewer run`: it supervises one run of an agent according to the settings, reviews
// what the hooks of the agent cannot see, and writes the summary.
//
// Out of scope: how processes are tracked and limited (engine/run), what is decided about a call (the hook), and
// which calls a transcript has (engine/transcript).
package runcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
	"github.com/agent-reviewer/reviewer/engine/settings"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Exit codes of a run, besides those of the agent. --exit-base changes them.
const (
	exitBase    = 10
	exitBlocked = 0 // something was blocked, and the agent returned 0
	exitStopped = 1
	exitLimit   = 2
)

// flags are those of the command.
type flags struct {
	profile, summary string
	print, goal      string
	scope            []string
	limits           limitFlags
	base             int
	wait             bool
}

// Command returns the command. A goal is recorded by prompt.
func Command(a *cli.App, prompt Prompt) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGUMENT…]",
		Short: "Run an agent under supervision, with limits and a summary",
		Long: "Starts a command, usually an agent, and supervises every process that descends from it: a limit or a stop\n" +
			"ends all of them, including daemons. The terminal, standard streams and signals are passed through. Calls of\n" +
			"the agent without a verdict in the log are reported, or end the run (the setting run.unreviewed);\n" +
			"a session that is stopped ends it as well. The settings (run, and resources.max_memory_mb) define the\n" +
			"limits; flags can only lower them. docs/isolation.md lists what each system supports.\n\n" +
			"The exit code is the agent's own, except: 10 if something was blocked and the agent returned 0, 11 if\n" +
			"the run was stopped, and 12 if it reached a limit (--exit-base changes these three). The summary\n" +
			"is written to standard error, and with --summary to a file as JSON.",
		Example: "  reviewer run -- claude -p 'fix the tests' --output-format stream-json --verbose\n" +
			"  reviewer run --max-time 20m --max-cost 5 --summary run.json -- codex exec --json 'fix the tests'",
		Args: cli.AtLeast(cli.Argument{Name: "COMMAND", What: "the command to run, after --"}),
		RunE: func(cmd *cobra.Command, args []string) error { return start(cmd.Context(), a, f, prompt, args) },
	}
	cmd.Flags().StringVar(&f.profile, "profile", "",
		"how far the run is confined: observe, workspace, strict (default isolation.profile of the settings)")
	cli.Completes(cmd, "profile", profiles()...)
	cmd.Flags().StringArrayVar(&f.scope, "scope", nil,
		"a `path`; may be repeated. Of the workspace, the run may change only these (profiles workspace and\n"+
			"strict); elsewhere, it may change these too. All are added to the scope of its sessions")
	cmd.Flags().StringVar(&f.goal, "goal", "", "what the user asks for, as `text`: it counts like a prompt in the sessions of the run")
	cmd.Flags().StringVar(&f.print, "print", "",
		"print the confinement as the configuration of another `sandbox`, and start nothing: "+strings.Join(formats(), ", "))
	cli.Completes(cmd, "print", formats()...)
	cmd.Flags().StringVar(&f.summary, "summary", "", "write the summary as JSON to this `file`")
	cmd.Flags().IntVar(&f.base, "exit-base", exitBase,
		"exit code for a run in which something was blocked; the next two are for a stop and a limit")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait for the last process of the run, not only for the command")
	f.limits.add(cmd)
	return cmd
}

// Helper returns the hidden command that prepares a confined process and becomes the agent.
func Helper() *cobra.Command {
	return &cobra.Command{Use: helperName, Hidden: true, Args: cli.AtMost(0), Short: "Started by reviewer run",
		Example: "  reviewer run -- COMMAND",
		RunE:    func(*cobra.Command, []string) error { return run.Main(sandbox.Apply) }}
}

// helperName is the hidden command that `reviewer run` starts itself as.
const helperName = "run-helper"

func (f flags) check() error {
	if f.base < 1 || f.base > 123 {
		return cli.Usage("--exit-base %d: expected 1 to 123, since shells use the codes above 125", f.base)
	}
	return nil
}

// start prepares a run, waits for its end, and reports it.
func start(ctx context.Context, a *cli.App, f flags, prompt Prompt, command []string) error {
	if err := f.check(); err != nil {
		return err
	}
	p, err := newPlan(a, f, prompt, command)
	if err != nil {
		return err
	}
	if f.print != "" {
		return p.print(f.print)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before := takeSnapshot(ctx, p)
	if p.confined, err = confine(p, sandbox.Probe()); err != nil {
		return err
	}
	r, err := p.run(ctx)
	if err != nil {
		return errors.Join(err, p.confined.close())
	}
	stop := passSignals(r)
	defer stop()
	for e := range r.Events() {
		p.observer.event(e)
	}
	s := p.observer.summary(r.Wait())
	err = p.confined.close()
	s.Files = before.changes(context.WithoutCancel(ctx), p)
	return errors.Join(report(a, f, s), err)
}

// plan is what is known before a run starts.
type plan struct {
	app      *cli.App
	flags    flags
	command  []string
	dir      string
	agent    string // its name; empty: unknown
	home     string // of the user
	profile  string
	scope    []string  // what may be changed of the workspace; nil: all of it
	beyond   []string  // what may be changed elsewhere
	declared *declared // nil: nothing was
	confined *confinement
	settings settings.Settings
	policy   policy
	observer *observer
	started  atomic.Pointer[run.Run] // nil: not yet
}

func newPlan(a *cli.App, f flags, prompt Prompt, command []string) (*plan, error) {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	p := &plan{app: a, flags: f, command: command, dir: dir, agent: agentOf(command)}
	if p.policy, err = loadPolicy(a, dir); err != nil {
		return nil, err
	}
	p.settings = p.policy.Settings
	if err := f.limits.lower(&p.settings); err != nil {
		return nil, err
	}
	if p.profile, err = profileOf(f.profile, p.settings.Isolation.Profile); err != nil {
		return nil, err
	}
	if p.scope, p.beyond, err = p.scopeOf(f.scope); err != nil {
		return nil, err
	}
	if err := p.declare(prompt); err != nil {
		return nil, err
	}
	if p.home, err = a.UserHome(); err != nil {
		return nil, err
	}
	p.home = realPath(p.home)
	p.observer, err = newObserver(p)
	return p, err
}

// run starts the run.
func (p *plan) run(ctx context.Context) (r *run.Run, err error) {
	o := p.options()
	if c := p.confined; c != nil {
		if c.box, err = sandbox.New(c.plan, c.denied, c.listening); err != nil {
			return nil, err
		}
		o.Confine, o.Env = c.box, c.environment(o.Env)
	}
	if o.Interrupt != nil && o.Lines != nil { // what the client answers is read
		p.observer.tell.say = p.say
	}
	if r, err = run.Start(ctx, o); err == nil {
		p.started.Store(r)
	}
	return r, err
}

// say passes a line to the client, between those of whoever started the run.
func (p *plan) say(line []byte) error {
	r := p.started.Load()
	if r == nil {
		return run.ErrBusy
	}
	return r.Say(line)
}

// startResident starts the process that answers hooks, as hooks do. The run ignores it: it continues afterwards.
func (p *plan) startResident() error {
	if p.app.Detach == nil {
		return errors.New("the process that answers hooks cannot be started here")
	}
	return p.detach([]string{}, "serve")
}

// detach starts this program outside. It does not belong to the run.
func (p *plan) detach(env []string, args ...string) error {
	pid, err := cli.Detached(env, append(args, "--home", p.policy.log.Dir)...)
	if r := p.started.Load(); err == nil && r != nil {
		r.Tree().Ignore(pid)
	}
	return err
}

// options describe the run for the supervisor.
func (p *plan) options() run.Options {
	o := run.Options{Command: p.command, Dir: p.dir, Env: os.Environ(), Limits: limitsOf(&p.settings), Review: p.observer.review,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Wait: p.flags.wait || p.settings.Run.Leftover == "wait",
		Interval: milliseconds(p.settings.Run.CheckMS), Grace: max(milliseconds(p.settings.Run.GraceMS), 1),
		KillWait: milliseconds(p.settings.Run.KillWaitMS), Near: p.observer.near, NearShare: p.settings.Run.TellShare}
	if program := cli.Program(); run.HelperPossible {
		o.Helper = []string{program, helperName}
	}
	if known := findAgent(p.agent); known.protocol != nil && known.spoken(p.command) {
		o.Interrupt = known.interrupt()
	}
	if !term.IsTerminal(int(os.Stdout.Fd())) && findAgent(p.agent).line != nil {
		o.Lines = p.observer.line
	}
	return o
}

// passSignals passes signals on. Those that a terminal sends reach the command without that.
func passSignals(r *run.Run) (stop func()) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passed()...)
	terminal := term.IsTerminal(int(os.Stdin.Fd()))
	go func() {
		for s := range signals {
			sig, ok := s.(syscall.Signal)
			if ok && !(terminal && (sig == syscall.SIGINT || sig == syscall.SIGQUIT)) {
				r.Signal(sig)
			}
		}
	}()
	return func() { signal.Stop(signals) }
}

// report writes the summary, and returns the exit code of the run as an error.
func report(a *cli.App, f flags, s *Summary) error {
	code := s.exitCode(f.base)
	s.ExitCode = code
	err := s.write(f.summary)
	if !a.Quiet {
		s.print(a.Stderr)
	}
	if code == 0 && err == nil {
		return nil
	}
	return errors.Join(err, &cli.ExitError{Code: max(code, map[bool]int{true: 1}[err != nil])})
}

// agentOf returns the agent that a command runs; empty if the command is not an agent.
func agentOf(command []string) string {
	for _, name := range []string{command[0], scriptOf(command)} {
		for agent, programs := range agentPrograms() {
			for _, program := range programs {
				if strings.TrimSuffix(filepath.Base(name), ".js") == program {
					return agent
				}
			}
		}
	}
	return ""
}

// scriptOf returns what an interpreter runs.
func scriptOf(command []string) string {
	name := filepath.Base(command[0])
	if len(command) < 2 || !strings.HasPrefix(name, "node") && !slices.Contains([]string{"npx", "bun", "sh", "bash"}, name) {
		return ""
	}
	return command[1]
}
