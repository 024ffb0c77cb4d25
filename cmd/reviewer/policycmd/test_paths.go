package policycmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

// subjects finds out what the paths are. Cases of one policy are one subject.
func subjects(a *cli.App, paths []string, policy string) ([]trial.Subject, error) {
	var all []trial.Subject
	for i, p := range paths {
		if p == "" {
			return nil, errors.New("a PATH is empty; give the folder of a policy, or . for this one")
		}
		if slices.Contains(paths[:i], p) {
			continue // said twice, meant once
		}
		s, err := subject(a, filepath.Clean(p), policy)
		if err != nil {
			return nil, err
		}
		same := func(o trial.Subject) bool { return s.OnlyCases && o.OnlyCases && o.At == s.At && o.Layer == s.Layer }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Cases = append(all[i].Cases, s.Cases...)
			continue
		}
		all = append(all, s)
	}
	return all, nil
}

func subject(a *cli.App, p, policy string) (trial.Subject, error) {
	info, err := os.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return trial.Subject{}, fmt.Errorf("%s: there is no such file or folder", p)
	case err != nil:
		return trial.Subject{}, err
	case !info.IsDir() && !slices.Contains([]string{".yaml", ".yml", ".txtar"}, filepath.Ext(p)):
		return trial.Subject{}, fmt.Errorf("%s is no file of cases (*.yaml, *.txtar); give the folder of a policy to run its Rego tests", p)
	case info.IsDir() && (isPolicy(p) || hasCases(p)):
		return policySubject(p, policy)
	}
	return CaseSubject(a, p, policy)
}

// isPolicy says that a folder holds what makes up a policy.
func isPolicy(dir string) bool {
	for _, name := range []string{".manifest", "data.yaml", "settings.yaml", "rules", "access", "detectors", "policy"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	modules, err := filepath.Glob(filepath.Join(dir, "*.rego"))
	return err == nil && len(modules) > 0
}

// hasCases says that a folder is laid out as a policy's, though nothing of a
// policy is in it but its cases.
func hasCases(dir string) bool {
	there, err := here.IsDir(filepath.Join(dir, "cases"))
	return err == nil && there
}

func policySubject(dir, policy string) (trial.Subject, error) {
	if policy != "" {
		return trial.Subject{}, fmt.Errorf("--policy says what cases run against, and %s is a policy of its own; give its cases: %s",
			dir, filepath.Join(dir, "cases"))
	}
	layers, err := here.LayersFrom(dir)
	if err != nil {
		return trial.Subject{}, err
	}
	s, err := trial.Load(os.DirFS(dir), filepath.ToSlash(dir), layers[len(layers)-1].Layer, layers...)
	if err != nil {
		return s, fmt.Errorf("read tests:\n%w", err)
	}
	return s, nil
}

// CaseSubject takes a file or folder of cases, and the policy to run them
// against: the one that is named, that they lie in, or that is active here.
func CaseSubject(a *cli.App, p, policy string) (trial.Subject, error) {
	s := trial.Subject{OnlyCases: true, At: filepath.ToSlash(policy)}
	if policy == "" {
		s.At = filepath.ToSlash(policyAround(p))
	}
	var err error
	switch {
	case s.At != "":
		if s.Layers, err = here.LayersFrom(filepath.FromSlash(s.At)); err == nil {
			s.Layer = s.Layers[len(s.Layers)-1].Layer
		}
	default:
		var e *bundles.Effective
		if e, err = a.ShownPolicy(""); err == nil {
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

// policyAround returns the policy that a path lies below the cases of, as seen
// from here; empty: none.
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
