package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Projects is the results for whole sessions by project: the largest project must not
// dominate the rates.
type Projects struct {
	List    []Project      `json:"list"`    // by name
	Clients []Project      `json:"clients"` // the same by the agent
	Median  Project        `json:"median"`  // over the projects
	By      map[string]int `json:"by"`      // author of labels -> stops
	None    int            `json:"unlabelled"`
	Stale   int            `json:"stale"` // labels of stops that no longer occur
	Unread  int            `json:"unread"`
	Derived int            `json:"derived"`
}

// Project is a row. Rates are per 1,000 calls, and per hour of work: the time
// between calls, with long pauses cut. Formats without times have no hours.
type Project struct {
	Name     string   `json:"name"`
	Clients  []string `json:"clients,omitempty"`
	Sessions int      `json:"sessions"`
	Stopped  int      `json:"stopped"` // sessions with a call that was blocked or asked about
	Calls    int      `json:"calls"`
	Block    Share    `json:"block"`
	Ask      Share    `json:"ask"`
	Hours    float64  `json:"hours"` // 0: unknown
	None     int      `json:"unlabelled"`

	hourBlocks, hourAsks int // in sessions whose hours are known
	millis               int64
}

// Share is how often calls were stopped, and how often wrongly.
type Share struct {
	Count    int      `json:"count"`
	Per1000  float64  `json:"per_1000"`
	PerHour  *float64 `json:"per_hour"` // nil: unknown
	Wrong    int      `json:"wrong"`    // labelled so
	False    float64  `json:"false_per_1000"`
	Arguable int      `json:"arguable"`
	Right    int      `json:"right"`
}

func (s *Share) add(label string) {
	s.Count++
	switch label {
	case wrong:
		s.Wrong++
	case arguable:
		s.Arguable++
	case right:
		s.Right++
	}
}

func (s *Share) finish(calls, inHours int, hours float64) {
	if calls > 0 {
		s.Per1000, s.False = tenth(1000*float64(s.Count)/float64(calls)), tenth(1000*float64(s.Wrong)/float64(calls))
	}
	if hours > 0 {
		rate := math.Round(100*float64(inHours)/hours) / 100
		s.PerHour = &rate
	}
}

func tenth(f float64) float64 { return math.Round(10*f) / 10 }

// projectsOf sums up sessions.
func projectsOf(all []played, labels Labels) Projects {
	p := Projects{List: grouped(all, labels, func(p played) string { return p.Project }),
		Clients: grouped(all, labels, func(p played) string { return p.Client })}
	p.Median = median(p.List)
	stops := stopsOf(all)
	p.By = labels.whoSaid(stops)
	held := map[string]bool{}
	for _, s := range stops {
		if held[s.Digest] = true; isHeld(s) && labels.of[s.Digest] == "" {
			p.None++
		}
	}
	for digest := range labels.of {
		if !held[digest] {
			p.Stale++
		}
	}
	return p
}

// stopsOf lists all stops, in the order of projects, sessions and calls.
func stopsOf(all []played) []Stop {
	var stops []Stop
	for _, p := range all {
		stops = append(stops, p.Stops...)
	}
	slices.SortStableFunc(stops, func(a, b Stop) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Call, b.Call))
	})
	return stops
}

// whoSaid counts the labels of each author.
func (l Labels) whoSaid(stops []Stop) map[string]int {
	counts := map[string]int{}
	for _, s := range stops {
		for _, name := range l.by[s.Digest] {
			counts[name]++
		}
	}
	return counts
}

// isHeld reports whether a stop prevents a call from running unmodified.
func isHeld(s Stop) bool {
	return s.Decision == string(engine.Block) || s.Decision == string(engine.Ask)
}

func grouped(all []played, labels Labels, word func(played) string) []Project {
	rows := map[string]*Project{}
	for _, s := range all {
		row := rows[word(s)]
		if row == nil {
			row = &Project{Name: word(s)}
			rows[word(s)] = row
		}
		row.add(s, labels)
	}
	list := []Project{}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		row := rows[name]
		row.Hours = tenth(float64(row.millis) / 3.6e6)
		row.Block.finish(row.Calls, row.hourBlocks, float64(row.millis)/3.6e6)
		row.Ask.finish(row.Calls, row.hourAsks, float64(row.millis)/3.6e6)
		slices.Sort(row.Clients)
		list = append(list, *row)
	}
	return list
}

