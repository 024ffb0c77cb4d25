package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// rowJobs makes a test of each example of rows. Those of other layers are tested with
// their layer.
func (t *trial) rowJobs() []job {
	b := t.bundle()
	if b == nil || len(b.Rows) == 0 {
		return nil
	}
	set := classify.NewRows(t.effective.RowLayers())
	return slices.Concat(
		rowJobs(t, set, rows.ProgramsFolder, func(_ string, row rows.Program) []example {
			var all []example
			for _, ex := range examplesOf(row) {
				all = append(all, example{ex.Run, ex.Effects, func(ctx context.Context) ([]string, []string, error) {
					return classify.TryExample(ctx, set, ex)
				}})
			}
			return all
		}),
		rowJobs(t, set, rows.ToolsFolder, func(name string, row rows.Tool) []example {
			var all []example
			for _, ex := range row.Examples {
				all = append(all, example{fmt.Sprint(ex.Args), ex.Effects, func(ctx context.Context) ([]string, []string, error) {
					return classify.TryTool(ctx, set, name, ex)
				}})
			}
			return all
		}),
		rowJobs(t, set, rows.PlacesFolder, func(name string, row rows.Paths) []example { return pathExamples(set, name, row.Examples) }),
		t.tokenJobs(set), t.wordJobs(set))
}

// example is one example of a row: its name, the expected result, and a function that
// describes a difference.
type example struct {
	name    string
	effects []string
	try     func(context.Context) (wrong, found []string, err error)
}

// rowJobs makes the tests of the rows of one folder.
func rowJobs[T any](t *trial, set *rows.Set, folder string, examples func(name string, row T) []example) []job {
	entries, err := rows.All[T](set, folder)
	if err != nil {
		return []job{{file: t.file(folder), kind: kindRow, name: t.name(folder),
			run: func(context.Context, *trial) report.Test {
				return report.Test{Status: report.Error, Message: err.Error()}
			}}}
	}
	var all []job
	for _, e := range entries {
		if e.Place.Layer != t.bundle().Layer {
			continue
		}
		file, about := t.file(e.Place.File), e.Names[0]
		for i, ex := range examples(about, e.Row) {
			name := fmt.Sprintf("%s/%s/%d", t.name(file), about, i+1)
			all = append(all, job{file: file, kind: kindRow, about: about, line: e.Place.Line, name: name,
				run: func(ctx context.Context, _ *trial) report.Test { return ex.test(ctx) }})
		}
	}
	return all
}

// examplesOf lists the examples of a row and of the rows of its subcommands.
func examplesOf(p rows.Program) []rows.Example {
	all := p.Examples
	for _, name := range p.SubcommandNames() {
		all = append(all[:len(all):len(all)], examplesOf(p.Subcommands[name])...)
	}
	return all
}

// pathExamples are the paths in and outside the class of a row, according to its
// examples.
func pathExamples(set *rows.Set, class string, examples *rows.PathExamples) []example {
	if examples == nil {
		return nil
	}
	var all []example
	for i, path := range slices.Concat(examples.Match, examples.NoMatch) {
		should := i < len(examples.Match)
		all = append(all, example{name: path, try: func(context.Context) (wrong, found []string, err error) {
			switch is := classify.TryPath(set, class, path); {
			case should && !is:
				wrong = []string{"it is not in the class " + class}
			case is && !should:
				wrong = []string{"it is in the class " + class + ", but should not be"}
			}
			return wrong, nil, nil
		}})
	}
	return all
}

func (x example) test(ctx context.Context) report.Test {
	test := report.Test{Status: report.Pass}
	wrong, found, err := x.try(ctx)
	switch {
	case err != nil:
		test.Status, test.Message = report.Error, err.Error()
	case len(wrong) > 0:
		test.Status, test.Message = report.Fail, fmt.Sprintf("`%s`: %s", engine.ClipJSON(x.name, 200), strings.Join(wrong, "; "))
		test.Expected, test.Got = strings.Join(x.effects, "\n"), strings.Join(found, "\n")
	}
	return test
}
