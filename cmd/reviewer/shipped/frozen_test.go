package shipped

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/auditcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// TestFrozenLogs verifies and replays the logs that older versions left in
// testdata/audits, one folder for each format version. expected.txt has the
// result; under a newer environment that is how many decisions cannot be compared,
// with the reason written above it. All are still decided again, by the policy that
// decided then, and what differs is listed below it.
func TestFrozenLogs(t *testing.T) {
	for _, frozen := range frozenHomes(t) {
		t.Run(filepath.Base(filepath.Dir(frozen)), func(t *testing.T) {
			home := copied(t, frozen)
			got := auditSays(t, home, "verify") + auditSays(t, home, "replay") + decidedAgain(t, home)
			if want := expected(t, filepath.Join(filepath.Dir(frozen), "expected.txt")); got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

func frozenHomes(t *testing.T) []string {
	homes, err := filepath.Glob(root + "/testdata/audits/*/home")
	if err != nil || len(homes) == 0 {
		t.Fatalf("no frozen logs are there: %v", err)
	}
	return homes
}

// copied is a state directory like one that is frozen.
func copied(t *testing.T, frozen string) string {
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS(frozen)); err != nil {
		t.Fatal(err)
	}
	private(t, home)
	return home
}

// decidedAgain decides all of a log again, whatever environment it is from, and
// lists what differs.
func decidedAgain(t *testing.T, home string) string {
	var differ strings.Builder
	decisions := 0
	eachDecision(t, home, func(rec *engine.Record, p *review.Policy, h *history.State) {
		decisions++
		differ.WriteString(againstRecord(t, p, rec, h))
	})
	lines := strings.SplitAfter(differ.String(), "\n")
	head := fmt.Sprintf("%d decisions are decided again, and %d values differ\n", decisions, len(lines)-1)
	if len(lines) > maxDiffering {
		lines = append(lines[:maxDiffering], fmt.Sprintf("… and %d more\n", len(lines)-1-maxDiffering))
	}
	return head + strings.Join(lines, "")
}

// maxDiffering is how many values that differ are listed: one change of the fold
// may go through a whole log.
const maxDiffering = 15

// eachDecision calls f with each record of a log that contains a decision, the policy
// that made it, and the history before it. The state is folded again from the
// records, since that of another fold cannot be taken over.
func eachDecision(t *testing.T, home string, f func(*engine.Record, *review.Policy, *history.State)) {
	a := &cli.App{Streams: term.Streams{Stderr: t.Output(), Env: func(string) string { return "" }}, Home: home}
	store, sessions, err := a.Chosen(nil)
	if err != nil {
		t.Fatal(err)
	}
	policies := auditcmd.PoliciesOf(t.Context(), store)
	before, chain := history.New(), ""
	for rec, err := range cli.RecordsOf(store, sessions) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Chain != chain {
			before, chain = history.New(), rec.Chain
		}
		if rec.Decision != nil {
			policy, err := policies(rec.By.Policy)
			if err != nil {
				t.Fatal(err)
			}
			f(rec, policy, before)
		}
		before.Append(rec)
	}
}

// againstRecord lists in what a decision differs from the one that was recorded,
// a line for each value; so also of the other form of a call.
func againstRecord(t *testing.T, policy *review.Policy, rec *engine.Record, h *history.State) string {
	judge := func(r *engine.Record) review.Result {
		v, err := policy.Decide(t.Context(), r, h)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := judge(rec)
	was, is := map[string]string{}, map[string]string{}
	flatten(t, was, "findings", rec.Findings)
	flatten(t, was, "decision", rec.Decision)
	flatten(t, is, "findings", v.Findings)
	flatten(t, is, "decision", v.Decision)
	if form := rec.AsModified(); form != nil {
		again := judge(form).Decision
		flatten(t, was, "rewritten", []any{rec.Rewritten.Decision, rec.Rewritten.Rules})
		flatten(t, is, "rewritten", []any{again.Enforced, again.RuleIDs()})
	}
	all := maps.Clone(was)
	maps.Copy(all, is)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if was[name] != is[name] {
			fmt.Fprintf(&b, "%s: %s was %s, is %s\n", rec.ID(), name, cmp.Or(was[name], "absent"), cmp.Or(is[name], "absent"))
		}
	}
	return b.String()
}

// flatten takes a document apart: each value in it that has no parts, by its path.
func flatten(t *testing.T, into map[string]string, path string, doc any) {
	raw, err := engine.CanonicalOf(doc)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	switch value := value.(type) {
	case map[string]any:
		for key, part := range value {
			flatten(t, into, path+"."+key, part)
		}
	case []any:
		for i, part := range value {
			flatten(t, into, fmt.Sprintf("%s.%d", path, i), part)
		}
	case nil:
	default:
		into[path] = string(raw)
	}
}

// private gives a copy the modes that a state directory has.
func private(t *testing.T, dir string) {
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// auditSays is what `reviewer audit ARG…` prints.
func auditSays(t *testing.T, home string, args ...string) string {
	var out, errs bytes.Buffer
	a := &cli.App{Streams: term.Streams{Stdout: &out, Stderr: &errs, Env: func(string) string { return "" }}, Home: home}
	cmd := auditcmd.Command(a)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// expected reads a file without its comments.
func expected(t *testing.T, path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}
