package engine

// Claim is a kind of statement that an agent makes about its own work.
type Claim string

// The claims.
const (
	ClaimTests     Claim = "tests"  // the tests pass
	ClaimBuild     Claim = "build"  // it builds
	ClaimLint      Claim = "lint"   // linters find nothing
	ClaimChecks    Claim = "checks" // all checks pass, whichever these are
	ClaimWritten   Claim = "written"
	ClaimCommitted Claim = "committed"
	ClaimPushed    Claim = "pushed"
	ClaimDeployed  Claim = "deployed"
)

// Claims lists every Claim.
func Claims() []string {
	return []string{
		string(ClaimTests), string(ClaimBuild), string(ClaimLint), string(ClaimChecks), string(ClaimWritten), string(ClaimCommitted),
		string(ClaimPushed), string(ClaimDeployed),
	}
}

// Statement is what an agent's last message says about its work, as far as it can
// be compared with the session. The message itself is not stored.
type Statement struct {
	Claims []Claim `json:"claims"`           // kinds of work that it says were done, sorted
	Admits bool    `json:"admits,omitempty"` // it also says that a check fails, or did not run
	// Files that it says were written and that do not exist, as in Effect.short; at
	// most 8.
	Missing []string `json:"missing,omitempty"`
	Again   bool     `json:"again,omitempty"` // the agent went on because an earlier stop was answered
}

// ClaimFacts is what the session knows about the claims of a Statement.
type ClaimFacts struct {
	// Files in the workspace that the agent edited after the last call that may have
	// checked the work: any that runs a program or an agent; at most 8.
	Changed []string `json:"changed"`
	// Calls since the agent's latest check that may have checked the work as well.
	Runs    int64    `json:"runs"`
	Missing []string `json:"missing"` // files of event.says.missing that the session did not touch
}
