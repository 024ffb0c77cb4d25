package policycmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
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
		Short: "Say all that is wrong with a policy: Rego, CEL, YAML, names that there are not, rules that cannot speak",
		Long: "A PATH is the folder of a policy: one whose .manifest has the root reviewer is a\n" +
			"policy by itself, any other a layer over the one before it, else over the policy\n" +
			"that ships. Without a PATH it is the policy that is active here, with all its layers.\n\n" +
			"Everything that is wrong is said at once, each with file:line:col, what was found\n" +
			"and expected. A warning is worth a look; --strict counts it as wrong.\n\n" +
			"Exit codes: 0 nothing is wrong, 1 the policy cannot be used as it is, 2 there are\n" +
			"warnings, and --strict.",
		Example: "  reviewer policy check ./policy\n" +
			"  reviewer policy check ./base ./team --strict -f github -f sarif=check.sarif",
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := out.Read(); err != nil {
				return err
			}
			policies, err := toCheck(a, paths)
			if err != nil {
				return err
			}
			r, costs := checkPolicies(a, policies)
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
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings count too: exit code 2")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "say also what the dearest conditions cost")
	out.Flags(cmd, report.Formats()...)
	return cmd
}

// checkPolicies checks one policy after the other, and puts together what is
// found.
func checkPolicies(a *cli.App, policies [][]lint.Layer) (*report.Report, checkCosts) {
	start := time.Now()
	r := &report.Report{Command: "policy check"}
	var all checkCosts
	for _, layers := range policies {
		one := lint.Policy(start.UnixMilli(), layers...)
		for _, p := range one.Problems {
			p.Message, p.Found = cli.Masked(p.Message), cli.Masked(p.Found)
			if !slices.Contains(r.Problems, p) {
				r.Problems = append(r.Problems, p)
			}
		}
		for _, c := range one.Costs {
			all = append(all, checkCost{c.ID, c.Part, c.Max, c.Limited})
		}
	}
	r.Sort()
	r.Duration = time.Since(start)
	return r, all
}

// checkVerdict is an error where something is wrong.
func checkVerdict(r *report.Report, strict bool) error {
	t := r.Totals()
	switch {
	case t.Errors > 0:
		return fmt.Errorf("the policy cannot be used: %s wrong", term.Counted(t.Errors, "thing is", "things are"))
	case t.Warnings > 0 && strict:
		return cli.Findings("%s, and --strict", term.Counted(t.Warnings, "warning", "warnings"))
	}
	return nil
}

// toCheck finds out what the paths are: each policy is its layers, base first.
// A path whose layer is there already begins another policy.
func toCheck(a *cli.App, paths []string) ([][]lint.Layer, error) {
	if len(paths) == 0 {
		return activeLayers(a)
	}
	var policies [][]lint.Layer
	for _, p := range paths {
		l, err := layerToCheck(p)
		if err != nil {
			return nil, err
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

// OverBase puts layers in their order, over the policy that ships where none of
// them is a base.
func OverBase(layers []lint.Layer) []lint.Layer {
	if !slices.ContainsFunc(layers, func(l lint.Layer) bool { return l.Name == bundles.Base }) {
		layers = append(layers, lint.Layer{Name: bundles.Base, Files: bundles.DefaultFS(), At: here.ShippedPlace})
	}
	slices.SortFunc(layers, func(a, b lint.Layer) int {
		return slices.Index(bundles.Layers(), a.Name) - slices.Index(bundles.Layers(), b.Name)
	})
	return layers
}

func layerToCheck(p string) (lint.Layer, error) {
	l := lint.Layer{Files: os.DirFS(p), At: filepath.ToSlash(filepath.Clean(p)), Given: true}
	there, err := here.IsDir(p)
	switch {
	case p == "":
		return l, errors.New("a PATH is empty; give the folder of a policy, or . for this one")
	case err != nil:
		return l, err
	case !there:
		return l, fmt.Errorf("policy %s: there is no such folder", p)
	}
	if empty, err := noPolicy(p); err != nil || empty {
		if err == nil {
			err = fmt.Errorf("policy %s: the folder holds nothing of a policy; expected .manifest, data.yaml, settings.yaml, rules/, "+
				"access/, detectors/ or *.rego", p)
		}
		return l, err
	}
	l.Name, err = here.LayerAt(p)
	if err != nil {
		return l, fmt.Errorf("policy %s: %w", p, err)
	}
	return l, nil
}

// noPolicy says that a folder has nothing in it that a policy could be made of:
// a path that was mistyped must not pass for a policy without faults.
func noPolicy(dir string) (bool, error) {
	found := false
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		base := filepath.Base(name)
		if err == nil && d.IsDir() && name != dir && strings.HasPrefix(base, ".") {
			return filepath.SkipDir // no policy is read there
		}
		if err == nil && !d.IsDir() && (base == ".manifest" || !strings.HasPrefix(base, ".") &&
			slices.Contains([]string{".rego", ".yaml", ".yml", ".json", ".txtar"}, filepath.Ext(name))) {
			found = true
			return filepath.SkipAll
		}
		return err
	})
	return !found, err
}

// activeLayers are those of the policy that holds here.
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
		layers = append(layers, lint.Layer{Name: s.Layer, Files: s.Files, At: filepath.ToSlash(s.At), Given: s.At != here.ShippedPlace})
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

// print lists the dearest conditions.
func (list checkCosts) print(w io.Writer) {
	const some = 5
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\nThe dearest conditions, in units of about 50 ns:\n")
	for _, c := range list[:min(some, len(list))] {
		most := fmt.Sprint(c.max)
		if c.max == ^uint64(0) {
			most = "no bound known"
		}
		if c.limited {
			most += ", stopped with an error at the limit"
		}
		fmt.Fprintf(w, "  %s %s %s\n", term.Pad(c.id, 32), term.Pad(c.part, 8), most)
	}
}
