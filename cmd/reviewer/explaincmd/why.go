// Package explaincmd explains decisions: `reviewer audit why` explains a record,
// `reviewer policy explain` what a policy decides about a call; it also has the
// descriptions of records and effects that other commands show.
//
// Out of scope: deciding. What it shows is in the record, or in the result of
// the policy.
package explaincmd

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

// AuditWhyCommand is `reviewer audit why`.
func AuditWhyCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "why [ID]",
		Short: "Explain one decision: what the call means, the scores, the rules that fired",
		Long: "ID is a record's id, or a session's id or a prefix of it, or last, the latest session. Of a session it explains the\n" +
			"newest call that was not simply allowed, or the newest one if all were; the text says if calls came after it.",
		Example: "  reviewer audit why\n  reviewer audit why f8dc9b3b-35",
		Args:    cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			r, err := a.Find(store, cli.OrLast(args))
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error {
				if out.Format == "json" {
					return term.WriteDocument(w, r)
				}
				later, err := allowedLater(a, r, cli.OrLast(args))
				if err != nil {
					return err
				}
				explain(w, a.Paint(&out), r, later)
				if err := explainExceptions(cmd.Context(), a, w, store, r); err != nil {
					return err
				}
				return explainOutcome(w, store, r)
			})
		},
	}
	out.Flags(cmd, "text", "json")
	return cmd
}

// allowedLater says which calls came after the one that was chosen of a session; empty: none, or a person named the record.
func allowedLater(a *cli.App, chosen *engine.Record, selector string) (string, error) {
	store, s, err := a.Session(selector)
	if err != nil {
		return "", err
	}
	if _, err := store.Find(selector); err == nil {
		return "", nil
	}
	n, latest := 0, ""
	for r, err := range store.Records(s.Key, chosen.N) {
		if err != nil {
			return "", err
		}
		if r.Kind == engine.KindPre && r.N > chosen.N {
			n, latest = n+1, r.ID()
		}
	}
	if n == 0 {
		return "", nil
	}
	return fmt.Sprintf("This is the newest call of session %s that was not simply allowed. %s after it: `reviewer audit why %s` explains the "+
		"latest.", chosen.Session, engine.Counted(n, "call was allowed", "calls were allowed"), latest), nil
}

// explain prints a record for a person who wants to know why.
func explain(w io.Writer, p term.Paint, r *engine.Record, later string) {
	word, what, _ := Summary(r)
	fmt.Fprintf(w, "%s  %s  %s\n%s\n", r.ID(), term.Clock(r.T), p.Verdict(word), term.OneLine(what, 400))
	if later != "" {
		fmt.Fprintln(w, later)
	}
	if r.Decision != nil {
		explainDecision(w, p, r.Decision)
	}
	if r.Answer != nil && r.Answer.Failure != "" {
		fmt.Fprintf(w, "\nNo decision was made, because of an error: %s\n", r.Answer.Failure)
	}
	if r.Rewritten != nil {
		explainForm(w, p, r)
	}
	if r.Action != nil {
		ExplainAction(w, "What the call means", r.Action)
	}
	if r.By != nil {
		fmt.Fprintf(w, "\nDecided by policy %.16s… in environment %.12s…; `reviewer audit replay %s` recomputes it.\n",
			r.By.Policy, r.By.Env, r.Session)
	}
}

func explainDecision(w io.Writer, p term.Paint, d *engine.Decision) {
	fmt.Fprintf(w, "\nPolicy says %s", p.Verdict(string(d.Decision)))
	if d.Enforced != d.Decision {
		fmt.Fprintf(w, ", answered %s since enforcement is observe", p.Verdict(string(d.Enforced)))
	}
	fmt.Fprintf(w, ", confidence %.2f", d.Confidence)
	if d.Explanation != "" {
		fmt.Fprintf(w, " (%s)", d.Explanation)
	}
	fmt.Fprintln(w, ".")
	for _, reason := range d.Reasons {
		fmt.Fprintf(w, "  - %s\n", term.OneLine(reason, 300))
	}
	for _, r := range d.Rules {
		fmt.Fprintf(w, "  rule %s: %s, %s%s\n", r.ID, p.Verdict(string(r.Decision)), r.Severity, softened(r))
	}
	if d.Intervention != nil {
		fmt.Fprintf(w, "  intervention %s\n", made(d.Intervention))
	}
	for _, e := range d.Errors {
		fmt.Fprintf(w, "  %s rule %s: %s\n", p.Verdict("fail"), e.Rule, term.OneLine(e.Message, 300))
	}
	if d.Risk != nil {
		fmt.Fprintf(w, "  risk %.4g (%s)%s\n", d.Risk.Score, d.Risk.Level, term.After(": ", strings.Join(d.Risk.Factors, ", ")))
	}
	if d.Rationality != nil {
		fmt.Fprintf(w, "  rationality %.4g (%s):", d.Rationality.Score, d.Rationality.Level)
		for _, c := range slices.Sorted(maps.Keys(d.Rationality.Components)) {
			fmt.Fprintf(w, " %s %.4g", c, d.Rationality.Components[c])
		}
		fmt.Fprintln(w)
		for _, text := range d.Rationality.Suggestions {
			fmt.Fprintf(w, "  better: %s\n", term.OneLine(text, 300))
		}
	}
	for _, alt := range d.Alternatives {
		fmt.Fprintf(w, "  safer: %s\n", term.OneLine(alt, 300))
	}
}

