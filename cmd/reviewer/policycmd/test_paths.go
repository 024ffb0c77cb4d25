package policycmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

// subjects resolves the paths. Cases of one policy are one subject.
func subjects(ctx context.Context, a *cli.App, paths []string, policy string) ([]trial.Subject, error) {
	var all []trial.Subject
	var under []*bundles.Bundle // the policy of the path before, over which a layer is tested
	for i, p := range paths {
		if p == "" {
			return nil, cli.Usage("a PATH is empty; give the folder of a policy, or . for this one")
		}
		if slices.Contains(paths[:i], p) {
			continue // named twice, run once
		}
		s, err := subject(ctx, a, p, policy, under)
		if err != nil {
			return nil, &cli.PathError{Path: filepath.ToSlash(filepath.Clean(p)), Err: err}
		}
		same := func(o trial.Subject) bool { return s.OnlyCases && o.OnlyCases && o.At == s.At && o.Layer == s.Layer }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Cases = append(all[i].Cases, s.Cases...)
			continue
		}
		all = append(all, s)
		if under = nil; !s.OnlyCases {
			under = s.Layers
		}
	}
	return all, nil
}

// subject resolves one path. A layer is tested over the policy that is named, or that of the path before it.
func subject(ctx context.Context, a *cli.App, p, policy string, under []*bundles.Bundle) (trial.Subject, error) {
	below, p := splitStack(p)
	if below != "" && policy != "" {
		return trial.Subject{}, cli.Usage("%s names the layers below %s, and so does --policy; leave one of them out", below, p)
	}
	p = filepath.Clean(p)
	info, err := os.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return trial.Subject{}, fmt.Errorf("%s: no such file or folder", p)
	case err != nil:
		return trial.Subject{}, err
	case !info.IsDir() && !slices.Contains(caseFiles(), filepath.Ext(p)):
		return trial.Subject{}, cli.Usage("%s is not a file of cases (*.yaml, *.txtar); give a policy folder to run its Rego tests", p)
	case info.IsDir() && (hasCases(p) || isPolicy(p) && policyAround(p) == ""):
		if ref := cmp.Or(below, policy); ref != "" {
			e, err := a.PolicyRef(ctx, ref)
			if err != nil {
				return trial.Subject{}, err
			}
			return policySubject(p, e.Layers, true)
		}
		return policySubject(p, under, false)
	case info.IsDir() && policy == "" && policyAround(p) == "" && !onlyCases(p):
		return trial.Subject{}, notPolicy(p)
	}
	return CaseSubject(ctx, a, p, policy)
}

// isPolicy reports whether a folder contains what makes up a policy.
func isPolicy(dir string) bool { return hasAny(dir, "policy/*.rego") || holdsPolicy(dir) }

// holdsPolicy is isPolicy for a folder in which a folder named policy may be another
// policy.
func holdsPolicy(dir string) bool {
	return hasAny(dir, ".manifest", "data.yaml", "settings.yaml", "*.rego", "rules/*", "patterns/*", "access/*", "detectors/*",
		"programs/*.yaml", "places/*.yaml", "tools/*.yaml", "tokens/*.yaml", "words/*.yaml")
}

func hasAny(dir string, patterns ...string) bool {
	for _, pattern := range patterns {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// notPolicy is the error for a folder that contains no policy. It names policies that
// are under it.
func notPolicy(dir string) error {
	text := fmt.Sprintf("%s is not a policy: it has no .manifest, no settings.yaml, no *.rego and no rules/", dir)
	if below := policiesBelow(dir); len(below) > 0 {
		return fmt.Errorf("%s; did you mean %s?", text, strings.Join(below, " or "))
	}
	return fmt.Errorf("%s; `reviewer policy new bundle %s` creates one", text, dir)
}

// policiesBelow lists the policies in the subfolders of a folder, and in their
// subfolders.
func policiesBelow(dir string) []string {
	var found []string
	for _, depth := range []string{"*", ".*/*", "*/*"} {
		names, err := filepath.Glob(filepath.Join(dir, depth))
		if err != nil {
			return nil // unreachable: the pattern is right
		}
		for _, name := range names {
			covered := slices.ContainsFunc(found, func(o string) bool {
				return strings.HasPrefix(name,
					o+string(filepath.Separator))
			})
			if there, err := active.IsDir(name); err == nil && there && !covered && isPolicy(name) {
				found = append(found, name)
			}
		}
	}
	return found
}

// hasCases reports whether a folder contains only the cases of a policy.
func hasCases(dir string) bool {
	there, err := active.IsDir(filepath.Join(dir, "cases"))
	return err == nil && there
}

// splitStack separates the layers below the last one that a reference names.
func splitStack(ref string) (below, own string) {
	parts := active.StackParts(ref)
	last := len(parts) - 1
	return strings.Join(parts[:last], active.StackMark), parts[last]
}

// policySubject returns the subject for the policy in a folder, over the layers of another policy. If the person has named that
// policy, the layer must fit on it.
func policySubject(dir string, under []*bundles.Bundle, named bool) (trial.Subject, error) {
	layers, err := active.LayersFrom(dir)
	if err != nil {
		return trial.Subject{}, err
	}
	if len(under) > 0 {
		over, err := active.Below(layers, under)
		if err != nil && named {
			return trial.Subject{}, fmt.Errorf("policy %s: %w", dir, err)
		}
		if err == nil {
			layers = over
		}
	}
	s, err := trial.Load(os.DirFS(dir), filepath.ToSlash(dir), layers[len(layers)-1].Layer, layers...)
	if err != nil {
		return s, fmt.Errorf("read tests:\n%w", err)
	}
	return s, nil
}

// CaseSubject returns the subject for a file or folder of cases: the named policy, the
// one around the cases, or the active one.
func CaseSubject(ctx context.Context, a *cli.App, p, policy string) (trial.Subject, error) {
	s := trial.Subject{OnlyCases: true, At: filepath.ToSlash(policy)}
	if policy == "" {
		s.At = filepath.ToSlash(policyAround(p))
	}
	var err error
	switch {
	case policy != "":
		var e *bundles.Effective
		if e, err = a.PolicyRef(ctx, policy); err == nil {
			s.Layers, s.Layer = e.Layers, e.Layers[len(e.Layers)-1].Layer
		}
	case s.At != "":
		if s.Layers, err = active.LayersFrom(filepath.FromSlash(s.At)); err == nil {
			s.Layer = s.Layers[len(s.Layers)-1].Layer
		}
	default:
		var e *bundles.Effective
		if e, err = a.ShownPolicy(ctx, ""); err == nil {
			s.Layers = e.Layers
		}
	}
	if err != nil {
		return s, err
	}
	dir, name := filepath.Split(p)
	if s.Cases, err = cases.LoadBelow(os.DirFS(filepath.Clean(dir)), name, filepath.ToSlash(filepath.Clean(dir))); err != nil {
		return s, fmt.Errorf("read cases:\n%w", err)
	}
	return s, nil
}

// caseFiles lists the suffixes of case files.
func caseFiles() []string { return []string{".yaml", ".yml", ".txtar"} }

// onlyCases reports whether a folder has files of cases, and no policy below it.
func onlyCases(dir string) bool {
	there := false
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(caseFiles(), filepath.Ext(name)):
			return nil
		}
		there = true
		return fs.SkipAll
	})
	return err == nil && there && len(policiesBelow(dir)) == 0
}

// policyAround returns the policy whose cases folder contains a path; empty: none.
func policyAround(p string) string {
	for dir := p; ; {
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		if filepath.Base(dir) == "cases" && isPolicy(up) {
			return up
		}
		dir = up
	}
}
