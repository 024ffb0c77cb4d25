package auditcmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// Documents lists the output of these commands with -f json that no file in schemas describes.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "audit verify", Title: "result of verifying the log", Of: verification{}},
		{Command: "audit seal", Title: "the seals that were written", Of: sealedDocument{}},
		{Command: "audit show", Title: "the sessions", Of: SessionDocument{}, List: "sessions"},
		{Command: "audit show records", Title: "the records of a session; record describes each", Of: engine.Record{}, List: "records"},
		{Command: "audit reconcile", Title: "calls in transcripts compared with the log", Of: transcript.Reconciliation{}, List: "sessions"},
		{Command: "audit replay", Title: "result of replaying decisions", Of: simulate.Report{}},
	}
}
