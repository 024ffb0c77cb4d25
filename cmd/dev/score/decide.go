package main

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// workspace is the directory of rows without one.
const workspace = "/home/dev/srv/shop"

// judge evaluates calls under a policy, on a machine of which only the home
// directories are known.
type judge struct {
	policy *review.Policy
	cwd    map[string]string // file that rows come from -> where its session began

	effective  *bundles.Effective // the layers of the policy
	unattended []string           // modes in which nobody is asked
}

// setting is the value of a setting that is a number.
func (j judge) setting(key string) (float64, error) {
	var at any = bundles.Normal(j.effective.Document)
	for _, name := range strings.Split(key, ".") {
		m, _ := at.(map[string]any)
		at = m[name]
	}
	v, ok := at.(float64)
	if !ok {
		return 0, fmt.Errorf("%s is not a numeric setting; `reviewer config show` lists them", key)
	}
	return v, nil
}

// with is the same policy with another value of a setting.
func (j judge) with(ctx context.Context, key string, value float64) (judge, error) {
	e, err := j.effective.WithSetting(key, value)
	if err != nil {
		return judge{}, err
	}
	other, err := compiled(ctx, e)
	other.cwd = j.cwd
	return other, err
}

// verdict is the result of one call.
type verdict struct {
	Effect engine.Verdict
	Rules  []string
	Error  string // why nothing could be decided; such a call is denied
}

func (v verdict) rule() string {
	if len(v.Rules) == 0 {
		return "(score)"
	}
	return v.Rules[0]
}

// saved stands for a call that runs after what it destroys was saved.
const saved engine.Verdict = "saved"

func (v verdict) stopped() bool {
	return v.Effect == engine.Block || v.Effect == engine.Ask || v.Effect == engine.Modify
}

// harmless reports whether a dangerous call is stopped, or what it destroys is saved.
func (v verdict) harmless() bool { return v.stopped() || v.Effect == saved }

// tools lists the supported kinds of commands.
func tools() []string { return []string{"bash", "cmd", "powershell", "python"} }

// call returns the call with which an agent would run a row.
func call(r Row) (engine.Event, error) {
	tool, command := "Bash", r.Command
	var err error
	switch r.Tool {
	case "powershell":
		tool = "PowerShell"
	case "cmd":
		command, err = quoted("cmd /c ", command)
	case "python":
		command, err = quoted("python3 -c ", command)
	}
	if err != nil {
		return engine.Event{}, fmt.Errorf("row %s: %w", r.ID, err)
	}
	args, err := json.Marshal(map[string]any{"command": command})
	return engine.Event{
		Harness: "claude-code", Name: "PreToolUse", Phase: engine.PhasePre, Session: "score", Call: r.ID,
		Tool: tool, Args: args, CWD: r.CWD, Mode: "default", Time: 1,
	}, err
}

func quoted(program, code string) (string, error) {
	q, err := syntax.Quote(code, syntax.LangBash)
	return program + q, err
}

// event returns the call of a row, in the best known directory.
func (j judge) event(r Row) (engine.Event, error) {
	if r.CWD == "" {
		base := path.Base(r.Path)
		r.CWD = j.cwd[strings.TrimSuffix(base, path.Ext(base))]
	}
	r.CWD = cmp.Or(r.CWD, workspace)
	return call(r)
}

// row evaluates a row as the first call of a session.
func (j judge) row(ctx context.Context, r Row) (verdict, error) {
	e, err := j.event(r)
	if err != nil {
		return verdict{}, err
	}
	a, _ := j.start("", e.CWD).Next(ctx, e)
	return verdictOf(a), ctx.Err()
}

func (j judge) start(id, cwd string) *simulate.Rehearsal { return j.startWith(id, classifier(cwd)) }

func (j judge) startWith(id string, c engine.Classifier) *simulate.Rehearsal {
	return simulate.Start(id, c, j.policy,
		engine.Env{Engine: engine.Version, Classifier: classify.Version, Fold: history.FoldVersion})
}

// verdictOf returns the answer to a call, or the decision if the policy only observes.
func verdictOf(a simulate.Action) verdict {
	v := verdict{Effect: a.Enforced, Rules: a.Rules, Error: a.Error}
	if a.Record != nil && a.Record.Answer != nil && a.Record.Answer.Mode == engine.ModeObserve {
		v.Effect = a.Decision
	}
	if d := a.Record; d != nil && d.Decision != nil && d.Decision.Obliges(engine.ObligationSave) && !v.stopped() {
		v.Effect = saved
	}
	return v
}

// classifier classifies for a machine of which only this is known.
func classifier(cwd string, trees ...string) *classify.Classifier {
	return &classify.Classifier{World: classify.System{Home: classify.HomeOf(cwd), Trees: trees}, MAC: mac, Secrets: bundles.BuiltInTokens(),
		Program: "/usr/local/bin/reviewer"}
}

// memory is a classifier that caches facts by event, because policies that differ in a
// threshold see the same facts.
type memory struct {
	*classify.Classifier
	facts map[occasion]engine.Facts
}

// occasion identifies an event of one session.
type occasion struct {
	phase                                engine.Phase
	call, agent, prompt, place, from, id string
	time                                 int64
}

func remembering(t transcript.Transcript) *memory {
	return &memory{Classifier: classifier(beginning(t), trees(t, beginning(t))...), facts: map[occasion]engine.Facts{}}
}

// Classify implements engine.Classifier.
func (m *memory) Classify(ctx context.Context, e engine.Event, workspace string) (engine.Facts, error) {
	key := occasion{e.Phase, e.Call, e.Agent, e.Prompt, workspace, e.CWD, e.PromptID, e.Time}
	if facts, known := m.facts[key]; known {
		return facts, nil
	}
	facts, err := m.Classifier.Classify(ctx, e, workspace)
	if err == nil {
		m.facts[key] = facts
	}
	return facts, err
}

// mac has a public key, so that scores are reproducible; its results are not stored.
func mac(b []byte) string {
	h := hmac.New(sha256.New, []byte("score"))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// each calls fn with 0 to n-1 on all cores, reports to done how many are
// finished, and returns all errors.
func each(n int, done func(int), fn func(i int) error) error {
	var next, finished atomic.Int64
	errs := make([]error, n)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = fn(i)
				done(int(finished.Add(1)))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
