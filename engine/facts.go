package engine

import "slices"

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
	FactNothingNew   = "nothing_new"    // the last five actions or more brought nothing that was not known
	FactMissing      = "missing"        // something that was referred to is not there
	FactDeniedBefore = "denied_before"  // the call, or an effect of it, was denied
	FactCheckEdited  = "check_edited"   // what a check reads was edited before it is run again
	FactAfterFailure = "after_failure"  // one of the three actions before has failed
	FactAuthError    = "auth_error"     // one of the twenty actions before failed because of who asked
	FactCarries      = "carries"        // the action shares a text with something that was read
	FactSecretOut    = "secret_out"     // something of a secret that was read reaches another machine
	FactObeys        = "obeys"          // it shares a text with something untrusted that was read, or touches a file that holds such a thing
	FactReadSecret   = "read_secret"    // a secret was read among the twenty actions before
	FactReadOthers   = "read_untrusted" // something untrusted was read among the twenty actions before
	FactGrowing      = "growing"        // the use of some resource grows from bin to bin
	FactGoal         = "goal"           // what a person wants is known
	FactConstrained  = "constrained"    // a person said what must not be done
	FactNewHost      = "new_host"       // a host is contacted for the first time
	FactSpread       = "spread"         // at least three paths were written elsewhere; see SessionFacts.Spread
)

// How far back facts about the run look; they belong to FoldVersion.
const (
	factStale = 5
	factSoon  = 3
	factLong  = 20
	factSome  = 3
)

// FactNames lists every name that Input.Facts may hold.
func FactNames() []string {
	return []string{
		FactReadsOnly, FactChanges, FactChangesFiles, FactDeletes, FactRecursiveDelete, FactOutside, FactExternal,
		FactPrivileged, FactNotUnderstood, FactUnknownTarget, FactFailedBefore, FactUnmet, FactStopped, FactDiffers,
		FactAllowed, FactFailed, FactRepeated, FactCycle, FactNothingNew, FactMissing, FactDeniedBefore, FactCheckEdited,
		FactAfterFailure, FactAuthError, FactCarries, FactReadSecret, FactReadOthers, FactGrowing, FactGoal, FactConstrained,
		FactNewHost, FactSpread, FactSecretOut, FactObeys,
	}
}

// Holding lists the facts that hold of an input, sorted: what Facts is made of.
func (in *Input) Holding() []string {
	set := map[string]bool{
		FactNotUnderstood: len(in.Action.Opaque) > 0,
		FactFailedBefore:  in.History.Similar.Failed > 0,
		FactUnmet:         slices.ContainsFunc(in.History.Presupposes, func(p Presupposed) bool { return !p.Met }),
		FactStopped:       in.Session.Stopped,
		FactDiffers:       in.History.Call != nil && in.History.Call.ExecutedDiffers,
		FactAllowed:       in.Session.Allowed != "",
	}
	in.runFacts(set)
	for i := range in.Action.Effects {
		in.Action.Effects[i].facts(set)
	}
	set[FactReadsOnly] = len(in.Action.Effects) > 0 && !set[FactChanges] && !set[FactNotUnderstood]
	names := []string{}
	for name, holds := range set {
		if holds {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// runFacts answers the questions about how the run goes.
func (in *Input) runFacts(set map[string]bool) {
	h, s := &in.History, &in.Session
	set[FactFailed] = in.Event.Result != nil && in.Event.Result.Outcome == OutcomeFailed
	for _, w := range h.Windows {
		set[FactRepeated] = set[FactRepeated] || w.Same > 1
		set[FactMissing] = set[FactMissing] || w.Missing > 0
	}
	set[FactCycle] = h.Cycle.Period > 0
	set[FactNothingNew] = h.Since.News > factStale && h.Since.News < NeverAgo
	set[FactDeniedBefore] = h.Denied.Same || h.Denied.Effect
	set[FactCheckEdited] = h.Checks > 0
	set[FactAfterFailure] = h.Since.Failed <= factSoon
	set[FactAuthError] = h.Since.AuthError <= factLong
	set[FactCarries] = len(in.Action.Carries) > 0
	set[FactObeys] = slices.Contains(in.Action.Carries, LabelUntrusted) ||
		slices.ContainsFunc(in.Action.Effects, func(e Effect) bool { return e.Untrusted })
	set[FactSecretOut] = len(in.Action.SecretsOut) > 0
	set[FactReadSecret] = h.Since.Secret <= factLong
	set[FactReadOthers] = h.Since.Untrusted <= factLong
	set[FactGrowing] = len(s.Growing) > 0
	set[FactGoal] = in.Goal.Known
	set[FactConstrained] = len(in.Goal.Constraints) > 0
	set[FactNewHost] = h.NewHosts > 0
	set[FactSpread] = s.elsewhere() >= factSome
}

// spread is the share of elsewhere in all paths that were written.
func (s *SessionFacts) spread() float64 {
	var all int64
	for where, count := range s.Written {
		if where != string(LocationNull) {
			all += count
		}
	}
	return Round6(float64(s.elsewhere()) / float64(max(all, 1)))
}

// elsewhere counts the paths that were written neither in the workspace nor
// among temporary files, and that no person named.
func (s *SessionFacts) elsewhere() int64 {
	var n int64
	for where, count := range s.Written {
		switch where {
		case string(LocationInside), string(LocationSelf), string(LocationTemp), string(LocationNull), whereNamed:
		default:
			n += count
		}
	}
	return n
}

func (e *Effect) facts(set map[string]bool) {
	deletes, writes := e.Kind == EffectFileDelete, e.Kind == EffectFileWrite
	for name, holds := range map[string]bool{
		FactChanges:         e.Kind != EffectFileRead,
		FactChangesFiles:    deletes || writes,
		FactDeletes:         deletes,
		FactRecursiveDelete: deletes && e.Recursive,
		FactOutside:         e.Location != "" && e.Location != LocationInside,
		FactExternal:        e.Kind == EffectNetwork && !e.Loopback,
		FactPrivileged:      e.Privileged,
		FactUnknownTarget:   (deletes || writes) && e.Location == LocationUnknown,
	} {
		set[name] = set[name] || holds
	}
}
