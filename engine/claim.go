package engine

// Claim is a kind of statement that an agent makes about its own work.
type Claim string

// The claims.
const (
	ClaimTests     Claim = "tests"  // the tests pass
	ClaimBuild     Claim = "build"  // it builds
	ClaimLint      Claim = "lint"   // linters find nothing
	ClaimChecks    Claim = "checks" // all checks pass, without naming them
	ClaimWritten   Claim = "written"
	ClaimCommitted Claim = "committed"
	ClaimPushed    Claim = "pushed"
	ClaimDeployed  Claim = "deployed"
	ClaimInstalled Claim = "installed" // a package was installed
	ClaimDefined   Claim = "defined"   // a function or type was added
)

// Claims lists every Claim.
func Claims() []string {
	return []string{
		string(ClaimTests), string(ClaimBuild), string(ClaimLint), string(ClaimChecks), string(ClaimWritten), string(ClaimCommitted),
		string(ClaimPushed), string(ClaimDeployed), string(ClaimInstalled), string(ClaimDefined),
	}
}

// LastMessage contains the claims of an agent's last message about its work, as far as they can
// be compared with the session. The message itself is not stored.
type LastMessage struct {
	Claims []Claim `json:"claims"`           // kinds of work that the message says were done, sorted
	Admits bool    `json:"admits,omitempty"` // the message also says that a check fails, or did not run
	// Files that the message says were written and that do not exist, as in `effects[].short`; at
	// most 8.
	Missing []string `json:"missing,omitempty"`
	// Commands that the message tells the user to run and that were not found; at most 8.
	Commands []string `json:"commands,omitempty"`
	// Packages that the message says were installed and that no manifest of the workspace names;
	// at most 8.
	Packages []string `json:"packages,omitempty"`
	// Functions and types that the message says were added and that are in no file of
	// the workspace; at most 8.
	Symbols []string `json:"symbols,omitempty"`
	Again   bool     `json:"again,omitempty"` // a hook answered an earlier stop, so the agent continued
}

// ClaimFacts compares the claims of a LastMessage with the session.
type ClaimFacts struct {
	// Files in the workspace that the agent edited after the last call that may have
	// checked the work: any that runs a program or an agent; at most 8.
	Changed []string `json:"changed"`
	// Calls since the agent's latest check that may have checked the work as well.
	Runs    int64    `json:"runs"`
	Missing []string `json:"missing"` // files of event.says.missing that the session did not touch
	// Commands of event.says.commands whose files the session did not touch.
	Commands []string `json:"commands,omitempty"`
	// The session changed a file outside the workspace, other than a temporary one: the symbols
	// that event.says.symbols names may be there.
	Elsewhere bool `json:"elsewhere,omitempty"`
}
