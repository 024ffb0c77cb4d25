package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
)

// reportOptions say how a report is shown here: in colours on a terminal, and
// with files named from the repository for machines.
func (a *app) reportOptions(out *output, verbose bool) report.Options {
	o := report.Options{Color: a.paint(out).on, Verbose: verbose, Times: true, Version: buildVersion(), Sources: sourceOf}
	if f, ok := a.stdout.(*os.File); ok && out.file == "" {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			o.Width = width
		}
	}
	if here, err := os.Getwd(); err == nil {
		o.Dir, o.Root = filepath.ToSlash(here), filepath.ToSlash(repositoryOf(here))
	}
	return o
}

// sourceOf returns the content of a file that a report names, nil where it
// cannot be read.
func sourceOf(file string) []byte {
	content, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		return nil
	}
	return content
}

// repositoryOf returns the folder above that git keeps, or the folder itself.
func repositoryOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// outputs are the formats that a command writes in one run: one goes to
// standard output, the others to files.
type outputs struct {
	list    []output // as given; after read at least one
	formats []string // the first is the default
	given   []string // -f, as FORMAT or FORMAT=FILE
	file    string   // -o: where the first format goes
}

func (o *outputs) flags(cmd *cobra.Command, formats ...string) {
	o.formats = formats
	cmd.Flags().StringArrayVarP(&o.given, "format", "f", formats[:1], "`format` of the result, or format=file; several are written in one run: "+strings.Join(formats, ", "))
	cmd.Flags().StringVarP(&o.file, "output", "o", "", "write the first format to this `file` (default standard output)")
}

// read takes the flags apart. Only one format can go to standard output.
func (o *outputs) read() error {
	o.list = nil
	places := map[string]string{} // file -> the format that it is for
	for i, given := range o.given {
		format, file, named := strings.Cut(given, "=")
		if named && file == "" {
			return fmt.Errorf("-f %s: expected the name of a file after =, such as %s=report.%s", given, format, format)
		}
		if i == 0 && o.file != "" {
			if named {
				return fmt.Errorf("-f %s and -o %s both name a file for the first format; keep one of them", given, o.file)
			}
			file = o.file
		}
		out := output{format: format, file: file, formats: o.formats}
		if err := out.known(); err != nil {
			return err
		}
		place := filepath.Clean(file)
		if other, taken := places[place]; taken {
			return fmt.Errorf("-f %s: the format %s goes to %s already; give this one a file of its own, as in -f %s=report.%s", given, other, orStdout(file), format, format)
		}
		places[place] = format
		o.list = append(o.list, out)
	}
	return nil
}

func orStdout(file string) string {
	if file == "" {
		return "standard output"
	}
	return file
}

// write writes every format, each in its place: files before standard output.
func (o *outputs) write(a *app, fn func(w io.Writer, out *output) error) error {
	list := slices.Clone(o.list)
	slices.SortStableFunc(list, func(x, y output) int { return cmp.Compare(toScreen(x), toScreen(y)) })
	for i := range list {
		if err := list[i].write(a, func(w io.Writer) error { return fn(w, &list[i]) }); err != nil {
			return err
		}
	}
	return nil
}

func toScreen(o output) int {
	if o.file == "" {
		return 1
	}
	return 0
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// jobSummary adds a page to the summary of a job of GitHub Actions, where a
// report is one for GitHub and a job says where that goes.
func (a *app) jobSummary(out *outputs, r *report.Report) error {
	name := a.env("GITHUB_STEP_SUMMARY")
	if name == "" || !slices.ContainsFunc(out.list, func(o output) bool { return o.format == "github" }) {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the job's summary: %w", err)
	}
	return errors.Join(report.WriteSummary(f, r, a.reportOptions(&out.list[0], false)), f.Close())
}