// made describes an intervention: its kind, what it is about, and what an organisation's own kind does.
func made(i *engine.Intervention) string {
	text := i.Kind + term.After(" about ", i.Issue) + term.After(": ", strings.Join(i.Does, ", "))
	if i.Asks {
		text += " (a person is asked to do the rest)"
	}
	return text
}

func softened(r engine.RuleResult) string {
	if r.Enforcement == "" {
		return ""
	}
	return " (" + r.Enforcement + ")"
}

// explainForm prints the modified form of a call, with the decision about it, or
// why the call has none.
func explainForm(w io.Writer, p term.Paint, r *engine.Record) {
	form := r.Rewritten
	if form.Action == nil {
		fmt.Fprintf(w, "\nIt could not be modified, so the answer was %s: %s\n", p.Verdict(string(engine.AnswerOf(r).Effect)),
			term.OneLine(form.Failure, 300))
		explainOperations(w, r)
		return
	}
	fmt.Fprintf(w, "\nThe answer was a modified form:\n  %s\n", term.OneLine(form.Action.Resource, 400))
	explainOperations(w, r)
	fmt.Fprintf(w, "Decision on that form: %s%s.\n", p.Verdict(string(form.Decision)), term.After(": ", strings.Join(form.Rules, ", ")))
	ExplainAction(w, "What the modified form means", form.Action)
}

// explainOperations prints what policy asked to be changed, one per line and
// with the indexes that policy uses.
func explainOperations(w io.Writer, r *engine.Record) {
	for _, o := range r.Decision.Rewrite {
		where := ""
		if o.Op != engine.OpSetField {
			where = fmt.Sprintf(" in command %d", o.Command)
		}
		if act := r.Action; where != "" && act != nil && o.Command >= 0 && o.Command < len(act.Commands) {
			where += " (" + act.Commands[o.Command].Name + ")"
		}
		fmt.Fprintf(w, "  %s\n", term.OneLine(operation(o)+where, 200))
	}
}

// operation describes an operation without its place.
func operation(o engine.Operation) string {
	switch {
	case o.Op == engine.OpSetField:
		return fmt.Sprintf("%s %s to %v", o.Op, o.Field, o.Value)
	case o.Flag == "":
		return fmt.Sprintf("%s %d: %v", o.Op, o.Arg, o.Value)
	case o.Value != nil:
		return fmt.Sprintf("%s %s=%v", o.Op, o.Flag, o.Value)
	}
	return o.Op + " " + o.Flag
}

// ExplainAction prints the effects of a call.
func ExplainAction(w io.Writer, title string, act *engine.Action) {
	fmt.Fprintf(w, "\n%s: %s", title, act.Name)
	for _, t := range act.Types {
		fmt.Fprintf(w, ", %s", t)
	}
	fmt.Fprintln(w)
	for _, e := range act.Effects {
		fmt.Fprintf(w, "  %s %s %s%s\n", e.Kind, e.Verb, term.OneLine(nameOf(e), 120), traits(e))
	}
	for _, s := range act.Signals {
		fmt.Fprintf(w, "  signal %s\n", s)
	}
	for _, id := range slices.Sorted(maps.Keys(act.Detected)) {
		fmt.Fprintf(w, "  found %s %s\n", id, engine.Counted(act.Detected[id], "time", "times"))
	}
	for _, o := range act.Opaque {
		fmt.Fprintf(w, "  not understood: %s %s\n", o.Reason, term.OneLine(o.Where, 120))
	}
}

func nameOf(e engine.Effect) string {
	if e.Host != "" {
		alone := e
		alone.Host = ""
		return nameOf(alone) + " on " + e.Host
	}
	switch {
	case e.Target == "":
		return "(not known in advance)"
	case e.Certainty == engine.CertaintyPrefix:
		return e.Target + "… (the rest is not known in advance)"
	}
	return e.Target
}

func traits(e engine.Effect) string {
	var words []string
	for word, holds := range map[string]bool{
		"recursive": e.Recursive, "forced": e.Forced, "privileged": e.Privileged, "egress": e.Egress,
		"persistent": e.Persistence, "this machine": e.Loopback,
	} {
		if holds {
			words = append(words, word)
		}
	}
	for _, word := range []string{string(e.Location), string(e.Class), e.Git, string(e.Reversibility)} {
		if word != "" {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return ""
	}
	slices.Sort(words)
	return " [" + strings.Join(words, ", ") + "]"
}
