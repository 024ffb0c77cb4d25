package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/agent-reviewer/reviewer/engine/serve/apiserver"
	"github.com/agent-reviewer/reviewer/engine/serve/metrics"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// resident is what the resident process keeps from one event to the next.
type resident struct {
	home  string
	plain *audit.Store // for what needs no policy
	meter *metrics.Meter
	late  *review.LateReviews
	cache wiring.Memory

	detach func(args ...string) error // starts a process for what no event asked for
	hub    *apiserver.Hub             // of the HTTP API; nil: it is off

	caughtUp chan error // the result of making the reviews that an earlier process owed

	loading sync.Mutex // held while a policy is compiled: of many events after a change, one does it

	mu       sync.Mutex
	policies map[string]*keptPolicy  // by workspace
	logs     map[string]*audit.Store // by the digest of the settings
	reviews  chan func()             // taken by goroutines that wait for work
}

// keptPolicy is a policy that was compiled, with the state of the files it was made from.
type keptPolicy struct {
	*loaded
	stamp string
	at    time.Time
}

// keptFor is how long a compiled policy is used although no file changed: signatures
// expire.
const keptFor = time.Minute

// maxKept bounds the policies that are kept.
const maxKept = 16

func newResident(home string) *resident {
	r := &resident{home: home, meter: metrics.New(), plain: &audit.Store{Dir: home, Env: cli.Environment()},
		detach:   cli.Detach,
		late:     &review.LateReviews{Begin: func() error { return markLate(home) }},
		policies: map[string]*keptPolicy{}, logs: map[string]*audit.Store{}, reviews: make(chan func())}
	r.meter.Cache = r.cache.Counts
	return r
}

func (r *resident) source() source {
	store := func(*cli.App) (*audit.Store, error) { return r.plain, nil }
	return source{store: store, load: r.load, start: r.start, late: r.late, made: r.meter.ReviewedLate, cpu: osfile.ThreadTime}
}

// start runs a review in a goroutine that ran others before: its stack has grown to the
// depth of an evaluation, which takes an eighth of the time of a review in a new
// goroutine.
func (r *resident) start(review func()) {
	select {
	case r.reviews <- review:
	default:
		go func() {
			review()
			for next := range r.reviews {
				next()
			}
		}()
	}
}

func (r *resident) kept(workspace string) *keptPolicy {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.policies[workspace]
}

func (k *keptPolicy) fresh(stamp string) bool {
	return k != nil && k.stamp == stamp && time.Since(k.at) < keptFor
}

// load returns the policy of a workspace, compiled again only if a file changed.
func (r *resident) load(ctx context.Context, _ *audit.Store, workspace string) (*loaded, error) {
	stamp, err := cli.MachineAt(r.home).Stamp(workspace)
	if err != nil {
		return nil, err
	}
	if k := r.kept(workspace); k.fresh(stamp) {
		return k.loaded, nil
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	k := r.kept(workspace)
	if k.fresh(stamp) {
		return k.loaded, nil
	}
	r.meter.Compiled()
	l, err := loadActive(context.WithoutCancel(ctx), &audit.Store{Dir: r.home, Env: cli.Environment()}, workspace, wiring.Compile)
	if err != nil {
		return nil, err
	}
	if k == nil || k.policy.Digest != l.policy.Digest {
		r.cache.Add(l.policy, l.settings)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k != nil && k.policy.Digest == l.policy.Digest {
		l = k.loaded // what it has computed is used again
	} else if log := r.logs[l.policy.Config]; log != nil {
		l.log = log
	} else {
		if len(r.logs) >= maxKept {
			clear(r.logs) // of settings that were changed since
		}
		r.logs[l.policy.Config] = l.log
	}
	if len(r.policies) >= maxKept {
		clear(r.policies)
	}
	r.policies[workspace] = &keptPolicy{l, stamp, time.Now()}
	return l, nil
}

// handle answers a client as `reviewer hook` would, with the client's environment.
func (r *resident) handle(ctx context.Context, c serve.Client, q *wire.Request, pause *serve.Pause) *wire.Answer {
	agent, call, ok := hookArguments(q.Args)
	h, known := harness.Find(agent)
	if !ok || !known {
		r.meter.Declined()
		return &wire.Answer{Status: wire.InProcess}
	}
	var stdout, stderr bytes.Buffer
	a := &cli.App{Home: r.home, Pid: c.Pid, Detach: func(args ...string) error { return cli.DetachWith(q.Env, args...) },
		Streams: term.Streams{Stdin: bytes.NewReader(q.Input), Stdout: &stdout, Stderr: &stderr, Env: variables(q.Env)}}
	if c.Confined {
		a.Detach = r.detach // with the environment of this process
	}
	if c.Supervised {
		a.Detach = nil // `reviewer run` starts it, with the environment of the user
	}
	began := time.Now()
	from := r.source()
	from.pause = pause
	from.said = func(said reply) {
		r.meter.Answered(said.decision, said.session, time.Since(began))
		r.meter.Reviewed(said.slow, said.early)
		r.publish(said)
	}
	code := hookFailed(a, q.Args, hook(ctx, a, from, h, call))
	return &wire.Answer{Status: wire.Answered, Exit: byte(code), Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
}

// hookArguments reads `hook AGENT EVENT --home DIR`, with or without `--timeout SECONDS`: the
// forms that install writes. Any other is left to a process of its own.
func hookArguments(args []string) (agent string, call hookCall, ok bool) {
	if len(args) == 7 && args[5] == wire.TimeoutFlag {
		seconds, err := strconv.ParseUint(args[6], 10, 16)
		if err != nil {
			return "", call, false
		}
		args, call.given = args[:5], time.Duration(seconds)*time.Second
	}
	if len(args) != 5 || args[0] != "hook" || args[3] != "--home" || strings.HasPrefix(args[1], "-") || strings.HasPrefix(args[2], "-") {
		return "", call, false
	}
	call.event = args[2]
	return args[1], call, true
}

// variables looks up a variable in an environment; the last of a name counts.
func variables(env []string) func(string) string {
	return func(name string) string {
		for _, v := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// replaced reports whether this program is no longer the file that was started: after an
// update the clients are to use the new one.
func replaced() func() bool {
	path := cli.Program()
	then, err := os.Stat(path)
	return func() bool {
		now, e := os.Stat(path)
		return err != nil || e != nil || !os.SameFile(then, now) || !then.ModTime().Equal(now.ModTime())
	}
}
