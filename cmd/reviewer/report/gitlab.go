package report

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// gitlabIssue is what GitLab reads from a code quality report, and shows next
// to the lines of a merge request.
type gitlabIssue struct {
	Description string         `json:"description"`
	Check       string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
	End   int `json:"end,omitempty"`
}

// writeGitLab writes a list of issues, each with the fingerprint that sarif gives it:
// with it, GitLab shows the findings that a merge request adds and fixes.
func writeGitLab(b *bytes.Buffer, r *Report, o Options) error {
	issues, prints, place := []gitlabIssue{}, fingerprints{o: o}, r.anyFile()
	for _, f := range r.findings() {
		f.File = cmp.Or(f.File, place)
		id := cmp.Or(f.Rule, "policy.problem")
		issues = append(issues, gitlabIssue{
			Description: cmp.Or(oneBlank(f.Text), id), Check: id, Fingerprint: prints.of(f), Severity: gitlabSeverity(f.Level),
			Location: gitlabLocation{path.Clean(o.path(f.File)), gitlabLines{max(1, f.Line), f.Last}},
		})
	}
	for _, i := range r.Ignored {
		f := i.annotation().finding(i.Code, i.Message)
		issues = append(issues, gitlabIssue{
			Description: oneBlank("ignored (" + i.Reason + "): " + f.Text), Check: i.Code, Fingerprint: prints.of(f), Severity: "info",
			Location: gitlabLocation{path.Clean(o.path(cmp.Or(f.File, place))), gitlabLines{max(1, f.Line), f.Last}},
		})
	}
	return term.WriteJSON(b, issues)
}

func gitlabSeverity(level string) string {
	if level == "error" {
		return "major"
	}
	return "minor"
}

// oneBlank returns a string on one line with single blanks.
func oneBlank(s string) string { return strings.Join(strings.Fields(term.PrintableLine(s)), " ") }
