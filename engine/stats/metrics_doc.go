package stats

import (
	"fmt"
	"strings"
)

const docBegin = `# Metrics

<!-- Made of engine/stats: go generate ./schemas -->

` + "`reviewer audit stats`" + ` counts what the log says: as a table, as JSON
([schemas/stats.json](../schemas/stats.json)), or for Prometheus. It reads each
session once, as far as its hashes fit: one that is damaged is named, counted up to
the damage, and makes the exit code 2.

    reviewer audit stats                         # all sessions
    reviewer audit stats last                    # one: by its id, the beginning of it, or last
    reviewer audit stats --since 7d --by rule    # or tool, pattern, session, agent, day (UTC)
    reviewer audit stats -f json | jq .review_time.p99_ms

## Prometheus and Grafana

node_exporter's textfile collector reads what a timer writes; the file appears whole
or not at all.

    * * * * * reviewer audit stats -f prometheus -o /var/lib/node_exporter/textfile/reviewer.prom

[grafana.json](grafana.json) is a dashboard of these metrics: Dashboards, New, Import.

They are gauges, since what is counted is the log that is kept: when retention
deletes its oldest part, the numbers fall, and ` + "`rate()`" + ` would take that for a
restart and count everything again. Growth is ` + "`clamp_min(delta(…[1h]), 0)`" + `.
Neither sessions nor agents are labels; ` + "`--by session`" + ` and ` + "`--by agent`" + ` list them.

| metric | type | labels | what |
|---|---|---|---|
`

const docEnd = `
## What the numbers mean

**Decision and effect**: what policy said, and what was answered. They differ where a
policy or a rule only observes or warns (mode ` + "`observe`" + `). ` + "`degraded`" + `: nothing could be
reviewed, and a call was denied. Phases: ` + "`pre`" + ` is a tool call before it runs, ` + "`post`" + `
after; prompts, stops and ends of a turn are reviewed too.

**Review time** is what each answer notes: from the receipt of an event to the
decision, without the start of the process and without writing the record.

**False positives** are questions that a person answered with yes. No agent reports
the answer: a call that ran was approved, one of which nothing was heard by the next
prompt or stop was refused. The interval is Wilson's, for 95 %. Calls that were
blocked and allowed later are ` + "`reviewer_controls{do=\"allow_once\"}`" + `: nobody
says of the others whether they were blocked rightly.

**Interventions** are answers stricter than allow, and acts such as an emergency
stop. The *issue* is the strictest rule or pattern that leads to the answer;
` + "`scores`" + ` where none does. It *returned* where the same rule or pattern was found
again by a later call of the same agent, within 10 calls or a minute; else it
*helped*; *open* where the session did not go on for so long. A stricter answer to an
issue that returned is an **escalation**.

**Patterns** are counted at each event at which they are found, also where the agent
was told already and nothing was said again.

## What is not there

**Cache hit rate**: reviews are not cached. Each one is computed, so that the log
alone says why; nothing could be hit. Calls that the pre-filter lets through before
scores are computed are ` + "`reviewer_prefiltered`" + `.
`

// MetricsDoc returns the text of docs/metrics.md.
func MetricsDoc() string {
	var b strings.Builder
	b.WriteString(docBegin)
	for _, m := range Metrics() {
		kind := "gauge"
		if m.read == nil {
			kind = "histogram"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, kind, strings.Join(m.Labels, ", "), m.Help)
	}
	b.WriteString(docEnd)
	return b.String()
}
