package sessioncmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// Documents lists the output of these commands with -f json that no file in schemas describes.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "session list", Title: "the sessions", Of: listedSession{}, List: "sessions"},
		{Command: "session show", Title: "what happened in a session", Of: shownDocument{}},
		{Command: "session scope", Title: "the scope of a session", Of: scopeDocument{}},
		{Command: "session says", Title: "what the prompts of a session forbid and permit", Of: saidDocument{}},
		{Command: "session stop", Title: "whether the session is stopped", Of: stoppedDocument{}},
		{Command: "session resume", Title: "whether the session is stopped", Of: stoppedDocument{}},
		{Command: "session rollback", Title: "whether the session was rolled back", Of: rollbackDocument{}},
		{Command: "session abort", Title: "what an aborted session leaves behind", Of: abortedDocument{}},
	}
}
