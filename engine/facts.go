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
)

// FactNames lists every name that Input.Facts may hold.
func FactNames() []string {
	return []string{
		FactReadsOnly, FactChanges, FactChangesFiles, FactDeletes, FactRecursiveDelete, FactOutside, FactExternal,
		FactPrivileged, FactNotUnderstood, FactUnknownTarget, FactFailedBefore, FactUnmet, FactStopped, FactDiffers,
		FactAllowed,
	}
}

// facts answers the questions about an input, sorted.
func (in *Input) facts() []string {
	set := map[string]bool{
		FactNotUnderstood: len(in.Action.Opaque) > 0,
		FactFailedBefore:  in.History.Similar.Failed > 0,
		FactUnmet:         slices.ContainsFunc(in.History.Presupposes, func(p Presupposed) bool { return !p.Met }),
		FactStopped:       in.Session.Stopped,
		FactDiffers:       in.History.Call != nil && in.History.Call.ExecutedDiffers,
		FactAllowed:       in.Session.Allowed != "",
	}
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
