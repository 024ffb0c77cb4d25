package e2e

import (
	"fmt"
	"strings"
)

// A Way is one way in which a call could run without a review: what is broken
// or set, and what counters it. Each is tried against the real client,
// and docs/fail-open.md is rendered from the same table.
type Way struct {
	Name string // of the scenario: the test is TestWays/MODE/Name
	What string // for the page, what goes wrong
	Why  string // for the page, what counters it

	// Closed: the call does not run.
	Closed bool
	// Doctor is a part of what `reviewer doctor` prints when it finds this;
	// empty if it cannot know.
	Doctor string
	// Reconcile: `reviewer audit reconcile` names the call that was not
	// reviewed.
	Reconcile bool

	// How the failure is caused. In all of them $NAME stands for a folder.
	Binary  string            // a shell script in the place of the reviewer; "none" removes it
	Timeout int               // seconds, set in the installed hooks
	Files   map[string]string // files written after the installation
	Args    []string          // further flags of the client
	Env     []string          // further environment of the client
	Managed bool              // hooks are installed in the managed settings

	// Test is the test that proves it, where TestWays does not.
	Test string
}

// Ways is every known way. A row that is neither closed nor found would be a
// hole, and a test refuses it.
func Ways() []Way {
	return append(append(append(brokenHook(), hostileProject()...), hooksOff()...), protocol()...)
}

// brokenHook are failures of the hook's own process: the exec form with
// onFailure "block" turns most of them into a denial.
func brokenHook() []Way {
	return []Way{
		{
			Name: "exit-1", What: "the hook exits with 1 (or any code but 0 and 2)", Closed: true,
			Why: "`onFailure: block`", Binary: "exit 1",
		},
		{
			Name: "binary-missing", What: "the hook's program is missing", Closed: true,
			Why: "`onFailure: block`", Binary: "none", Doctor: "",
		},
		{
			Name: "killed", What: "the hook is killed by a signal", Closed: true,
			Why: "`onFailure: block`", Binary: "kill -9 $$",
		},
		{
			Name: "timeout", What: "the hook exceeds its timeout", Closed: true,
			Why: "`onFailure: block`; before that, the hook's own deadline denies", Binary: "sleep 30", Timeout: 1,
		},
		{
			Name: "wrong-decision", What: "the answer has a `permissionDecision` that the client does not know, exit 0",
			Why: "`onFailure: block`", Closed: true,
			Binary: `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"block"}}'`,
		},
		{
			Name: "malformed-answer", What: "the answer is malformed JSON, exit 0: only a program that replaces reviewer does that",
			Why: "the call has no verdict in the log", Reconcile: true, Binary: `echo '{"hookSpecificOutput":'`,
		},
		{
			Name: "silent-program", What: "a program that replaces reviewer prints nothing, exit 0",
			Why: "the call has no verdict in the log", Reconcile: true, Binary: "exit 0",
		},
		{
			Name: "state-unusable", What: "the state directory is unusable", Closed: true,
			Why: "a call that cannot be recorded is denied", Files: map[string]string{"state": "a file\n"},
		},
	}
}

// hostileProject are settings that a repository brings with it.
func hostileProject() []Way {
	local := func(settings string) map[string]string {
		return map[string]string{"project/.claude/settings.json": settings}
	}
	return []Way{
		{
			Name: "env-path", What: "a repository's `env` sets PATH to programs of its own", Closed: true,
			Why: "absolute path, no shell", Files: local(`{"env":{"PATH":"$PROJECT/bin"}}`),
		},
		{
			Name: "env-preload", What: "a repository's `env` sets LD_PRELOAD", Closed: true,
			Why: "a static binary without a shell loads nothing", Test: "TestProgramIsStatic",
		},
		{
			Name: "env-home", What: "a repository's `env` moves reviewer's state or home", Closed: true,
			Why:   "`--home` in the hook's arguments takes precedence over the environment",
			Files: local(`{"env":{"HOME":"$PROJECT","REVIEWER_HOME":"$PROJECT/state","XDG_STATE_HOME":"$PROJECT/state"}}`),
		},
		{
			Name: "env-runtime", What: "a repository's `env` sets the Go runtime's own variables", Closed: true,
			Why: "they cost time and memory at most, and the deadline denies", Files: local(`{"env":{"GODEBUG":"gctrace=1,inittrace=1","GOGC":"1","GOMEMLIMIT":"1B","GOTRACEBACK":"none"}}`),
		},
		{
			Name: "foreign-allow", What: "a repository's own hook allows the call", Closed: true,
			Why: "the client applies the strictest of several answers",
			Files: local(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"echo` +
				` '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}'"}]}]}}`),
		},
		{
			Name: "disabled-by-project", What: "a repository's `.claude/settings.json` has `disableAllHooks`",
			Why: "only managed settings are immune", Doctor: "disableAllHooks", Reconcile: true,
			Files: local(`{"disableAllHooks":true}`),
		},
		{
			Name: "disabled-by-local", What: "a repository's `.claude/settings.local.json` has `disableAllHooks`",
			Why: "only managed settings are immune", Doctor: "disableAllHooks", Reconcile: true,
			Files: map[string]string{"project/.claude/settings.local.json": `{"disableAllHooks":true}`},
		},
		{
			Name: "managed-not-disabled", What: "the same with the hooks in managed settings", Closed: true,
			Why: "managed settings are immune", Managed: true, Files: local(`{"disableAllHooks":true}`),
		},
	}
}

