package stats

import (
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Metric is a number, or several that are distinguished by labels, as Prometheus reads it.
//
// All but the histogram are gauges: the kept log is counted, retention deletes its oldest
// part, and a counter must not fall.
type Metric struct {
	Name   string
	Help   string
	Labels []string
	read   func(*Document) []sample // nil: the histogram of review times
}

// sample is the value of a metric for some values of its labels.
type sample struct {
	labels []string
	value  float64
}

// reviewSeconds is the one histogram.
const reviewSeconds = "reviewer_review_seconds"

// Metrics lists every metric, in the order in which they are written. A metric without a count
// is left out.
func Metrics() []Metric {
	return []Metric{
		{"reviewer_decisions", "Reviewed events by phase, decision, answer, and how the answer came about.",
			[]string{"phase", "decision", "effect", "mode"}, readDecisions},
		{"reviewer_prefiltered", "Tool calls that policy allowed before it computed any score.", nil,
			func(d *Document) []sample { return number(d.Prefiltered) }},
		{reviewSeconds, "Time from the receipt of an event to the decision.", nil, nil},
		{"reviewer_slow_reviews", "Reviews that took more CPU time than performance.max_review_time_ms.", nil,
			func(d *Document) []sample { return number(d.Slow) }},
		{"reviewer_early_answers", "Calls that were answered before their review (mode: async).", nil,
			func(d *Document) []sample { return number(d.Async.Answered) }},
		{"reviewer_late_reviews", "Reviews of calls that were answered early, by the answer that they would have given.", []string{"effect"}, readAsync},
		{"reviewer_tool_calls", "Tool calls by tool and answer.", []string{"tool", "effect"}, readTools},
		{"reviewer_questions", "Questions to people by answer, as far as the log shows it.", []string{"answer"}, readQuestions},
		{"reviewer_questions_waited", "Questions that waited outside the agent, by what ended them: terminal or http if a person answered, else timeout, stop or rule.", []string{"by"}, readWaited},
		{"reviewer_approved_ratio", "Share of the answered questions that people approved.", nil,
			readRate(func(r Rate) float64 { return r.Rate })},
		{"reviewer_approved_ratio_lower", "Lower end of the 95 % interval of reviewer_approved_ratio.", nil,
			readRate(func(r Rate) float64 { return r.Low })},
		{"reviewer_approved_ratio_upper", "Upper end of the 95 % interval of reviewer_approved_ratio.", nil,
			readRate(func(r Rate) float64 { return r.High })},
		{"reviewer_rule_results", "How often a rule fired, by decision.", []string{"rule", "decision"},
			each(func(d *Document) []Rule { return d.Rules }, func(r Rule) (int64, []string) { return r.Count, []string{r.Rule, string(r.Decision)} })},
		{"reviewer_pattern_findings", "Events at which a pattern was found, by its level.", []string{"pattern", "level"},
			each(func(d *Document) []Pattern { return d.Patterns }, func(p Pattern) (int64, []string) { return p.Count, []string{p.Pattern, p.Level} })},
		{"reviewer_pattern_sessions", "Sessions in which a pattern was found, by its level.", []string{"pattern", "level"},
			each(func(d *Document) []Pattern { return d.Patterns }, func(p Pattern) (int64, []string) { return p.Sessions, []string{p.Pattern, p.Level} })},
		{"reviewer_interventions", "Interventions by type, by rule or pattern, and by outcome.", []string{"type", "issue", "outcome"},
			each(func(d *Document) []Intervention { return d.Interventions }, func(i Intervention) (int64, []string) {
				return i.Count, []string{i.Type, i.Issue, string(i.Outcome)}
			})},
		{"reviewer_escalations", "How often a returning issue led to a stricter intervention.", []string{"issue"},
			each(func(d *Document) []Escalation { return d.Escalations }, func(e Escalation) (int64, []string) { return e.Count, []string{e.Issue} })},
		{"reviewer_controls", "What people did, such as stop, resume, allow_once or approve.", []string{"do"},
			each(func(d *Document) []Control { return d.Controls }, func(c Control) (int64, []string) { return c.Count, []string{c.Do} })},
		{"reviewer_errors", "Failures, with the rule if one failed.", []string{"what", "id"},
			each(func(d *Document) []Error { return d.Errors }, func(e Error) (int64, []string) { return e.Count, []string{string(e.What), e.ID} })},
		{"reviewer_records", "Records of the log by kind.", []string{"kind"},
			each(func(d *Document) []Kind { return d.Records }, func(k Kind) (int64, []string) { return k.Count, []string{string(k.Kind)} })},
		{"reviewer_sessions", "Sessions with a record.", nil, func(d *Document) []sample { return number(d.Sessions.Total) }},
		{"reviewer_sessions_stopped", "Sessions that are stopped now.", nil, func(d *Document) []sample { return number(d.Sessions.Stopped) }},
		{"reviewer_sessions_damaged", "Sessions whose chain does not verify to its end.", nil, func(d *Document) []sample { return number(d.Sessions.Damaged) }},
		{"reviewer_first_record_timestamp_seconds", "Unix time of the oldest record that was counted.", nil, readTime(func(d *Document) int64 { return d.First })},
		{"reviewer_last_record_timestamp_seconds", "Unix time of the newest record that was counted.", nil, readTime(func(d *Document) int64 { return d.Last })},
	}
}

func number(n int64) []sample { return []sample{{value: float64(n)}} }

// each makes a sample from each row of a list.
func each[R any](list func(*Document) []R, read func(R) (int64, []string)) func(*Document) []sample {
	return func(d *Document) []sample {
		var samples []sample
		for _, row := range list(d) {
			n, labels := read(row)
			samples = append(samples, sample{labels, float64(n)})
		}
		return samples
	}
}

// noReview is the label of events that were answered without a review.
const noReview = "none"

func readDecisions(d *Document) []sample {
	var samples []sample
	for _, row := range d.Decisions {
		said := string(row.Decision)
		if said == "" {
			said = noReview
		}
		samples = append(samples, sample{[]string{string(row.Phase), said, string(row.Effect), string(row.Mode)}, float64(row.Count)})
	}
	return samples
}

func readTools(d *Document) []sample {
	var samples []sample
	for _, tool := range d.Tools {
		for _, v := range engine.Verdicts() {
			if n := tool.Of(engine.Verdict(v)); n > 0 {
				samples = append(samples, sample{[]string{tool.Key, v}, float64(n)})
			}
		}
	}
	return samples
}

func readQuestions(d *Document) []sample {
	q := d.Questions
	if q.Asked == 0 {
		return nil
	}
	return []sample{
		{[]string{"approved"}, float64(q.Approved)}, {[]string{"refused"}, float64(q.Refused)},
		{[]string{"ended"}, float64(q.Ended)}, {[]string{"open"}, float64(q.Open)},
	}
}

func readWaited(d *Document) []sample {
	var samples []sample
	for _, by := range slices.Sorted(maps.Keys(d.Fatigue.Waited)) {
		samples = append(samples, sample{[]string{by}, float64(d.Fatigue.Waited[by])})
	}
	return samples
}

func readRate(part func(Rate) float64) func(*Document) []sample {
	return func(d *Document) []sample {
		if d.Questions.ApprovedShare == nil {
			return nil
		}
		return []sample{{value: part(*d.Questions.ApprovedShare)}}
	}
}

func readTime(of func(*Document) int64) func(*Document) []sample {
	return func(d *Document) []sample {
		if of(d) == 0 {
			return nil
		}
		return []sample{{value: float64(of(d)) / 1000}}
	}
}
