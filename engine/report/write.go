package report

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Options say how a report is shown. The zero value gives the same bytes for
// the same report everywhere.
type Options struct {
	Color   bool
	Verbose bool    // pretty: what passed too, and lists in full
	Times   bool    // pretty and junit: how long tests took
	Width   int     // pretty: columns of the terminal; 0: lines are not broken
	Root    string  // formats for machines: the absolute path of the repository, which files are named from
	Dir     string  // the absolute path of the folder that the report's files are named from
	Version string  // of the program, for sarif
	Sources Sources // nil: no source is shown
}

// Sources returns the contents of a file that a report names, nil where they
// are not at hand.
type Sources func(file string) []byte

type format struct {
	name  string
	write func(*bytes.Buffer, *Report, Options) error
}

func formats() []format {
	return []format{
		{"pretty", writePretty},
		{"json", writeJSON},
		{"junit", writeJUnit},
		{"tap", writeTAP},
		{"github", writeGitHub},
		{"sarif", writeSARIF},
		{"gitlab", writeGitLab},
	}
}

// Formats lists the formats of Write; the first is for people.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Write writes a report in one of Formats, whole or not at all. Its order is
// the report's: see Report.Sort.
func Write(w io.Writer, name string, r *Report, o Options) error {
	for _, f := range formats() {
		if f.name == name {
			return whole(w, func(b *bytes.Buffer) error { return f.write(b, r, o) })
		}
	}
	return Unknown("format", name, Formats())
}

type coverageFormat struct {
	name  string
	write func(*bytes.Buffer, *Coverage, Sources) error
}

func coverageFormats() []coverageFormat {
	return []coverageFormat{
		{"text", writeCoverageText},
		{"json", writeCoverageJSON},
		{"lcov", writeLCOV},
		{"html", writeCoverageHTML},
	}
}

// CoverageFormats lists the formats of WriteCoverage; the first is for people.
func CoverageFormats() []string {
	var names []string
	for _, f := range coverageFormats() {
		names = append(names, f.name)
	}
	return names
}

// WriteCoverage writes coverage in one of CoverageFormats, whole or not at all.
// Only html shows sources; where they are nil it lists line numbers.
func WriteCoverage(w io.Writer, name string, c *Coverage, sources Sources) error {
	if sources == nil {
		sources = func(string) []byte { return nil }
	}
	for _, f := range coverageFormats() {
		if f.name == name {
			return whole(w, func(b *bytes.Buffer) error { return f.write(b, c, sources) })
		}
	}
	return Unknown("format of coverage", name, CoverageFormats())
}

func whole(w io.Writer, write func(*bytes.Buffer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Unknown is the error about a word that is none of a list, which says the words
// that there are, and the one that was probably meant.
func Unknown(what, name string, list []string) error {
	text := fmt.Sprintf("unknown %s %q; expected one of %s", what, name, strings.Join(list, ", "))
	if near := engine.Nearest(name, list); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("%s", text)
}

// path names a file from the repository's root; one outside keeps its absolute
// path, and all stay as they are where the root or the folder is not known.
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
