package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/agent-reviewer/reviewer/engine/report"
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

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// jobSummary adds a page to the summary of a job of GitHub Actions, where the
// report is one for GitHub and a job says where that goes.
func (a *app) jobSummary(out *output, r *report.Report) error {
	name := a.env("GITHUB_STEP_SUMMARY")
	if out.format != "github" || name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the job's summary: %w", err)
	}
	return errors.Join(report.WriteSummary(f, r, a.reportOptions(out, false)), f.Close())
}
