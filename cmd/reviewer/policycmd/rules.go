package policycmd

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/catalogue"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

func policyRulesCommand(a *cli.App) *cobra.Command {
	var dir, family string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "rules [ID]",
		Short: "List the rules, or show one: decision, layer, enforcement, tests, and where its condition is",
		Long: "ENFORCEMENT is the rule's enforcement according to the settings: enforce, warn, observe, or off.\n" +
			"CASES counts the cases that expect it to fire, and those that expect it not to;\n" +
			"for a policy that is not a folder, only the cases of the built-in policy are known.\n" +
			"-f markdown writes a page with all of them. With ID, one rule is shown in full, with the file\n" +
			"and line of its row and of each condition.",
		Example: "  reviewer policy rules --family git\n  reviewer policy rules git_force_push\n  reviewer policy rules --policy ./policy -f json",
		Args:    cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := a.ShownPolicy(cmd.Context(), dir)
			if err != nil {
				return err
			}
			list, err := ofFamily(catalogue.Of(e), family)
			if err != nil {
				return err
			}
			if list, err = withID(list, args); err != nil {
				return err
			}
			at := rego.DecidedAt(e.Modules())
			for i := range list {
				list[i].Conditions = append(list[i].Conditions, at[list[i].ID]...)
			}
			tests, err := casesOfRules(dir)
			if err != nil {
				return err
			}
			if len(args) > 0 && out.Format == "text" {
				return out.Write(a.Stdout, func(w io.Writer) error { return showRule(a, w, &out, list[0], tests[list[0].ID]) })
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return listRules(a, w, &out, list, tests) })
		},
	}
	cli.PolicyVar(cmd.Flags(), &dir, "policy", "", cli.PolicyFlag+" (default: active)")
	cmd.Flags().StringVar(&family, "family", "", "only the rules of this family, such as git")
	out.Flags(cmd, "text", "json", "markdown")
	return cmd
}

func ofFamily(list []catalogue.Entry, family string) ([]catalogue.Entry, error) {
	if family == "" {
		return list, nil
	}
	families := map[string]bool{}
	var some []catalogue.Entry
	for _, r := range list {
		families[r.Family] = true
		if r.Family == family {
			some = append(some, r)
		}
	}
	if len(some) == 0 {
		return nil, cli.Usage("--family: unknown family %s", UnknownOf(family, slices.Sorted(maps.Keys(families))))
	}
	return some, nil
}

// withID returns the rule with an id, if one is given.
func withID(list []catalogue.Entry, args []string) ([]catalogue.Entry, error) {
	if len(args) == 0 {
		return list, nil
	}
	var ids []string
	for i, r := range list {
		if r.ID == args[0] {
			return list[i : i+1], nil
		}
		ids = append(ids, r.ID)
	}
	return nil, cli.Usage("%w", knownRule("", args[0], ids))
}

// showRule writes one rule in full.
func showRule(a *cli.App, w io.Writer, out *term.Output, r catalogue.Entry, n ruleCases) error {
	page := term.Page{Buffer: &bytes.Buffer{}, Paint: a.Paint(out), Width: a.Columns(out)}
	page.Line(term.Coloured(r.ID, term.Bold), term.Plain(": "+r.Title))
	decision := cmp.Or(r.Decision, "finding")
	row := fmt.Sprintf("%s/%s:%d", r.Layer, r.File, r.Line)
	for _, f := range [][2]string{
		{"decision", decision}, {"severity", r.Severity}, {"enforcement", r.Enforcement}, {"harm", r.Harm},
		{"message", r.Message}, {"safer", r.Remediation}, {"description", r.Description}, {"row", row},
		{"condition", strings.Join(r.Conditions, ", ")}, {"tags", strings.Join(r.Tags, ", ")},
		{"references", strings.Join(r.References, ", ")}, {"exceptions", strings.Join(r.Overridable, ", ")},
		{"cases", fmt.Sprintf("%d fire, %d do not", n.Fires, n.Silent)},
	} {
		if f[1] != "" {
			page.Field(f[0], 13, "", f[1])
		}
	}
	_, err := w.Write(page.Bytes())
	return err
}

// ruleCases counts the expectations that name a rule.
type ruleCases struct {
	Fires  int `json:"fires"`
	Silent int `json:"silent"`
}

// casesOfRules counts the cases of the built-in policy, and of the one in a folder.
func casesOfRules(dir string) (map[string]ruleCases, error) {
	base, err := bundles.Default()
	if err != nil {
		return nil, err
	}
	s, err := trial.Load(bundles.DefaultFS(), "", bundles.Base, base)
	if err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	}
	list := s.Cases
	for _, dir := range active.StackParts(dir) {
		if folder, err := active.IsDir(dir); dir == "" || err != nil || !folder { // an archive has no cases
			continue
		}
		layers, err := active.LayersFrom(dir)
		if err != nil {
			return nil, err
		}
		own := layers[len(layers)-1]
		if s, err = trial.Load(os.DirFS(dir), dir, own.Layer, layers...); err != nil {
			return nil, fmt.Errorf("read cases: %w", err)
		}
		if list = append(list, s.Cases...); own.Layer == bundles.Base {
			list = s.Cases
		}
	}
	return countExpected(list), nil
}

