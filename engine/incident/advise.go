package incident

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/settings"
)

// AnyIssue is the row of recommendations for issues that have none of their own, and
// what is recommended in addition to those that have one.
const AnyIssue = "*"

// Advise fills in the recommendations, from the policy's rows by rule or pattern. The
// settings are those of the issue's own row, else of the row for any.
func (i *Incident) Advise(rows map[string]settings.Recommendation) {
	facts := strings.NewReplacer("{id}", i.ID, "{session}", i.Session, "{rule}", i.Cause.Issue)
	own, others := rows[i.Cause.Issue], rows[AnyIssue]
	i.Advice = Recommendation{
		Immediate:  filled(facts, own.Immediate, others.Immediate),
		Preventive: filled(facts, own.Preventive, others.Preventive),
	}
	from := own.Configuration
	if _, known := rows[i.Cause.Issue]; !known {
		from = others.Configuration
	}
	i.Advice.Configuration, _ = fill(facts, from).(map[string]any)
	if i.Advice.Configuration == nil {
		i.Advice.Configuration = map[string]any{}
	}
}

func filled(facts *strings.Replacer, lists ...[]string) []string {
	out := []string{}
	for _, list := range lists {
		for _, text := range list {
			out = append(out, facts.Replace(text))
		}
	}
	return out
}

// fill replaces placeholders in every text and key of a value of YAML.
func fill(facts *strings.Replacer, v any) any {
	switch v := v.(type) {
	case string:
		return facts.Replace(v)
	case []any:
		list := make([]any, len(v))
		for n, item := range v {
			list[n] = fill(facts, item)
		}
		return list
	case map[string]any:
		section := map[string]any{}
		for key, item := range v {
			section[facts.Replace(key)] = fill(facts, item)
		}
		return section
	}
	return v
}
