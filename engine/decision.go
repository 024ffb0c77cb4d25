package engine

import (
	"slices"
	"strings"
)

// Verdict is the treatment of a call, from the mildest to the strictest.
type Verdict string

// The verdicts.
const (
	Allow  Verdict = "allow"  // the call runs unchanged
	Warn   Verdict = "warn"   // it runs, with a message to the agent and the person
	Modify Verdict = "modify" // it runs in another form
	Ask    Verdict = "ask"    // a person decides
	Block  Verdict = "block"  // it does not run
)

// Verdicts lists every Verdict, mildest first.
func Verdicts() []string {
	return []string{string(Allow), string(Warn), string(Modify), string(Ask), string(Block)}
}

// The harms that a rule can name for a call.
const (
	HarmLoss        = "loss"         // content that exists nowhere else is lost
	HarmExposure    = "exposure"     // a secret, or other data, reaches somebody who should not have it
	HarmForeignCode = "foreign_code" // code runs that comes neither from the user nor from the project's version control
	HarmUnread      = "unread"       // what the call does cannot be determined
	HarmHold        = "hold"         // something acts later without the user, or rights are widened
	HarmOutward     = "outward"      // others see it, or production changes
	HarmMachine     = "machine"      // the machine, its protections or other people's processes are affected
	HarmForbidden   = "forbidden"    // the user, or a standing instruction, said no
	HarmAnswered    = "answered"     // it answers a question, or skips a warning, that was meant for a person
	HarmClosed      = "closed"       // an access list, a closed place, a limit or an organisation's own rule excludes it, regardless of its effects; also where a rule names no harm
	HarmGuard       = "guard"        // reviewer itself, or another safeguard, is affected
)

// Harms lists the harms of calls.
func Harms() []string {
	return []string{HarmLoss, HarmExposure, HarmForeignCode, HarmUnread, HarmHold, HarmOutward, HarmMachine, HarmForbidden, HarmAnswered,
		HarmClosed, HarmGuard}
}

// Severities lists the severities of rules, the mildest first.
func Severities() []string { return []string{"low", "medium", "high", "critical"} }

// What a rule may name instead of a harm, and what a session counts as one.
const (
	HarmNone   = "none"   // of a rule about the course of the session: the call itself does no harm that this rule knows of
	HarmLimit  = "limit"  // a session's count of denials by a limit (RuleResult.Limit); earlier versions had it as a harm
	HarmPolicy = "policy" // what earlier versions counted where a rule named no harm
)

// FormerHarms lists the words for harms of earlier versions. Layers may still use them; the policy says
// what they mean today (former_harms), and records keep the words of their time.
func FormerHarms() []string {
	return []string{"secret", "code", "place", HarmPolicy, HarmLimit, "repeat"}
}

// RuleHarms lists the words that a rule may use.
func RuleHarms() []string { return slices.Concat(Harms(), []string{HarmNone}, FormerHarms()) }

// Strictness orders verdicts: 0 for allow to 4 for block. An unknown word
// counts as block.
func (v Verdict) Strictness() int {
	for i, known := range Verdicts() {
		if string(v) == known {
			return i
		}
	}
	return len(Verdicts()) - 1
}

// Finding reports that a condition of the policy (CEL) is true.
type Finding struct {
	ID         string  `json:"id"`                   // id of the rule, pattern or access rule whose condition is true
	Measure    float64 `json:"measure,omitempty"`    // value that a pattern measured, rounded to 1e-6
	Level      string  `json:"level,omitempty"`      // level that the measure reached
	Confidence float64 `json:"confidence,omitempty"` // confidence that the pattern gives, 0 to 1, rounded to 1e-6
	Details    string  `json:"details,omitempty"`    // what was measured, in words: {details} in messages
	Error      string  `json:"error,omitempty"`      // why the condition could not be evaluated; such a finding counts as true
}

