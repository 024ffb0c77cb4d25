package auditcmd

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/stats"
	"github.com/spf13/cobra"
)

func auditStatsCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var since, by string
	cmd := &cobra.Command{
		Use:   "stats [ID…]",
		Short: "Show statistics of the log: answers, review time, approved questions, patterns, interventions",
		Long: "Reads all sessions, or the ones named, up to the first record whose hash does not match.\n" +
			"docs/metrics.md explains each number. Hits and misses of the cache are not in the log: see /metrics of\n" +
			"`reviewer serve --metrics`. Exit code 2: a session is damaged, and only the part before the damage was counted.",
		Example: "  reviewer audit stats --since 7d --by rule\n  reviewer audit stats -f prometheus -o /var/lib/node_exporter/textfile/reviewer.prom",
		RunE: func(_ *cobra.Command, args []string) error {
			from, err := cli.SinceTime(since, time.Now())
			if err != nil {
				return err
			}
			if by != "" && out.Format == "prometheus" {
				return cli.Usage("--by: metrics include every grouping but session, agent and day, whose values are unbounded; use -f text or -f json")
			}
			if err := out.Known(); err != nil {
				return err
			}
			return writeStatsOf(a, args, from, stats.Grouping(by), &out)
		},
	}
	cmd.Flags().StringVar(&since, "since", "",
		"count only events since this time: "+cli.TimeForms)
	cmd.Flags().StringVar(&by, "by", "", "group calls by one of: "+strings.Join(stats.Groupings(), ", "))
	out.Flags(cmd, "text", "json", "prometheus")
	return cmd
}

func writeStatsOf(a *cli.App, selectors []string, since int64, by stats.Grouping, out *term.Output) error {
	home, err := a.StateHome()
	if err != nil {
		return err
	}
	soon, err := returnsSoon(home)
	if err != nil {
		return err
	}
	c, err := stats.NewCollector(since, by, soon)
	if err != nil {
		return cli.WithNear(cli.Usage("--by: %w", err), string(by), stats.Groupings())
	}
	store, sessions, err := a.Chosen(selectors)
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
	return out.Write(a.Stdout, func(w io.Writer) error { return writeStats(a, w, out, store, doc) })
}

// returnsSoon reads when an issue counts as returned from the active policy, or from the built-in one while that is not valid.
func returnsSoon(home string) (stats.Soon, error) {
	e, err := cli.MachineAt(home).Effective("")
	if err != nil {
		base, err := bundles.Default()
		if err != nil {
			return stats.Soon{}, err
		}
		if e, err = bundles.Assemble(base); err != nil {
			return stats.Soon{}, err
		}
	}
	set := &e.Settings.Interventions.Effectiveness
	return stats.Soon{Actions: set.Actions, Seconds: set.Seconds}, nil
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

func writeStats(a *cli.App, w io.Writer, out *term.Output, store *audit.Store, doc stats.Document) error {
	var err error
	switch out.Format {
	case "json":
		err = term.WriteDocument(w, doc)
	case "prometheus":
		err = stats.WritePrometheus(w, doc)
	default:
		printStats(a, w, out, store.Dir, doc)
	}
	if err == nil && len(doc.Damaged) > 0 {
		return cli.Findings("the log was tampered with or damaged: %s; run `reviewer audit verify` for details",
			term.Counted(len(doc.Damaged), "chain is damaged", "chains are damaged"))
	}
	return err
}

// verdictsOf lists the counts of each verdict, strictest last.
func verdictsOf(v stats.Verdicts) []int64 {
	var list []int64
	for _, word := range engine.Verdicts() {
		list = append(list, v.Of(engine.Verdict(word)))
	}
	return list
}
