package operation

import (
	"path"
	"slices"
	"strings"
)

// Input with more lines, or with longer ones, is data, not answers.
const (
	maxAnswers     = 12
	maxAnswerBytes = 40
)

// Consents reports whether a text is a few short lines, one of which is one of the words for yes. A program reads them as the
// answers to its questions.
func Consents(text string, yes []string) bool {
	lines, found := strings.Split(strings.TrimRight(text, "\r\n"), "\n"), false
	for _, line := range lines[:min(len(lines), maxAnswers)] {
		line = strings.ToLower(strings.Trim(line, " \t\r"))
		if len(line) > maxAnswerBytes {
			return false
		}
		found = found || slices.Contains(yes, line)
	}
	return found && len(lines) <= maxAnswers
}

// AnyPart reports whether one of some words is a part of one of the names: deploy.sh, db:migrate.
func AnyPart(names, words []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		parts := strings.FieldsFunc(strings.ToLower(path.Base(name)), func(r rune) bool { return r < 'a' || r > 'z' })
		return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(words, p) })
	})
}
