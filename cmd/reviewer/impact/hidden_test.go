package impact_test

import (
	"bytes"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/impact"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// What is published shows neither the folders nor the files of people, unless it is asked to: a report, and each row of a sweep.
func TestHidden(t *testing.T) {
	const secret = "kim-only"
	private := func() *simulate.Impact {
		m := crowd(3, 3)
		for i := range m.Workspaces {
			m.Workspaces[i].Name = "/home/" + secret + m.Workspaces[i].Name
		}
		m.Sources.Troubles = []simulate.Trouble{{Path: "/home/" + secret + "/a.jsonl", Why: "open /home/" + secret + "/a.jsonl: no such file", Count: 1}}
		m.Selection.Workspaces = []string{"/home/" + secret}
		m.Candidate.Name = "/home/" + secret + "/policy"
		m.Errors = []simulate.StepError{{ID: "ab12cd34-7", Side: "candidate", Error: "decide: /home/" + secret}}
		m.Unclear = []simulate.Unclear{{Tool: "Bash", Count: 1, Example: simulate.Step{ID: "ab12cd34-9", Resource: "run " + secret}}}
		m.Fidelity = &simulate.Report{Decisions: 3, Different: 1, First: &simulate.Difference{ID: "ab12cd34-7", Field: "decision.reason",
			Recorded: secret, Computed: secret}, Missing: map[string]int64{"d1": 1}, Why: map[string]string{"d1": "open /home/" + secret}}
		return m
	}
	values := sweep()
	for i := range values.Rows {
		values.Rows[i].Impact = private()
	}
	for _, format := range []string{"html", "github"} {
		for what, raw := range map[string][]byte{
			"report": write(t, format, private(), impact.Options{}), "sweep": writeSweep(t, format, values, impact.Options{}),
		} {
			if at := bytes.Index(raw, []byte(secret)); at >= 0 {
				t.Errorf("%s of a %s shows %s", format, what, raw[max(0, at-60):at+20])
			}
		}
	}
	if !bytes.Contains(write(t, "html", private(), impact.Options{Show: true}), []byte(secret)) {
		t.Error("--show hides it, too")
	}
}

// A call whose example is not shown is not shown by its session or its files either, in a text, unless it is asked to.
func TestUnshown(t *testing.T) {
	const secret = "kim-only"
	private := func() *simulate.Impact {
		m := crowd(3, 3)
		m.Kinds[0].Example.Resource, m.Kinds[0].Example.Example = "run "+secret, &simulate.Example{}
		m.Changed[1].First.Resource = "run " + secret
		m.Files = &simulate.FileChanges{Steps: []simulate.FileStep{{Tool: "Bash", Resource: "run " + secret}}}
		m.Unclear = []simulate.Unclear{{Tool: "Bash", Count: 1, Example: simulate.Step{ID: "ab12cd34-9", Resource: "run " + secret}}}
		return m
	}
	raw := write(t, "text", private(), impact.Options{})
	if !bytes.Contains(raw, []byte("is not shown")) || !bytes.Contains(raw, []byte("(not shown; --show prints it)")) {
		t.Errorf("it does not say what is not shown: %s", raw)
	}
	if at := bytes.Index(raw, []byte(secret)); at >= 0 {
		t.Errorf("the text shows %s", raw[max(0, at-60):at+20])
	}
	if n := bytes.Count(write(t, "text", private(), impact.Options{Show: true}), []byte(secret)); n < 2 {
		t.Errorf("--show shows it %d times", n)
	}
}
