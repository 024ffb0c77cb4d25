package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/stats"
	"github.com/spf13/cobra"
)

func (a *app) auditStatsCommand() *cobra.Command {
	var out output
	var since, by string
	cmd := &cobra.Command{
		Use:   "stats [ID…]",
		Short: "Count what the log says: answers, review time, false positives, patterns, interventions",
		Long: "Reads the sessions once, all of them if none is named, as far as their hashes fit.\n" +
			"docs/metrics.md says what each number means; there is no cache hit rate, since\n" +
			"reviews are not cached. Exit code 2: a session is damaged, and counted up to there.",
		Example: "  reviewer audit stats --since 7d --by rule\n  reviewer audit stats -f prometheus -o /var/lib/node_exporter/textfile/reviewer.prom",
		RunE: func(_ *cobra.Command, args []string) error {
			from, err := sinceTime(since, time.Now())
			if err != nil {
				return err
			}
			if by != "" && out.format == "prometheus" {
				return errors.New("--by: the metrics hold every grouping but session, agent and day, which have no bound; use -f table or -f json")
			}
			if err := out.known(); err != nil {
				return err
			}
			return a.stats(args, from, stats.Grouping(by), &out)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only what happened since: a time such as 90m, 24h or 7d, or a date such as 2026-01-31")
	cmd.Flags().StringVar(&by, "by", "", "list the calls by this: "+strings.Join(stats.Groupings(), ", "))
	out.flags(cmd, "table", "json", "prometheus")
	return cmd
}

func (a *app) stats(selectors []string, since int64, by stats.Grouping, out *output) error {
	c, err := stats.NewCollector(since, by)
	if err != nil {
		return withNear(fmt.Errorf("--by: %w", err), string(by), stats.Groupings())
	}
	store, sessions, err := a.chosen(selectors)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if s.Err != nil || s.Last >= since {
			countSession(c, store, s)
		}
	}
	if len(selectors) == 0 {
		countLedger(c, store)
	}
	doc := c.Document()
	return out.write(a.stdout, func(w io.Writer) error { return a.writeStats(w, out, store, doc) })
}

// countSession takes a session's records as far as they verify.
func countSession(c *stats.Collector, store *audit.Store, s audit.Session) {
	c.Begin(s.Key.Session)
	for r, err := range store.Verified(s) {
		if err != nil {
			c.Damaged(s.Key.Session, damageText(err))
			break
		}
		c.Add(r)
	}
	c.End(s.Stopped != nil)
}

func countLedger(c *stats.Collector, store *audit.Store) {
	for r, err := range store.VerifiedLedger() {
		if err != nil {
			c.Damaged("", damageText(err))
			break
		}
		c.Ledger(r)
	}
}

// damageText leaves out the advice that comes with damage.
func damageText(err error) string {
	damage := (*audit.Damage)(nil)
	if !errors.As(err, &damage) {
		return err.Error()
	}
	return fmt.Sprintf("%s line %d: %s", damage.File, damage.Line, damage.What)
}

func (a *app) writeStats(w io.Writer, out *output, store *audit.Store, doc stats.Document) error {
	var err error
	switch out.format {
	case "json":
		err = writeJSON(w, doc)
	case "prometheus":
		err = stats.WritePrometheus(w, doc)
	default:
		a.printStats(w, out, store.Dir, doc)
	}
	if err == nil && len(doc.Damaged) > 0 {
		return findings("the log is not what was written: %s; `reviewer audit verify` tells more", counted(len(doc.Damaged), "chain is damaged", "chains are damaged"))
	}
	return err
}

// sinceTime returns a moment that a person names, as Unix milliseconds: a span
// before now, a day, or a time. An empty text is the beginning.
func sinceTime(text string, now time.Time) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if span, err := spanOf(text); err == nil && span > 0 {
		return now.Add(-span).UnixMilli(), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return max(t.UnixMilli(), 0), nil
		}
	}
	return 0, fmt.Errorf("--since %s: expected a time such as 90m, 24h or 7d, or a date such as 2026-01-31", text)
}

// spanOf reads a duration, which may also be in days.
func spanOf(text string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(text, "d")
	if !isDays {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	return time.Duration(n) * 24 * time.Hour, err
}

// verdictsOf lists the counts of each verdict, strictest last.
func verdictsOf(v stats.Verdicts) []int64 {
	var list []int64
	for _, word := range engine.Verdicts() {
		list = append(list, v.Of(engine.Verdict(word)))
	}
	return list
}
