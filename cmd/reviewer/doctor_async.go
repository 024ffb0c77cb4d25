package main

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// async says that no call is answered before its review, although the policy asks for it: only
// a process that goes on after the answer can make the review.
func (e *examination) async() {
	eff, err := cli.MachineAt(e.home).Effective("")
	if err == nil && eff.Settings["mode"] == "async" { // problems are reported elsewhere
		e.say("warn", "mode is async, but no resident process answers: every call waits for its review, as in mode blocking")
	}
}
