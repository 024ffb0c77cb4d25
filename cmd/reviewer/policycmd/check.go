package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/codes"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/lint"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func policyCheckCommand(a *cli.App) *cobra.Command {
	var out term.Outputs
	var strict, verbose bool
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Report every problem in a policy: Rego, CEL and YAML errors, unknown names, rules that can never fire",
		Long: "A PATH is a policy folder, an archive (.tar.gz) or git:REV:PATH. One whose .manifest has\n" +
			"the root reviewer is a complete policy; any other is a layer on top of the PATH before\n" +
			"it, or else of the built-in policy. The word active means the active policy of this machine,\n" +
			"with all its layers.\n" +
			withoutPath + "\n\n" +
			"All problems are reported at once, each with file:line:col, what was found and what\n" +
			"was expected. With --strict, warnings count as problems unless they are ignored\n" +
			"by a comment (# reviewer:ignore CODE reason) or in the manifest; see\n" +
			"`reviewer policy codes`.\n\n" +
			"Exit codes: 0 no problems, 1 the policy cannot be used, 2 warnings with\n" +
			"--strict, 3 usage error.",
		Example: "  reviewer policy check ./policy\n" +
			"  reviewer policy check ./base ./team --strict -f github -f sarif=check.sarif",
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := out.Read(); err != nil {
				return err
			}
			policies, err := toCheck(cmd.Context(), a, paths)
			if err != nil {
				return writeFailed(a, &out, "policy check", err)
			}
			r, costs := checkPolicies(policies, "")
			err = out.Write(a.Stdout, func(w io.Writer, o *term.Output) error {
				return report.Write(w, o.Format, r, a.ReportOptions(o, verbose))
			})
			if err != nil {
				return err
			}
			if verbose && out.List[0].Format == report.Formats()[0] {
				costs.print(a.Stderr)
			}
			return errors.Join(a.JobSummary(&out, r), checkVerdict(r, strict))
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "treat warnings as problems (exit code 2)")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "also list the most expensive conditions")
	out.Flags(cmd, report.Formats()...)
	return cmd
}

// checkPolicies checks one policy after the other, or one rule of them, and assembles what is
// found.
func checkPolicies(policies [][]lint.Layer, rule string) (*report.Report, checkCosts) {
	start := time.Now()
	r := &report.Report{Command: "policy check"}
	var all checkCosts
	for _, layers := range policies {
		one := lint.Rule(start.UnixMilli(), rule, layers...)
		for _, p := range one.Problems {
			p.Message, p.Found = cli.Masked(p.Message), cli.Masked(p.Found)
			if !slices.Contains(r.Problems, p) {
				r.Problems = append(r.Problems, p)
			}
		}
		for _, i := range one.Ignored {
			i.Message, i.Found, i.Reason = cli.Masked(i.Message), cli.Masked(i.Found), cli.Masked(i.Reason)
			if !slices.Contains(r.Ignored, i) {
				r.Ignored = append(r.Ignored, i)
			}
		}
		for _, c := range one.Costs {
			all = append(all, checkCost{c.ID, c.Part, c.Max, c.Limited})
		}
	}
	r.Rules = codesOf(r)
	r.Sort()
	r.Duration = time.Since(start)
	return r, all
}

// codesOf describes the codes under which something was found.
func codesOf(r *report.Report) []report.Rule {
	var all []report.Rule
	for _, c := range codes.All() {
		if slices.ContainsFunc(r.Problems, func(p report.Problem) bool { return p.Code == c.Code }) ||
			slices.ContainsFunc(r.Ignored, func(i report.Ignored) bool { return i.Code == c.Code }) {
			all = append(all, report.Rule{ID: c.Code, Title: c.Title, Full: c.Why, Help: c.Help()})
		}
	}
	return all
}

// checkVerdict returns an error if there are problems.
func checkVerdict(r *report.Report, strict bool) error {
	t := r.Totals()
	switch {
	case t.Errors > 0:
		return fmt.Errorf("the policy cannot be used: %s", term.Counted(t.Errors, "problem", "problems"))
	case t.Warnings > 0 && strict:
		return cli.Findings("%s with --strict", term.Counted(t.Warnings, "warning", "warnings"))
	}
	return nil
}

