package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/installed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/notifycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/unit"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
	"github.com/agent-reviewer/reviewer/engine/serve/apiserver"
	"github.com/agent-reviewer/reviewer/engine/serve/client"
	"github.com/agent-reviewer/reviewer/engine/serve/metrics"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
	"github.com/spf13/cobra"
)

// idle is how long the resident process waits for another event: a pause in the work of a
// person costs one slow hook at most.
const idle = 30 * time.Minute

func serveCommand(a *cli.App) *cobra.Command {
	var wait time.Duration
	var place, api string
	var on, off bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Keep the policy in memory, so that hooks are answered faster",
		Long: "Answers the hooks of agents over a socket in the state directory that only you can\n" +
			"reach. The hook's client starts it when it is needed; it exits when there has been no event\n" +
			"for a while and no agent that started a hook runs, or when the program is replaced. Without it each hook loads the\n" +
			"policy itself; the answers are the same. If REVIEWER_NO_RESIDENT=1 is set, a hook does not\n" +
			"start it.\n\n" +
			"--install writes a systemd or launchd service that starts it with your session, and\n" +
			"prints the commands that turn the service on; --uninstall removes it. --metrics serves\n" +
			"counters in the Prometheus format at /metrics, and /healthz, on the loopback interface\n" +
			"only; without it, neither is served. --http serves an API on the loopback interface, through\n" +
			"which programs list waiting questions, answer them with the code of `reviewer approvals\n" +
			"code`, and follow events.",
		Example: "  reviewer serve --idle 0 --metrics 127.0.0.1:9464\n  reviewer serve --install --http 127.0.0.1:9470",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := a.StateHome()
			if err != nil {
				return err
			}
			home = filepath.Clean(home)
			if on || off {
				return serveUnit(a, home, place, api, off)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			r := newResident(home)
			if err := serve.TakeOver(r.read.Read); err != nil {
				return err
			}
			if place != "" {
				l, err := metrics.Listen(place)
				if err != nil {
					return fmt.Errorf("--metrics: %w", err)
				}
				defer l.Close() // nothing is left to be written
				fmt.Fprintf(a.Stdout, "metrics are at http://%s/metrics\n", l.Addr())
				go r.meter.Serve(l)
			}
			s := &serve.Server{Home: home, Idle: wait, Handle: r.handle,
				HookClient: filepath.Join(filepath.Dir(cli.Program()), cli.HookClient), Stale: replaced()}
			if err := s.Listen(); err != nil {
				if errors.Is(err, serve.ErrRunning) && wait > 0 && api == "" {
					return nil // started by two hooks at once
				}
				return err
			}
			serve.Ready()
			if api != "" {
				address, err := r.serveAPI(ctx, a, api, s.Busy)
				if err != nil {
					return errors.Join(err, s.Close())
				}
				fmt.Fprintf(a.Stdout, "the API is at http://%s; its token is in %s\n", address, filepath.Join(home, apiserver.TokenFile))
			}
			r.startCatchUp(ctx)
			go r.tryCodes(ctx)
			r.watchInstallation(ctx, a, s)
			return r.serve(ctx, s)
		},
	}
	cmd.Flags().DurationVar(&wait, "idle", idle,
		"exit after this time without an event and without a request to the API, if no agent runs; 0: never")
	cmd.Flags().StringVar(&place, "metrics", "", "serve /metrics and /healthz at this loopback `address`, such as 127.0.0.1:9464")
	cmd.Flags().StringVar(&api, "http", "", "serve the API at this loopback `address`, such as 127.0.0.1:9470")
	cmd.Flags().BoolVar(&on, "install", false, "write a service that starts it with your session, and start nothing")
	cmd.Flags().BoolVar(&off, "uninstall", false, "remove that service")
	cmd.MarkFlagsMutuallyExclusive("install", "uninstall")
	return cmd
}

// serve answers until the context ends, nothing is left to do, or the program was replaced, which then continues.
func (r *resident) serve(ctx context.Context, s *serve.Server) error {
	err := errors.Join(s.Serve(ctx), r.finishLate())
	replaced := err == nil && ctx.Err() == nil && s.Stale()
	if replaced {
		_ = r.watch.Look(ctx) // the process that continues takes the program as it is
	}
	if err = errors.Join(err, s.Close()); err == nil && replaced {
		err = serve.HandOver(cli.Program(), r.read.Write)
	}
	return err
}

