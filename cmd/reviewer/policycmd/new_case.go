package policycmd

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/skeleton"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/spf13/cobra"
)

// wantedCase is the flags of `policy new case`.
type wantedCase struct {
	name, dir, rule, bash, to string
	out                       term.Output
}

func policyNewCaseCommand(a *cli.App) *cobra.Command {
	var c wantedCase
	cmd := &cobra.Command{
		Use:   "case NAME",
		Short: "Scaffold a case: a call, and what the policy decides about it today",
		Long: "The case expects what the policy decides now. With --rule it expects that rule to\n" +
			"fire; if the rule does not fire yet, the case is marked todo: it runs, but\n" +
			"counts neither as passed nor as failed until the mark is removed.",
		Example: "  reviewer policy new case 'a push to main' --bash 'git push origin main' --in policy\n" +
			"  reviewer policy new case 'drop in a script' --rule shop.drop --bash 'psql -f drop.sql'",
		Args: cli.Needs(cli.Argument{Name: "NAME", What: "a few words, such as 'a push to main'"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.name = strings.TrimSpace(args[0])
			return newCase(cmd.Context(), a, c)
		},
	}
	c.out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&c.dir, "in", "", "policy folder (default: the current one, else ./"+usualPolicy+")")
	cmd.Flags().StringVar(&c.rule, "rule", "", "id of the rule that is expected to fire")
	cmd.Flags().StringVar(&c.bash, "bash", "", "the command of the call (default: an example of the rule, else git status)")
	cmd.Flags().StringVar(&c.to, "to", "", "file in the policy to write the case to, such as cases/git/git.yaml")
	return cmd
}

func newCase(ctx context.Context, a *cli.App, want wantedCase) error {
	u, err := openPolicy(&want.dir)
	if err != nil {
		return err
	}
	if err := want.check(u); err != nil {
		return err
	}
	c, err := u.decided(ctx, want)
	if err != nil {
		return err
	}
	text, err := cases.Write(nil, c)
	if err != nil {
		return err
	}
	if err := u.add([]skeleton.File{{Name: want.to, Text: string(text), Adds: true}}); err != nil {
		return err
	}
	return finish(ctx, a, &want.out, u, fmt.Sprintf("reviewer policy test %s --run %s", want.dir, want.to))
}

// check validates the flags, and fills in the destination.
func (w *wantedCase) check(u *policyFolder) error {
	if w.name == "" {
		return cli.Usage("the case has no name; expected a few words, such as 'a push to main'")
	}
	if w.rule != "" {
		if err := knownRule("--rule: ", w.rule, u.ruleIDs()); err != nil {
			return err
		}
	}
	if w.bash == "" {
		w.bash = u.exampleOf(w.rule)
	}
	if w.to == "" {
		w.to = skeleton.CasesFile(u.familyOf(w.rule))
	}
	w.to = filepath.ToSlash(filepath.Clean(w.to))
	if !strings.HasPrefix(w.to, "cases/") || !slices.Contains([]string{".yaml", ".yml"}, path.Ext(w.to)) {
		return cli.Usage("--to %s: expected a file of the policy under cases/, such as %s", w.to, skeleton.CasesFile(u.familyOf(w.rule)))
	}
	return nil
}

// exampleOf is the command of a rule's first example.
func (u *policyFolder) exampleOf(rule string) string {
	const usual = "git status"
	for _, r := range u.effective.Rules() {
		if r.ID != rule || len(r.Examples.Match) == 0 {
			continue
		}
		event := r.Examples.Match[0]
		args, _ := event["args"].(map[string]any)
		for _, v := range []any{event["Bash"], args["command"]} {
			if command, ok := v.(string); ok {
				return command
			}
		}
	}
	return usual
}

// familyOf returns the folder for cases of a rule: that of its row in this layer, else
// the family in its id.
func (u *policyFolder) familyOf(rule string) string {
	for _, r := range u.effective.Layers[len(u.effective.Layers)-1].Rules {
		if r.ID == rule {
			file, _, _ := r.Spot("id", 0, 0)
			return strings.TrimSuffix(path.Base(file), path.Ext(file))
		}
	}
	if rule == "" {
		return "more"
	}
	return skeleton.Family(rule)
}

// decided makes the case, with the policy's current decision.
func (u *policyFolder) decided(ctx context.Context, want wantedCase) (cases.Case, error) {
	c, err := callCase(want.name, want.bash, &cases.Expect{Decision: engine.Allow})
	if err != nil {
		return c, err
	}
	result, err := trial.NewRunner(cli.Environment(), u.effective.Layers...).Run(ctx, c)
	if err != nil {
		return c, err
	}
	if len(result.Records) == 0 || result.Records[len(result.Records)-1].Decision == nil {
		return c, errors.New("the policy makes no decision about this call")
	}
	d := result.Records[len(result.Records)-1].Decision
	expect := &cases.Expect{Decision: d.Decision, Rules: d.RuleIDs()}
	if len(expect.Rules) == 0 {
		expect.RulesExactly, expect.Rules = []string{}, nil
	}
	if want.rule != "" {
		expect = &cases.Expect{Decision: u.decisionOf(want.rule), Rules: []string{want.rule}}
		if slices.Contains(d.RuleIDs(), want.rule) {
			expect.Decision = d.Decision
		} else {
			c.Todo = fmt.Sprintf("%s does not fire here yet; the decision is %s", want.rule, d.Decision)
		}
	}
	c.Events[0].Expect = expect
	return c, nil
}

func (u *policyFolder) decisionOf(rule string) engine.Verdict {
	i := slices.IndexFunc(u.effective.Rules(), func(r bundles.Rule) bool { return r.ID == rule })
	return engine.Verdict(u.effective.Rules()[i].Decision)
}

// callCase is the case of one command.
func callCase(name, command string, expect *cases.Expect) (cases.Case, error) {
	c := cases.Case{Name: name, Events: []cases.Event{{Tool: "Bash", Args: map[string]any{"command": command}, Expect: expect}}}
	text, err := cases.Write(nil, c)
	if err != nil {
		return c, err
	}
	list, err := cases.Parse(name+".yaml", text) // with all defaults
	if err != nil {
		return c, err
	}
	return list[0], nil
}
