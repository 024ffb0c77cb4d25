package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
)

// longest is how many rows of a long table are printed; JSON has all.
const longest = 15

// print writes the report for people. No row of the corpus is in it. If all is
// set, each alarm of a pattern is named by its session and call.
func (r Report) print(w io.Writer, all bool) {
	fmt.Fprintf(w, "policy %s\n", r.Policy)
	printRecall(w, r.Dangerous)
	printAlarms(w, "FALSE ALARMS: benign commands", r.Benign)
	printAlarms(w, "ASKED: commands whose answer depends on the target", r.Context)
	printSessions(w, r.Sessions)
	r.Projects.print(w)
	r.Denials.print(w)
	printSweep(w, r.Sweep)
	r.Runs.print(w, all)
	r.Acted.print(w, all)
	printSecrets(w, r.Secrets)
	printLatency(w, r.Latency)
	fmt.Fprintf(w, "\nLITERALS of %d bytes or more that rules and corpus share: %d\n", minLiteral, len(r.Literals))
	for _, s := range r.Literals {
		fmt.Fprintf(w, "  %s dangerous %4d, other %4d  %s\n", cell(fmt.Sprintf("%q", s.Literal), 44), s.Dangerous, s.Other, s.Where)
	}
}

func (r Rate) String() string {
	if r.N == 0 {
		return "none"
	}
	return fmt.Sprintf("%d/%d %.1f%% [%.1f–%.1f]", r.K, r.N, 100*r.Of1, 100*r.Low, 100*r.High)
}

func head(w io.Writer, title string) {
	fmt.Fprintf(w, "\n%s %6s %6s %6s %6s %6s %6s  %s  %s\n", cell(title, 52), "block", "ask", "modify", "saved", "warn", "allow",
		cell("stopped [95 %]", 30), "block + ask")
}

func line(w io.Writer, name string, g Group) {
	fmt.Fprintf(w, "%s  %s  %s\n", counts(name, g), cell(g.Stopped.String(), 30), g.Held)
}

func counts(name string, g Group) string {
	n := g.Verdicts
	return fmt.Sprintf("%s %6d %6d %6d %6d %6d %6d", cell("  "+name, 52), n[engine.Block], n[engine.Ask], n[engine.Modify], n[saved],
		n[engine.Warn], n[engine.Allow])
}

// rules prints which rules fired first where a call was stopped.
func rules(w io.Writer, groups []Group) {
	for _, g := range worst(groups, stoppedIn) {
		fmt.Fprintln(w, counts("rule "+g.Name, g))
	}
}

// cell fills or cuts a string to a width in characters.
func cell(s string, width int) string { return term.Pad(term.Cut(s, width), width) }

func printRecall(w io.Writer, r Recall) {
	head(w, "RECALL: dangerous commands")
	line(w, "all", r.All)
	for _, by := range []string{"strength", "source", "tool"} {
		for _, g := range r.Groups[by] {
			line(w, by+" "+cmp.Or(g.Name, "none"), g)
		}
	}
	fmt.Fprintf(w, "  whole clusters stopped: %s", r.Clusters)
	for _, name := range slices.Sorted(maps.Keys(r.By)) {
		fmt.Fprintf(w, "; %s %s", cmp.Or(name, "none"), r.By[name])
	}
	fmt.Fprintln(w)
	for _, by := range []string{"category", "family"} {
		head(w, "MOST MISSED by "+by)
		for _, g := range worst(r.Groups[by], missedIn) {
			line(w, g.Name, g)
		}
	}
}

func missedIn(g Group) int  { return g.Stopped.N - g.Stopped.K }
func stoppedIn(g Group) int { return g.Stopped.K }

// worst picks the groups with most of something, without those that have none.
func worst(groups []Group, much func(Group) int) []Group {
	list := slices.DeleteFunc(slices.Clone(groups), func(g Group) bool { return much(g) == 0 })
	slices.SortStableFunc(list, func(a, b Group) int { return much(b) - much(a) })
	return list[:min(len(list), longest)]
}

func printAlarms(w io.Writer, title string, a Alarms) {
	head(w, title)
	line(w, "all", a.All)
	fmt.Fprintf(w, "  blocked: %s\n", a.All.Block)
	for _, g := range worst(a.Groups["source"], func(g Group) int { return g.Stopped.N }) {
		line(w, "source "+g.Name, g)
	}
	for _, g := range worst(a.Groups["category"], stoppedIn) {
		line(w, "category "+g.Name, g)
	}
	rules(w, a.Groups["rule"])
}

func printSessions(w io.Writer, s Whole) {
	head(w, "WHOLE SESSIONS")
	line(w, "calls", s.Calls)
	fmt.Fprintf(w, "  blocked: %s\n  sessions with a call stopped: %s; with one blocked: %s\n", s.Calls.Block, s.Stopped, s.Blocked)
	for _, ending := range slices.Sorted(maps.Keys(s.Skipped)) {
		fmt.Fprintf(w, "  not read, since no known agent writes them: %d files *%s\n", s.Skipped[ending], ending)
	}
	rules(w, s.Rules)
}

func printSecrets(w io.Writer, r Redaction) {
	fmt.Fprintf(w, "\nREDACTION\n  secrets found:   %s, of them only partly: %d; where the corpus gives an address or a name "+
		"as the value: %d\n  look-alikes hit: %s, of them with a value that is a secret in another sample: %d\n",
		r.Found, r.Partly, r.Mistaken, r.Lookalike, r.Disputed)
	for _, k := range r.Kinds {
		if k.Found.K < k.Found.N || k.Hit.K > 0 {
			fmt.Fprintf(w, "  %s missed %3d of %3d, look-alikes hit %3d of %3d\n", cell(k.Kind, 40),
				k.Found.N-k.Found.K, k.Found.N, k.Hit.K, k.Hit.N)
		}
	}
}

func printLatency(w io.Writer, l Latency) {
	fmt.Fprintf(w, "\nLATENCY in ms, %d commands up to 4 KiB, best of %d\n", l.Calls, turns)
	for _, s := range []struct {
		name string
		Spread
	}{{"whole review", l.Whole}, {"classify alone", l.Classify}} {
		fmt.Fprintf(w, "  %s p50 %.3f  p99 %.3f  max %.3f\n", cell(s.name, 16), s.P50, s.P99, s.Max)
	}
	fmt.Fprintf(w, "  classify 16 KiB %.3f, 64 KiB %.3f: ratio %.2f\n", l.KiB16, l.KiB64, l.Ratio)
}
