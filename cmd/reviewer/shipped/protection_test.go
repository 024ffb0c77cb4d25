package shipped

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

var updateProtection = flag.Bool("update-protection", false, "write docs/self-protection.md again")

// route is one way to get rid of the guard, or past a denial: each of its calls
// is to be blocked, and each of its twins allowed.
type route struct {
	name        string
	calls       int
	twins       int
	blockedBy   []string // rules, in the order in which they were met
	wrong       []string // what differed
	withoutPast bool     // some case has nothing that was denied before its last call
}

func (r *route) holds() bool { return r.calls > 0 && r.twins > 0 && len(r.wrong) == 0 }

var numbered = regexp.MustCompile(`^([TW][0-9]{2})(, twin:)? (.+)$`)

// isTwin reports whether a case of a suite is one that passes.
func isTwin(c cases.Case) bool {
	m := numbered.FindStringSubmatch(c.Name)
	return m != nil && m[2] != "" || strings.HasSuffix(c.Name, ": twin")
}

// routes runs a suite, and gathers its cases by number.
func routes(t *testing.T, file string) map[string]*route {
	t.Helper()
	runner, list := shippedCases(t)
	all := map[string]*route{}
	for _, c := range list {
		if !strings.HasSuffix(c.File, file) {
			continue
		}
		id, _, _ := strings.Cut(c.ID(), "/")
		m := numbered.FindStringSubmatch(id)
		if m == nil || c.Todo != "" {
			t.Fatalf("%s:%d: %q has no number, or waits for something", c.File, c.Line, c.Name)
		}
		if all[m[1]] == nil {
			all[m[1]] = &route{}
		}
		all[m[1]].add(t, runner, c, m)
	}
	return all
}

// add runs a case, whose last call counts.
func (r *route) add(t *testing.T, runner *caseRunner, c cases.Case, m []string) {
	t.Helper()
	result, err := runner.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Failures {
		r.wrong = append(r.wrong, f.String())
	}
	var last *engine.Decision
	denied := false
	for _, rec := range result.Records {
		if rec.Phase == engine.PhasePre && rec.Decision != nil {
			denied = denied || last != nil && last.Decision == engine.Block
			last = rec.Decision
		}
	}
	r.withoutPast = r.withoutPast || !denied
	r.judge(c, m, last)
}

func (r *route) judge(c cases.Case, m []string, d *engine.Decision) {
	switch blocked := d.Decision == engine.Block; {
	case isTwin(c):
		r.twins++
		if blocked || d.Decision == engine.Ask {
			r.wrong = append(r.wrong, fmt.Sprintf("the twin %s does not pass: %s, by %v", c.ID(), d.Decision, d.RuleIDs()))
		}
	case !blocked:
		r.calls++
		r.wrong = append(r.wrong, fmt.Sprintf("%s is not blocked: %s, by %v", c.ID(), d.Decision, d.RuleIDs()))
	default:
		r.calls++
		if ids := d.RuleIDs(); len(ids) > 0 && !slices.Contains(r.blockedBy, ids[0]) {
			r.blockedBy = append(r.blockedBy, ids[0])
		}
	}
	if !isTwin(c) && r.name == "" {
		r.name = m[3]
	}
}

// score prints how many routes hold, and wants all of them, and at least so many.
func score(t *testing.T, what string, all map[string]*route, least int) {
	t.Helper()
	held := 0
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if r := all[id]; r.holds() {
			held++
		} else {
			t.Errorf("%s %s: %d calls, %d twins\n%s", id, r.name, r.calls, r.twins, strings.Join(r.wrong, "\n"))
		}
	}
	t.Logf("%s: %d of %d", what, held, len(all))
	if held < least {
		t.Errorf("%s: %d hold, want %d at least", what, held, least)
	}
}

// Whatever way an agent takes to what guards it is blocked, and its twin passes;
// so is what was denied, in another way. The page says which these are.
func TestSelfProtection(t *testing.T) {
	tampering := routes(t, "cases/tampering/tampering.yaml")
	score(t, "tampering", tampering, 40)
	workarounds := routes(t, "cases/workarounds/workarounds.yaml")
	score(t, "work-arounds", workarounds, 20)
	for id, r := range workarounds {
		if r.withoutPast {
			t.Errorf("%s %s: nothing is denied before the last call", id, r.name)
		}
	}
	checkProtection(t, fmt.Sprintf(protectionPage, len(tampering), len(workarounds), routeRows(tampering), routeRows(workarounds)))
}

func routeRows(all map[string]*route) string {
	var rows strings.Builder
	for _, id := range slices.Sorted(maps.Keys(all)) {
		r := all[id]
		fmt.Fprintf(&rows, "| %s | %s | %d | `%s` | %d |\n", id, cellText(r.name), r.calls, strings.Join(r.blockedBy, "`, `"), r.twins)
	}
	return rows.String()
}

func checkProtection(t *testing.T, want string) {
	t.Helper()
	const file = root + "/docs/self-protection.md"
	if *updateProtection {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("docs/self-protection.md is not what the cases say (%v): "+
			"run go test ./cmd/reviewer/shipped -run TestSelfProtection -update-protection", err)
	}
}

