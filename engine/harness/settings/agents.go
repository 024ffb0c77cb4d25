// Package settings edits the files in which coding agents keep their hooks: it writes those of
// reviewer, removes them, and reports what else is found there. There is one row per agent in
// Agents, and one file per format.
//
// Out of scope: what an agent sends to a hook and reads from it (engine/harness), which programs are
// on this machine, and whether a hook denies (cmd/reviewer).
package settings

import "github.com/agent-reviewer/reviewer/engine/harness"

// Agent describes how one agent keeps its hooks.
type Agent struct {
	Name string // as in harness.Harnesses

	// Layers lists the places of the agent's settings, the strongest first.
	Layers func(Places) []Layer
}

// Format is how the hooks in one kind of file are written and found.
type Format struct {
	// Install returns the file's text with reviewer's hooks. Everything else stays as it is, and
	// installing again changes nothing. A nil function: nothing is written to such a file.
	Install func(old []byte, c HookCommand) ([]byte, error)

	// Uninstall returns the file's text without reviewer's hooks; nil: the file is to be removed.
	Uninstall func(old []byte) ([]byte, error)

	// Inspect reads a file. client is the client's version, as it prints it; empty: unknown.
	Inspect func(raw []byte, client string) Findings
}

// Agents lists the agents whose settings reviewer edits, in the order of harness.Harnesses.
func Agents() []Agent {
	return []Agent{{Name: harness.ClaudeCode, Layers: claudeCodeLayers}}
}

// Find returns the agent of a name.
func Find(name string) (Agent, bool) {
	for _, a := range Agents() {
		if a.Name == name {
			return a, true
		}
	}
	return Agent{}, false
}

// Names returns the names of Agents.
func Names() []string {
	var names []string
	for _, a := range Agents() {
		names = append(names, a.Name)
	}
	return names
}

// Target returns the layer of a name to which hooks are written.
func (a Agent) Target(p Places, name string) []Layer {
	var list []Layer
	for _, l := range a.Layers(p) {
		if l.Name == name && l.Format.Install != nil && !l.Dir {
			list = append(list, l)
		}
	}
	return list
}
