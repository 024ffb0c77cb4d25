package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// ReportOptions returns the presentation of a report: in colours on a terminal, and with
// files named from the repository for machines.
func (a *App) ReportOptions(out *term.Output, verbose bool) report.Options {
	o := report.Options{Color: a.Paint(out).On, Width: a.Columns(out), Verbose: verbose, Times: true,
		Version: BuildVersion(), Sources: sourceOf}
	if cwd, err := os.Getwd(); err == nil {
		o.Dir, o.Root = filepath.ToSlash(cwd), filepath.ToSlash(repositoryOf(cwd))
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

// repositoryOf returns the root of the git repository of a folder, or the folder
// itself.
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

// JobSummary adds a page to the summary of a GitHub Actions job, if a report is for
// GitHub and the job has a summary file.
func (a *App) JobSummary(out *term.Outputs, r *report.Report) error {
	return a.Summary(out, func(w io.Writer, _ *term.Output) error {
		return report.WriteSummary(w, r, a.ReportOptions(&out.List[0], false))
	})
}

// Summary is JobSummary for a page of any command.
func (a *App) Summary(out *term.Outputs, write func(w io.Writer, o *term.Output) error) error {
	name, at := a.Env("GITHUB_STEP_SUMMARY"), slices.IndexFunc(out.List, func(o term.Output) bool { return o.Format == "github" })
	if name == "" || at < 0 {
		return nil
	}
	var page bytes.Buffer
	if err := write(&page, &out.List[at]); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the job's summary: %w", err)
	}
	_, err = f.Write(page.Bytes())
	return errors.Join(err, f.Close())
}
