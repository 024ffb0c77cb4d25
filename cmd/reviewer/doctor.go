package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

func doctorCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Prove that a denial denies, and look for ways around reviewer",
		Long: "Looks at the state directory, the policy, all layers of the agent's settings as they\n" +
			"hold in this folder, and the client's version; has the policy decide with OPA's rule index\n" +
			"and early exit and without; starts the installed hook as the client would and checks that\n" +
			"its denial is one. Exit code 2 where something fails.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e := &examination{p: a.Paint(&term.Output{}), a: a}
			e.state(cmd.Context())
			e.policy(cmd.Context())
			e.client(cmd.Context())
			e.settings(cmd.Context())
			if e.failed > 0 {
				return cli.Findings("%d of %d checks failed", e.failed, e.checks)
			}
			return nil
		},
	}
}

// examination prints checks as it goes and counts what failed.
type examination struct {
	a       *cli.App
	p       term.Paint
	checks  int
	failed  int
	home    string
	version string
}

func (e *examination) say(word, what string, args ...any) {
	e.checks++
	if word == "fail" {
		e.failed++
	}
	fmt.Fprintf(e.a.Stdout, "%s %s\n", e.p.Verdict(term.Pad(word, 5)), cli.Masked(fmt.Sprintf(what, args...)))
}

// check prints ok with what, or fail with the error.
func (e *examination) check(err error, what string, args ...any) bool {
	if err != nil {
		e.say("fail", "%v", err)
		return false
	}
	e.say("ok", what, args...)
	return true
}

func (e *examination) state(ctx context.Context) {
	store, err := e.a.OpenStore()
	if err == nil {
		e.home = store.Dir
		_, err = store.MAC()
	}
	if !e.check(err, "state directory %s", e.home) {
		return
	}
	e.check(store.Note(ctx, engine.Note{What: "doctor"}), "the log can be written")
	sessions, err := store.Sessions()
	if err != nil {
		e.say("fail", "sessions: %v", err)
		return
	}
	e.sessions(sessions)
}

func (e *examination) sessions(sessions []audit.Session) {
	var bytes int64
	for _, s := range sessions {
		bytes += s.Bytes
		if s.Err != nil {
			e.say("fail", "session %s cannot be read, so its calls are denied: %v", s.Key.Session, s.Err)
		}
	}
	log := audit.Store{BudgetBytes: audit.DefaultBudgetBytes}
	if eff, err := cli.MachineAt(e.home).Effective(""); err == nil { // what is wrong with it is said elsewhere
		keepLog(&log, eff.Settings)
	}
	e.say("ok", "%d sessions, %d MiB of %d MiB", len(sessions), bytes>>20, log.BudgetBytes>>20)
}

func (e *examination) policy(ctx context.Context) {
	cwd, err := os.Getwd()
	if err != nil {
		e.say("fail", "find the working directory: %v", err)
		return
	}
	eff, err := cli.MachineAt(e.home).Effective(cwd)
	if err != nil {
		e.say("fail", "policy, so every call is denied: %v", err)
		return
	}
	decider, err := wiring.CompileChecked(ctx, eff)
	if err != nil {
		e.say("fail", "policy, so calls are denied: %v", err)
		return
	}
	mode, _ := eff.Settings["enforcement"].(string)
	e.say("ok", "policy %.12s… with %d rules in %d layers, enforcement: %s", eff.Digest, len(eff.Rules()), len(eff.Layers), mode)
	if mode != "enforce" {
		e.say("warn", "enforcement is %s: denials are recorded, not given (set enforcement: enforce in %s)", mode,
			filepath.Join(e.home, "policy", "settings.yaml"))
	}
	e.shortcuts(ctx, eff, decider, cwd)
}

// shortcuts compares what policy decides with OPA's rule index and early exit
// and without them.
func (e *examination) shortcuts(ctx context.Context, eff *bundles.Effective, decider *rego.Host, workspace string) {
	holds, err := cli.MachineAt(e.home).Layers(workspace)
	if err != nil {
		e.say("fail", "%v", err)
		return
	}
	sources, err := holds.Sources()
	if err != nil {
		e.say("fail", "%v", err)
		return
	}
	own := map[string]fs.FS{} // what does not ship with the program
	for _, s := range sources {
		if s.At != here.ShippedPlace {
			own[s.Layer] = s.Files
		}
	}
	found, err := trial.DecideTwice(ctx, cli.Environment(), eff, decider, own)
	if err != nil {
		e.say("fail", "deciding with and without OPA's rule index: %v", err)
		return
	}
	e.check(found.Err(), "OPA's rule index and early exit change none of %d decisions, %d of them about cases and rules of your own",
		found.Decisions, found.Own)
}

func (e *examination) client(ctx context.Context) {
	e.version = clientVersion(ctx)
	switch {
	case e.version == "":
		e.say("warn", "no claude on PATH: its version could not be looked at")
	case !harness.ExecForm(e.version):
		e.say("fail", "client %s ignores onFailure (2.1.295 or later obeys it): a hook that is killed lets the call run", e.version)
	default:
		e.say("ok", "client %s", e.version)
	}
}

