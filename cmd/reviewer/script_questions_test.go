package main

import (
	"path/filepath"
	"strconv"
	"time"

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
