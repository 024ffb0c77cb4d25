package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
)

// async says that no call is answered before its review, although the policy asks for it: only
// a process that goes on after the answer can make the review.
func (e *examination) async() {
	eff, err := cli.MachineAt(e.home).Effective("")
	if err == nil && eff.Settings["mode"] == "async" { // problems are reported elsewhere
		e.say("warn", "mode is async, but no resident process answers: every call waits for its review, as in mode blocking")
	}
}

// aroundQuestion is the time that a hook needs besides the question about its call: for the
// review before it, and for recording the outcome.
const aroundQuestion = 30 * time.Second

// questionTime returns how much time a hook before a call needs if the policy lets questions wait
// for a person; 0: it does not.
func questionTime(home string) time.Duration {
	eff, err := cli.MachineAt(home).Effective("")
	if err != nil {
		return 0 // reported elsewhere
	}
	approvals, _ := eff.Settings["approvals"].(map[string]any)
	if queue, _ := approvals["queue"].(string); queue == "" || queue == "never" {
		return 0
	}
	n, err := strconv.Atoi(fmt.Sprint(approvals["wait_seconds"]))
	if err != nil {
		return 0 // the schema of settings has it as an integer
	}
	return time.Duration(n)*time.Second + aroundQuestion
}

// questions reports hooks that are given less time than the policy lets a question wait.
func (e *examination) questions(s standingOf, f layerFindings) {
	need := questionTime(e.home)
	for _, h := range f.Own {
		has := max(s.agent.Timeout(h.Event), time.Duration(h.Wait)*time.Second)
		switch {
		case s.agent.Phase(h.Event) != engine.PhasePre || has >= need:
		case s.agent.Longest > 0 && s.agent.Longest <= has:
			e.say("info", "%s: a question waits for %s at most, since the client gives its hooks no more time; the policy lets it wait for %s",
				f.path, seconds(has), seconds(need-aroundQuestion))
		default:
			e.say("warn", "%s: the policy lets a question wait for %s, and the hook %s has %s: run `reviewer install %s` again",
				f.path, seconds(need-aroundQuestion), h.Event, seconds(has), s.agent.Name)
		}
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%d s", int(d.Seconds())) }
