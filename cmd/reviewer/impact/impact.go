// Package impact writes what a simulation found, in the formats that people and
// machines read, and reads its JSON back.
//
// Not its business: finding anything, and masking. What an Impact says was
// masked by whoever made it; here it is foreign text all the same, and is shown
// so that it cannot act on a terminal, a page or a comment. Nothing here reads a
// file, a clock or the environment: the same Impact gives the same bytes.
package impact

import (
	"bytes"
	"errors"
	"io"

	"github.com/agent-reviewer/reviewer/engine/report"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// Options say how a report is shown. The zero value gives the same bytes for
// the same Impact everywhere.
type Options struct {
	Colour  bool   // pretty: for a terminal
	Width   int    // pretty: columns of the terminal; 0: lines are neither cut nor broken
	Latency string // pretty: how fast it was, in a line; empty: not said
	Verbose bool   // pretty: lists in full
	Version string // of the program, for sarif
}

// format is one way to write an Impact, and a Sweep.
type format struct {
	name  string
	write func(*bytes.Buffer, *simulate.Impact, Options) error
	sweep func(*bytes.Buffer, *simulate.Sweep, Options) error
}

func formats() []format {
	return []format{
		{"pretty", writePretty, writeSweepPretty},
		{"json", writeJSON, writeSweepJSON},
		{"github", writeGitHub, writeSweepGitHub},
		{"sarif", writeSARIF, refuseSweepSARIF},
		{"html", pageOf, sweepPageOf},
	}
}

func pageOf(b *bytes.Buffer, m *simulate.Impact, o Options) error { return writeHTML(b, m, o) }

func sweepPageOf(b *bytes.Buffer, s *simulate.Sweep, o Options) error { return writeSweepHTML(b, s, o) }

func refuseSweepSARIF(*bytes.Buffer, *simulate.Sweep, Options) error {
	return errors.New("sarif lists what one change of policy does, and a sweep is many; use -f json, -f github or -f html, or simulate one value")
}

// Formats lists the formats of Write; the first is for people.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Write writes an Impact in one of Formats, whole or not at all.
func Write(w io.Writer, name string, m *simulate.Impact, o Options) error {
	f, err := find(name)
	if err != nil {
		return err
	}
	return whole(w, func(b *bytes.Buffer) error { return f.write(b, m, o) })
}

// WriteSweep writes a Sweep in one of Formats but sarif, whole or not at all.
func WriteSweep(w io.Writer, name string, s *simulate.Sweep, o Options) error {
	f, err := find(name)
	if err != nil {
		return err
	}
	return whole(w, func(b *bytes.Buffer) error { return f.sweep(b, s, o) })
}

func find(name string) (format, error) {
	for _, f := range formats() {
		if f.name == name {
			return f, nil
		}
	}
	return format{}, report.Unknown("format", name, Formats())
}

func whole(w io.Writer, write func(*bytes.Buffer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
