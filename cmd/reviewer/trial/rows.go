package trial

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// rowJobs makes a test of each command that a row of a program has for an
// example. Those of other layers are tested with their layer.
func (t *trial) rowJobs() []job {
	b := t.bundle()
	if b == nil || len(b.Rows) == 0 {
		return nil
	}
	set := classify.NewRows(t.effective.RowLayers())
	entries, err := rows.All[rows.Program](set, rows.ProgramsFolder)
	if err != nil {
		return []job{{file: t.file(rows.ProgramsFolder), kind: kindRow, name: t.name(rows.ProgramsFolder),
			run: func(context.Context, *trial) report.Test {
				return report.Test{Status: report.Error, Message: err.Error()}
			}}}
	}
	var all []job
	for _, e := range entries {
		if e.Place.Layer != b.Layer {
			continue
		}
		for i, ex := range examplesOf(e.Row) {
			all = append(all, t.rowJob(set, e, ex, i))
		}
	}
	return append(all, append(t.tokenJobs(set), t.wordJobs(set)...)...)
}

// examplesOf lists the examples of a row and of the rows of its subcommands.
func examplesOf(p rows.Program) []rows.Example {
	all := p.Examples
	for _, name := range p.SubcommandNames() {
		all = append(all[:len(all):len(all)], examplesOf(p.Subcommands[name])...)
	}
	return all
}

func (t *trial) rowJob(set *rows.Set, e rows.Entry[rows.Program], ex rows.Example, i int) job {
	file, about := t.file(e.Place.File), e.Names[0]
	return job{
		file: file, kind: kindRow, about: about, line: e.Place.Line, name: fmt.Sprintf("%s/%s/%d", t.name(file), about, i+1),
		run: func(ctx context.Context, _ *trial) report.Test { return tryRow(ctx, set, ex) },
	}
}

func tryRow(ctx context.Context, set *rows.Set, ex rows.Example) report.Test {
	test := report.Test{Status: report.Pass}
	wrong, found, err := classify.TryExample(ctx, set, ex)
	switch {
	case err != nil:
		test.Status, test.Message = report.Error, err.Error()
	case len(wrong) > 0:
		test.Status, test.Message = report.Fail, fmt.Sprintf("`%s`: %s", engine.ClipJSON(ex.Run, 200), strings.Join(wrong, "; "))
		test.Expected, test.Got = strings.Join(ex.Effects, "\n"), strings.Join(found, "\n")
	}
	return test
}
