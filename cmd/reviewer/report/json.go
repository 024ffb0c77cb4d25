package report

import (
	"bytes"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// Document is a report as JSON: schemas/report.json describes it.
type Document struct {
	V      int    `json:"v"` // version of the format, now 1: new fields do not change it
	Totals Totals `json:"totals"`
	Report
}

// CoverageDocument is the JSON of coverage alone.
type CoverageDocument struct {
	V int `json:"v"` // of the format, now 1
	Coverage
}

const documentVersion = 1

func writeJSON(b *bytes.Buffer, r *Report, _ Options) error {
	d := Document{V: documentVersion, Totals: r.Totals(), Report: *r}
	d.Suites = slices.Clone(r.Suites)
	for i := range d.Suites {
		d.Suites[i].Tests = orNone(d.Suites[i].Tests)
	}
	if r.Coverage != nil {
		c := r.Coverage.whole()
		d.Coverage = &c
	}
	return term.WriteJSON(b, d)
}

func writeCoverageJSON(b *bytes.Buffer, c *Coverage, _ Sources) error {
	return term.WriteJSON(b, CoverageDocument{V: documentVersion, Coverage: c.whole()})
}

// whole returns the coverage with empty lists instead of nil, for JSON.
func (c *Coverage) whole() Coverage {
	w := *c
	w.Kinds, w.Files = orNone(c.Kinds), slices.Clone(c.Files)
	for i, f := range w.Files {
		w.Files[i].Covered, w.Files[i].Missed = orNone(f.Covered), orNone(f.Missed)
	}
	return w
}

func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
