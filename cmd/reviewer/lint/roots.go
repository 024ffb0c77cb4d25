package lint

import (
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/catalogue"
	"github.com/agent-reviewer/reviewer/engine"
)

// foldConsequences removes problems that only follow from another error, and counts
// them there: rules and data of a file that cannot be read seem not to exist, and
// cases that cannot be read seem to be missing.
func (p *policy) foldConsequences() {
	p.missingManifest()
	p.foldPairs()
	roots := p.roots()
	if len(roots) == 0 {
		return
	}
	p.found = slices.DeleteFunc(p.found, func(f *engine.Problem) bool {
		for _, r := range roots {
			if r.explains(f) || p.misdefined(r, f) {
				r.Consequences++
				r.Warning = r.Warning && f.Warning
				return true
			}
		}
		return false
	})
}

// foldPairs removes what says the same as another problem, or follows from it by itself.
func (p *policy) foldPairs() {
	p.found = engine.SortProblems(p.found)
	var effects []*engine.Problem
	for _, cause := range p.found {
		for _, f := range p.found {
			if f == cause || slices.Contains(effects, f) || slices.Contains(effects, cause) || !follows(f, cause) {
				continue
			}
			effects = append(effects, f)
			cause.Consequences++
		}
	}
	p.found = slices.DeleteFunc(p.found, func(f *engine.Problem) bool { return slices.Contains(effects, f) })
}

// follows reports whether a problem follows from another one.
func follows(f, cause *engine.Problem) bool {
	switch {
	case f.Code == "rule.untested":
		return cause.Code == "rule.never" && cause.About == f.About
	case f.File != cause.File:
		return false
	case f.Code == "row.missing":
		before, _, _ := strings.Cut(f.Message, " is missing")
		key := before[strings.LastIndexByte(before, ' ')+1:]
		return cause.Code == "row.key" && strings.Contains(cause.Message, `did you mean "`+key+`"`)
	case f.Code == "rule.lapses":
		return cause.Code == "rule.over" && cause.Line == f.Line
	case f.Code == "row.meaning" || f.Code == "manifest.field":
		return cause.Code == f.Code && cause.Line == f.Line && cause.Col <= f.Col && f.Col <= cause.Col+1
	}
	return false
}

// root is an error that keeps a file, or part of it, from being read.
type root struct {
	*engine.Problem
	layer, file string
	ids         map[string]bool // of rules that the file may have
	names       map[string]bool // of definitions that the file has
}

// broken reports whether a problem may keep the rest of its file from being read.
func broken(f *engine.Problem) bool {
	family, _, _ := strings.Cut(f.Code, ".")
	_, file, _ := strings.Cut(f.File, "/")
	switch {
	case f.Code == "file.unread":
		return true
	case f.Warning || f.Code == "case.rule" || f.Code == "case.tool":
		return false
	case bundles.FileKind(file) == bundles.AccessFile || bundles.FileKind(file) == bundles.Definitions:
		return true
	}
	return slices.Contains([]string{"yaml", "row", "file", "manifest", "case", "detector"}, family) ||
		slices.Contains([]string{"rego.parse", "rego.compile", "rego.root", "rego.unread", "rule.metadata", "rule.unknown"}, f.Code)
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
		r := &root{Problem: f, layer: layer, file: file}
		all = append(all, r)
		text, err := bundles.ReadFile(p.layers[layer].Files, file)
		switch {
		case err != nil || r.cases():
		case bundles.FileKind(file) == bundles.Definitions:
			r.names = map[string]bool{}
			for _, m := range definedName().FindAllStringSubmatch(string(text), -1) {
				r.names[m[1]] = true
			}
		case bundles.FileKind(file) == bundles.RegoFile:
			r.ids = map[string]bool{}
			for _, m := range regoID().FindAllStringSubmatch(string(text), -1) {
				r.ids[m[1]] = true
			}
		default:
			r.ids = idsIn(string(text))
		}
	}
	return all
}

// regoID is the id of a rule in METADATA or in a finding.
var regoID = engine.Regexp(`\bid"?:[ \t]*"?([A-Za-z0-9_.-]+)`)

// definedName is the name of a definition, at the beginning of its line.
var definedName = engine.Regexp(`(?m)^([a-z][a-z0-9_]*):`)

func (r *root) cases() bool { return strings.HasPrefix(r.file, "cases/") }

// explains reports whether a problem exists only because the root's file cannot be
// read.
func (r *root) explains(f *engine.Problem) bool {
	layer, _, _ := strings.Cut(f.File, "/")
	kind := bundles.FileKind(r.file)
	switch {
	case f == r.Problem:
		return false
	case f.Code == "rego.data":
		return kind == bundles.DataFile && strings.HasPrefix(f.Message, "unknown name policies."+r.layer)
	case f.Code == "rule.metadata":
		return f.Warning && f.File == r.File
	case f.Code == "rule.unknown" && f.About == "":
		return slices.ContainsFunc(sortedKeys(r.ids), func(id string) bool { return strings.Contains(f.Message, `"`+id+`"`) })
	case kind == bundles.DetectorsFile && layer == r.layer && strings.Contains(f.Message, "unknown detector "):
		return true
	case f.About == "":
		return false
	case r.cases():
		return f.Code == "rule.untested" && layer == r.layer
	case f.Code == "case.rule" && layer == r.layer && r.mayHave(f.About):
		return true
	}
	return r.ids[f.About]
}

// mayHave reports whether a rule belongs into the root's file by its id, which the file may have misspelt.
func (r *root) mayHave(id string) bool {
	family, _, _ := strings.Cut(id, ".")
	switch bundles.FileKind(r.file) {
	case bundles.AccessFile:
		return family == "access"
	case bundles.RulesFile:
		return strings.HasPrefix(r.Code, "row.") && catalogue.FamilyOf(r.file) == family
	}
	return false
}

// misdefined reports whether a problem of an expression is about a definition whose own file has an error.
func (p *policy) misdefined(r *root, f *engine.Problem) bool {
	if f == r.Problem || len(r.names) == 0 || !strings.HasPrefix(f.Code, "cel.") {
		return false
	}
	layer, file, _ := strings.Cut(f.File, "/")
	text, err := bundles.ReadFile(p.layers[layer].Files, file)
	lines := strings.Split(string(text), "\n")
	if err != nil || f.Line < 1 || f.Line > len(lines) {
		return false
	}
	line := []rune(lines[f.Line-1])
	if f.Col < 1 || f.Col > len(line) {
		return false
	}
	word := string(line[f.Col-1:])
	if end := strings.IndexFunc(word, func(r rune) bool { return r != '_' && !unicode.IsLower(r) && !unicode.IsDigit(r) }); end >= 0 {
		word = word[:end]
	}
	return r.names[word]
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
		p.found = slices.DeleteFunc(p.found, func(f *engine.Problem) bool {
			return slices.ContainsFunc(outside, func(o *engine.Problem) bool { return f == o || f.File == o.File && f.Code == "rego.unused" })
		})
		p.add(&engine.Problem{File: name + "/.manifest", Code: "manifest.missing", Consequences: len(outside),
			Message: "there is no .manifest, so the folder is treated as the user layer, and package " + outside[0].About +
				` does not belong to it; write .manifest with {"roots": ["` + parts[0] + "/" + parts[1] + `"], "rego_version": 1}`})
	}
}
