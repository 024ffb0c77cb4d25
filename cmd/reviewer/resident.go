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
	"github.com/agent-reviewer/reviewer/cmd/reviewer/installed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
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
	read  audit.Memory // shared by all logs
	meter *metrics.Meter
	late  *act.LateReviews

	callers cli.Callers
	cache   wiring.Memory

	detach func(args ...string) error // starts a process for what no event asked for
	hub    *apiserver.Hub             // of the HTTP API; nil: it is off

	watch *installed.Watch // of the installation; nil: nobody looks

	caughtUp chan error // the result of making the reviews that an earlier process owed

	loading sync.Mutex // held while a policy is compiled: of many events after a change, one does it

	mu       sync.Mutex
	policies map[view]*keptPolicy  // by workspace
	logs     map[view]*audit.Store // by the digest of the settings; empty: for what needs no policy
	reviews  chan func()           // taken by goroutines that wait for work
	shown    []shownCode           // to be tried, the next one first
}

// shownCode is a text with the form of an approval code that an agent may know.
type shownCode struct {
	text string
	log  *audit.Store
}

// maxShown bounds the texts that wait to be tried, and betweenTries is the time from one to the next: when a code is
// found shows nothing about the text in which it was.
const (
	maxShown     = 256
	betweenTries = time.Minute
)

// unescaped replaces the escapes of JSON that are not letters.
var unescaped = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ")

// noteCodes keeps the texts of an event that have the form of an approval code. Those of a person's prompt are tried
// first, so that an agent cannot hide one among its own.
func (r *resident) noteCodes(log *audit.Store, h harness.Harness, event string, input []byte) {
	text := unescaped.Replace(string(input))
	for _, at := range engine.CodesIn(text) {
		code := shownCode{engine.PlainCode(text[at[0]:at[1]]), log}
		r.mu.Lock()
		switch {
		case slices.Contains(r.shown, code):
		case h.Phase(event) == engine.PhasePrompt:
			r.shown = append([]shownCode{code}, r.shown[:min(len(r.shown), maxShown-1)]...)
		case len(r.shown) < maxShown:
			r.shown = append(r.shown, code)
		}
		r.mu.Unlock()
	}
}

// tryCode tries the next text. The ledger, and the person at their next prompt, are told if it is the code.
func (r *resident) tryCode(ctx context.Context) error {
	r.mu.Lock()
	if len(r.shown) == 0 {
		r.mu.Unlock()
		return nil
	}
	next := r.shown[0]
	r.shown = r.shown[1:]
	r.mu.Unlock()
	_, err := (&code.Store{Log: next.log}).Expose(ctx, next.text)
	return err
}

// tryCodes tries one text a minute until the context ends.
func (r *resident) tryCodes(ctx context.Context) {
	tick := time.NewTicker(betweenTries)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = r.tryCode(ctx) // the hooks report a ledger that cannot be used
		}
	}
}

// keptPolicy is a policy that was compiled, with the state of the files it was made from.
type keptPolicy struct {
	*review.Policy
	stamp string
	at    time.Time
}

// keptFor is how long a compiled policy is used although no file changed: signatures
// expire.
const keptFor = time.Minute

// view is a workspace, or the digest of settings, with the fingerprint of the key whose choices count: hooks of one state
// directory can have different ones.
type view struct{ of, key string }

// maxKept bounds the policies that are kept.
const maxKept = 16

func newResident(home string) *resident {
	r := &resident{home: home, meter: metrics.New(),
		detach:   cli.Detach,
		late:     &act.LateReviews{Begin: func() error { return markLate(home) }},
		policies: map[view]*keptPolicy{}, logs: map[view]*audit.Store{}, reviews: make(chan func())}
	r.plain = r.store((&cli.App{}).Fingerprint())
	r.meter.Cache = r.cache.Counts
	return r
}

// store returns a log for hooks that were given the fingerprint of a key. It shares with all others what this process
// has read. Nothing is deleted from it.
func (r *resident) store(fingerprint string) *audit.Store {
	return &audit.Store{Dir: r.home, Keep: true, Env: cli.Environment(), Fingerprint: fingerprint, Memory: &r.read}
}

