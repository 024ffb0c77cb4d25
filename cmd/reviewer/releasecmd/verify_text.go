package releasecmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
)

// showVerdict writes the result of a check.
func showVerdict(a *cli.App, w io.Writer, v *verifying, doc *trust.Verdict, path string) error {
	if v.out.Format == "json" {
		return term.WriteDocument(w, doc)
	}
	p := a.Paint(&v.out)
	fmt.Fprintf(w, "%s  %s\n", term.OneLine(path, 200), verdictWord(p, doc))
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %s %s\n", term.Pad(name, 10), term.OneLine(fmt.Sprintf(format, args...), 800))
	}
	if doc.Refused() {
		row("because", "%s", doc.Reason)
	}
	if doc.SHA256 != "" {
		row("archive", "sha256:%s", doc.SHA256)
	}
	if doc.Release != nil {
		showRelease(row, doc.Release)
	}
	if doc.Policy != "" {
		row("policy", "%s, compiles", doc.Policy)
	}
	showSigners(row, doc)
	if doc.TrustFile != "" {
		row("trust", "%s, version %d", doc.TrustFile, doc.Trust)
	}
	for _, warning := range doc.Warnings {
		fmt.Fprintf(w, "  %s %s\n", p.Verdict(term.Pad("warn", 10)), term.OneLine(warning, 500))
	}
	if doc.Changes != nil {
		fmt.Fprintln(w)
		policycmd.DiffText(w, p, []string{v.against, path}, *doc.Changes)
	}
	return nil
}

func verdictWord(p term.Paint, doc *trust.Verdict) string {
	switch {
	case doc.Refused():
		return p.Colour("31;1", "refused ["+string(doc.Code)+"]")
	case doc.Unsigned:
		return p.Colour("33;1", "unsigned") + ": there is no trust file, so its origin is unknown"
	}
	return p.Colour("32", "verified")
}

func showRelease(row func(name, format string, args ...any), r *signing.Release) {
	text := fmt.Sprintf("%s %s, sequence %d", r.Name, r.Version, r.Sequence) + term.After(", channel ", r.Channel)
	if r.RollbackOf > 0 {
		text += fmt.Sprintf(", restores sequence %d", r.RollbackOf)
	}
	row("release", "%s", text)
	if r.Created > 0 {
		until := "never expires"
		if r.Expires > 0 {
			until = "expires " + r.Expires.String()
		}
		row("created", "%s, %s", r.Created, until)
	}
	if t := r.Tests; t != nil {
		row("tests", "%d passed, %d todo", t.Passed, t.Todo)
	}
	if s := r.Simulation; s != nil {
		row("simulation", "%s: %d tightened, %d loosened, %d maybe, %d unknown",
			engine.Counted(s.Decisions, "decision", "decisions"), s.Tightened,
			s.Loosened, s.Maybe, s.Unknown)
	}
}

func showSigners(row func(name, format string, args ...any), doc *trust.Verdict) {
	var names []string
	for _, s := range doc.Signers {
		names = append(names, fmt.Sprintf("%s (%.16s)", s.Key, s.ID))
	}
	if len(names) > 0 {
		row("signed by", "%s", strings.Join(names, ", "))
	}
	for _, asked := range doc.Asked {
		row("role", "%s: %d of %d%s", asked.Role, asked.Signed, asked.Threshold, term.After(", since ", asked.Why))
	}
}
