package simulatecmd

import (
	"errors"
	"io"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// writeFailed writes the reason why there is no comparison, in every requested format,
// and returns the error to exit with. Usage errors are only printed.
func writeFailed(a *cli.App, out *term.Outputs, command string, err error) error {
	if code, _ := cli.ExitCode(err); code == cli.ExitUsage {
		return err
	}
	r := &report.Report{Command: command, Stopped: true, Problems: cli.Problems(err)}
	if out = onlyFiles(out); out == nil {
		return err
	}
	written := a.WriteFailure(out, r, func(w io.Writer, format string, r *report.Report) (bool, error) {
		switch format {
		case "json":
			return true, report.WriteError(w, command, errors.New(cli.Masked(err.Error())), r.Problems)
		case "github":
			return true, report.WriteFailureComment(w, command, r.Problems)
		case "html":
			return true, report.WriteFailurePage(w, command, r.Problems)
		}
		return false, nil
	})
	return errors.Join(err, written, a.Summary(out, func(w io.Writer, _ *term.Output) error {
		return report.WriteFailureComment(w, command, r.Problems)
	}))
}

// onlyFiles leaves out objects: a failure there would keep the next run from writing its
// report. It returns nil if nothing is left.
func onlyFiles(out *term.Outputs) *term.Outputs {
	local := *out
	local.List = slices.DeleteFunc(slices.Clone(out.List), func(o term.Output) bool { return objects.Is(o.File) })
	if len(local.List) == 0 {
		return nil
	}
	return &local
}
