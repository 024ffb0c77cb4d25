package main

import (
	"context"
	"path/filepath"
	"strconv"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/rogpeppe/go-internal/testscript"
)

// questionsWait waits until as many questions wait for a person.
func questionsWait(ts *testscript.TestScript, neg bool, args []string) {
	n := -1
	if len(args) == 1 {
		n, _ = strconv.Atoi(args[0])
	}
	if neg || n < 0 {
		ts.Fatalf("usage: questions N")
	}
	var files []string
	for range 600 {
		files, _ = filepath.Glob(filepath.Join(ts.Getenv("REVIEWER_HOME"), "approvals", "*.json"))
		if len(files) == n {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%d questions wait, want %d", len(files), n)
}

// codeKey is the key of the code that setCode made.
type codeKey struct{}

// acceptOwn is the person who accepts their own policy as it is: `reviewer policy accept`, without the terminal.
func acceptOwn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: accept")
	}
	secret, _ := ts.Value(codeKey{}).(string)
	ts.Check(acceptPolicy(&audit.Store{Dir: ts.Getenv("REVIEWER_HOME"), Env: cli.Environment()}, secret))
}

// acceptPolicy accepts the person's own policy as it is.
func acceptPolicy(log *audit.Store, secret string) error {
	key, err := (&code.Store{Log: log}).Unlock(context.Background(), secret)
	if err != nil {
		return err
	}
	own, err := cli.MachineAt(log.Dir).Acceptance()
	if err != nil {
		return err
	}
	return own.Accept(context.Background(), log, "kim", key)
}
