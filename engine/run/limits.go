package run

import (
	"fmt"
	"time"
)

// measure compares what the run has used with its limits.
func (r *Run) measure() (ending, bool) {
	u := r.tree.Usage()
	r.out.Usage, r.out.Most = u, max(r.out.Most, u.Processes)
	if stop := r.review(false); stop != "" && !r.told[ResultStopped] {
		return ending{ResultStopped, "", stop}, true
	}
	for _, c := range r.checks() {
		r.approach(c)
		if c.limit > 0 && c.used > c.limit && !r.told[ResultLimit+c.name] {
			return ending{ResultLimit, c.name, fmt.Sprintf(c.text, c.shown(c.used), c.shown(c.limit))}, true
		}
	}
	return ending{}, false
}

// approach reports once that a limit is near.
func (r *Run) approach(c check) {
	if r.o.Near == nil || c.limit <= 0 || c.used < c.limit*r.o.NearShare || c.used > c.limit || r.near[c.name] {
		return
	}
	r.near[c.name] = true
	r.o.Near(c.name, c.shown(c.used), c.shown(c.limit))
}

// check is one limit, and how much of it is used.
type check struct {
	name        string
	used, limit float64
	text        string
	shown       func(float64) string
}

func (r *Run) checks() []check {
	l, u := r.o.Limits, r.out.Usage
	return []check{
		{LimitTime, time.Since(r.out.Began).Seconds(), l.Time.Seconds(), "the run took %s, more than %s", seconds},
		{LimitMemory, float64(u.Memory), float64(l.Memory), "the run used %s of memory, more than %s", mebibytes},
		{LimitProcesses, float64(u.Processes), float64(l.Processes), "the run had %s processes, more than %s", whole},
		{LimitWritten, float64(u.Written), float64(l.Written), "the run wrote %s to disk, more than %s", mebibytes},
		{LimitTokens, float64(r.out.Tokens.Output), float64(l.Tokens), "the model wrote %s tokens, more than %s", whole},
		{LimitCost, r.out.Tokens.Cost, l.Cost, "the run cost %s, more than %s", dollars},
	}
}

func seconds(n float64) string   { return (time.Duration(n*10) * time.Second / 10).String() }
func mebibytes(n float64) string { return fmt.Sprintf("%.0f MiB", n/(1<<20)) }
func whole(n float64) string     { return fmt.Sprintf("%.0f", n) }
func dollars(n float64) string   { return fmt.Sprintf("$%.2f", n) }

// review calls Options.Review, passes on what it reports, and returns a reason to stop.
func (r *Run) review(last bool) string {
	if r.o.Review == nil {
		return ""
	}
	said := r.o.Review(last)
	r.out.Tokens = said.Usage
	for _, e := range said.Events {
		r.tell(e)
	}
	return said.Stop
}
