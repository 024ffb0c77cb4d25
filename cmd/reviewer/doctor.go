package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/releasecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

func doctorCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var live, fix bool
	cmd := &cobra.Command{
		Use:   "doctor [CHECK…]",
		Short: "Check that denials work and that nothing bypasses reviewer",
		Long: "Checks the state directory, the policy and, for each agent for which reviewer is\n" +
			"installed, the client's version and all layers of its settings in this folder; makes\n" +
			"decisions with and without OPA's rule index and early exit; starts the installed hooks and\n" +
			"checks that they deny; asks Codex which hooks it trusts; starts the resident process\n" +
			"if there is none, and queries it (resident); lists what the agents let reviewer do\n" +
			"(channels), and notifications that could not be delivered; says how firmly hooks know the\n" +
			"key of your approval code (code).\n" +
			"With --live, also starts each agent itself, without an account, your settings or a network: in a\n" +
			"temporary home, with reviewer installed there and a scripted model on this machine that asks\n" +
			"for two calls, of which one is denied; then checks which of them ran (live; Linux only).\n" +
			"Exit code 2 if a check fails.\n\n" +
			"A CHECK is one of: " + strings.Join(checkNames(), ", ") + " (default: all).",
		Example: "  reviewer doctor\n" +
			"  reviewer doctor settings live --live\n" +
			"  reviewer doctor -f json",
		Args:      knownChecks,
		ValidArgs: checkNames(),
		RunE: func(cmd *cobra.Command, names []string) error {
			e := &examination{p: a.Paint(&out), a: a, out: &out, list: []checkResult{}, prove: live}
			if fix {
				if err := e.repair(cmd.Context()); err != nil {
					return err
				}
			}
			return e.run(cmd.Context(), names)
		},
	}
	cmd.Flags().BoolVar(&live, "live", false,
		"also run each installed hook with its command from the settings, on a sample call that is recorded in the log; and start\n"+
			"each agent in a temporary folder, with a scripted model that asks for a call that must be denied (live)")
	cmd.Flags().BoolVar(&fix, "fix", false, "first repeat the installation for each agent and layer where reviewer is installed")
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
		{"state", (*examination).state}, {"code", (*examination).code}, {"trust", (*examination).trust}, {"policy", (*examination).policy},
		{"client", (*examination).client}, {"settings", (*examination).settings}, {"live", (*examination).trials},
		{"resident", (*examination).resident}, {"words", (*examination).words},
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
			return term.Unknown("check", name, checkNames())
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
	e.survey()
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
	agents  []standingOf       // those that are examined
	others  []standingOf       // those that are on this machine without reviewer
	own     []settings.OwnHook // the hooks of all of them that run
	prove   bool               // run the hooks with their commands from the settings, as the client does
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
	e.noticed(store)
}

// noticed reports what the resident process found when it last looked at the installation, and what it has not told anybody.
func (e *examination) noticed(store *audit.Store) {
	found, err := store.Installation()
	if err != nil {
		e.say("fail", "%v", err)
		return
	}
	for _, text := range found.Broken {
		e.say("fail", "the resident process noticed: %s", text)
	}
	for _, text := range found.Untold() {
		if !slices.Contains(found.Broken, text) {
			e.say("warn", "the resident process noticed: %s", text)
		}
	}
}

func (e *examination) sessions(sessions []audit.Session) {
	var bytes int64
	for _, s := range sessions {
		bytes += s.Bytes
		if s.Err != nil {
			e.say("fail", "session %s cannot be read, so its calls are denied: %v", s.Key.Session, s.Err)
		}
	}
	budget := int64(audit.DefaultBudgetBytes)
	if eff, err := cli.MachineAt(e.home).Effective(""); err == nil { // problems are reported elsewhere
		budget = eff.Settings.Audit.BudgetMB << 20
	}
	e.say("ok", "%s, %s of %s", term.Counted(len(sessions), "session", "sessions"), mebibytes(bytes), mebibytes(budget))
}