// watchInstallation begins to look whether the installation still is what it was: from time to time, and before the answers to
// events that are not about calls.
func (r *resident) watchInstallation(ctx context.Context, a *cli.App, s *serve.Server) {
	person := *a
	person.Home, person.Env = r.home, withHome(a.Env)
	var mu sync.Mutex
	var alerts notifycmd.Alerts
	stamp, every := "", lookEvery
	refresh := func() time.Duration {
		now, err := cli.MachineAt(r.home).Stamp("")
		if err != nil || now == stamp || !r.watch.Kept() {
			return every // a policy that cannot be used changes nothing here
		}
		eff, err := cli.MachineAt(r.home).Effective("")
		to, err2 := notifycmd.AlertsOf(&person, r.home)
		if err != nil || err2 != nil {
			return every
		}
		if n := eff.Settings.Guard.CheckSeconds; n > 0 {
			every = time.Duration(n) * time.Second
		}
		mu.Lock()
		defer mu.Unlock()
		stamp, alerts = now, to
		return every
	}
	report := func(err error) {
		fmt.Fprintln(a.Stderr, "reviewer: the installation was not checked:", cli.Masked(err.Error()))
	}
	places, err := signed.Places(&person)
	if err != nil {
		report(err)
	}
	r.watch = &installed.Watch{Home: r.home, Places: places, Log: r.plain, Workspaces: r.workspaces,
		Repair: func(ctx context.Context, agent, program string) error { return reinstall(ctx, &person, agent, program) },
		Tell: func(p installed.Problem, kept bool) {
			fmt.Fprintln(a.Stderr, "reviewer:", p.Text)
			if r.hub != nil {
				r.hub.Publish(api.Event{Kind: api.EventChanged, T: time.Now().UnixMilli(), Harness: p.Agent, Reason: p.Text})
			}
			mu.Lock()
			to := alerts
			mu.Unlock()
			if err := to.Send(&person, r.plain, p.About, p.Agent, p.Text, kept); err != nil {
				fmt.Fprintln(a.Stderr, "reviewer: nobody was notified:", cli.Masked(err.Error()))
			}
		}}
	if runtime.GOOS == "linux" { // elsewhere, hooks use no socket
		r.watch.Restore = s.Restore
	}
	refresh()
	if err := r.watch.Look(ctx); err != nil {
		report(err)
	}
	go r.watch.Run(ctx, refresh, report)
}

// lookEvery is the time from one look at the installation to the next until guard.check_seconds was read.
const lookEvery = 10 * time.Second

// withHome gives a process that a hook started, which has no variables, the home directory of its user.
func withHome(env func(string) string) func(string) string {
	return func(name string) string {
		if value := env(name); value != "" || name != "HOME" {
			return value
		}
		who, err := user.Current()
		if err != nil {
			return ""
		}
		return who.HomeDir
	}
}

// reinstall writes the managed hooks of an agent again, as `reviewer doctor --fix` does.
func reinstall(ctx context.Context, a *cli.App, name, program string) error {
	agent, known := settings.Find(name)
	if !known {
		return fmt.Errorf("%s is not an agent that this version knows", name)
	}
	quiet := *a
	quiet.Stdout, quiet.Stderr = io.Discard, io.Discard
	o := installOptions{layer: settings.LayerManaged, kept: true}
	if !isHookClient(program) {
		o.wish = unwanted
	}
	return install(ctx, &quiet, &term.Output{Format: term.Text, Formats: []string{term.Text}}, o, []settings.Agent{agent}, false)
}

// workspaces lists those whose policy is kept.
func (r *resident) workspaces() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for v := range r.policies {
		if filepath.IsAbs(v.of) && !slices.Contains(list, v.of) {
			list = append(list, v.of)
		}
	}
	return list
}