func (r *Project) add(s played, labels Labels) {
	r.Sessions++
	r.Calls += len(s.Calls)
	if !slices.Contains(r.Clients, s.Client) {
		r.Clients = append(r.Clients, s.Client)
	}
	blocks, asks := 0, 0
	for _, stop := range s.Stops {
		label := labels.of[stop.Digest]
		switch {
		case !isHeld(stop):
			continue
		case stop.Decision == string(engine.Block):
			r.Block.add(label)
			blocks++
		default:
			r.Ask.add(label)
			asks++
		}
		if label == "" {
			r.None++
		}
	}
	if blocks+asks > 0 {
		r.Stopped++
	}
	if s.Work >= 0 {
		r.millis += s.Work
		r.hourBlocks += blocks
		r.hourAsks += asks
	}
}

// median is the median of the projects, for each number separately.
func median(list []Project) Project {
	number := func(of func(Project) float64) float64 {
		var values []float64
		for _, p := range list {
			values = append(values, of(p))
		}
		return middle(values)
	}
	m := Project{Name: "median"}
	for _, share := range []struct {
		to *Share
		of func(Project) Share
	}{{&m.Block, func(p Project) Share { return p.Block }}, {&m.Ask, func(p Project) Share { return p.Ask }}} {
		share.to.Per1000 = number(func(p Project) float64 { return share.of(p).Per1000 })
		share.to.False = number(func(p Project) float64 { return share.of(p).False })
		var hourly []float64
		for _, p := range list {
			if rate := share.of(p).PerHour; rate != nil {
				hourly = append(hourly, *rate)
			}
		}
		if len(hourly) > 0 {
			rate := middle(hourly)
			share.to.PerHour = &rate
		}
	}
	return m
}

// middle is the median of some numbers; of none, 0.
func middle(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return 0
	}
	return math.Round(50*(values[(n-1)/2]+values[n/2])) / 100
}

func (p Projects) print(w io.Writer) {
	for _, part := range []struct {
		title string
		list  []Project
	}{{"PROJECTS: calls held in whole sessions", p.List}, {"CLIENTS", p.Clients}} {
		fmt.Fprintf(w, "\n%s %8s %8s %6s %6s %6s  %7s %7s  %7s %7s  %7s %7s  %s\n", cell(part.title, 44), "sessions", "stopped", "calls",
			"block", "ask", "block‰", "ask‰", "block/h", "ask/h", "wrong b", "wrong a", "no label")
		for _, row := range part.list {
			row.print(w)
		}
	}
	m := p.Median
	fmt.Fprintf(w, "%s %36s  %7.1f %7.1f  %7s %7s  %7.1f %7.1f\n", cell("  median of the projects", 44), "", m.Block.Per1000, m.Ask.Per1000,
		hourly(m.Block.PerHour), hourly(m.Ask.PerHour), m.Block.False, m.Ask.False)
	p.printLabels(w)
}

func (r Project) print(w io.Writer) {
	fmt.Fprintf(w, "%s %8d %8d %6d %6d %6d  %7.1f %7.1f  %7s %7s  %7.1f %7.1f  %d\n", cell("  "+r.Name, 44), r.Sessions, r.Stopped, r.Calls,
		r.Block.Count, r.Ask.Count, r.Block.Per1000, r.Ask.Per1000, hourly(r.Block.PerHour), hourly(r.Ask.PerHour),
		r.Block.False, r.Ask.False, r.None)
}

func hourly(rate *float64) string {
	if rate == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", *rate)
}

func (p Projects) printLabels(w io.Writer) {
	var who []string
	for _, name := range slices.Sorted(maps.Keys(p.By)) {
		who = append(who, fmt.Sprintf("%s %d", name, p.By[name]))
	}
	fmt.Fprintf(w, "  labelled: %s; without a label: %s; labels of calls that are no longer stopped: %d\n",
		cmp.Or(strings.Join(who, ", "), "none"), plural(p.None, "stop"), p.Stale)
	fmt.Fprintf(w, "  wrong b and a: blocks and questions that were labelled wrong, for 1,000 calls (‰); h is an hour of work\n")
	if p.Unread+p.Derived > 0 {
		fmt.Fprintf(w, "  could not be read: %s; skipped, since their source file is read: %s\n",
			fmt.Sprintf("%d entries", p.Unread), plural(p.Derived, "file"))
	}
}
