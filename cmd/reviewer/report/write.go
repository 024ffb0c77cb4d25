package report

import (
	"bytes"
	"io"
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// Options control the presentation of a report. The zero value produces the same bytes for the same
// report everywhere.
type Options struct {
	Color   bool
	Verbose bool    // pretty: also passed tests, and full lists
	Times   bool    // pretty and junit: how long tests took
	Width   int     // pretty: columns of the terminal; 0: lines are not broken
	Root    string  // formats for machines: the absolute path of the repository, to which file names are relative
	Dir     string  // the absolute path of the folder that the report's files are named from
	Version string  // of the program, for sarif
	Sources Sources // nil: no source is shown
}

// Sources returns the contents of a file that a report names, nil if they are not available.
type Sources func(file string) []byte

func formats() term.Formats[func(*bytes.Buffer, *Report, Options) error] {
	return term.Formats[func(*bytes.Buffer, *Report, Options) error]{
		{Name: "text", Write: writePretty},
		{Name: "json", Write: writeJSON},
		{Name: "junit", Write: writeJUnit},
		{Name: "tap", Write: writeTAP},
		{Name: "github", Write: writeGitHub},
		{Name: "sarif", Write: writeSARIF},
		{Name: "gitlab", Write: writeGitLab},
	}
}

// Formats lists the formats of Write; the first is for people.
func Formats() []string { return formats().Names() }

// Write writes a report in one of Formats, whole or not at all. Its order is
// the report's: see Report.Sort.
func Write(w io.Writer, name string, r *Report, o Options) error {
	write, err := formats().Find("format", name)
	if err != nil {
		return err
	}
	return term.Whole(w, func(b *bytes.Buffer) error { return write(b, r, o) })
}

func coverageFormats() term.Formats[func(*bytes.Buffer, *Coverage, Sources) error] {
	return term.Formats[func(*bytes.Buffer, *Coverage, Sources) error]{
		{Name: "text", Write: writeCoverageText},
		{Name: "json", Write: writeCoverageJSON},
		{Name: "lcov", Write: writeLCOV},
		{Name: "html", Write: writeCoverageHTML},
	}
}

// CoverageFormats lists the formats of WriteCoverage; the first is for people.
func CoverageFormats() []string { return coverageFormats().Names() }

// WriteCoverage writes coverage in one of CoverageFormats, whole or not at all.
// Only html shows sources; where they are nil it lists line numbers.
func WriteCoverage(w io.Writer, name string, c *Coverage, sources Sources) error {
	if sources == nil {
		sources = func(string) []byte { return nil }
	}
	write, err := coverageFormats().Find("format of coverage", name)
	if err != nil {
		return err
	}
	return term.Whole(w, func(b *bytes.Buffer) error { return write(b, c, sources) })
}

// path names a file from the repository's root; one outside keeps its absolute
// path, and all stay as they are where the root or the folder is unknown.
func (o Options) path(file string) string {
	if file == "" || o.Root == "" {
		return file
	}
	if !path.IsAbs(file) {
		if o.Dir == "" {
			return file
		}
		file = path.Join(o.Dir, file)
	}
	if below, ok := strings.CutPrefix(path.Clean(file), strings.TrimSuffix(path.Clean(o.Root), "/")+"/"); ok {
		return below
	}
	return path.Clean(file)
}