func (e *examination) settings(ctx context.Context) {
	places, err := places(e.a)
	if err != nil {
		e.say("fail", "%v", err)
		return
	}
	var layers []layerFindings
	for _, l := range harness.SettingsLayers(places) {
		for _, path := range filesOf(l) {
			if f, ok := e.layer(l, path); ok {
				layers = append(layers, layerFindings{l.Name, path, f})
			}
		}
	}
	own, managed, silenced := running(layers)
	for _, path := range silenced {
		if managed {
			break // the entry there is asked instead
		}
		e.say("fail", "%s: managed settings allow managed hooks only, so reviewer does not run from here; install with --managed", path)
	}
	e.installed(ctx, own, managed)
}

// layerFindings is what one settings file says.
type layerFindings struct {
	layer, path string
	harness.Findings
}

// running returns reviewer's entries that the client starts, whether managed
// settings are among their places, and the files whose entries it leaves out
// because managed settings allow no others.
func running(layers []layerFindings) (own []harness.OwnHook, managed bool, silenced []string) {
	only := slices.ContainsFunc(layers, func(f layerFindings) bool {
		return f.layer == harness.LayerManaged && f.AllowManagedHooksOnly
	})
	for _, f := range layers {
		switch {
		case len(f.Own) == 0:
		case only && f.layer != harness.LayerManaged:
			silenced = append(silenced, f.path)
		default:
			own = append(own, f.Own...)
			managed = managed || f.layer == harness.LayerManaged
		}
	}
	return own, managed, silenced
}

func filesOf(l harness.Layer) []string {
	if !l.Dir {
		return []string{l.Path}
	}
	files, err := filepath.Glob(filepath.Join(l.Path, "*.json"))
	if err != nil {
		return nil // only a bad pattern is an error, and this is none
	}
	return files
}

// layer looks at one settings file and says what is wrong with it.
func (e *examination) layer(l harness.Layer, path string) (harness.Findings, bool) {
	raw, err := readOptional(path)
	if err != nil {
		e.say("fail", "%s settings: %v", l.Name, err)
		return harness.Findings{}, false
	}
	if raw == nil {
		return harness.Findings{}, false
	}
	f := harness.Inspect(raw, e.version)
	if f.Problem != "" {
		e.say("fail", "%s: the client ignores the whole file: %s", path, f.Problem)
		return harness.Findings{}, false
	}
	if f.DisableAllHooks {
		e.say("fail", "%s: disableAllHooks switches reviewer off here; remove it, or install with --managed", path)
	}
	for _, v := range f.Env {
		e.say("warn", "%s: env %s reaches the hook: %s", path, v.Name, v.Why)
	}
	for _, h := range f.Foreign {
		e.say("warn", "%s: another hook on %s (%s) can rewrite a call after it was reviewed", path, h.Event, term.OneLine(h.What, 60))
	}
	e.ownProblems(path, f.Own)
	return f, true
}

// ownProblems says what is wrong with reviewer's entries, each thing once: ten
// events of an old client have the same one.
func (e *examination) ownProblems(path string, own []harness.OwnHook) {
	events := map[string][]string{}
	for _, h := range own {
		for _, problem := range h.Problems {
			events[problem] = append(events[problem], h.Event)
		}
	}
	for _, problem := range slices.Sorted(maps.Keys(events)) {
		e.say("fail", "%s: %s (%s); `reviewer install` mends it", path, problem, strings.Join(events[problem], ", "))
	}
}

func (e *examination) installed(ctx context.Context, own []harness.OwnHook, managed bool) {
	gates := 0
	for _, h := range own {
		if h.Event != "PreToolUse" {
			continue
		}
		gates++
		if err := proveDenial(ctx, h); err != nil {
			e.say("fail", "the installed hook does not deny: %v", err)
		} else {
			e.say("ok", "the installed hook %s denies what it cannot read", h.Program)
		}
		if h.Home != e.home && e.home != "" {
			e.say("warn", "the installed hook keeps its state in %s, not in %s", h.Home, e.home)
		}
	}
	switch {
	case gates == 0:
		e.say("fail", "reviewer is not installed for this folder: `reviewer install claude-code`")
	case len(missing(own)) > 0:
		e.say("fail", "reviewer is not asked at %s, so a stop does not hold or a result is not seen; `reviewer install` mends it",
			strings.Join(missing(own), ", "))
	}
	if gates > 0 && !managed {
		e.say("warn", "advisory: a repository can switch reviewer off with disableAllHooks; --managed settings cannot be switched off")
	}
}

// missing lists the events at which no entry calls reviewer.
func missing(own []harness.OwnHook) []string {
	return slices.DeleteFunc(harness.ClaudeCodeEvents(), harness.Findings{Own: own}.Installed)
}

// proveDenial starts the hook as the client does, with input that nobody can
// read, and applies the client's rules to what comes back: a denial is exit
// status 2, or the JSON that says so on a line of its own.
func proveDenial(ctx context.Context, h harness.OwnHook) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	args := []string{"hook", harness.ClaudeCode, h.Event}
	if h.Home != "" {
		args = append(args, "--home", h.Home)
	}
	cmd := exec.CommandContext(ctx, h.Program, args...)
	cmd.Stdin = strings.NewReader("{}")
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return err
	}
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitFindings {
		return fmt.Errorf("%s ended with exit status %d, and the client takes only 2 for a denial", h.Program, code)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(out.Bytes()), []byte("{")) || !bytes.Contains(out.Bytes(), []byte(`"permissionDecision":"deny"`)) {
		return fmt.Errorf("%s printed no denial that the client understands", h.Program)
	}
	return nil
}
