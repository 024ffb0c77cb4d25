package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/releasecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

func doctorCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "doctor [CHECK…]",
		Short: "Check that denials work and that nothing bypasses reviewer",
		Long: "Checks the state directory, the policy, all layers of the agent's settings that apply\n" +
			"in this folder, and the client's version; makes decisions with and without OPA's rule\n" +
			"index and early exit; starts the installed hook as the client would and checks that it\n" +
			"denies; starts the resident process if there is none, and queries it (resident); lists what\n" +
			"the agent lets reviewer do (channels), and notifications that could not be delivered.\n" +
			"Exit code 2 if a check fails.\n\n" +
			"A CHECK is one of: " + strings.Join(checkNames(), ", ") + " (default: all).",
		Example: "  reviewer doctor\n" +
			"  reviewer doctor settings\n" +
			"  reviewer doctor -f json",
		Args:      knownChecks,
		ValidArgs: checkNames(),
		RunE: func(cmd *cobra.Command, names []string) error {
			e := &examination{p: a.Paint(&out), a: a, out: &out, list: []checkResult{}}
			return e.run(cmd.Context(), names)
		},
	}
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// healthCheck is a check that can be run on its own.
type healthCheck struct {
	name string
	run  func(*examination, context.Context)
}

func healthChecks() []healthCheck {
	return []healthCheck{
		{"state", (*examination).state}, {"trust", (*examination).trust}, {"policy", (*examination).policy},
		{"client", (*examination).client}, {"settings", (*examination).settings},
		{"resident", (*examination).resident},
		{"channels", (*examination).channels}, {"notifications", (*examination).notifications},
	}
}

func checkNames() []string {
	var names []string
	for _, c := range healthChecks() {
		names = append(names, c.name)
	}
	return names
}

// knownChecks refuses names of checks that do not exist.
func knownChecks(_ *cobra.Command, names []string) error {
	for _, name := range names {
		if !slices.Contains(checkNames(), name) {
			p := engine.Problem{Message: "unknown check"}
			return errors.New(p.ExpectOneOf(name, checkNames()).Text())
		}
	}
	return nil
}

// examined is the result of the examination.
type examined struct {
	OK     bool          `json:"ok"` // nothing failed
	Checks []checkResult `json:"checks"`
}

type checkResult struct {
	Check  string `json:"check"`  // of checkNames
	Result string `json:"result"` // ok, info, warn or fail
	Text   string `json:"text"`
}

// run makes the named checks, or all of them. On a terminal each result is printed at
// once.
func (e *examination) run(ctx context.Context, names []string) error {
	if store, err := e.a.OpenStore(); err == nil {
		e.home = store.Dir // problems are reported by its own check
	}
	e.version = clientVersion(ctx)
	for _, c := range healthChecks() {
		if e.now = c.name; len(names) == 0 || slices.Contains(names, c.name) {
			c.run(e, ctx)
		}
	}
	err := e.out.Result(e.a.Stdout, examined{e.failed == 0, e.list}, func(w io.Writer) {
		for _, r := range e.list {
			if !e.live() {
				e.print(w, r)
			}
		}
	})
	if e.failed > 0 {
		err = errors.Join(err, cli.Findings("%d of %s failed", e.failed, term.Counted(len(e.list), "check", "checks")))
	}
	return err
}

// live reports whether results are shown while the checks run.
func (e *examination) live() bool { return e.out.Format == term.Text && e.out.File == "" }

// examination prints results as it goes and counts failures.
type examination struct {
	a       *cli.App
	p       term.Paint
	out     *term.Output
	now     string // the name of the check that runs
	list    []checkResult
	failed  int
	home    string
	version string
	own     []settings.OwnHook // as the check of the settings found them
}

func (e *examination) say(word, what string, args ...any) {
	if word == "fail" {
		e.failed++
	}
	r := checkResult{e.now, word, cli.Masked(fmt.Sprintf(what, args...))}
	e.list = append(e.list, r)
	if e.live() {
		e.print(e.a.Stdout, r)
	}
}

