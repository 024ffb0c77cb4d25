package main

import (
	"context"
	_ "embed" // the rule of the trial
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/live"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/scripted"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// trialLimit is the time that an agent has for a trial: the slowest takes a few seconds, or minutes where 30 programs wait for a processor.
const trialLimit = 6 * time.Minute

// The files that the calls of a trial would make, in a temporary project.
const (
	allowedFile = "allowed"
	deniedFile  = "denied-by-reviewer" // the rule names it
)

// trialRule denies the second call of a trial.
//
//go:embed doctor_live.yaml
var trialRule string

// trials starts each agent for which reviewer is installed.
func (e *examination) trials(ctx context.Context) {
	if !e.prove {
		return
	}
	for _, s := range e.agents {
		e.trial(ctx, s.Agent)
	}
}

// trial starts the real agent in a temporary home and project, with a model on this machine that asks for
// two harmless calls, and looks at what is on disk afterwards.
func (e *examination) trial(ctx context.Context, agent settings.Agent) {
	driver, known := live.Find(agent.Name)
	program := programOf(agent.Harness)
	switch {
	case !known:
		e.say("info", "%s was not started: it cannot be started without an account", agent.Name)
		return
	case program == "":
		e.say("info", "%s was not started: its program is not on PATH", agent.Name)
		return
	case !live.Possible():
		e.say("info", "%s was not started: only on Linux can reviewer end everything that it starts", agent.Name)
		return
	}
	t, err := newTrial(agent.Name, program, driver)
	if err != nil {
		e.say("warn", "%s was not started: %v", agent.Name, err)
		return
	}
	defer t.remove()
	run, err := t.run(ctx)
	e.result(t, run, err)
}

// result reports the outcome of the trial.
func (e *examination) result(t *liveTrial, run live.Run, err error) {
	name := t.driver.Agent
	ran, denied := t.exists(allowedFile), t.exists(deniedFile)
	recorded, readErr := t.recorded()
	switch {
	case denied:
		e.say("fail", "%s was started with a model that asks for calls, and a denied call RAN: its hooks have no effect", name)
	case err != nil:
		e.say("warn", "%s could not be tried: %v", name, err)
	case run.Hung:
		e.say("warn", "%s could not be tried: it did not end within %s, and was ended", name, trialLimit)
	case len(run.Requests) == 0:
		e.say("warn", "%s could not be tried: it did not query the model that it was given; it printed: %s", name, ending(run.Output))
	case !ran:
		e.say("warn", "%s could not be tried: a call that is allowed did not run either; it printed: %s", name, ending(run.Output))
	case readErr != nil || !recorded:
		e.say("warn", "%s ran an allowed call and not the denied one, but the denial is not in the log (%v)", name, readErr)
	default:
		e.say("ok", "%s was started in a temporary folder with a model that asks for two calls: "+
			"the allowed one ran, the denied one did not (%.0f s)", name, run.Took.Seconds())
	}
}

// ending is the end of an output.
func ending(text string) string {
	if text == "" {
		return "nothing"
	}
	return text[max(0, len(text)-200):]
}

// liveTrial is one run of an agent in folders of its own.
type liveTrial struct {
	dir     string
	state   string
	place   live.Place
	driver  live.Driver
	program string
}

func newTrial(agent, program string, driver live.Driver) (*liveTrial, error) {
	dir, err := os.MkdirTemp("", "reviewer-doctor-"+agent)
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	t := &liveTrial{dir: dir, state: filepath.Join(dir, "state"), driver: driver, program: program,
		place: live.Place{Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"), Temp: filepath.Join(dir, "tmp"),
			Path: os.Getenv("PATH")}}
	rules := filepath.Join(t.state, "policy", "rules", "doctor")
	for _, folder := range []string{t.place.Home, t.place.Project, t.place.Temp, rules} {
		err = errors.Join(err, os.MkdirAll(folder, 0o700))
	}
	if err = errors.Join(err, os.WriteFile(filepath.Join(rules, "doctor.yaml"), []byte(trialRule), 0o600)); err != nil {
		t.remove()
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	return t, nil
}

// remove ends what the trial left, and deletes its folders.
func (t *liveTrial) remove() {
	live.Reap(t.place.Home)
	_ = os.RemoveAll(t.dir) // it is in the folder for temporary files
}

// run installs reviewer's hooks in the temporary home, and starts the agent.
func (t *liveTrial) run(ctx context.Context) (live.Run, error) {
	var steps scripted.Script
	for _, file := range []string{allowedFile, deniedFile} {
		steps = append(steps, scripted.Step{Say: "Working.", Calls: []scripted.Call{t.driver.Shell("touch " + file)}})
	}
	model, err := scripted.Start(steps)
	if err != nil {
		return live.Run{}, err
	}
	defer model.Close()
	t.place.URL = model.URL()
	start := live.Start{Command: []string{t.program}, Model: model, Limit: trialLimit}
	if err := t.driver.Prepare(ctx, t.place, start); err != nil {
		return live.Run{}, err
	}
	if err := t.install(ctx); err != nil {
		return live.Run{}, err
	}
	return t.driver.Run(ctx, t.place, start)
}

// install does what a user does, in the temporary home. No resident process is started.
func (t *liveTrial) install(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "install", t.driver.Agent, "--user", "--home", t.state,
		"--enforcement", "enforce", "--resident=false")
	cmd.Dir, cmd.Env = t.place.Project, t.driver.Environment(t.place)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("reviewer could not be installed in a temporary folder: %s", ending(string(out)))
	}
	return nil
}

func (t *liveTrial) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(t.place.Project, name))
	return err == nil
}

// recorded reports whether the log of the trial has a denial.
func (t *liveTrial) recorded() (bool, error) {
	store := &audit.Store{Dir: t.state}
	sessions, err := store.Sessions()
	if err != nil {
		return false, err
	}
	for _, s := range sessions {
		for r, err := range store.Records(s.Key, 0) {
			if err != nil {
				return false, err
			}
			answer := engine.AnswerOf(r)
			if r.Kind == engine.KindPre && answer.Effect == engine.Block && answer.Mode == engine.ModeEnforced {
				return true, nil
			}
		}
	}
	return false, nil
}
