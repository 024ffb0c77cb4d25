package simulatecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sources"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// comparing is a running comparison: the sessions to read, and the sum so far.
type comparing struct {
	app        *cli.App
	comparison *simulate.Comparison
	candidate  *bundles.Effective // as it was named; a sweep tries others
	families   []sources.Family   // this run's part
	lost       []simulate.Trouble // what this run could not read
	shard      *simulate.Shard
	mask       func(string) string
	baseline   *bundles.Effective // nil: what was recorded
	parallel   int
	sharing    wiring.Sharing // of all policies
	progress   *term.Progress
	began      time.Time

	mu   sync.Mutex
	sums []*simulate.Impact // for each candidate
}

// prepare finds policies and sources.
func prepare(ctx context.Context, a *cli.App, s *simulation, p *term.Progress) (*comparing, error) {
	r := &comparing{app: a, shard: s.portion.shard, mask: s.mask, parallel: s.parallel, progress: p}
	r.comparison = &simulate.Comparison{Env: cli.Environment(), Selection: s.selection, UserOf: userOf, Event: r.sharing.Event}
	kept, err := a.FormerPolicies(s.inputs.homes(s.args))
	if err != nil {
		return nil, err
	}
	if err := addSides(ctx, a, s, r, kept); err != nil {
		return nil, err
	}
	if !s.noFidelity {
		compared := append([]simulate.Side{r.comparison.Baseline}, r.comparison.Candidates...)
		r.comparison.Policies = policiesByDigest(ctx, kept.Homes, &r.sharing, compared)
	}
	r.comparison.Rows = r.comparison.Candidates[0].Policy.Rows
	set, err := findSources(ctx, a, s, r.comparison.Rows, p)
	if err != nil {
		return nil, err
	}
	r.take(s, set)
	return r, ctx.Err()
}

// addSides compiles what is compared.
func addSides(ctx context.Context, a *cli.App, s *simulation, r *comparing, kept *active.PolicyFinder) (err error) {
	var baseline *bundles.Effective
	if r.comparison.Baseline, baseline, err = side(ctx, a, s.baseline, kept); err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	if r.candidate, err = a.PolicyRef(ctx, s.candidate); err != nil {
		return fmt.Errorf("%s: %w", s.candidateFlag, err)
	}
	if err := checkTools(s.tools, classify.NewRows(r.candidate.RowLayers())); err != nil {
		return err
	}
	r.baseline = baseline
	tried := map[string]*bundles.Effective{s.candidate: r.candidate}
	names := []string{s.candidate}
	if s.key != "" {
		if names, err = s.tried(r.candidate, tried); err != nil {
			return err
		}
	}
	for _, name := range names {
		side, err := sideOf(ctx, name, tried[name], kept)
		if err != nil {
			return fmt.Errorf("%s: %w", s.candidateFlag, err)
		}
		if s.key == "" {
			name = cmp.Or(s.candidateName, name)
		}
		side.Named.Name = s.mask(name)
		if side.Named.Settings, err = settingsOf(baseline, tried[name]); err != nil {
			return err
		}
		if err := addCauses(&side, baseline, tried[name]); err != nil {
			return fmt.Errorf("%s: %w", s.candidateFlag, err)
		}
		r.comparison.Candidates = append(r.comparison.Candidates, side)
	}
	if err := checkRules(s.rules, &r.comparison.Baseline.Named, &r.comparison.Candidates[0].Named); err != nil {
		return err
	}
	r.comparison.Baseline.Named.Name = s.mask(cmp.Or(s.baselineName, s.baseline))
	for _, side := range append([]simulate.Side{r.comparison.Baseline}, r.comparison.Candidates...) {
		if side.Policy != nil {
			r.sharing.Add(side.Policy)
		}
	}
	r.sums = r.comparison.Empty()
	return nil
}

