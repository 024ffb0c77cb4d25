package impact

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// hidden returns an Impact without what people wrote and where they work: commands, the paths of workspaces, sources and policies,
// and errors and differences, which may name them. Examples stay, whose words were replaced when they were made.
func hidden(m *simulate.Impact) *simulate.Impact {
	own := *m
	own.Workspaces = slices.Clone(m.Workspaces)
	names := map[string]string{}
	for i, g := range own.Workspaces {
		names[g.Name] = fmt.Sprintf("workspace %d", i+1)
		own.Workspaces[i].Name = names[g.Name]
	}
	own.Kinds = slices.Clone(m.Kinds)
	for i := range own.Kinds {
		own.Kinds[i].Example = hiddenStep(own.Kinds[i].Example)
	}
	own.Unclear = slices.Clone(m.Unclear)
	for i := range own.Unclear {
		own.Unclear[i].Example = hiddenStep(own.Unclear[i].Example)
	}
	own.Changed = slices.Clone(m.Changed)
	for i, c := range own.Changed {
		own.Changed[i].Workspace = names[c.Workspace]
		own.Changed[i].First = hiddenStep(c.First)
		own.Changed[i].Steps = slices.Clone(c.Steps)
		for j, s := range c.Steps {
			own.Changed[i].Steps[j] = hiddenStep(s)
		}
	}
	if m.Files != nil {
		files := *m.Files
		files.Steps = slices.Clone(files.Steps)
		for i := range files.Steps {
			files.Steps[i].Resource = ""
		}
		own.Files = &files
	}
	own.Sources.Troubles = slices.Clone(m.Sources.Troubles)
	for i, t := range own.Sources.Troubles {
		file := fmt.Sprintf("file %d", i+1)
		own.Sources.Troubles[i].Path, own.Sources.Troubles[i].Why = file, strings.ReplaceAll(t.Why, t.Path, file)
	}
	own.Selection.Workspaces = nil
	for i := range m.Selection.Workspaces {
		own.Selection.Workspaces = append(own.Selection.Workspaces, fmt.Sprintf("folder %d", i+1))
	}
	own.Selection.Users = nil
	for i := range m.Selection.Users {
		own.Selection.Users = append(own.Selection.Users, fmt.Sprintf("user %d", i+1))
	}
	own.Baseline.Name, own.Candidate.Name = hiddenPath(m.Baseline.Name), hiddenPath(m.Candidate.Name)
	own.Errors = slices.Clone(m.Errors)
	for i := range own.Errors {
		own.Errors[i].Error = "hidden; --show prints it"
	}
	if m.Fidelity != nil {
		report := *m.Fidelity
		if report.Why = nil; report.First != nil {
			first := *report.First
			first.Recorded, first.Computed = hiddenValue(first.Recorded), hiddenValue(first.Computed)
			report.First = &first
		}
		own.Fidelity = &report
	}
	return &own
}

// withoutUnshown returns an Impact that nowhere shows a call whose example says that it is not shown.
func withoutUnshown(m *simulate.Impact) *simulate.Impact {
	unshown := map[string]bool{}
	for _, k := range m.Kinds {
		if e := k.Example.Example; e != nil && len(e.Events) == 0 && k.Example.Resource != "" {
			unshown[k.Example.Resource] = true
		}
	}
	own := *m
	own.Changed = slices.Clone(m.Changed)
	for i := range own.Changed {
		if first := &own.Changed[i].First; unshown[first.Resource] {
			first.Resource = notShown
		}
	}
	own.Unclear = slices.Clone(m.Unclear)
	for i := range own.Unclear {
		if example := &own.Unclear[i].Example; unshown[example.Resource] {
			example.Resource = notShown
		}
	}
	if m.Files != nil {
		files := *m.Files
		files.Steps = slices.Clone(files.Steps)
		for i := range files.Steps {
			if unshown[files.Steps[i].Resource] {
				files.Steps[i].Resource = notShown
			}
		}
		own.Files = &files
	}
	return &own
}

// notShown takes the place of a call that is not shown.
const notShown = "(not shown; --show prints it)"

// hiddenPath shortens the name of a policy to its last part if it is a path from the root or from home.
func hiddenPath(name string) string {
	if at := strings.LastIndexAny(name, `/\`); at > 0 && (strings.ContainsAny(name[:1], `/\~.`) || strings.Contains(name, `:\`)) {
		return name[at+1:]
	}
	return name
}

// hiddenValue leaves numbers as they are.
func hiddenValue(v string) string {
	if strings.Trim(v, "0123456789.-") == "" {
		return v
	}
	return "…"
}

// hiddenStep leaves out what is called, and the reason, which may contain it.
func hiddenStep(s simulate.Step) simulate.Step {
	resource := ""
	if s.Example != nil && len(s.Example.Events) == 0 { // only a digest is shown
		resource = fmt.Sprintf("%x", sha256.Sum256([]byte(s.Resource)))
	}
	s.Resource, s.Reason = resource, ""
	return s
}