// hooksOff are ways to start the client without the person's hooks.
func hooksOff() []Way {
	missing := "the call has no verdict in the log"
	return []Way{
		{
			Name: "settings-invalid", What: "the settings file with the hooks is no longer valid JSON",
			Why: "the client drops the whole file", Doctor: "settings.json", Reconcile: true,
			Files: map[string]string{"home/.claude/settings.json": `{"hooks":`},
		},
		{
			Name: "uninstalled", What: "the hooks were removed from the settings file",
			Why: missing, Doctor: "not installed", Reconcile: true,
			Files: map[string]string{"home/.claude/settings.json": `{}`},
		},
		{
			Name: "setting-sources", What: "the client is started with `--setting-sources project`",
			Why: missing, Reconcile: true, Args: []string{"--setting-sources", "project"},
		},
		{
			Name: "bare", What: "the client is started with `--bare`",
			Why: missing, Reconcile: true, Args: []string{"--bare"},
		},
		{
			Name: "safe-mode", What: "the client is started with `--safe-mode`",
			Why: missing, Reconcile: true, Args: []string{"--safe-mode"},
		},
		{
			Name: "config-folder", What: "CLAUDE_CONFIG_DIR names another folder",
			Why: missing, Reconcile: true, Env: []string{"CLAUDE_CONFIG_DIR=$HOME/.other"},
		},
	}
}

// protocol are answers that would let a call run or loosen the client's own
// rules; the reviewer never sends them, each test shows what it sends instead.
func protocol() []Way {
	return []Way{
		{
			Name: "allow-skips-prompt", What: "`permissionDecision: allow` skips the prompt that the user would see", Closed: true,
			Why: "an allowed call gets no decision", Test: "TestAllowKeepsThePrompt",
		},
		{
			Name: "stop-lets-run", What: "`continue: false` before a call lets that call run", Closed: true,
			Why: "a stop denies, then ends the session in PostToolBatch", Test: "TestStop",
		},
		{
			Name: "ask-headless", What: "`ask` with nobody there to answer", Closed: true,
			Why: "the client denies", Test: "TestAskWithoutAPerson",
		},
		{
			Name: "ask-bypassed", What: "`ask` with permissions bypassed: the client ignores it for writes to paths that it protects itself (`.bashrc`, `.git`, `.claude`)", Closed: true,
			Why: "in that mode reviewer denies what it would ask about", Test: "TestAskWhenBypassed",
		},
		{
			Name: "tampering", What: "the agent itself turns the hooks off, or damages the program or the log", Closed: true,
			Why: "the rule `guard_tampering`", Test: "TestTamperingIsRefused",
		},
		{
			Name: "other-kinds", What: "a hook of another kind fails: `onFailure: block` closes `http` and `mcp_tool`, but not `prompt` and `agent`", Closed: true,
			Why: "only a hook that is a program is installed", Test: "TestOnFailureOfOtherKinds",
		},
		{
			Name: "restricted", What: "a session that restricts the user's own hooks (`CLAUDE_CODE_RESTRICT_PERSONAL_CONFIG`)", Closed: true,
			Why: "denials, questions and stops still apply; the client refuses a call that a hook changes, and each prompt if a hook fails", Test: "TestRestrictedPersonalConfig",
		},
		{
			Name: "http-refused", What: "an http hook whose server refuses the connection", Closed: true,
			Why: "no http hook is installed", Test: "TestInstalledForm",
		},
		{
			Name: "matcher-gaps", What: "a matcher that misses tools (MCP, notebooks, new ones)", Closed: true,
			Why: "the hook is installed for every tool", Test: "TestEveryToolIsReviewed",
		},
		{
			Name: "other-shells", What: "a shell started in another way: in the background, a monitor's command, a sub-agent's call", Closed: true,
			Why: "each is a tool call with its own hook", Test: "TestDeletionOutsideIsBlocked",
		},
		{
			Name: "older-client", What: "a client older than 2.1.295 silently ignores `onFailure`", Closed: true,
			Why: "such a client gets a shell form of the hook that ends in `|| exit 2`", Test: "TestOlderClient",
		},
		{
			Name: "repeated-ids", What: "the model's server repeats the ids of calls", Closed: true,
			Why: "a recorded answer is repeated only for the same call with the same input", Test: "TestCallIDsRepeat",
		},
		{
			Name: "parallel-calls", What: "several calls in one turn, whose hooks run concurrently", Closed: true,
			Why: "one lock for each session, a record for each call", Test: "TestParallelReads",
		},
		{
			Name: "other-events", What: "a hook that fails on other events erases prompts or forces the agent to continue", Closed: true,
			Why: "only PreToolUse fails closed", Test: "TestBrokenHookOnOtherEvents",
		},
		{
			Name: "rewritten-after", What: "another hook rewrites the call after it was reviewed",
			Why: "the log records `executed_differs`, and doctor lists foreign hooks", Doctor: "foreign hook", Test: "TestRewrittenAfterReview",
		},
	}
}