func (r *resident) source() source {
	store := func(a *cli.App) (*audit.Store, error) { return r.logFor(a.Fingerprint()), nil }
	return source{store: store, load: r.load, under: r.under, start: r.start, late: r.late, made: r.meter.ReviewedLate, cpu: osfile.ThreadTime}
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

func (r *resident) kept(v view) *keptPolicy {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.policies[v]
}

// logFor returns the log for what needs no policy, in which choices count with a key.
func (r *resident) logFor(key string) *audit.Store {
	if key == r.plain.Fingerprint {
		return r.plain
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v := view{"", key}
	if r.logs[v] == nil {
		r.keepLog(v, r.store(key))
	}
	return r.logs[v]
}

// keepLog keeps a log, and forgets those of settings that were changed since.
func (r *resident) keepLog(v view, log *audit.Store) {
	if len(r.logs) >= maxKept {
		clear(r.logs)
	}
	r.logs[v] = log
}

func (k *keptPolicy) fresh(stamp string) bool {
	return k != nil && k.stamp == stamp && time.Since(k.at) < keptFor
}

// load returns the policy of a workspace, compiled again only if a file changed.
func (r *resident) load(ctx context.Context, log *audit.Store, workspace string) (*review.Policy, error) {
	place := view{workspace, log.Fingerprint}
	m := cli.MachineAt(r.home)
	m.Log = log
	stamp, err := m.Stamp(workspace)
	if err != nil {
		return nil, err
	}
	if k := r.kept(place); k.fresh(stamp) {
		return k.Policy, nil
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	k := r.kept(place)
	if k.fresh(stamp) {
		return k.Policy, nil
	}
	r.meter.Compiled()
	p, err := loadActive(context.WithoutCancel(ctx), log, workspace, wiring.Compile)
	if err != nil {
		return nil, err
	}
	if k == nil || k.Digest != p.Digest {
		r.cache.Add(p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k != nil && k.Digest == p.Digest && k.Notice == p.Notice {
		p = k.Policy // what it has computed is used again
	}
	if len(r.policies) >= maxKept {
		clear(r.policies)
	}
	r.policies[place] = &keptPolicy{p, stamp, time.Now()}
	return p, nil
}

// under returns the log as the settings of a policy keep it.
func (r *resident) under(log *audit.Store, p *review.Policy) *audit.Store {
	if p == nil {
		return log
	}
	v := view{p.Config, log.Fingerprint}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logs[v] == nil {
		r.keepLog(v, keptBy(r.store(v.key), p))
	}
	return r.logs[v]
}

// handle answers a client as `reviewer hook` would, with the client's environment.
func (r *resident) handle(ctx context.Context, c serve.Client, q *wire.Request, pause *serve.Pause) *wire.Answer {
	if len(q.Args) == 1 && q.Args[0] == wire.WroteCommand {
		if !c.Confined && c.Own {
			_ = r.read.Hear(r.home, bytes.NewReader(q.Input)) // lines that it does not name loosen nothing
		}
		return &wire.Answer{Status: wire.Answered}
	}
	agent, call, ok := hookArguments(q.Args)
	h, known := harness.Find(agent)
	if !ok || !known {
		r.meter.Declined()
		return &wire.Answer{Status: wire.InProcess}
	}
	switch h.Phase(call.event) {
	case engine.PhasePre, engine.PhaseRequest, engine.PhasePost, engine.PhaseBatch: // around calls, every moment counts
	default:
		if r.watch != nil {
			_ = r.watch.Look(ctx) // the hook reports a ledger that cannot be used
		}
	}
	var stdout, stderr bytes.Buffer
	a := &cli.App{Home: r.home, Key: call.key, Pid: c.Pid, Foreign: !c.Own, Callers: &r.callers,
		MadeBy:  func(bool) int { return q.Maker },
		Detach:  func(args ...string) error { return cli.DetachWith(q.Env, args...) },
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
	go r.noteCodes(r.logFor(a.Fingerprint()), h, call.event, q.Input)
	return &wire.Answer{Status: wire.Answered, Exit: byte(code), Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
}

// hookArguments reads `hook AGENT EVENT --home DIR`, with or without `--timeout SECONDS` and `--key
// FINGERPRINT`: the forms that install writes. Any other is left to a process of its own.
func hookArguments(args []string) (agent string, call hookCall, ok bool) {
	if len(args) < 5 || args[0] != "hook" || args[3] != "--home" || strings.HasPrefix(args[1], "-") || strings.HasPrefix(args[2], "-") {
		return "", call, false
	}
	agent, call.event = args[1], args[2]
	for args = args[5:]; len(args) > 1; args = args[2:] {
		seconds, err := strconv.ParseUint(args[1], 10, 16)
		switch {
		case args[0] == wire.TimeoutFlag && call.given == 0 && err == nil:
			call.given = time.Duration(seconds) * time.Second
		case args[0] == wire.KeyFlag && call.key == "" && engine.IsFingerprint(args[1]):
			call.key = args[1]
		default:
			return "", call, false
		}
	}
	return agent, call, len(args) == 0
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