const protectionPage = `# Self-protection

An agent that is blocked may try to disable its guard, or to achieve the same effect in another way.
There is a suite of cases for each:
[tampering](../bundles/default/cases/tampering/tampering.yaml) has %d routes,
[workarounds](../bundles/default/cases/workarounds/workarounds.yaml) %d. Every call of a route
is blocked; each route has similar, harmless twins that pass.

    reviewer policy test bundles/default/cases/tampering/tampering.yaml bundles/default/cases/workarounds

This page is written by ` + "`go test ./cmd/reviewer/shipped -run TestSelfProtection -update-protection`" + `.

## Tampering with the guard

| route | case | calls | blocked by | twins |
|---|---|---|---|---|
%s
Further routes are T48 to T62, T80 to T90, T97 and T98: [answers](../bundles/default/cases/tampering/approvals.yaml) that the
agent gives to questions about its own calls, [the process](../bundles/default/cases/tampering/resident.yaml) that
answers the hooks, its socket and its client, its [HTTP API](../bundles/default/cases/tampering/api.yaml),
the settings and hooks of [each other agent](../bundles/default/cases/tampering/agents.yaml), [input typed](../bundles/default/cases/tampering/typed.yaml) into
terminals of multiplexers and of the desktop over several calls, and
[others](../bundles/default/cases/tampering/remainder.yaml): command-line patterns, programs that
modify programs, and formatters and searches that reach the settings, the key and the locks of the
log. [What is reviewer's own](../bundles/default/cases/tampering/identity.yaml) is decided by identity where that is known:
reading the program and writing or sending something in the same call is tampering, whatever program does it, since a copy is
not recognised any more; an empty folder with an agent's name and copies of the session's settings elsewhere are not.
For typed input, a line is everything typed since the last Enter, in any number of pieces, under any name that
may refer to the same terminal. If the keys do not reveal the line, the call is asked about.

No bundle, layer or ` + "`reviewer allow`" + ` can permit changes to the guard: users change settings in an
editor or a terminal of their own.

A denial tells the agent the reason, a safer way and what not to do, but neither its id nor how to
lift it: ` + "`reviewer denials`" + ` lists both for a person. That command, ` + "`allow`, `resume`, `approvals approve`" + `,
` + "`scope --add`" + ` and similar commands refuse to run under an agent, in a terminal multiplexer, and in a terminal whose
program was started while an agent's session was running (in the last two, they accept the approval code).

## A changed installation

What is done outside the reviewed calls, by a program that the agent wrote for one, does not pass the hook. The resident
process looks every 10 seconds (` + "`guard.check_seconds`" + `), and before it answers an event that is not about a call, at

| what | what it notices |
|---|---|
| settings | hooks that were installed are gone, changed, ignored or turned off, lack events or tools, or name another program or state directory; also a switch in the settings of a workspace in which an agent works |
| program | ` + "`reviewer` or `reviewer-hook`" + ` is missing or was replaced |
| socket | its own socket is gone or is another one; it listens there again |
| state | the state directory is gone or is another folder, or a session's log is gone and the ledger does not say that it was to be removed |

What should be there is in the ledger: ` + "`reviewer install`" + ` records it, or the process does at its first look. It records a problem once,
until it is gone, which is a record, too (` + "`reviewer audit show --ledger`" + `), tells you at your next prompt in any agent, and notifies the
[channels](notifications.md) for stops. ` + "`reviewer doctor`" + ` lists what was noticed. While there is no state directory, nothing can be
recorded: the channels get the message, and the standard error of ` + "`reviewer serve`" + `.

Hooks in managed settings are written again, as ` + "`reviewer install --managed`" + ` does, if the process may write there, that is, if it runs as root;
the repair is recorded. All other hooks stay as they are found: you may remove your own with an editor, and
` + "`reviewer uninstall`" + ` then says that this was you. An installation that it removed is not missed.

Nobody is alarmed by a replaced program that only an administrator can write, as where a package manager installed it, or
if ` + "`reviewer install`" + ` ran since. A copy that you can write yourself cannot be told from an update, whoever wrote it: one
message says that it was replaced.

## Workarounds for a denial

The rule ` + "`deny_workaround`" + ` compares effects, not the text of commands. For ten actions after a denial
to any agent in the session, every call that would do as much or more to the same path, host or service
is denied too. If only the arguments of a program or a service are known (make
deploy), the same arguments count, however they are passed, and different arguments do not. A person
lifts the denial by allowing the call, or by a prompt that asks for work on the object by name. Calls
that do less are allowed: a read, a dry run, the trash, a push without force. In the cases, *it* is
the object whose deletion was denied.

| route | case | calls | blocked by | twins |
|---|---|---|---|---|
%s
## Asked about, not blocked

Some actions have legitimate uses, so the user decides: deleting a git hook (` + "`git_no_verify`" + `;
a commit that would skip the hooks runs with them), setting the clock (` + "`clock_change`" + `), creating
a file of more than 20 GiB (` + "`disk_fill`" + `, ` + "`resources.max_file_bytes`" + `), changing lines of a start-up file that do not concern the guard
(` + "`persistence`" + `). None of them gets a call past the hook: what cannot be recorded is denied, and
records are ordered by number, not by the clock.

## What a hook cannot see

The numbers above do not include:

- The effects of a program that was allowed to run: a compiled program whose source was not read, a
  package's code, a listening service.
- Running processes: one that was started before the hook was installed, another user's session, an
  editor that has the settings open.
- What a person does, by hand or with ` + "`!`" + `, and what the system does: updates, a disk that
  something else fills, a restored backup.
- Code that computes names at run time, in a language that is not analysed to that depth. In a shell,
  an unknown target of a deletion is treated as risky.
- ` + "`find . -name '*.json' -delete`" + ` and similar commands whose pattern matches settings among many
  other files. A pattern that begins with the name of the settings is recognised.
- A client started in a container or on another machine, which uses that machine's settings: only
  flags that disable its guards are seen.
- A file that changes between the check and the run.

[fail-open.md](fail-open.md) lists the known ways around the hook itself, and what closes or detects
each of them. Only managed settings protect against a repository that turns hooks off.
`