// mebibytes writes a size, rounded up.
func mebibytes(n int64) string {
	if n > 0 && n < 1<<20 {
		return "less than 1 MiB"
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// code checks the approval code, and how firmly the hooks know its key.
func (e *examination) code(context.Context) {
	ledger := &audit.Store{Dir: e.home}
	key, made, err := ledger.PersonKey()
	if err != nil {
		e.say("fail", "approval code: %v", err)
		return
	}
	pins, err := signed.Pins(e.a, e.home)
	if err != nil {
		e.say("fail", "approval code: %v", err)
		return
	}
	if key == nil {
		e.say("warn", "no approval code is set, so your own policy and settings count as they are, and no command lifts a denial or "+
			"resumes a session: make one with `reviewer approvals code`")
	} else if !e.pastOfCodes(ledger, made) {
		return
	}
	stated, err := cli.AdministeredKey()
	if err != nil {
		e.say("fail", "%v", err)
	}
	if stated != "" {
		pins = []signed.Pin{{Key: stated}}
	} else if key != nil && len(pins) == 0 {
		e.say("info", "no hook is installed for this state directory, so none knows the key of the approval code")
	}
	for _, pin := range pins {
		e.pin(ledger, pin, key != nil)
	}
}

// pastOfCodes reports when codes were made, and what happened to them.
func (e *examination) pastOfCodes(ledger *audit.Store, made int64) bool {
	codes := &code.Store{Log: ledger}
	past, err := codes.Past()
	seen, err2 := ledger.CodeSeen()
	if err := errors.Join(err, err2); err != nil {
		e.say("fail", "%v", err)
		return false
	}
	e.say("ok", "the approval code was made on %s; the first one on %s by %s", code.Clock(made), code.Clock(past.First), past.By)
	if seen {
		e.say("fail", "%v", code.ErrSeen)
	}
	if past.Guessed(time.Now().UnixMilli()) {
		e.say("warn", "%d wrong approval codes were given in a short time, the last on %s: unless that was you, a program guesses codes",
			code.Tries, code.Clock(past.Wrong[code.Tries-1]))
	}
	return true
}

// pin reports how firmly a hook knows the key of the approval code.
func (e *examination) pin(ledger *audit.Store, pin signed.Pin, set bool) {
	follows, err := signed.Follows(ledger, pin.Key)
	switch {
	case err != nil:
		e.say("fail", "%v", err)
	case pin.Agent == "" && follows:
		e.say("ok", "an administrator stated its key in %s, so no program of yours can replace it", cli.KeyFile("NAME"))
	case pin.Agent == "":
		e.say("fail", "%s states another key than that of this ledger, so nothing that you choose counts: an administrator runs "+
			"`reviewer approvals code --user NAME`", cli.KeyFile("NAME"))
	case pin.Key == "" && !set:
	case pin.Key == "" && pin.Layer == settings.LayerUser:
		e.say("warn", "the hook of %s (%s) was not given its key, so a program that replaces the ledger replaces the key: run "+
			"`reviewer install %s` in a terminal", pin.Agent, pin.File, pin.Agent)
	case pin.Key == "":
		e.say("warn", "the hook of %s is in %s, which serves more than you, so only the ledger has its key, and a program that replaces "+
			"the ledger replaces the key: an administrator runs `reviewer approvals code --user NAME`", pin.Agent, pin.File)
	case !follows && !set:
		e.say("fail", "the hook of %s (%s) knows the key of an approval code, and the ledger has none: restore the ledger, or make "+
			"a new code with `reviewer approvals code` and run `reviewer install %s`", pin.Agent, pin.File, pin.Agent)
	case !follows:
		e.say("fail", "the hook of %s (%s) "+signed.OtherKey, pin.Agent, pin.File, pin.Agent)
	default:
		e.say("ok", "the hook of %s knows its key: replacing the ledger is not enough, but whoever can change %s can replace it there",
			pin.Agent, pin.File)
	}
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
	mode := eff.Settings.Enforcement
	e.say("ok", "policy %.12s… with %s in %s, enforcement: %s", eff.Digest, term.Counted(len(eff.Rules()), "rule", "rules"),
		term.Counted(len(eff.Layers), "layer", "layers"), mode)
	if mode != "enforce" {
		e.say("warn", "enforcement is %s: denials are recorded, not given (set enforcement: enforce in %s)", mode,
			filepath.Join(e.home, "policy", "settings.yaml"))
	}
	for _, end := range wiring.Endings(eff, time.Now().UnixMilli()) {
		e.say("warn", "policy, %s layer, %s:%d: %s", end.Layer, end.File, end.Line, end)
	}
	e.ownPolicy()
	e.shortcuts(ctx, eff, decider, cwd)
	e.status(ctx)
}

// status reports what `reviewer policy status` finds wrong; the trust file has a check of its own.
func (e *examination) status(ctx context.Context) {
	store, err := e.a.OpenStore()
	if err != nil {
		return // already reported
	}
	status := releasecmd.StatusOf(ctx, store, time.Now().UnixMilli())
	for _, problem := range status.Wrong() {
		if problem != status.Trust.Problem {
			e.say("fail", "%s", problem)
		}
	}
	if status.Kept != "" {
		e.say("info", "%s", status.Kept)
	}
	for _, held := range status.Held() {
		e.say("info", "%s", held)
	}
}

// ownPolicy reports whether the person's own policy is active as it is.
func (e *examination) ownPolicy() {
	own, err := cli.MachineAt(e.home).Own()
	switch {
	case err != nil:
		e.say("fail", "%v", err)
	case own == nil: // an activated bundle
	case own.State == active.OwnUnsigned:
		e.say("info", "your own policy in %s counts as it is, since no approval code was ever made (`reviewer approvals code`): "+
			"whatever runs as you can change it", own.Dir)
	case own.State == active.OwnRoot:
		e.say("ok", "your own policy in %s can be changed only by root, so it counts as it is", own.Dir)
	case own.State == active.OwnAccepted:
		e.say("ok", "your own policy in %s is as you accepted it", own.Dir)
	} // changed: policy status says so
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
	if !slices.ContainsFunc(e.agents, func(s standingOf) bool { return s.Agent.Name == harness.ClaudeCode }) {
		return // the versions of other agents make no difference
	}
	switch {
	case e.version == "":
		e.say("warn", "could not check the version of the client: claude is not on PATH")
	case !settings.ExecForm(e.version):
		e.say("fail", "client %s ignores onFailure (2.1.295 or later honours it): if the hook is killed, the call runs", e.version)
	default:
		e.say("ok", "client %s", e.version)
	}
}