// Decision is the policy's answer to an Input. It contains no timings and
// depends on nothing but the Input and the policy, so it can be recomputed byte
// for byte.
type Decision struct {
	Decision     Verdict       `json:"decision"`          // verdict of the policy
	Enforced     Verdict       `json:"enforced"`          // verdict after enforcement modes: the one to be answered
	Reason       string        `json:"reason,omitempty"`  // the primary reason
	Reasons      []string      `json:"reasons,omitempty"` // all, in order: risk, rationality, side effects, rules
	Explanation  string        `json:"explanation,omitempty"`
	Rules        []RuleResult  `json:"rules,omitempty"` // the rules that fired, strictest first
	Risk         *Risk         `json:"risk,omitempty"`
	Rationality  *Rationality  `json:"rationality,omitempty"`
	SideEffects  *SideEffects  `json:"side_effects,omitempty"`
	Confidence   float64       `json:"confidence,omitempty"`   // 0 to 1
	Alternatives []string      `json:"alternatives,omitempty"` // safer ways; never empty on block or modify
	Obligations  []string      `json:"obligations,omitempty"`  // what has to be done before the call runs: checkpoint, save
	Saves        []int64       `json:"saves,omitempty"`        // obligation save: indexes of the effects whose files are stored whole
	Intervention *Intervention `json:"intervention,omitempty"`
	Rewrite      []Operation   `json:"rewrite,omitempty"`   // enforced modify: changes to make to the call
	Otherwise    *Fallback     `json:"otherwise,omitempty"` // enforced modify, or obligation save: the answer where that cannot be done
	Grant        bool          `json:"grant,omitempty"`     // tell the agent to skip its own prompt; only where the policy says so
	Proof        *Proof        `json:"proof,omitempty"`     // phase request: why the person need not be asked
	Text         string        `json:"text,omitempty"`      // text for the agent; {id} stands for the record's id
	Told         []string      `json:"told,omitzero"`       // of the patterns that fired, those whose message is in the text; absent: none fired
	Notice       string        `json:"notice,omitempty"`    // text for the person instead, where the agent shows them one; {session} stands for the session
	Source       string        `json:"source,omitempty"`    // SourcePrefilter: decided before any score was computed; SourceAsync: before the review
	Uses         []string      `json:"uses,omitempty"`      // acts for which a permission of the person counted, for one act each
	Errors       []RuleError   `json:"errors,omitempty"`
	Code         []CodeVerdict `json:"code,omitempty"` // verdicts on code that the call writes, for later calls that run it
}

// SourcePrefilter marks calls that the policy allowed before it computed any
// score.
const SourcePrefilter = "prefilter"

// Grants reports whether the person's own prompt is skipped. At a request, that requires a
// proof.
func (d *Decision) Grants() bool { return d.Grant && d.Decision == Allow && d.Enforced == Allow }

// Fallback is the answer to a call that was to run in a modified form and
// cannot: the operations do not fit it, or the modified call is not safer. It is also
// the answer to a call whose files were to be saved and cannot be.
type Fallback struct {
	Effect Verdict `json:"effect"` // ask, or block where nobody can be asked
	Text   string  `json:"text"`   // as Decision.Text; {why} stands for the obstacle
}

// RuleResult is one rule that fired.
type RuleResult struct {
	ID          string  `json:"id"`
	Decision    Verdict `json:"decision"`
	Severity    string  `json:"severity,omitempty"`
	Message     string  `json:"message,omitempty"`
	Enforcement string  `json:"enforcement,omitempty"` // observe or warn where it is not enforce
	Harm        string  `json:"harm,omitempty"`        // of a modify, ask or block: what the call would do, one of Harms, or none; earlier versions recorded it of a block only, with the words of FormerHarms
	Limit       bool    `json:"limit,omitempty"`       // the rule is a limit, which excludes calls whatever they do
}

// MessageRuleIDs returns the ids of the patterns whose message the agent was given. Earlier versions did not
// record them: then it is the rules whose messages are in the text of the answer or, if nothing was answered, such as
// with enforcement observe, the first rule: the one whose message would have been given.
func (d *Decision) MessageRuleIDs() []string {
	if d.Told != nil {
		return d.Told
	}
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

// RuleError names a rule that could not be evaluated; its strictest outcome was
// assumed.
type RuleError struct {
	Rule    string `json:"rule,omitempty"` // empty: unknown
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

// RuleIDs returns the ids of the rules that fired, in order.
func (d *Decision) RuleIDs() []string {
	ids := make([]string, 0, len(d.Rules))
	for _, r := range d.Rules {
		ids = append(ids, r.ID)
	}
	return ids
}
