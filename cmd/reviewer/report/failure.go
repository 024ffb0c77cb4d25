package report

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// ErrorDocument is the output of -f json if a command could not run:
// schemas/error.json describes it.
type ErrorDocument struct {
	V        int       `json:"v"`                  // of the format, now 1
	Command  string    `json:"command"`            // such as "audit show"
	Error    string    `json:"error"`              // as on standard error
	Problems []Problem `json:"problems,omitempty"` // if the error has places in files
}

// WriteError writes an ErrorDocument.
func WriteError(w io.Writer, command string, err error, problems []Problem) error {
	d := ErrorDocument{V: documentVersion, Command: command, Error: err.Error()}
	for _, p := range problems {
		if p.File != "" {
			d.Problems = append(d.Problems, p)
		}
	}
	return term.WriteJSON(w, d)
}

// WriteFailurePage writes a page with the reason why there is no report.
func WriteFailurePage(w io.Writer, command string, problems []Problem) error {
	title := html.EscapeString("reviewer " + command + " could not run")
	_, err := fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"+
		"<meta name=\"color-scheme\" content=\"light dark\"><title>%s</title></head>\n<body>\n<h1>%s</h1>\n<pre>%s</pre>\n</body></html>\n",
		title, title, html.EscapeString(FailureText(problems)))
	return err
}

// WriteFailureComment writes a comment for a pull request with the reason why there is
// no report.
func WriteFailureComment(w io.Writer, command string, problems []Problem) error {
	text := strings.ReplaceAll(FailureText(problems), "```", "'''")
	_, err := fmt.Fprintf(w, "### `reviewer %s` could not run\n\n```text\n%s\n```\n", command, text)
	return err
}

// FailureText lists problems, a line each, with their places.
func FailureText(problems []Problem) string {
	var lines []string
	for _, p := range problems {
		line := p.Text()
		if at := p.Place.String(); at != "" {
			line = at + ": " + line
		}
		lines = append(lines, term.Printable(line))
	}
	return strings.Join(lines, "\n")
}
