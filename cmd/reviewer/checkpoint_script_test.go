package main

import (
	"context"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/snapshots"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/classify"
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
	base, err := bundles.Default()
	ts.Check(err)
	e, err := bundles.Assemble(base)
	ts.Check(err)
	dir := ts.MkAbs(ts.Getenv("WORK") + "/shop")
	o, err := snapshots.Options(log, classify.System{Home: ts.Getenv("HOME")}, dir, &e.Settings.Checkpoints, classify.NewRows(e.RowLayers()))
	ts.Check(err)
	store, err := checkpoint.Open(snapshots.Folder(log.Dir), dir, o)
	ts.Check(err)
	r := when[args[0]]
	r.Session, r.Call, r.Time = args[1], args[2], time.Now().UnixMilli()
	_, err = store.Take(context.Background(), r)
	ts.Check(err)
}
