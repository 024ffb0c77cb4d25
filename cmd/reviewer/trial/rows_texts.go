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

// tokenJobs makes a test of each text that a row of a token has as an example.
func (t *trial) tokenJobs(set *rows.Set) []job {
	return textJobs(t, set, rows.TokensFolder, func(e rows.Entry[rows.Token]) []textExample {
		var list []textExample
		if e.Row.Examples == nil {
			return nil
		}
		for _, text := range e.Row.Examples.Match {
			list = append(list, textExample{text, func() (string, error) { return classify.TryToken(set, e.Names[0], text, true) }})
		}
		for _, text := range e.Row.Examples.NoMatch {
			list = append(list, textExample{text, func() (string, error) { return classify.TryToken(set, e.Names[0], text, false) }})
		}
		return list
	})
}

// wordJobs makes a test of each text that a list of words has as an example.
func (t *trial) wordJobs(set *rows.Set) []job {
	return textJobs(t, set, rows.WordsFolder, func(e rows.Entry[rows.WordList]) []textExample {
		var list []textExample
		for _, text := range e.Row.Examples {
			list = append(list, textExample{text, func() (string, error) {
				if !e.Row.Holds(text) {
					return "it contains none of the words of the list", nil
				}
				return "", nil
			}})
		}
		return list
	})
}

// textExample is a string and a function that returns what is wrong with it; empty:
// nothing.
type textExample struct {
	text string
	try  func() (wrong string, err error)
}

// textJobs makes tests of the examples of the rows of a folder. Those of other
// layers are tested with their layer.
func textJobs[T any](t *trial, set *rows.Set, folder string, examples func(rows.Entry[T]) []textExample) []job {
	entries, err := rows.All[T](set, folder)
	if err != nil {
		return nil // reported when the policy was read
	}
	var all []job
	for _, e := range entries {
		if e.Place.Layer != t.bundle().Layer {
			continue
		}
		for i, ex := range examples(e) {
			file, about := t.file(e.Place.File), strings.Join(e.Names, " ")
			name := fmt.Sprintf("%s/%s/%d", t.name(file), about, i+1)
			all = append(all, job{file: file, kind: kindRow, about: about, line: e.Place.Line, name: name,
				run: func(context.Context, *trial) report.Test { return ex.run() }})
		}
	}
	return all
}

func (ex textExample) run() report.Test {
	wrong, err := ex.try()
	switch {
	case err != nil:
		return report.Test{Status: report.Error, Message: err.Error()}
	case wrong != "":
		return report.Test{Status: report.Fail, Message: fmt.Sprintf("%s: %s", engine.ClipJSON(ex.text, 200), wrong)}
	}
	return report.Test{Status: report.Pass}
}
