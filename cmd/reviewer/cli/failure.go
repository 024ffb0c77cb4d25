package cli

import (
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/spf13/cobra"
)

// PathError is an error about a path that a person named.
type PathError struct {
	Path string
	Err  error
}

// Error implements error. The path is part of the message already.
func (e *PathError) Error() string { return e.Err.Error() }

// Unwrap returns the underlying error.
func (e *PathError) Unwrap() error { return e.Err }

// Problems splits an error into problems with their places, for formats that
// show places. It returns at least one.
func Problems(err error) []report.Problem {
	var at *PathError
	dir := ""
	if errors.As(err, &at) {
		dir = at.Path
	}
	var list []report.Problem
	for _, p := range problemsIn(err, dir) {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

func problemsIn(err error, dir string) []report.Problem {
	var inCase *cases.Problem
	var placed *engine.Problem
	switch {
	case errors.As(err, &inCase) && !isJoined(err):
		return []report.Problem{problemAt(inCase.File, inCase.Line, inCase.Col, inCase.Message)}
	case errors.As(err, &placed) && !isJoined(err):
		return []report.Problem{problemAt(placed.File, placed.Line, placed.Col, placed.Text())}
	}
	if joined := joinedIn(err); joined != nil {
		var list []report.Problem
		for _, e := range joined {
			list = append(list, problemsIn(e, dir)...)
		}
		return list
	}
	for _, p := range bundles.Problems("bundle", innermost(err), "") {
		if file := strings.TrimPrefix(p.File, "/"); file != "" {
			return []report.Problem{problemAt(path.Join(dir, file), p.Line, p.Col, p.Text())}
		}
	}
	return []report.Problem{problemAt(dir, 0, 0, err.Error())}
}

func problemAt(file string, line, col int, message string) report.Problem {
	return report.Problem{Place: report.Place{File: file, Line: line, Col: col}, Severity: report.SeverityError, Code: "file.unreadable",
		Message: Masked(strings.TrimSpace(message))}
}

func isJoined(err error) bool { return joinedIn(err) != nil }

// joinedIn returns the errors that one error joins, however deep it wraps them.
func joinedIn(err error) []error {
	for ; err != nil; err = errors.Unwrap(err) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			return joined.Unwrap()
		}
	}
	return nil
}

// innermost unwraps an error to its end, where errors with a place are.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		if len(bundles.Problems("", err, "")) > 0 && bundles.Problems("", err, "")[0].File != "/" {
			return err
		}
		err = inner
	}
	return err
}

// commandName is a command's path without the program's name.
func commandName(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// writeFailure writes the error as a document with -f json, and as workflow commands with
// -f github, unless the command has written its output.
func (a *App) writeFailure(cmd *cobra.Command, err error) error {
	out := term.OutputOf(cmd)
	_, said := ExitCode(err)
	switch {
	case said == nil || out == nil || out.Written():
		return nil
	case out.Format == "github":
		r := &report.Report{Command: commandName(cmd), Stopped: true, Problems: Problems(err)}
		return out.Write(a.Stdout, func(w io.Writer) error { return report.Write(w, out.Format, r, a.ReportOptions(out, false)) })
	case out.Format != "json":
		return nil
	}
	masked := errors.New(Masked(err.Error()))
	return out.Write(a.Stdout, func(w io.Writer) error { return report.WriteError(w, commandName(cmd), masked, Problems(err)) })
}

// WriteFailure writes an error in every requested format. On the screen it appears on
// standard error. write is for the formats that are not those of report.
func (a *App) WriteFailure(out *term.Outputs, r *report.Report,
	write func(w io.Writer, format string, r *report.Report) (bool, error)) error {
	if out.Written() {
		return nil
	}
	return out.Write(a.Stdout, func(w io.Writer, o *term.Output) error {
		switch done, err := write(w, o.Format, r); {
		case done || err != nil:
			return err
		case o.Format == term.Text && o.File == "":
			return nil
		}
		return report.Write(w, o.Format, r, a.ReportOptions(o, false))
	})
}
