package engine

import "strings"

// Verdict is what is done with a call, from the mildest to the strictest.
type Verdict string

// The verdicts.
const (
	Allow  Verdict = "allow"  // the call runs as if reviewer were not there
	Warn   Verdict = "warn"   // it runs, and the agent and the person are told something
	Modify Verdict = "modify" // it runs in another form
	Ask    Verdict = "ask"    // a person decides
	Block  Verdict = "block"  // it does not run
)

// Verdicts lists every Verdict, mildest first.
func Verdicts() []string {
	return []string{string(Allow), string(Warn), string(Modify), string(Ask), string(Block)}
}

// What a rule that blocks names as the harm of the call at hand.
const (
	HarmLoss   = "loss"   // something goes that nobody brings back
	HarmSecret = "secret" // a secret, or data, leaves
	HarmCode   = "code"   // code of unknown origin runs
	HarmGuard  = "guard"  // the guard itself is touched, or what guards the machine
	HarmPlace  = "place"  // a place, or a service, that is closed
	HarmPolicy = "policy" // what an organisation or a person forbade, whatever it does; also of a rule that names none
	HarmLimit  = "limit"  // no harm of the call: there were too many before it
	HarmRepeat = "repeat" // no harm of its own: another way to what was denied
)

// Harms lists what a rule that blocks may name.
func Harms() []string {
	return []string{HarmLoss, HarmSecret, HarmCode, HarmGuard, HarmPlace, HarmPolicy, HarmLimit, HarmRepeat}
}

// Strictness orders verdicts: 0 for allow to 4 for block. A word that is no
// verdict counts as block.
func (v Verdict) Strictness() int {
	for i, known := range Verdicts() {
		if string(v) == known {
			return i
		}
	}
	return len(Verdicts()) - 1
}

// Finding says that a condition of the policy (CEL) holds.
type Finding struct {
	ID         string  `json:"id"`
	Measure    float64 `json:"measure,omitempty"`    // of a pattern; rounded to 1e-6
	Level      string  `json:"level,omitempty"`      // severity step that the measure reached
	Confidence float64 `json:"confidence,omitempty"` // of a pattern that says so, 0 to 1; rounded to 1e-6
	Details    string  `json:"details,omitempty"`    // what was measured, in words
	Error      string  `json:"error,omitempty"`      // the condition could not be evaluated: never silently 'no'
}

// Decision is what policy said. It holds no timings and depends on nothing but
// the Input and the policy, so it can be computed again byte for byte.
type Decision struct {
	Decision     Verdict       `json:"decision"`          // what policy says
	Enforced     Verdict       `json:"enforced"`          // what it says after enforcement modes: what is to be answered
	Reason       string        `json:"reason,omitempty"`  // the primary reason
	Reasons      []string      `json:"reasons,omitempty"` // all, in order: risk, rationality, side effects, rules
	Explanation  string        `json:"explanation,omitempty"`
	Rules        []RuleResult  `json:"rules,omitempty"` // the rules that spoke, strictest first
	Risk         *Risk         `json:"risk,omitempty"`
	Rationality  *Rationality  `json:"rationality,omitempty"`
	SideEffects  *SideEffects  `json:"side_effects,omitempty"`
	Confidence   float64       `json:"confidence,omitempty"`   // 0 to 1
	Alternatives []string      `json:"alternatives,omitempty"` // safer ways; never empty on block or modify
	Obligations  []string      `json:"obligations,omitempty"`  // such as checkpoint
	Intervention *Intervention `json:"intervention,omitempty"`
	Rewrite      []Operation   `json:"rewrite,omitempty"`   // enforced modify: how the call is to be changed
	Otherwise    *Otherwise    `json:"otherwise,omitempty"` // enforced modify: what is answered where it cannot be changed so
	Grant        bool          `json:"grant,omitempty"`     // tell the agent to skip its own prompt; policy must say so
	Text         string        `json:"text,omitempty"`      // what the agent is told; {id} stands for the record's id
	Source       string        `json:"source,omitempty"`    // SourcePrefilter: decided before any score was computed
	Errors       []RuleError   `json:"errors,omitempty"`
	Code         []CodeVerdict `json:"code,omitempty"` // of code that the call writes: what is said of it now for whoever runs it
}

// SourcePrefilter marks what policy let through before it computed any score.
const SourcePrefilter = "prefilter"

// Otherwise is the answer to a call that was to run in another form and cannot:
// the operations do not fit it, or what they make of it is no safer.
type Otherwise struct {
	Effect Verdict `json:"effect"` // ask, or block where nobody can be asked
	Text   string  `json:"text"`   // as Decision.Text; {why} stands for what is in the way
}

// RuleResult is one rule that spoke.
type RuleResult struct {
	ID          string  `json:"id"`
	Decision    Verdict `json:"decision"`
	Severity    string  `json:"severity,omitempty"`
	Message     string  `json:"message,omitempty"`
	Enforcement string  `json:"enforcement,omitempty"` // observe or warn where it is not enforce
	Harm        string  `json:"harm,omitempty"`        // of a block: what the call would do, one of Harms; empty in records of earlier versions
}

// ToldIDs returns the ids of the rules whose message the agent was told: those in
// the text of the answer. Where nothing is answered, such as with enforcement
// observe, it is the first: the one that would have been told.
func (d *Decision) ToldIDs() []string {
	if d.Text == "" {
		return d.RuleIDs()[:min(1, len(d.Rules))]
	}
	var ids []string
	for _, r := range d.Rules {
		if message := strings.TrimSuffix(r.Message, "…"); message != "" && strings.Contains(d.Text, message) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// RuleError names a rule that could not be evaluated; its worst outcome was taken.
type RuleError struct {
	Rule    string `json:"rule,omitempty"` // empty: not known which
	Message string `json:"message"`
}

// Risk is how much could go wrong, from 0 to 1.
type Risk struct {
	Score   float64  `json:"score"`
	Level   string   `json:"level"`
	Factors []string `json:"factors,omitempty"`
}

// Rationality is how much sense the action makes, from 0 to 1.
type Rationality struct {
	Score       float64            `json:"score"`
	Level       string             `json:"level"`
	Components  map[string]float64 `json:"components,omitempty"`
	Issues      []string           `json:"issues,omitempty"`
	Suggestions []string           `json:"suggestions,omitempty"`
}

// SideEffects sums up what the action leaves behind.
type SideEffects struct {
	Severity    string   `json:"severity"`             // none, low, medium, high, critical: that of the worst effect
	Severities  []string `json:"severities,omitempty"` // that of each of the action's effects, in their order
	Reversible  bool     `json:"reversible"`
	Kinds       []string `json:"kinds,omitempty"`
	Mitigations []string `json:"mitigations,omitempty"`
}

// Intervention is what policy wants done about the run.
type Intervention struct {
	Kind   string `json:"kind"` // emergency_stop is the only one that is carried out so far
	Reason string `json:"reason,omitempty"`
}

// EmergencyStop is the intervention that ends a run.
const EmergencyStop = "emergency_stop"

// Stops says whether the decision ends the run. A policy that only watches
// ends nothing.
func (d *Decision) Stops() bool {
	return d.Enforced == Block && d.Intervention != nil && d.Intervention.Kind == EmergencyStop
}

// RuleIDs returns the ids of the rules that spoke, in order.
func (d *Decision) RuleIDs() []string {
	ids := make([]string, 0, len(d.Rules))
	for _, r := range d.Rules {
		ids = append(ids, r.ID)
	}
	return ids
}