func countExpected(list []cases.Case) map[string]ruleCases {
	counts := map[string]ruleCases{}
	seen := map[*cases.Expect]bool{nil: true} // the expectations above a table are in each of its rows
	for _, c := range list {
		for _, e := range c.Events {
			if seen[e.Expect] {
				continue
			}
			seen[e.Expect] = true
			said := map[string]bool{e.Expect.Rule: e.Expect.Rule != ""}
			for _, id := range slices.Concat(e.Expect.Rules, e.Expect.RulesExactly, e.Expect.Found()) {
				said[id] = true
			}
			for id := range said {
				n := counts[id]
				n.Fires++
				counts[id] = n
			}
			for _, id := range slices.Concat(e.Expect.NotRules, e.Expect.NotFindings) {
				n := counts[id]
				n.Silent++
				counts[id] = n
			}
		}
	}
	return counts
}

// ruleDocument is a rule as JSON.
type ruleDocument struct {
	catalogue.Entry
	Cases ruleCases `json:"cases"`
}

func listRules(a *cli.App, w io.Writer, out *term.Output, list []catalogue.Entry, tests map[string]ruleCases) error {
	switch out.Format {
	case "json":
		docs := []ruleDocument{}
		for _, r := range list {
			docs = append(docs, ruleDocument{r, tests[r.ID]})
		}
		return term.WriteList(w, "rules", docs)
	case "markdown":
		_, err := io.WriteString(w, catalogue.Markdown(list))
		return err
	}
	tableOfRules(a, w, out, list, tests)
	return nil
}

func tableOfRules(a *cli.App, w io.Writer, out *term.Output, list []catalogue.Entry, tests map[string]ruleCases) {
	if columns := a.Columns(out); columns > 0 && columns < wideRules {
		narrowRules(term.Page{Buffer: &bytes.Buffer{}, Paint: a.Paint(out), Width: columns}, w, list, tests)
		return
	}
	p := a.Paint(out)
	width := len("RULE")
	for _, r := range list {
		width = max(width, len(r.ID))
	}
	fmt.Fprintf(w, "%s %s %s %s %s %s\n", term.Pad("RULE", width), term.Pad("DECISION", 9), term.Pad("SEVERITY", 9),
		term.Pad("ENFORCEMENT", 11), term.Pad("CASES", 7), "TITLE")
	family := ""
	for _, r := range list {
		if r.Family != family {
			fmt.Fprintf(w, "\n%s\n", p.Colour("1", r.Family))
		}
		family = r.Family
		verdict := cmp.Or(r.Decision, "finding")
		title := r.Title
		if r.Layer != bundles.Base {
			title += " (" + r.Layer + ")"
		}
		n := tests[r.ID]
		fmt.Fprintf(w, "%s %s %s %s %s %s\n", term.Pad(r.ID, width), p.Verdict(term.Pad(verdict, 9)),
			term.Pad(r.Severity, 9), term.Pad(r.Enforcement, 11),
			term.Pad(fmt.Sprintf("%d+%d", n.Fires, n.Silent), 7), title)
	}
	fmt.Fprintf(w, "\n%s\n", term.Counted(len(list), "rule", "rules"))
}

// wideRules is the width from which on a rule has a line with its title next to it.
const wideRules = 140

// narrowRules writes each rule as a paragraph: its id, and below it what it does.
func narrowRules(page term.Page, w io.Writer, list []catalogue.Entry, tests map[string]ruleCases) {
	family := ""
	for _, r := range list {
		if r.Family != family {
			page.Line()
			page.Line(term.Coloured(r.Family, term.Bold))
		}
		family = r.Family
		n, verdict := tests[r.ID], cmp.Or(r.Decision, "finding")
		page.Line(term.Plain(term.Pad(r.ID, 2+term.Width(r.ID))), term.Coloured(verdict, term.VerdictColour(verdict)))
		text := fmt.Sprintf("%s, %s, cases %d+%d: %s", r.Severity, r.Enforcement, n.Fires, n.Silent, r.Title)
		if r.Layer != bundles.Base {
			text += " (" + r.Layer + ")"
		}
		page.Field("", 4, "", text)
	}
	page.Line()
	page.Line(term.Plain(term.Counted(len(list), "rule", "rules")))
	_, _ = w.Write(page.Bytes())
}
