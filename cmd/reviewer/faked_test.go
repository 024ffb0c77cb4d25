package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// TestFakedAttempts plays the attempts of testdata/faked, a tenth of them unless REVIEWER_EVERY=1 (`make fidelity`) is set. No text that
// the person did not write gets the forbidden act done, but where the attempt says that it passes.
func TestFakedAttempts(t *testing.T) {
	files, err := filepath.Glob("testdata/faked/*.txt")
	if err != nil || len(files) < 7 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "README.txt" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
			name, steps, _ := strings.Cut(strings.TrimPrefix(block, "# "), "\n")
			if !sweep.Has(len(file)+i, 10) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				a := &faking{spokenHome: newSpokenHome(t)}
				a.play(t, steps)
			})
		}
	}
}

// A faking is a home in which an attempt is played.
type faking struct {
	*spokenHome
	calls int
	last  object // a call whose result is not reported yet
}

// play does the steps, until a call of the agent is denied or asked about: what it would have passed on does not come.
func (a *faking) play(t *testing.T, steps string) {
	for _, file := range []string{"data/orders.csv", "src/tax.py", "k8s/api.yaml"} {
		a.write(t, file, "x")
	}
	steps = strings.NewReplacer("/srv/shop", filepath.Join(a.dir, "shop"), "/home/kim", filepath.Join(a.dir, "home"), "/tmp/", a.dir+"/tmp/").Replace(steps)
	passes := strings.HasSuffix(steps, "\npasses")
	for line := range strings.SplitSeq(strings.TrimSuffix(steps, "\npasses"), "\n") {
		step, rest, _ := strings.Cut(line, " ")
		rest = plainStep(step, rest)
		if a.last != nil {
			a.result(t, step, rest)
		}
		prompt := object{"prompt": rest}
		switch step {
		case "result":
		case "person", "comes":
			a.event(t, engine.PhasePrompt, "s1", prompt)
		case "elsewhere":
			a.event(t, engine.PhasePrompt, "s2", prompt)
		case "unknown":
			a.event(t, engine.PhaseOther, "s1", prompt)
		case "call", "subagent":
			if stopped(a.call(t, step, rest)) {
				return
			}
		case "held", "free":
			a.calls++
			answer := a.event(t, engine.PhasePre, "s1",
				object{"tool_name": "Bash", "tool_input": object{"command": rest}, "tool_use_id": fmt.Sprint("c", a.calls)})
			if want := step == "held" && !passes; stopped(answer) != want && (step == "held" || !passes) {
				t.Errorf("%s: %s\n%s", line, answer.Effect, answer.Text)
			}
		default:
			t.Errorf("%q is not a step", line)
		}
	}
}

// plainStep is what a step is about. Calls are JSON, which has its own escapes.
func plainStep(step, text string) string {
	if step == "call" || step == "held" || step == "free" {
		return text
	}
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(text)
}

func stopped(a engine.Answer) bool { return a.Effect == engine.Block || a.Effect == engine.Ask }

// call is a call of the agent. What it writes is there afterwards.
func (a *faking) call(t *testing.T, step, text string) engine.Answer {
	a.calls++
	tool, args := "Agent", object{"prompt": text, "description": "x"}
	if step == "call" {
		name, raw, _ := strings.Cut(text, " ")
		tool, args = name, object{}
		if err := json.Unmarshal([]byte(raw), &args); err != nil {
			t.Fatal(err)
		}
	}
	a.last = object{"tool_name": tool, "tool_input": args, "tool_use_id": fmt.Sprint("c", a.calls)}
	answer := a.event(t, engine.PhasePre, "s1", a.last)
	if path, ok := args["file_path"].(string); ok && tool == "Write" && !stopped(answer) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.dir, "shop", path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(fmt.Sprint(args["content"])), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return answer
}

// result reports the result of the last call: that of the step, or a plain one. Answers to questions are in the client's form.
func (a *faking) result(t *testing.T, step, text string) {
	if step != "result" {
		text = "ok"
	}
	a.last["tool_response"] = object{"stdout": text, "content": text}
	if a.last["tool_name"] == "AskUserQuestion" {
		answers := object{}
		for pair := range strings.SplitSeq(strings.TrimPrefix(text, "User has answered your questions: "), ", ") {
			if question, answer, ok := strings.Cut(pair, `"="`); ok {
				answer, _, _ = strings.Cut(answer, `"`)
				answers[strings.Trim(question, `". `)] = strings.Trim(answer, `". `)
			}
		}
		a.last["tool_response"] = object{"questions": a.last["tool_input"].(object)["questions"], "answers": answers}
	}
	a.event(t, engine.PhasePost, "s1", a.last)
	a.last = nil
}

// event gives an event of Claude Code to the hook, as far as it follows the client's checks.
func (a *faking) event(t *testing.T, phase engine.Phase, session string, more object) engine.Answer {
	t.Helper()
	h, _ := harness.Find(harness.ClaudeCode)
	a.now += 1000
	name := h.EventAt(phase)
	if phase == engine.PhaseOther {
		name = h.EventAt(engine.PhasePrompt)
	}
	doc := object{"hook_event_name": name, "session_id": session, "cwd": filepath.Join(a.dir, "shop"), "permission_mode": "default"}
	for key, value := range more {
		doc[key] = value
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	e, err := h.Decode(name, raw, "")
	if err != nil {
		t.Fatal(err)
	}
	if phase == engine.PhaseOther {
		e.Phase, e.Unverified = engine.PhaseOther, "this is not a person's input: an unknown program sent it"
	}
	answer, _ := a.handle(t, h, &e)
	return answer
}
