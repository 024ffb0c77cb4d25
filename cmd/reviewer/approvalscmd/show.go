package approvalscmd

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/spf13/cobra"
)

func showCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a question: the call, its effects, what it would write, and why the policy asks",
		Long: "Shows everything that an answer is about. Characters that are invisible, or that\n" +
			"change the order of others, are escaped (\\u202e). The last line has the beginning of the\n" +
			"question's digest: `reviewer approvals approve ID --digest DIGEST` answers only that.",
		Example: "  reviewer approvals show f8dc9b3b-35",
		Args:    cli.Needs(questionID()),
		RunE: func(_ *cobra.Command, args []string) error {
			q, err := open(a)
			if err != nil {
				return err
			}
			r, err := waiting(q, args[0])
			if err != nil {
				return err
			}
			d := shownDocument{Request: r, Hidden: term.Hidden(r.Action), Changes: ChangesOf(q.Log, &r)}
			return out.Result(a.Stdout, d, func(w io.Writer) {
				p := pageOf(a, &out)
				printRequest(p, &d, time.Now())
				_, _ = w.Write(p.Bytes()) // into memory
			})
		},
	}
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// shownDocument is a question, and what is known about it now.
type shownDocument struct {
	approval.Request
	Hidden  []string `json:"hidden,omitempty"`  // invisible characters of the action, such as U+202E
	Changes []Change `json:"changes,omitempty"` // what the call would change in files, compared with what they contain now
}

func pageOf(a *cli.App, out *term.Output) term.Page {
	return term.Page{Buffer: &bytes.Buffer{}, Paint: a.Paint(out), Width: a.Columns(out)}
}

func hiddenNote(list []string) string {
	return "contains characters that are invisible, or that reorder others: " + strings.Join(list, ", ")
}

// printRequest prints a question in the order in which a person needs it: what would run, why
// the policy asks, what it would do, what the session is about.
func printRequest(p term.Page, d *shownDocument, now time.Time) {
	r := &d.Request
	p.Line(term.Plain(r.ID+"  "), term.Coloured(left(r, now), leftColour(r, now)),
		term.Plain("  until "+time.UnixMilli(r.Until).Format("15:04:05")))
	printCall(p, d)
	p.Line()
	p.Line(term.Coloured("digest "+r.Digest[:min(len(r.Digest), shownDigest)], term.Faint))
}

// printCall prints a call without when it was made.
func printCall(p term.Page, d *shownDocument) {
	r := &d.Request
	p.Paragraph(term.Bold, r.Tool+" "+r.Action)
	if len(d.Hidden) > 0 {
		p.Paragraph(term.Bad, hiddenNote(d.Hidden))
	}
	p.Paragraph(term.Faint, whereOf(r))
	printWhy(p, r)
	printEffects(p, r)
	for _, c := range d.Changes {
		c.print(p)
	}
	printSession(p, r)
	items(p, "Not shown here", r.Unseen)
}

// shownDigest is how many digits of a digest people see, and need to give.
const shownDigest = 16

func whereOf(r *approval.Request) string {
	text := "in " + r.CWD + ", " + sessionLine(r)
	if r.Agent != "" && r.Agent != engine.MainAgent {
		text += ", agent " + r.Agent
	}
	return text + term.After(", mode ", r.Mode)
}

func head(p term.Page, text string) {
	p.Line()
	p.Line(term.Plain(text + ":"))
}

func items(p term.Page, title string, list []string) {
	if len(list) == 0 {
		return
	}
	head(p, title)
	for _, text := range list {
		p.Field("  -", 4, "", text)
	}
}

func printWhy(p term.Page, r *approval.Request) {
	items(p, "Why the policy asks", r.Reasons)
	for _, rule := range r.Rules {
		p.Field("    rule", 11, term.VerdictColour(string(rule.Decision)), rule.ID+": "+string(rule.Decision)+term.After(", ", rule.Severity))
	}
	if r.Risk != nil {
		text := fmt.Sprintf("%.2g %s%s", r.Risk.Score, r.Risk.Level, term.After(": ", strings.Join(r.Risk.Factors, ", ")))
		p.Field("    risk", 11, term.LevelColour(r.Risk.Level), text)
	}
	for _, text := range r.Safer {
		p.Field("    safer", 11, "", text)
	}
}

func printEffects(p term.Page, r *approval.Request) {
	head(p, "What it would do")
	for i := range r.Effects {
		p.Field("  -", 4, "", EffectText(&r.Effects[i]))
	}
	for _, s := range r.Signals {
		p.Field("  -", 4, term.Warn, "signal: "+strings.ReplaceAll(string(s), "_", " "))
	}
	for _, o := range r.Opaque {
		p.Field("  -", 4, term.Warn, "not understood: "+o.Reason+term.After(" ", o.Where))
	}
	if r.Reversible {
		p.Line(term.Coloured("  It can be undone.", term.Good))
	} else {
		p.Line(term.Coloured("  It cannot be undone, or only in part.", term.Bad))
	}
}

// EffectText describes one effect, and how it can be undone.
func EffectText(e *engine.Effect) string {
	text := doesText(e)
	for _, trait := range []struct {
		holds bool
		word  string
	}{
		{e.Recursive, "everything in it"}, {e.Forced, "forced"}, {e.Privileged, "with elevated privileges"},
		{e.Egress, "data leaves this machine"}, {e.Persistence, "outlives the session"},
	} {
		if trait.holds {
			text += ", " + trait.word
		}
	}
	return text + term.After("; ", undoText(e.Reversibility))
}

// doesText describes what an effect does to its target.
func doesText(e *engine.Effect) string {
	verb, target := strings.ReplaceAll(e.Verb, "_", " "), targetOf(e)
	switch e.Kind {
	case engine.EffectNetwork:
		return verb + cmp.Or(map[string]string{"send": " to ", "connect": " to ", "fetch": " from "}[e.Verb], " ") + target + " (network)"
	case engine.EffectSystemCall:
		return verb + " " + target + " (system)"
	case engine.EffectProcess:
		return verb + " " + target + " (process)"
	case engine.EffectResource:
		return verb + " " + target + " (resources)"
	}
	return verb + " " + target
}

func targetOf(e *engine.Effect) string {
	target := e.Short
	if target == "" {
		target = e.Target
	}
	if target == "" {
		target = "(not known in advance)"
	}
	return target + term.After(" on ", e.Host)
}

func undoText(r engine.Reversibility) string {
	switch r {
	case "R1":
		return "the tool can undo it"
	case "R2":
		return "version control can undo it"
	case "R3":
		return "undoing it has a cost"
	case "R4":
		return "it cannot be undone from this machine"
	case "R5":
		return "it can never be undone"
	}
	return ""
}

func printSession(p term.Page, r *approval.Request) {
	if r.Goal != "" {
		head(p, "What the user asked for")
		p.Field("", 4, "", r.Goal)
	}
	items(p, "What the session did before", r.Before)
}