// toCheck groups the paths into policies, each with its layers, base first.
// A path whose layer is already present starts another policy.
func toCheck(ctx context.Context, a *cli.App, paths []string) ([][]lint.Layer, error) {
	if len(paths) == 0 {
		dir, err := policyHere()
		if err != nil {
			return nil, fmt.Errorf("%w, or `active`", err)
		}
		paths = []string{dir}
	}
	var policies [][]lint.Layer
	var parts []string
	begins := map[int]bool{} // indices of parts that begin a policy
	for _, p := range paths {
		stack := active.StackParts(p)
		begins[len(parts)] = len(stack) > 1
		parts = append(parts, stack...)
	}
	for i, p := range parts {
		if begins[i] {
			policies = append(policies, nil)
		}
		if p == active.RefActive {
			active, err := activeLayers(a)
			if err != nil {
				return nil, err
			}
			if last := len(policies) - 1; last >= 0 && len(policies[last]) == 0 {
				policies = policies[:last]
			}
			policies = append(policies, active...)
			continue
		}
		l, err := layerToCheck(ctx, a, p)
		if err != nil {
			return nil, &cli.PathError{Path: filepath.ToSlash(p), Err: err}
		}
		last := len(policies) - 1
		same := func(o lint.Layer) bool { return o.Name == l.Name }
		if last < 0 || l.Name == bundles.Base || slices.ContainsFunc(policies[last], same) {
			policies, last = append(policies, nil), last+1
		}
		policies[last] = append(policies[last], l)
	}
	for i := range policies {
		policies[i] = OverBase(policies[i])
	}
	return policies, nil
}

// Under returns the layers of another policy that are below a layer that is checked.
func Under(ctx context.Context, a *cli.App, ref string, own lint.Layer) ([]lint.Layer, error) {
	if ref == "" {
		return nil, nil
	}
	policies, err := toCheck(ctx, a, []string{ref})
	if err != nil {
		return nil, err
	}
	if len(policies) > 1 {
		return nil, cli.Usage("%s: names two policies, and the layers of one are needed", ref)
	}
	var below []lint.Layer
	for _, l := range policies[0] {
		if slices.Index(bundles.Layers(), l.Name) < slices.Index(bundles.Layers(), own.Name) {
			l.Given = false
			below = append(below, l)
		}
	}
	return below, nil
}

// OverBase puts layers in their order, over the built-in policy where none of
// them is a base.
func OverBase(layers []lint.Layer) []lint.Layer {
	if !slices.ContainsFunc(layers, func(l lint.Layer) bool { return l.Name == bundles.Base }) {
		layers = append(layers, lint.Layer{Name: bundles.Base, Files: bundles.DefaultFS(), At: active.ShippedPlace})
	}
	slices.SortFunc(layers, func(a, b lint.Layer) int {
		return slices.Index(bundles.Layers(), a.Name) - slices.Index(bundles.Layers(), b.Name)
	})
	return layers
}

func layerToCheck(ctx context.Context, a *cli.App, p string) (lint.Layer, error) {
	files, err := a.PolicyFiles(ctx, p)
	if files == nil && err == nil {
		return folderToCheck(p)
	}
	l := lint.Layer{Files: files, At: filepath.ToSlash(p), Given: true}
	if err == nil {
		l.Name, err = bundles.LayerOf(files)
	}
	if err != nil {
		return l, fmt.Errorf("policy %s: %w", p, err)
	}
	return l, nil
}

func folderToCheck(p string) (lint.Layer, error) {
	l := lint.Layer{Files: os.DirFS(p), At: filepath.ToSlash(filepath.Clean(p)), Given: true}
	there, err := active.IsDir(p)
	switch {
	case p == "":
		return l, cli.Usage("a PATH is empty; give the folder of a policy, or . for this one")
	case err != nil:
		return l, err
	case !there:
		return l, fmt.Errorf("policy %s: no such folder", p)
	}
	if !isPolicy(p) && !hasCases(p) {
		return l, notPolicy(p)
	}
	l.Name, err = active.LayerAt(p)
	if err != nil {
		return l, fmt.Errorf("policy %s: %w", p, err)
	}
	return l, nil
}

// activeLayers are the layers of the active policy.
func activeLayers(a *cli.App) ([][]lint.Layer, error) {
	home, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	holds, err := cli.MachineAt(home).Layers(cwd)
	if err != nil {
		return nil, err
	}
	sources, err := holds.Sources()
	if err != nil {
		return nil, err
	}
	var layers []lint.Layer
	for _, s := range sources {
		if s.Layer == bundles.Organisation {
			if err := s.OwnKinds(); err != nil {
				return nil, err
			}
		}
		layers = append(layers, lint.Layer{Name: s.Layer, Files: s.Files, At: filepath.ToSlash(s.At), Given: s.At != active.ShippedPlace,
			Where: s.Place})
	}
	return [][]lint.Layer{layers}, nil
}

// checkCost is what a condition can cost at most.
type checkCost struct {
	id, part string
	max      uint64
	limited  bool
}

type checkCosts []checkCost

// print lists the most expensive conditions.
func (list checkCosts) print(w io.Writer) {
	const some = 5
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\nThe most expensive conditions, in units of about 50 ns:\n")
	for _, c := range list[:min(some, len(list))] {
		most := fmt.Sprint(c.max)
		if c.max == ^uint64(0) {
			most = "unbounded"
		}
		if c.limited {
			most += ", evaluation fails at the limit"
		}
		fmt.Fprintf(w, "  %s %s %s\n", term.Pad(c.id, 32), term.Pad(c.part, 8), most)
	}
}