func (e *examination) print(w io.Writer, r checkResult) {
	rows := term.Wrap(term.Printable(r.Text), term.Room(e.a.Columns(e.out), 6))
	fmt.Fprintf(w, "%s %s\n", e.p.Verdict(term.Pad(r.Result, 5)), strings.Join(rows, "\n      "))
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
	e.check(store.Note(ctx, engine.Note{What: "doctor"}), "the log is writable")
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
	if eff, err := cli.MachineAt(e.home).Effective(""); err == nil { // problems are reported elsewhere
		applyAudit(&log, eff.Settings)
	}
	e.say("ok", "%s, %s of %s", term.Counted(len(sessions), "session", "sessions"), mebibytes(bytes), mebibytes(log.BudgetBytes))
}

// mebibytes writes a size, rounded up.
func mebibytes(n int64) string {
	if n > 0 && n < 1<<20 {
		return "less than 1 MiB"
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// trust checks the trust file.
func (e *examination) trust(context.Context) {
	store, err := e.a.OpenStore()
	if err != nil {
		return // already reported
	}
	_, state := releasecmd.TrustOf(store, time.Now().UnixMilli())
	if state.Problem != "" {
		e.say("fail", "%s", state.Problem)
		return
	}
	e.say("ok", "%s", state.Text(e.p))
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
	e.say("ok", "policy %.12s… with %s in %s, enforcement: %s", eff.Digest, term.Counted(len(eff.Rules()), "rule", "rules"),
		term.Counted(len(eff.Layers), "layer", "layers"), mode)
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
	own := map[string]fs.FS{} // layers other than the built-in one
	for _, s := range sources {
		if s.At != active.ShippedPlace {
			own[s.Layer] = s.Files
		}
	}
	found, err := trial.DecideTwice(ctx, cli.Environment(), eff, decider, own)
	if err != nil {
		e.say("fail", "comparing decisions with and without OPA's rule index: %v", err)
		return
	}
	e.check(found.Err(), "OPA's rule index and early exit do not change any of %s, %d of them from your own cases and rules",
		engine.Counted(found.Decisions, "decision", "decisions"), found.Own)
}

func (e *examination) client(context.Context) {
	switch {
	case e.version == "":
		e.say("warn", "could not check the version of the client: claude is not on PATH")
	case !settings.ExecForm(e.version):
		e.say("fail", "client %s ignores onFailure (2.1.295 or later honours it): if the hook is killed, the call runs", e.version)
	default:
		e.say("ok", "client %s", e.version)
	}
}

func (e *examination) settings(ctx context.Context) {
	own, managed, silenced, ok := e.entries()
	if !ok {
		return
	}
	e.own = own
	for _, path := range silenced {
		if managed {
			break // the entry there is asked instead
		}
		e.say("fail", "%s: managed settings allow only managed hooks, so this hook does not run; install with --managed", path)
	}
	e.installed(ctx, own, managed)
}

// entries reads all layers of settings, reports their problems, and returns what running
// does; false: it is not known where the settings are.
func (e *examination) entries() (own []settings.OwnHook, managed bool, silenced []string, ok bool) {
	places, err := places(e.a)
	if err != nil {
		e.say("fail", "%v", err)
		return nil, false, nil, false
	}
	var layers []layerFindings
	if raw, err := cli.RegistrySettings(); err != nil {
		e.say("fail", "%v", err)
	} else if f, ok := e.text(cli.RegistryPlace, raw); ok {
		layers = append(layers, layerFindings{settings.LayerManaged, cli.RegistryPlace, f})
	}
	for _, l := range claudeLayers(places) {
		for _, path := range filesOf(l) {
			if f, ok := e.layer(l, path); ok {
				layers = append(layers, layerFindings{l.Name, path, f})
			}
		}
	}
	own, managed, silenced = running(layers)
	return own, managed, silenced, true
}

// layerFindings is the findings of one settings file.
type layerFindings struct {
	layer, path string
	settings.Findings
}

// running returns reviewer's entries that the client starts, whether managed
// settings are among their places, and the files whose entries it ignores
// because managed settings allow no others.
func running(layers []layerFindings) (own []settings.OwnHook, managed bool, silenced []string) {
	only := slices.ContainsFunc(layers, func(f layerFindings) bool {
		return f.layer == settings.LayerManaged && f.AllowManagedHooksOnly
	})
	for _, f := range layers {
		switch {
		case len(f.Own) == 0:
		case only && f.layer != settings.LayerManaged:
			silenced = append(silenced, f.path)
		default:
			own = append(own, f.Own...)
			managed = managed || f.layer == settings.LayerManaged
		}
	}
	return own, managed, silenced
}

func filesOf(l settings.Layer) []string {
	if !l.Dir {
		return []string{l.Path}
	}
	files, err := filepath.Glob(filepath.Join(l.Path, "*.json"))
	if err != nil {
		return nil // only a bad pattern is an error, and this is not one
	}
	return files
}

// layer checks one settings file and reports its problems.
func (e *examination) layer(l settings.Layer, path string) (settings.Findings, bool) {
	raw, err := readOptional(path)
	if err != nil {
		e.say("fail", "%s settings: %v", l.Name, err)
		return settings.Findings{}, false
	}
	return e.text(path, raw)
}

// text checks the settings of a file, or of the registry of Windows; nil: there are none.
func (e *examination) text(path string, raw []byte) (settings.Findings, bool) {
	if raw == nil {
		return settings.Findings{}, false
	}
	f := settings.Inspect(raw, e.version)
	if f.Problem != "" {
		e.say("fail", "%s: the client ignores these settings: %s", path, f.Problem)
		return settings.Findings{}, false
	}
	if f.DisableAllHooks {
		e.say("fail", "%s: disableAllHooks turns reviewer off here; remove it, or install with --managed", path)
	}
	for _, v := range f.Env {
		e.say("warn", "%s: env %s affects the hook: %s", path, v.Name, v.Why)
	}
	for _, h := range f.Foreign {
		e.say("warn", "%s: another hook on %s (%s) can rewrite a call after it was reviewed", path, h.Event, term.OneLine(h.What, 60))
	}
	e.ownProblems(path, f.Own)
	return f, true
}

// ownProblems lists the problems of reviewer's entries, each once: ten
// events of an old client have the same one.
func (e *examination) ownProblems(path string, own []settings.OwnHook) {
	events := map[string][]string{}
	for _, h := range own {
		for _, problem := range h.Problems {
			events[problem] = append(events[problem], h.Event)
		}
	}
	for _, problem := range slices.Sorted(maps.Keys(events)) {
		e.say("fail", "%s: %s (%s); `reviewer install` fixes it", path, problem, strings.Join(events[problem], ", "))
	}
}

func (e *examination) installed(ctx context.Context, own []settings.OwnHook, managed bool) {
	gates := 0
	for _, h := range own {
		if h.Event != "PreToolUse" {
			continue
		}
		gates++
		if err := proveDenial(ctx, h); err != nil {
			e.say("fail", "the installed hook does not deny: %v", err)
		} else {
			e.say("ok", "the installed hook %s denies unreadable input", h.Program)
		}
		if h.Home != e.home && e.home != "" {
			e.say("warn", "the installed hook keeps its state in %s, not in %s", h.Home, e.home)
		}
	}
	switch {
	case gates == 0:
		e.say("fail", "reviewer is not installed for this folder: run `reviewer install claude-code`")
	case len(missing(own)) > 0:
		e.say("fail", "reviewer is not called at %s, so a stopped session may continue or results go unseen; `reviewer install` fixes it",
			strings.Join(missing(own), ", "))
	}
	if gates > 0 && !managed {
		e.say("warn", "advisory: a repository can turn reviewer off with disableAllHooks; settings installed with --managed cannot be turned off")
	}
}

// missing lists the events at which no entry calls reviewer.
func missing(own []settings.OwnHook) []string {
	return slices.DeleteFunc(harness.ClaudeCodeEvents(), settings.Findings{Own: own}.Installed)
}

// proveDenial starts the hook as the client does, with unreadable input, and applies
// the client's rules to the answer: a denial is exit status 2, or the JSON that says
// so on a line of its own.
func proveDenial(ctx context.Context, h settings.OwnHook) error {
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
		return fmt.Errorf("%s exited with status %d; the client treats only 2 as a denial", h.Program, code)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(out.Bytes()), []byte("{")) || !bytes.Contains(out.Bytes(), []byte(`"permissionDecision":"deny"`)) {
		return fmt.Errorf("%s did not print a denial that the client understands", h.Program)
	}
	return nil
}
