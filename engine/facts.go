package engine

// The names that Input.Facts may contain: plain yes-or-no questions about an
// event, answered once in Go, so that a policy rule can start with a membership
// test. OPA indexes such tests: rules that cannot apply cost nothing.
const (
	FactReadsOnly       = "reads_only"        // touches something, changes nothing, and was understood completely
	FactChanges         = "changes"           // some effect leaves something behind
	FactChangesFiles    = "changes_files"     // some file is written or deleted
	FactDeletes         = "deletes"           // some file is deleted
	FactRecursiveDelete = "deletes_recursive" // some folder is deleted with everything under it
	FactOutside         = "outside_workspace" // some path is not inside the workspace
	FactExternal        = "external_network"  // some host is not this machine
	FactPrivileged      = "privileged"        // some effect has elevated privileges
	FactNotUnderstood   = "not_understood"    // something is opaque
	FactUnknownTarget   = "unknown_target"    // the target of some change is unknown
	FactFailedBefore    = "failed_before"     // a similar action failed
	FactUnmet           = "presupposes_unmet" // a precondition of the action is not met
	FactStopped         = "stopped"           // the session is stopped
	FactDiffers         = "executed_differs"  // the call ran with arguments other than those reviewed
	FactAllowed         = "allowed_by_person" // a person allowed this very call

	// About the course of the run, so that patterns are evaluated only where
	// there is something to measure.
	FactFailed       = "failed"         // the reported call failed
	FactRepeated     = "repeated"       // the same call was made before, with the same result
	FactCycle        = "cycle"          // the same few calls were made in rotation
	FactNothingNew   = "nothing_new"    // the previous action brought no new information
	FactMissing      = "missing"        // something referred to does not exist
	FactDeniedBefore = "denied_before"  // the call, or an effect of it, was denied, or a person refused it
	FactCheckEdited  = "check_edited"   // the inputs of a check were edited before it was run again
	FactAfterFailure = "after_failure"  // an earlier action failed: history.since.failed counts the actions since
	FactAuthError    = "auth_error"     // an earlier action failed because of missing or wrong credentials
	FactCarries      = "carries"        // the action contains a string that was read before
	FactSecretOut    = "secret_out"     // part of a secret that was read reaches another machine
	FactInherits     = "inherits"       // the action may run code that the session wrote and that policy objected to
	FactUnread       = "unread_code"    // the action runs code that was not read, see effects.unread
	FactObeys        = "obeys"          // the action contains a string from an untrusted source, or touches a file that does
	FactReadSecret   = "read_secret"    // a secret was read before: history.since.secret counts the actions since
	FactReadOthers   = "read_untrusted" // untrusted text was read before
	FactGrowing      = "growing"        // the use of some resource grows from bin to bin
	FactGoal         = "goal"           // a person's goal is known
	FactConstrained  = "constrained"    // a person said what must not be done
	FactPermitted    = "permitted"      // a person ordered or permitted something that was not done since
	FactNewHost      = "new_host"       // a host is contacted for the first time
	FactClaims       = "claims"         // the agent's last message makes a claim about its work
	FactSpread       = "spread"         // a path outside the workspace was written; see session.elsewhere
)

// FactNames lists every name that Input.Facts may contain.
func FactNames() []string {
	return []string{
		FactReadsOnly, FactChanges, FactChangesFiles, FactDeletes, FactRecursiveDelete, FactOutside, FactExternal,
		FactPrivileged, FactNotUnderstood, FactUnknownTarget, FactFailedBefore, FactUnmet, FactStopped, FactDiffers,
		FactAllowed, FactFailed, FactRepeated, FactCycle, FactNothingNew, FactMissing, FactDeniedBefore, FactCheckEdited,
		FactAfterFailure, FactAuthError, FactCarries, FactReadSecret, FactReadOthers, FactGrowing, FactGoal, FactConstrained, FactPermitted,
		FactNewHost, FactSpread, FactClaims, FactSecretOut, FactObeys, FactInherits, FactUnread,
	}
}