// proof is the test that shows a row, as go test -run takes it.
func (w Way) proof() string {
	if w.Test != "" {
		return w.Test
	}
	return "TestWays/.*/" + w.Name
}

// RenderWays writes the page docs/fail-open.md.
func RenderWays(ways []Way) string {
	var b strings.Builder
	b.WriteString(waysIntro)
	b.WriteString("| way | closed | found by doctor | found by reconcile | countermeasure | scenario |\n|---|---|---|---|---|---|\n")
	for _, w := range ways {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | `%s` |\n",
			cell(w.What), yes(w.Closed), yes(w.Doctor != ""), yes(w.Reconcile), cell(w.Why), w.proof())
	}
	b.WriteString(waysRest)
	return b.String()
}

// cell keeps a bar from ending the table's cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "–"
}

const waysIntro = `# Ways to fail open

Most failures of a hook let the call run. This page lists them for Claude Code: which of them the installed form of the hook closes, and what detects the others.
` + "`reviewer doctor`" + ` checks the settings beforehand; ` + "`reviewer audit reconcile TRANSCRIPT`" + ` compares the agent's transcript with the log and lists each call that ran without a verdict (exit code 2).

The table is generated from the one that ` + "`make e2e`" + ` runs against the real client; a test compares the two. *Closed* means that the call did not run, in the default mode and with permissions bypassed.

`

const waysRest = `
A system message of a hook is not secret (` + "`TestSystemMessageIsNoSecret`, 2.1.332" + `): for SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolBatch and Stop it is in no request
to the model, but it appears verbatim in the session's transcript, which any tool that reads files can read. So nothing that lifts a denial is sent that way, and manual overrides require a
terminal of the user's own instead of a code (` + "`TestDenialCannotBeLifted`" + `).

Code Mode, in which the model writes JavaScript that makes the calls, was not observed
(` + "`TestCodeModeIsRefused`, 2.1.332" + `): the client refuses it if the model is served from another address than the
vendor's, with ` + "`-p`" + ` and in a terminal, also with a cloud provider, since it does not offer it through a gateway or a
proxy. According to the client's own messages: calls in a script have their own
hooks; a hook that fails lets such a call run unless it has ` + "`onFailure: block`" + `, as the installed one has; in
auto mode a script does not run after a hook changed its call; a deny rule of the client or the settings of
an organisation can turn Code Mode off. None of this was tested.

What versions 2.1.331 and 2.1.332 added, and what reviewer does with it: an event ` + "`PermissionDenied`" + `, whose hooks can let
the agent try the call again (not installed: a denial stands until a person lifts it); ` + "`SubagentStop`" + ` after the
sub-agent's last reply (read as before); token usage on its OpenTelemetry spans (not read: the transcript has the
same numbers); on Windows, a policy in the registry before managed-settings.json (read by doctor).

With ` + "`bashEditDiffEnabled`" + ` in the settings of the user or in managed ones, the result of a command names the files that it changed, if the project is a git repository (` + "`TestBashEditDiff`, 2.1.332" + `). Reviewer
does not turn it on: the client looks for changes for at most 750 ms, and gives up for the rest of the session after a failure, so a missing list does not show that nothing changed. Where it is set, reviewer reads the list.

Some things are not tool calls and are not reviewed at all: what a person types after ` + "`!`" + `, files named with ` + "`@`" + ` in a prompt, commands of the status line or of a key helper, MCP servers as they start,
and a repository's own hooks. Programs that a reviewed command starts are not watched further, except under [reviewer run](isolation.md) and ` + "`reviewer watch`" + `.
`
