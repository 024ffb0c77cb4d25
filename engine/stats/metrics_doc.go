package stats

import (
	"fmt"
	"strings"
)

const docBegin = `# Metrics

<!-- Generated from engine/stats: go generate ./schemas -->

` + "`reviewer audit stats`" + ` counts what is in the log, and prints a table, JSON
([schemas/stats.json](../schemas/stats.json)), or metrics for Prometheus. It reads each session once,
up to the first hash that does not match. A damaged session is reported, counted up to the damage, and makes the
exit code 2.

    reviewer audit stats                         # all sessions
    reviewer audit stats last                    # one: its id, a prefix of it, or last
    reviewer audit stats --since 7d --by rule    # or tool, pattern, session, agent, day (UTC)
    reviewer audit stats -f json | jq .review_time.p99_ms

## Prometheus and Grafana

node_exporter's textfile collector reads a file that a scheduled job writes; the file is written
atomically.

    * * * * * reviewer audit stats -f prometheus -o /var/lib/node_exporter/textfile/reviewer.prom

[grafana.json](grafana.json) is a dashboard for these metrics: Dashboards, New, Import.

All metrics but the histogram are gauges, because they count the log that is kept: when retention deletes its oldest
part, the numbers fall, and ` + "`rate()`" + ` would treat that as a restart and count everything again.
Use ` + "`clamp_min(delta(…[1h]), 0)`" + ` for growth.
Neither sessions nor agents are labels; ` + "`--by session`" + ` and ` + "`--by agent`" + ` list them.
` + "`--by rule`" + ` also lists what each rule costs people: the questions that it asked with their answers, the seconds until these
where the times are known, its denials, and the denials after which a person allowed the call. A call counts for each of the
strictest rules that fired.

| metric | type | labels | meaning |
|---|---|---|---|
`

const docEnd = `
## What the numbers mean

**Decision and effect** are the decision of policy and the answer that was given. They differ if a
policy or a rule only observes or warns (label ` + "`mode`: `observe`" + `). ` + "`mode`: `degraded`" + ` means that the review
failed, and a call that had not run yet was denied. Phases: ` + "`pre`" + ` is a tool call before it runs, ` + "`post`" + ` after,
` + "`request`" + ` a question that the agent is about to ask by itself; prompts and ends of a turn (` + "`stop`" + `) are reviewed too.

**Review time** is recorded with each answer: from the receipt of an event to the decision, excluding
the start of the process and writing the record.

A **slow** review took more CPU time than ` + "`performance.max_review_time_ms`" + ` of the policy that
decided. In a resident process this is the CPU time of the thread; elsewhere it is that of the process, which
includes reading the policy. Time spent waiting for a busy machine, a lock or a disk does not count. A slow
review is counted and answered like any other.

**Early answers** are given in mode async, before the review. The review is a record of its own and does not
change how the call is counted; ` + "`reviewer_late_reviews`" + ` counts what it would have answered.

**Checkpoints** are taken after the decision, so they take additional time: before a call, which waits
for the checkpoint, and after the call.

**Observed** compares what a call was expected to change with what changed while it ran, for each
program that changes files. Precision is the share of the expected paths that changed, recall the
share of the changed paths that were expected. A file that is rewritten with the same contents
did not change, and what another program changed meanwhile counts as changed by the call.

**Approved** is the share of the answered questions that people approved. It does not count false alarms,
because people also approve calls that were rightly asked about. Answers to questions that waited
outside the agent ([approvals.md](approvals.md)) are recorded; a question that ended without an
answer counts neither as approved nor as refused. No agent reports other answers: a call that ran counts as approved; a call
without a result by the next prompt or the end of the turn counts as refused. The interval is Wilson's,
for 95 %. Calls that were held up and allowed later are
` + "`reviewer_controls`" + ` with ` + "`do`" + ` ` + "`allow_once`" + ` or ` + "`allow_session`" + `; whether the others were rightly blocked is not known.

**Fatigue** is how often people are asked, by policy and by agents themselves, per hour of work. Work is
the time between records of a session; each pause counts for at most ten minutes. The time to
answer runs until the answer if the question waited outside the agent, else until the result,
without the time that the call took. An approved call was *undone* if the session later restored or
discarded files that it had changed.

**Interventions** here include every answer stricter than allow, in addition to those that
[interventions.md](interventions.md) describes. The
*issue* is the strictest rule or pattern that leads to the answer, or ` + "`scores`" + ` if there is none.
It *returned* if a later call of the same agent triggered the same rule or pattern within 10 calls
or a minute (the active policy's ` + "`interventions.effectiveness`" + `); otherwise the intervention *helped*. The intervention is *open* if the session ended before that. A
stricter answer to an issue that returned is an **escalation**.

**Patterns** are counted once for each event at which they are found, even if the warning is not repeated
to the agent.

## What is not in the log

**Cache hit rate**: a decision is the same with and without the cache ([resident.md](resident.md)), so the log does not record its use; the resident process counts it in its own ` + "`/metrics`" + ` (` + "`reviewer serve --metrics`" + `). ` + "`reviewer_prefiltered`" + ` counts calls that are allowed before scores are computed.
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
