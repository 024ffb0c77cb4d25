package agents

// An Outcome is the outcome of the call under test.
type Outcome string

const (
	Ran       Outcome = "ran"       // the call left its mark on disk
	Informed  Outcome = "informed"  // it ran, and the model was told which rule fired
	Rewritten Outcome = "rewritten" // it ran in another form
	Blocked   Outcome = "blocked"   // it did not run, and the agent went on
	Told      Outcome = "told"      // it did not run, and the model was told which rule fired
	Ended     Outcome = "ended"     // it did not run, and the model was not asked again
)

// A Cell is one row of the matrix that is tried with every client.
type Cell struct {
	Name string
	What string // for the page
	Want Outcome

	// Denial: reviewer itself answers with a denial, so no client may differ by running
	// the call.
	Denial bool

	Command  string // of the call; empty: the one that policy blocks
	Decision string // in the call's record: one of these words; empty: no record is looked for
	Prepare  string // a shell script that runs in the project before

	// StandIn is a shell script that takes the place of reviewer when the client asks about
	// a call; "none" removes the program.
	StandIn string
	Timeout int // seconds that the client gives the hook; 0: what reviewer installs
}

// blocked is a command that the default policy blocks: it deletes a folder outside the
// workspace, and leaves a mark if it runs. Codex itself refuses rm -rf.
const blocked = "echo hi > mark && find {outside} -delete"

// cells is the matrix.
func cells() []Cell { return append(answers(), failures()...) }

// answers are cells in which reviewer answers.
func answers() []Cell {
	return []Cell{
		{Name: "allow", What: "policy allows", Want: Ran, Command: "echo hi > mark", Decision: "allow"},
		{Name: "deny", What: "policy blocks", Want: Told, Denial: true, Decision: "block"},
		{Name: "rewrite", What: "policy rewrites: a deletion becomes a move to the trash", Want: Rewritten, Denial: true,
			Prepare: "echo dear Kim > draft.txt", Command: "rm draft.txt & wait; echo hi > mark", Decision: "modify"}, // in the background: it is not saved
		{Name: "ask", What: "policy asks, and nobody is there to answer", Want: Told, Denial: true,
			Prepare: "git branch spare", Command: "git branch -D spare && echo hi > mark", Decision: "ask block"},
		{Name: "context", What: "policy warns", Want: Informed,
			Prepare: "echo SHOP=1 > .env", Command: "cat .env; echo hi > mark", Decision: "warn"},
		{Name: stopCell, What: "a person stops the session before the call", Want: Ended, Denial: true, Command: "echo hi > mark", Decision: "block"},
		{Name: deadlineCell, What: "the review takes longer than reviewer's own deadline", Want: Blocked, Denial: true,
			Command: "echo hi > mark", StandIn: elapsedVariable + `=65000 exec "$REAL" "$@"`},
	}
}

const (
	stopCell     = "stop"
	deadlineCell = "deadline" // the call is one that policy allows

	// elapsedVariable tells reviewer how many milliseconds of the client's time-out have
	// passed already. All of it, so its own deadline denies what policy would allow.
	elapsedVariable = "REVIEWER_ELAPSED_MS"
)

// failures are cells in which something is broken, so nothing answers.
func failures() []Cell {
	return []Cell{
		{Name: "missing", What: "reviewer is missing", Want: Blocked, StandIn: "none"},
		{Name: "killed", What: "reviewer is killed", Want: Blocked, StandIn: "kill -9 $$"},
		{Name: "exit-1", What: "reviewer ends with status 1", Want: Blocked, StandIn: "echo oops >&2; exit 1"},
		{Name: "silent-2", What: "a program at reviewer's path ends with status 2 and prints nothing", Want: Blocked, StandIn: "exit 2"},
		{Name: "silent-0", What: "a program at reviewer's path ends with status 0 and prints nothing", Want: Blocked, StandIn: "exit 0"},
		{Name: "malformed", What: "the answer is malformed JSON", Want: Blocked, StandIn: `echo '{"hookSpecificOutput":'`},
		{Name: "text-before", What: "text precedes the answer", Want: Blocked, StandIn: `echo hello; exec "$REAL" "$@"`},
		{Name: "timeout", What: "reviewer exceeds the client's timeout, as a suspended process does", Want: Blocked, StandIn: "exec sleep 6", Timeout: 1},
	}
}
