// Package impact writes the result of a simulation, in formats for people and
// machines, and reads its JSON back.
//
// Out of scope: simulating, and masking. An Impact is already masked, but its texts
// are untrusted: they are escaped for terminals, pages and comments. Nothing here
// reads a file, a clock or the environment: the same Impact has the same bytes.
package impact

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// writers write an Impact, and a Sweep.
type writers struct {
	impact func(*bytes.Buffer, *simulate.Impact, Options) error
	sweep  func(*bytes.Buffer, *simulate.Sweep, Options) error
}

func formats() term.Formats[writers] {
	return term.Formats[writers]{
		{Name: "text", Write: writers{writePretty, writeSweepPretty}},
		{Name: "json", Write: writers{writeJSON, writeSweepJSON}},
		{Name: "github", Write: writers{writeGitHub, writeSweepGitHub}},
		{Name: "sarif", Write: writers{writeSARIF, refuseSweepSARIF}},
		{Name: "html", Write: writers{writeHTML, writeSweepHTML}},
	}
}

func refuseSweepSARIF(*bytes.Buffer, *simulate.Sweep, Options) error {
	return errors.New("sarif lists the effects of one policy change, but a sweep has many; use -f json, -f github or " +
		"-f html, or simulate one value")
}

// Formats lists the formats of Write; the first is for people.
func Formats() []string { return formats().Names() }

// Write writes an Impact in one of Formats, whole or not at all.
func Write(w io.Writer, name string, m *simulate.Impact, o Options) error {
	f, err := formats().Find("format", name)
	if err != nil {
		return err
	}
	switch {
	case o.Show || name == "json":
	case published(name):
		m = hidden(m)
	default:
		m = withoutUnshown(m)
	}
	return term.Whole(w, func(b *bytes.Buffer) error { return f.impact(b, m, o) })
}

// published reports whether a format is for others than those whose sessions it shows. Text is for the person at the terminal, and
// json for programs, such as simulate merge.
func published(format string) bool {
	return format == "html" || format == "github" || format == "sarif"
}

// WriteSweep writes a Sweep in one of Formats but sarif, whole or not at all.
func WriteSweep(w io.Writer, name string, s *simulate.Sweep, o Options) error {
	f, err := formats().Find("format", name)
	if err != nil {
		return err
	}
	if !o.Show && published(name) {
		own := *s
		own.Rows = slices.Clone(s.Rows)
		for i, row := range s.Rows {
			own.Rows[i].Impact = hidden(row.Impact)
		}
		s = &own
	}
	return term.Whole(w, func(b *bytes.Buffer) error { return f.sweep(b, s, o) })
}