// tried adds a candidate for each combination of values that the settings can have, and returns their names.
func (s *simulation) tried(candidate *bundles.Effective, tried map[string]*bundles.Effective) (names []string, err error) {
	for i, values := range s.tries {
		row, text := simulate.SweepRow{Value: float64(i + 1)}, make([]string, len(values))
		for j, v := range values {
			text[j] = v.String()
		}
		all := strings.Join(text, ", ")
		if number, ok := values[0].Value.(float64); ok && len(values) == 1 {
			row.Value = number
		} else {
			row.Name = s.mask(all)
		}
		e, err := candidate.WithSettings(values...)
		if err != nil {
			s.skipped = append(s.skipped, simulate.SkippedValue{Value: row.Value, Name: row.Name, Why: s.mask(err.Error())})
			continue
		}
		name := fmt.Sprintf("%s with %s", cmp.Or(s.candidateName, s.candidate), all)
		tried[name], names = e, append(names, name)
		s.rows = append(s.rows, row)
	}
	if len(names) == 0 {
		return nil, cli.Usage("--sweep: %s", s.skipped[0].Why)
	}
	return names, nil
}

// take selects this run's part of the sessions, in the best order for reading: those
// of one archive are consecutive.
func (r *comparing) take(s *simulation, set *sources.Set) {
	var size int64
	for _, f := range set.Families {
		if s.portion.hasSession(f.Session) && s.holds(f) {
			r.families = append(r.families, f)
			size += f.Bytes
		}
	}
	for _, t := range set.Lost {
		if s.portion.has(t.Path) { // it is unknown whether a sample would contain it, so each one does
			r.lost = append(r.lost, t)
		}
	}
	r.progress.Bytes.Store(0)
	r.progress.Total.Store(max(size, 1))
}

// run compares every session, several at a time. The order within a session
// and within a family is kept; sums do not depend on the order of families.
// If the context ends, what was compared so far is marked as incomplete.
func (r *comparing) run(ctx context.Context) error {
	work, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	r.began = time.Now()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(r.parallel, len(r.families)) {
		workers.Go(func() {
			for work.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(r.families) {
					return
				}
				if err := r.family(work, &r.families[i]); err != nil {
					fail(err)
				}
			}
		})
	}
	workers.Wait()
	if err := context.Cause(work); err != nil && ctx.Err() == nil {
		return err
	}
	r.finish(reasonOf(ctx))
	return nil
}

// limitMemory lets garbage be collected sooner when the process approaches 200 MB, unless
// its user has set a limit. Less than 60 MB are in use at a time. It returns a function that
// ends this.
func limitMemory() (end func()) {
	const limit = 200 << 20
	before := debug.SetMemoryLimit(-1)
	if before != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(limit)
	return func() { debug.SetMemoryLimit(before) }
}

// family compares sessions that belong together, one after another. A panic ends the
// run as in main, without printing its value.
func (r *comparing) family(ctx context.Context, f *sources.Family) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(r.app.Crashed(p))
		}
	}()
	for recording := range f.Recorded(ctx) {
		if !r.comparison.Selection.Holds(recording.Session) || !r.comparison.Selection.HasAgent(recording.Harness) {
			continue
		}
		parts, err := r.comparison.Session(ctx, r.counted(recording))
		if err != nil {
			return err
		}
		r.add(parts)
	}
	return ctx.Err()
}

// counted updates the progress for each decision.
func (r *comparing) counted(recording simulate.RecordedSession) simulate.RecordedSession {
	policies := int64(len(r.comparison.Candidates))
	if r.comparison.Baseline.Policy != nil {
		policies++
	}
	moments := recording.Events
	recording.Events = func(yield func(simulate.RecordedEvent, error) bool) {
		for m, err := range moments {
			if err == nil && m.Record.Phase.Reviewed() {
				r.progress.Decisions.Add(policies)
			}
			if !yield(m, err) {
				return
			}
		}
	}
	return recording
}

func (r *comparing) add(parts []*simulate.Impact) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, part := range parts {
		r.sums[i].Add(part)
	}
}