// serveUnit writes the file of the service, or removes it, and prints the commands that complete it.
func serveUnit(a *cli.App, home, place, api string, off bool) error {
	user, err := a.UserHome()
	if err != nil {
		return err
	}
	args := []string{"serve", "--home", home, "--idle", "0"}
	if place != "" {
		l, err := metrics.Listen(place) // whether it can be opened
		if err != nil {
			return fmt.Errorf("--metrics: %w", err)
		}
		if err := l.Close(); err != nil {
			return err
		}
		args = append(args, "--metrics", place)
	}
	if api != "" {
		l, err := apiserver.Listen(api) // whether it can be opened
		if err != nil {
			return fmt.Errorf("--http: %w", err)
		}
		if err := l.Close(); err != nil {
			return err
		}
		args = append(args, "--http", api)
	}
	u, err := unit.Service(runtime.GOOS, user, cli.Program(), args)
	if err != nil {
		return err
	}
	if off {
		if err := errors.Join(u.Remove(), cli.KeepAPIAddress(home, "")); err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "removed %s\nturn it off with:\n  %s\n", u.Place(), strings.Join(u.Off, "\n  "))
		return nil
	}
	changed, err := u.Install()
	if err == nil && api != "" {
		err = cli.KeepAPIAddress(home, api)
	}
	if err != nil {
		return err
	}
	word := "installed"
	if !changed {
		word = "already installed"
	}
	fmt.Fprintf(a.Stdout, "%s %s\nenable it with:\n  %s\n", word, u.Place(), strings.Join(u.On, "\n  "))
	return nil
}

// startResident starts the resident process for the next event, if the client of this one
// found none. ready ends once that process listens, or has ended; nil: none was started.
func startResident(a *cli.App) (ready *os.File) {
	if !wantsResident(a) || a.Detach == nil || a.Home == "" {
		return nil
	}
	// If it cannot be started, hooks are slower, and no less safe. A project sets variables for
	// the hook, so none is passed on.
	ready, _ = cli.DetachReady(wire.ReadyVariable, "serve", "--home", a.Home)
	return ready
}

// wantsResident reports whether a hook is to start the resident process, since its client found none.
func wantsResident(a *cli.App) bool {
	return a.Env(wire.WhyVariable) == wire.NoneRunning && a.Env("REVIEWER_NO_RESIDENT") == ""
}

// reportWait is how long a report may take: a process that does not answer delays a hook once, and does not let its call be denied.
const reportWait = 5 * time.Second

// reportLines returns what tells the resident process which lines this process writes, so that they count as a hook's. It waits for
// a process that was started for that, until a time. Lines that it does not tell may only make policy stricter.
func reportLines(home string, ready *os.File, until time.Time) func(audit.Wrote) {
	home = filepath.Clean(home)
	var one sync.Mutex
	var failed error // once: whoever reports holds the lock of a session
	return func(w audit.Wrote) {
		one.Lock()
		defer one.Unlock()
		input, err := json.Marshal(w)
		if failed = errors.Join(failed, err); failed != nil {
			return
		}
		if ready != nil {
			failed = ready.SetReadDeadline(until)
			_, _ = ready.Read(make([]byte, 1)) // it ends when that process listens
		}
		request := &wire.Request{Home: home, Args: []string{wire.WroteCommand}, Input: input}
		_, _, err = serve.Ask(home, request, min(reportWait, time.Until(until)))
		failed = errors.Join(failed, err)
	}
}

// inputMaker returns the process that made the socket from which a hook's event was read: by this program, or before it by the
// client that hooks start, which passes the socket on. 0: it was read from something else.
func inputMaker(relayed bool) int {
	fd := 0
	if relayed {
		fd, _ = strconv.Atoi(os.Getenv(wire.InputVariable)) // it is missing if an older client started this program
	}
	return client.Maker(fd)
}

// noteResident records why the client of the resident process did not trust it or got no
// answer from it. An agent of the same user could have taken its place.
func noteResident(ctx context.Context, a *cli.App, store *audit.Store) {
	why := a.Env(wire.WhyVariable)
	if why == "" || why == wire.NoneRunning {
		return
	}
	// The event is reviewed whether or not this can be written.
	_ = store.Note(ctx, engine.Note{What: "resident", Detail: fmt.Sprintf("%.200q", cli.Masked(why))})
}

// elapsed is the time that a client of the resident process has used up.
func elapsed(a *cli.App) time.Duration {
	ms, err := strconv.ParseUint(a.Env(wire.ElapsedVariable), 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
