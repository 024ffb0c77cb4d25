package lint

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
)

// foldConsequences removes problems that only follow from another error, and counts
// them there: rules and data of a file that cannot be read seem not to exist, and
// cases that cannot be read seem to be missing.
func (p *policy) foldConsequences() {
	p.missingManifest()
	roots := p.roots()
	if len(roots) == 0 {
		return
	}
	p.found = slices.DeleteFunc(p.found, func(f *engine.Problem) bool {
		for _, r := range roots {
			if r.explains(f) {
				r.Consequences++
				return true
			}
		}
		return false
	})
}

// root is an error that keeps a file, or part of it, from being read.
type root struct {
	*engine.Problem
	layer string
	ids   map[string]bool // of rules that the file may have
	cases bool            // it is a file of cases
	data  bool            // it is a file of the layer's own data
}

// broken reports whether a problem may keep the rest of its file from being read.
func broken(f *engine.Problem) bool {
	family, _, _ := strings.Cut(f.Code, ".")
	return !f.Warning && (slices.Contains([]string{"yaml", "row", "file", "manifest", "case", "detector"}, family) ||
		f.Code == "rego.parse" || f.Code == "rego.compile") && f.Code != "case.rule" && f.Code != "case.tool"
}

// roots returns the first such error of each file.
func (p *policy) roots() []*root {
	var all []*root
	seen := map[string]bool{}
	p.found = engine.SortProblems(p.found)
	for _, f := range p.found {
		layer, file, _ := strings.Cut(f.File, "/")
		if !broken(f) || seen[f.File] || !p.layers[layer].Given {
			continue
		}
		seen[f.File] = true
		text, err := bundles.ReadFile(p.layers[layer].Files, file)
		r := &root{Problem: f, layer: layer, cases: strings.HasPrefix(file, "cases/"),
			data: bundles.FileKind(file) == bundles.DataFile}
		if err == nil && !r.cases {
			r.ids = idsIn(string(text))
		}
		all = append(all, r)
	}
	return all
}

// explains reports whether a problem exists only because the root's file cannot be
// read.
func (r *root) explains(f *engine.Problem) bool {
	layer, _, _ := strings.Cut(f.File, "/")
	switch {
	case f == r.Problem:
		return false
	case f.Code == "rego.data":
		return r.data && strings.HasPrefix(f.Message, "unknown name policies."+r.layer)
	case f.Code == "rule.unknown" && f.About == "":
		return slices.ContainsFunc(sortedKeys(r.ids), func(id string) bool { return strings.Contains(f.Message, `"`+id+`"`) })
	case f.About == "":
		return false
	case r.cases:
		return f.Code == "rule.untested" && layer == r.layer
	}
	return r.ids[f.About]
}

// idsIn lists the ids in a file, which may be invalid YAML. Those of an access
// list are prefixed with the list's id.
func idsIn(text string) map[string]bool {
	ids := map[string]bool{}
	var list string
	for _, m := range idKey().FindAllStringSubmatch(text, -1) {
		id := m[2]
		if m[1] == "" && list == "" {
			list = id
		}
		ids[id], ids["access."+id] = true, true
		ids["access."+list+"."+id], ids["access."+list+".default"] = true, true
	}
	return ids
}

var idKey = engine.Regexp(`(?m)^([ \t]*(?:-[ \t]*)?(?:\{[ \t]*)?)"?id"?:[ \t]*"?'?([A-Za-z0-9_.-]+)`)

// missingManifest combines the errors of all modules outside the root of the user
// layer into one, if the folder has no manifest.
func (p *policy) missingManifest() {
	for name, l := range p.layers {
		if _, err := fs.Stat(l.Files, ".manifest"); err == nil || !l.Given {
			continue
		}
		var outside []*engine.Problem
		for _, f := range p.found {
			if f.Code == "rego.root" && strings.HasPrefix(f.File, name+"/") && strings.HasPrefix(f.About, "policies.") {
				outside = append(outside, f)
			}
		}
		if len(outside) == 0 {
			continue
		}
		parts := strings.SplitN(outside[0].About, ".", 3)
		p.found = slices.DeleteFunc(p.found, func(f *engine.Problem) bool { return slices.Contains(outside, f) })
		p.add(&engine.Problem{File: name + "/.manifest", Code: "manifest.missing", Consequences: len(outside),
			Message: "there is no .manifest, so the folder is treated as the user layer, and package " + outside[0].About +
				` does not belong to it; write .manifest with {"roots": ["` + parts[0] + "/" + parts[1] + `"], "rego_version": 1}`})
	}
}