// reasonOf returns why a run ended early; empty: it did not.
func reasonOf(ctx context.Context) string {
	switch cause := context.Cause(ctx); {
	case ctx.Err() == nil:
		return ""
	case errors.Is(cause, objects.ErrCredentials):
		return "stopped (" + cause.Error() + ")"
	}
	return "interrupted"
}

// finish adds what does not come from sessions.
func (r *comparing) finish(ended string) {
	for _, t := range r.lost {
		lost := r.comparison.Empty()
		for i, m := range r.sums {
			if t.Failed {
				lost[i].Sources.Failed = 1
			}
			lost[i].Sources.Troubles = []simulate.Trouble{t}
			m.Add(lost[i])
		}
	}
	for _, m := range r.sums {
		m.Shard = r.shard
		if ended != "" {
			m.Partial = fmt.Sprintf("%s: %s of %s bytes read, %s compared", r.mask(ended),
				term.Thousands(r.progress.Bytes.Load()), term.Thousands(r.progress.Total.Load()),
				term.Counted(int(m.Sessions.Total), "session was", "sessions were"))
		}
	}
}

// speed describes the speed of the run. It depends on the machine, so it is in no document.
func (r *comparing) speed() string {
	n, took := r.progress.Decisions.Load(), time.Since(r.began)
	if n == 0 || took <= 0 {
		return ""
	}
	rate, each := float64(n)/took.Seconds(), took/time.Duration(n)
	decisions := term.Thousands(n) + " decisions"
	if n == 1 {
		decisions = "1 decision"
	}
	if each >= 100*time.Millisecond {
		return fmt.Sprintf("%s in %.1f s: %.1f a second", decisions, took.Seconds(), rate)
	}
	return fmt.Sprintf("%s in %.1f s: %s a second, %d µs each", decisions, took.Seconds(), term.Thousands(int64(rate)),
		each.Microseconds())
}

// open opens a session again by its id.
func (r *comparing) open(ctx context.Context, session string) (simulate.RecordedSession, error) {
	for i := range r.families {
		if !slices.ContainsFunc(r.families[i].Sessions, func(id string) bool { return r.mask(id) == session }) {
			continue
		}
		for recording := range r.families[i].Recorded(ctx) {
			if recording.Session == session {
				return recording, nil
			}
		}
	}
	return simulate.RecordedSession{}, fmt.Errorf("session %s no longer exists", session)
}

// policiesByDigest finds the policies that have decided by their digests: among those that are compared, the built-in
// one, and in state directories, each compiled once. Several goroutines may ask at once.
func policiesByDigest(ctx context.Context, homes []string, s *wiring.Sharing,
	compared []simulate.Side) func(digest string) (*review.Policy, error) {
	var mu sync.Mutex
	compiled := map[string]*review.Policy{}
	for _, side := range compared {
		if side.Policy != nil {
			compiled[side.Named.Digest] = side.Policy
		}
	}
	return func(digest string) (*review.Policy, error) {
		mu.Lock()
		defer mu.Unlock()
		if p := compiled[digest]; p != nil {
			return p, nil
		}
		e, err := active.FirstKept(homes, digest)
		if err != nil {
			return nil, err
		}
		p, err := wiring.Compile(ctx, e)
		if err == nil {
			s.Add(p)
			compiled[digest] = p
		}
		return p, err
	}
}

// homesOf lists the state directories that contain sources, such as a copy of another
// machine's, with the policies that decided there.
func homesOf(args []string) []string {
	const most = 3 // a file of a chain, its folder, sessions
	var homes []string
	for _, arg := range args {
		for dir, i := filepath.Clean(arg), 0; i <= most; dir, i = filepath.Dir(dir), i+1 {
			if info, err := os.Stat(active.KeptIn(dir).Dir); err == nil && info.IsDir() {
				homes = append(homes, dir)
				break
			}
		}
	}
	return homes
}
