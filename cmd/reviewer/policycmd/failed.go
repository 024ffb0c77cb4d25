package policycmd

import (
	"context"
	"errors"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// writeFailed writes why a check or test run could not start, in every requested format,
// and returns the error to exit with. Usage errors are only printed.
func writeFailed(a *cli.App, out *term.Outputs, command string, err error) error {
	if code, _ := cli.ExitCode(err); code == cli.ExitUsage || out.Written() {
		return err
	}
	r := &report.Report{Command: command, Stopped: true, Problems: problemsOf(a, err)}
	written := a.WriteFailure(out, r, func(w io.Writer, format string, r *report.Report) (bool, error) {
		switch format {
		case "html":
			return true, report.WriteFailurePage(w, command, r.Problems)
		case "lcov":
			return true, nil // a tracefile cannot contain a message; an empty one covers nothing
		}
		return false, nil
	})
	return errors.Join(err, written, a.JobSummary(out, r))
}

// problemsOf lists the problems as `policy check` does, if a named policy does not
// load.
func problemsOf(a *cli.App, err error) []report.Problem {
	var at *cli.PathError
	if !errors.As(err, &at) || !isPolicy(at.Path) {
		return cli.Problems(err)
	}
	policies, unread := toCheck(context.Background(), a, []string{at.Path}) // a folder: nothing waits
	if unread != nil {
		return cli.Problems(unread)
	}
	checked, _ := checkPolicies(policies, "")
	var list []report.Problem
	for _, p := range checked.Problems {
		if p.Severity == report.SeverityError {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return cli.Problems(err)
	}
	return list
}
