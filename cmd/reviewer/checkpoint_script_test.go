package main

import (
	"context"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/rogpeppe/go-internal/testscript"
)

// took before|after SESSION CALL takes a checkpoint of $WORK/shop as the hook does for a call.
func took(ts *testscript.TestScript, neg bool, args []string) {
	when := map[string]checkpoint.Request{
		"before": {When: checkpoint.BeforeCall, By: checkpoint.ByOthers},
		"after":  {When: checkpoint.AfterCall, By: checkpoint.BySession},
	}
	if neg || len(args) != 3 || when[args[0]].When == "" {
		ts.Fatalf("usage: took before|after SESSION CALL")
	}
	log := &audit.Store{Dir: ts.Getenv("REVIEWER_HOME")}
	mac, err := log.MAC()
	ts.Check(err)
	at := wiring.Checkpoints{StateHome: log.Dir, UserHome: ts.Getenv("HOME"), MAC: mac}
	store, err := wiring.OpenCheckpoints(at, ts.MkAbs(ts.Getenv("WORK")+"/shop"))
	ts.Check(err)
	r := when[args[0]]
	r.Session, r.Call, r.Time = args[1], args[2], time.Now().UnixMilli()
	_, err = store.Take(context.Background(), r)
	ts.Check(err)
}
