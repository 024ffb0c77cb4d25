package engine

import "slices"

// Intervention is the policy's request to act on the session, not only on one call.
// At most one is made per event.
type Intervention struct {
	Kind    string  `json:"kind"`              // one of Interventions, or of the organisation's own kinds
	Issue   string  `json:"issue,omitempty"`   // id of the rule or pattern that it is about
	Attempt int64   `json:"attempt,omitempty"` // number of interventions about the issue, this one included; absent where a session is stopped already
	Factor  float64 `json:"factor,omitempty"`  // limit: factor by which the limits are multiplied
	Request string  `json:"request,omitempty"` // remind: text for {request} where the user's words cannot be read
	Reason  string  `json:"reason,omitempty"`

	// Does lists what an organisation's own kind does, one of Duties each: what its definition
	// asks for and the settings allow here.
	Does []string `json:"does,omitempty"`

	// remind: text for {progress} where the titles of sub-tasks cannot be
	// read; absent: there are none.
	Progress string `json:"progress,omitempty"`

	// restore: id of the checkpoint; absent: none is suitable.
	Checkpoint string `json:"checkpoint,omitempty"`

	Asks bool `json:"asks,omitempty"` // a rollback or a stop is not made; a person is asked to do it
}

// The kinds of intervention, from the mildest to the strictest.
const (
	SoftCorrection       = "soft_correction"       // a message says what goes wrong and what to try instead
	ContextReinforcement = "context_reinforcement" // a message restates the request and its constraints
	ResourceThrottling   = "resource_throttling"   // limits on later calls, until the next prompt
	CheckpointRollback   = "checkpoint_rollback"   // files return to a checkpoint
	EmergencyStop        = "emergency_stop"        // no further calls run until a person resumes the session
)

// Interventions lists the built-in kinds of intervention, mildest first.
func Interventions() []string {
	return []string{SoftCorrection, ContextReinforcement, ResourceThrottling, CheckpointRollback, EmergencyStop}
}

// What an organisation's own kind of intervention can do, from the mildest to the strictest.
const (
	DoesRemind  = "remind"  // as ContextReinforcement
	DoesLimit   = "limit"   // as ResourceThrottling
	DoesWait    = "wait"    // a person is asked about the call, or about the next one if the issue was found later
	DoesRestore = "restore" // as CheckpointRollback
	DoesStop    = "stop"    // as EmergencyStop
)

// Duties lists what an organisation's own kind of intervention can do, mildest first.
func Duties() []string { return []string{DoesRemind, DoesLimit, DoesWait, DoesRestore, DoesStop} }

// Kinds lists the built-in kinds that an intervention stands for: itself, or those that do what an
// organisation's own kind does. A question to a person is not one of them.
func (i *Intervention) Kinds() []string {
	if len(i.Does) == 0 {
		return []string{i.Kind}
	}
	var kinds []string
	as := map[string]string{
		DoesRemind: ContextReinforcement, DoesLimit: ResourceThrottling, DoesRestore: CheckpointRollback, DoesStop: EmergencyStop,
	}
	for _, what := range i.Does {
		if kind := as[what]; kind != "" {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// InterventionFacts describes an earlier intervention in the session.
type InterventionFacts struct {
	Kind   string  `json:"kind"`             // kind of intervention
	Issue  string  `json:"issue"`            // id of the rule or pattern that it was about
	Agent  string  `json:"agent"`            // agent that it was addressed to
	Factor float64 `json:"factor,omitempty"` // factor by which throttling multiplied the limits
	Ago    int64   `json:"ago"`              // actions of the session since then
	MS     int64   `json:"ms"`               // milliseconds since then, by event time
	Run    bool    `json:"run"`              // it was made after the latest prompt
	Began  int64   `json:"began"`            // milliseconds since its run-up began, as in `history.began`
	Next   bool    `json:"next,omitempty"`   // its agent has made no call since then
	Lifted bool    `json:"lifted,omitempty"` // its limits were ended by a rollback to an earlier state
	Tokens int64   `json:"tokens"`           // tokens that the model wrote since then
	Busy   int64   `json:"busy"`             // time that calls took since then, in milliseconds
	Back   *Return `json:"back,omitempty"`   // when the issue was found again; absent: it has not been found again
}

// Return records how long after an intervention its issue was found again.
type Return struct {
	Actions int64 `json:"actions"` // actions of the session between the intervention and the return of its issue
	MS      int64 `json:"ms"`      // milliseconds between the two, by event time
}

// Stops reports whether the decision ends the session. A policy that only observes ends nothing.
func (d *Decision) Stops() bool {
	return d.Enforced == Block && d.Intervention.does(DoesStop, EmergencyStop)
}

// RollsBack reports whether the decision has files restored. A policy that only observes restores
// none, and a built-in kind does with a warning only: another rule that holds the call up comes first.
func (d *Decision) RollsBack() bool {
	i := d.Intervention
	if !i.does(DoesRestore, CheckpointRollback) || i.Checkpoint == "" {
		return false
	}
	if slices.Contains(i.Does, DoesRestore) {
		return d.Enforced.Strictness() >= Warn.Strictness()
	}
	return d.Enforced == Warn && !i.Asks
}

// Offered returns the checkpoint to which a person is asked to restore files; empty: nobody is asked that.
func (i *Intervention) Offered() string {
	if i == nil || !i.Asks || slices.Contains(i.Does, DoesRestore) {
		return ""
	}
	return i.Checkpoint
}

// corrects reports whether the decision contains a message that is meant to change
// what the agent does next.
func (d *Decision) corrects() bool {
	i := d.Intervention
	return i.does(DoesRemind, ContextReinforcement) || i != nil && i.Kind == SoftCorrection
}

// does reports whether an intervention is of a built-in kind, or of an own kind that does the same.
func (i *Intervention) does(what, kind string) bool {
	return i != nil && (i.Kind == kind || slices.Contains(i.Does, what))
}
