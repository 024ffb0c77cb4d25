package engine

// The names that Input.Facts may hold: plain yes-or-no questions about an
// event, answered once in Go, so that a rule of policy can begin with a
// membership test. OPA indexes such tests: rules that cannot apply cost nothing.
const (
	FactReadsOnly       = "reads_only"        // touches something, changes nothing, and all of it was understood
	FactChanges         = "changes"           // some effect leaves something behind
	FactChangesFiles    = "changes_files"     // some file is written or deleted
	FactDeletes         = "deletes"           // some file is deleted
	FactRecursiveDelete = "deletes_recursive" // …with all that is below it
	FactOutside         = "outside_workspace" // some path is not inside the workspace
	FactExternal        = "external_network"  // some host is not this machine
	FactPrivileged      = "privileged"
	FactNotUnderstood   = "not_understood"    // something is opaque
	FactUnknownTarget   = "unknown_target"    // some change's target is not known
	FactFailedBefore    = "failed_before"     // a similar action failed
	FactUnmet           = "presupposes_unmet" // something that is taken for granted is not so
	FactStopped         = "stopped"
	FactDiffers         = "executed_differs"
	FactAllowed         = "allowed_by_person" // a person allowed this very call

	// Of how the run goes, so that what patterns measure is looked at only where
	// there is something to measure.
	FactFailed       = "failed"         // the call that is reported has failed
	FactRepeated     = "repeated"       // the same call was made before, with the same result
	FactCycle        = "cycle"          // the same few calls were made in turn
	FactNothingNew   = "nothing_new"    // the action before brought nothing that was not known
	FactMissing      = "missing"        // something that was referred to is not there
	FactDeniedBefore = "denied_before"  // the call, or an effect of it, was denied, or a person refused it
	FactCheckEdited  = "check_edited"   // what a check reads was edited before it is run again
	FactAfterFailure = "after_failure"  // an action before has failed; see SinceFacts
	FactAuthError    = "auth_error"     // …because of who asked
	FactCarries      = "carries"        // the action shares a text with something that was read
	FactSecretOut    = "secret_out"     // something of a secret that was read reaches another machine
	FactInherits     = "inherits"       // it may run code that the session wrote and that policy objected to
	FactObeys        = "obeys"          // it shares a text with something untrusted that was read, or touches a file that holds such a thing
	FactReadSecret   = "read_secret"    // a secret was read before; see SinceFacts
	FactReadOthers   = "read_untrusted" // something untrusted was read before
	FactGrowing      = "growing"        // the use of some resource grows from bin to bin
	FactGoal         = "goal"           // what a person wants is known
	FactConstrained  = "constrained"    // a person said what must not be done
	FactNewHost      = "new_host"       // a host is contacted for the first time
	FactSpread       = "spread"         // a path was written elsewhere; see SessionFacts.Elsewhere
)

// FactNames lists every name that Input.Facts may hold.
func FactNames() []string {
	return []string{
		FactReadsOnly, FactChanges, FactChangesFiles, FactDeletes, FactRecursiveDelete, FactOutside, FactExternal,
		FactPrivileged, FactNotUnderstood, FactUnknownTarget, FactFailedBefore, FactUnmet, FactStopped, FactDiffers,
		FactAllowed, FactFailed, FactRepeated, FactCycle, FactNothingNew, FactMissing, FactDeniedBefore, FactCheckEdited,
		FactAfterFailure, FactAuthError, FactCarries, FactReadSecret, FactReadOthers, FactGrowing, FactGoal, FactConstrained,
		FactNewHost, FactSpread, FactSecretOut, FactObeys, FactInherits,
	}
}
