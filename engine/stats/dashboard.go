package stats

import (
	"encoding/json"
	"strings"
)

// panel is one graph of the dashboard.
type panel struct {
	title   string
	about   string
	kind    string // timeseries or stat
	unit    string // short, percentunit or s
	queries []query
}

// query is an expression and the name of its lines. In expressions, $at stands
// for the choice of machines.
type query struct{ expr, legend string }

// panels lists the graphs: first what is done about sessions that go wrong, then the reviews
// themselves. The number of kept records can fall when retention deletes the oldest: a
// negative difference counts as none.
func panels() []panel {
	return []panel{
		{"Interventions by type", "Interventions per hour.", "timeseries", "short",
			[]query{{perHour("sum by (type) (reviewer_interventions{$at})"), "{{type}}"}}},
		{"Intervention effectiveness", "Share of interventions after which the issue did not return within 10 calls and a minute.", "timeseries", "percentunit",
			[]query{{`(sum by (type) (reviewer_interventions{$at,outcome="helped"}) or 0 * sum by (type) (reviewer_interventions{$at,outcome="returned"})) / sum by (type) (reviewer_interventions{$at,outcome=~"helped|returned"})`, "{{type}}"}}},
		{"Escalation rate", "How often a returning issue led to a stricter intervention, per hour.", "timeseries", "short",
			[]query{{perHour("sum(reviewer_escalations{$at})"), "escalations"}}},
		{"Interventions by issue", "The rules and patterns that caused them.", "timeseries", "short",
			[]query{{"topk(10, sum by (issue) (reviewer_interventions{$at}))", "{{issue}}"}}},
		{"Calls by answer", "Tool calls per hour by answer.", "timeseries", "short",
			[]query{{perHour(`sum by (effect) (reviewer_decisions{$at,phase="pre"})`), "{{effect}}"}}},
		{"Only observed", "Calls per hour whose decision was stricter than the answer, by decision.", "timeseries", "short",
			[]query{{perHour(`sum by (decision) (reviewer_decisions{$at,mode="observe"})`), "{{decision}}"}}},
		{"Review time", "From the receipt of an event to the decision.", "timeseries", "s",
			[]query{{quantile("0.5"), "p50"}, {quantile("0.9"), "p90"}, {quantile("0.99"), "p99"}}},
		{"Approved questions", "Share of the answered questions that people approved, with its 95 % interval.", "timeseries", "percentunit",
			[]query{{"reviewer_approved_ratio{$at}", "{{instance}}"}, {"reviewer_approved_ratio_lower{$at}", "{{instance}} at least"}, {"reviewer_approved_ratio_upper{$at}", "{{instance}} at most"}}},
		{"Questions", "What people answered.", "timeseries", "short",
			[]query{{"sum by (answer) (reviewer_questions{$at})", "{{answer}}"}, {"sum by (do) (reviewer_controls{$at})", "{{do}}"}}},
		{"Questions that waited", "Outside the agent, by what ended them.", "timeseries", "short",
			[]query{{"sum by (by) (reviewer_questions_waited{$at})", "{{by}}"}}},
		{"Patterns", "Events per hour at which a pattern was found.", "timeseries", "short",
			[]query{{perHour("sum by (pattern, level) (reviewer_pattern_findings{$at})"), "{{pattern}} {{level}}"}}},
		{"Sessions with a pattern", "", "timeseries", "short",
			[]query{{"topk(10, sum by (pattern, level) (reviewer_pattern_sessions{$at}))", "{{pattern}} {{level}}"}}},
		{"Rules that fire most", "", "timeseries", "short",
			[]query{{"topk(10, sum by (rule, decision) (reviewer_rule_results{$at}))", "{{rule}}: {{decision}}"}}},
		{"Tools", "Calls per hour of the most used tools.", "timeseries", "short",
			[]query{{"topk(10, " + perHour("sum by (tool) (reviewer_tool_calls{$at})") + ")", "{{tool}}"}}},
		{"Errors", "Events that could not be reviewed, and rules that failed.", "timeseries", "short",
			[]query{{"sum by (what) (reviewer_errors{$at})", "{{what}}"}}},
		{"Sessions", "", "stat", "short",
			[]query{{"sum(reviewer_sessions{$at})", "sessions"}, {"sum(reviewer_sessions_stopped{$at})", "stopped"}, {"sum(reviewer_sessions_damaged{$at})", "damaged"}}},
		{"Since the newest record", "", "stat", "s",
			[]query{{"time() - max(reviewer_last_record_timestamp_seconds{$at})", "age"}}},
	}
}

// perHour is the growth of a gauge over the last hour.
func perHour(expr string) string { return "clamp_min(delta(" + expr + "[1h:1m]), 0)" }

func quantile(q string) string {
	return "histogram_quantile(" + q + ", " + perHour("sum by (le) ("+reviewSeconds+"_bucket{$at})") + ")"
}

// object is a JSON object.
type object = map[string]any

// Dashboard returns a dashboard for Grafana as JSON, to be imported there. It
// shows what `reviewer audit stats -f prometheus` writes.
func Dashboard() ([]byte, error) {
	var list []object
	for i, p := range panels() {
		list = append(list, p.json(i))
	}
	b, err := json.MarshalIndent(object{
		"title": "reviewer", "uid": "reviewer", "tags": []string{"reviewer"}, "schemaVersion": 39, "version": 1,
		"editable": true, "refresh": "1m", "timezone": "browser", "time": object{"from": "now-24h", "to": "now"},
		"templating": object{"list": variables()}, "panels": list,
	}, "", "  ")
	return append(b, '\n'), err
}

// variables lets a person choose the data source and the machines.
func variables() []object {
	return []object{
		{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "current": object{}},
		{"name": "instance", "label": "Machine", "type": "query", "datasource": source(), "query": "label_values(reviewer_sessions, instance)",
			"refresh": 2, "multi": true, "includeAll": true, "allValue": ".*", "current": object{"text": "All", "value": "$__all"}},
	}
}

func source() object { return object{"type": "prometheus", "uid": "${datasource}"} }

// json places the panel: two in a row.
func (p panel) json(i int) object {
	var targets []object
	for n, q := range p.queries {
		targets = append(targets, object{
			"refId": string(rune('A' + n)), "datasource": source(), "legendFormat": q.legend,
			"expr": strings.ReplaceAll(q.expr, "$at", `instance=~"$instance"`),
		})
	}
	defaults := object{"unit": p.unit, "min": 0}
	if p.unit == "percentunit" {
		defaults["max"] = 1
	}
	return object{
		"id": i + 1, "title": p.title, "description": p.about, "type": p.kind, "datasource": source(),
		"gridPos": object{"x": i % 2 * 12, "y": i / 2 * 8, "w": 12, "h": 8},
		"targets": targets, "fieldConfig": object{"defaults": defaults, "overrides": []object{}},
	}
}
