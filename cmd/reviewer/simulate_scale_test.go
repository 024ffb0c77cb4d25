package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// folderOf puts the layer of a policy that is not the built-in one into a
// folder, as people keep it.
func folderOf(t *testing.T, e *bundles.Effective) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range e.Layers[len(e.Layers)-1].Files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Policies with other windows, other detectors and other Rego stand side by
// side over one log in which clocks go back, ids come twice and sessions are
// taken up again: every call is counted once for each, and what a policy looks at
// that was not recorded is not guessed.
func TestSimulateUnlikePolicies(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	newChronicle(t, 12, home, keptPolicies(t, home, wiringtest.Effective(t))).tell(300)
	policies := oddPolicies(t)
	detectors, windows, stops := folderOf(t, policies[1]), folderOf(t, policies[2]), folderOf(t, policies[3])
	var totals []int64
	for _, c := range []struct {
		name, baseline, candidate string
		check                     func(m *simulate.Impact) bool
	}{
		{"windows", windows, "../../bundles/default", func(m *simulate.Impact) bool { return m.Calls.States[simulate.Incomparable] == 0 }},
		{"windows and detectors", windows, detectors, func(m *simulate.Impact) bool {
			return m.Calls.States[simulate.Unknown]+m.Calls.After[simulate.Unknown] > 0
		}},
		{"detectors", "recorded", detectors, func(m *simulate.Impact) bool {
			return m.Calls.States[simulate.Unknown]+m.Calls.After[simulate.Unknown] > 0
		}},
		{"stops", "recorded", stops, func(m *simulate.Impact) bool {
			return slices.ContainsFunc(m.Interventions, func(g simulate.Group) bool { return g.Candidate > g.Baseline })
		}},
	} {
		m := simulated(t, cli.ExitOK, "--home", home, "--baseline", c.baseline, "--candidate", c.candidate)
		if r := m.Fidelity; r == nil || r.Same != r.Decisions || r.Decisions == 0 {
			t.Errorf("%s: the log is not reproduced: %+v", c.name, r)
		}
		if !c.check(m) {
			t.Errorf("%s: %v, then %v; interventions %+v", c.name, m.Calls.States, m.Calls.After, m.Interventions)
		}
		totals = append(totals, m.Calls.Total)
	}
	if len(slices.Compact(totals)) != 1 {
		t.Errorf("the calls were counted as %v", totals)
	}
}

// A damaged log is detected while it is read, whichever byte it is, and is not
// reported as a difference between policies.
func TestSimulateFindsForgedLogs(t *testing.T) {
	store, file := smallLog(t)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		log  []byte
	}{
		{"a byte", bytes.Replace(good, []byte(`"enforced":"block"`), []byte(`"enforced":"blocc"`), 1)},
		{"a line that does not end", slices.Concat(good, bytes.Repeat([]byte("x"), 20<<20), []byte("\n"), good)},
		{"a line less", append(bytes.Clone(good[:bytes.IndexByte(good, '\n')+1]), afterLines(good, 2)...)},
		{"another decision, and the chain made to fit", rechained(good, `"enforced":"block"`, `"enforced":"allow"`)},
		{"another past, and the chain made to fit", rechained(good, `"effect":"block","mode":"enforced"`, `"effect":"allow","mode":"enforced"`)},
	} {
		if err := os.WriteFile(file, c.log, 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := reviewerCommand(t, "policy", "simulate", "--home", store.Dir, "--candidate", "../../bundles/default")
		if code != cli.ExitFindings {
			t.Errorf("%s: exit code %d\n%s%s", c.name, code, out, errs)
		}
	}
}

// afterLines is what follows the first n lines.
func afterLines(log []byte, n int) []byte {
	for range n {
		log = log[bytes.IndexByte(log, '\n')+1:]
	}
	return log
}

// A line of 200 MB in a transcript does not cost the calls around it; one of 40
// without REVIEWER_EVERY=1 (`make fidelity`).
func TestSimulateEndlessLine(t *testing.T) {
	size := int64(sweep.Some(40, 200)) << 20
	path := filepath.Join(t.TempDir(), "session.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	line := func(n int) {
		fmt.Fprintf(f, `{"type":"assistant","parentUuid":null,"isSidechain":false,"sessionId":"s1","uuid":"u%d","cwd":"/srv/shop","timestamp":"2026-01-02T03:04:0%dZ","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"rm -rf /srv/other%d"}}]}}`+"\n", n, n, n, n)
	}
	line(1)
	fmt.Fprint(f, `{"type":"user","parentUuid":"u1","isSidechain":false,"sessionId":"s1","message":{"role":"user","content":"`)
	if _, err := io.CopyN(f, endless('x'), size); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "\"}}\n")
	line(2)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	m := simulated(t, cli.ExitOK, path, "--candidate", "../../bundles/default")
	if m.Calls.Total != 2 || m.Sources.Lines != 3 || m.Sources.Failed != 0 {
		t.Errorf("%d calls, %+v", m.Calls.Total, m.Sources)
	}
}

// endless reads the same byte forever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}
