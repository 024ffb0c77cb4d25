// Package settings edits the files in which coding agents keep their hooks: it writes those of
// reviewer, removes them, and reports what else is found there. There is one row per agent in
// Agents, and one file per format.
//
// Out of scope: what an agent sends to a hook and reads from it (engine/harness), which programs are
// on this machine, and whether a hook denies (cmd/reviewer).
package settings

import (
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// Agent describes how one agent keeps its hooks.
type Agent struct {
	harness.Harness

	// Layers lists the places of the agent's settings, the strongest first. Switches in the
	// files to which no hook is written are reported, too.
	Layers func(Places) []Layer

	// Folder returns the folder that the agent makes when it is first used.
	Folder func(Places) string

	Off     string        // how a repository turns off hooks that are not managed; empty: no way is known
	Stands  string        // what a repository cannot turn off once reviewer is managed; empty: all of it
	Note    string        // what a person must know or do after an installation
	Longest time.Duration // that the client lets a hook before a call run; 0: as long as its settings say
	Limits  []string      // what hooks of this agent do not cover, wherever they are installed
}

// Format writes and finds the hooks in one kind of file.
type Format struct {
	// Install returns the file's text with reviewer's hooks. Everything else stays as it is, and
	// installing again changes nothing. A nil function: nothing is written to such a file.
	Install func(old []byte, c HookCommand) ([]byte, error)

	// Uninstall returns the file's text without reviewer's hooks; nil: the file is to be removed.
	Uninstall func(old []byte) ([]byte, error)

	// Inspect reads a file. client is the client's version, as it prints it; empty: unknown.
	Inspect func(raw []byte, client string) Findings

	// Rules: the file has rules that the agent applies itself, and no hooks.
	Rules bool
}

// row is the part of an Agent that is known without its wire format.
type row struct {
	name, folder, variable string // variable: moves the folder
	layers                 func(harness.Harness, Places) []Layer
	off, stands, note      string
	limits                 []string
	longest                time.Duration // that the client lets a hook before a call run; 0: as long as its settings say
}

const cursorNote = "unverified: written from Cursor's documentation and code, and never tested with Cursor itself; " +
	"try a call that must be denied"

func rows() []row {
	return []row{
		{name: harness.ClaudeCode, folder: ".claude", variable: "CLAUDE_CONFIG_DIR", layers: claudeCodeLayers, off: "disableAllHooks"},
		{name: harness.Codex, folder: ".codex", variable: "CODEX_HOME", layers: codexLayers,
			off: "`[features] hooks = false` in .codex/config.toml of a trusted project",
			limits: []string{"what is typed into a running program (write_stdin) raises no event, " +
				"so programs that read commands are asked about when they start"}},
		{name: harness.Gemini, folder: ".gemini", layers: geminiLayers, off: "hooksConfig in .gemini/settings.json",
			stands: "no repository can turn off the rules of the admin policy; one that names the hook in hooksConfig.disabled turns off the rest",
			limits: []string{"a repository can name reviewer's hook in hooksConfig.disabled even if it is managed; " +
				"then only the admin policy applies, which `reviewer install gemini --managed` writes"}},
		{name: harness.Copilot, folder: ".copilot", layers: copilotLayers, off: "disableAllHooks in a trusted folder",
			limits: []string{"a call runs if the hook exceeds the client's time limit; reviewer answers before that"}},
		{name: harness.Qwen, folder: ".qwen", layers: qwenLayers, off: "disableAllHooks in .qwen/settings.json",
			limits: []string{"the options --safe-mode and --bare turn hooks off"}},
		{name: harness.Kimi, folder: ".kimi-code", variable: "KIMI_CODE_HOME", layers: kimiLayers,
			limits: []string{"there are no managed settings, so the user, or any program that the user runs, can remove the hooks"}},
		{name: harness.Droid, folder: ".factory", layers: droidLayers, off: "hooksDisabled in .factory/hooks.json"},
		{name: harness.Cline, folder: ".cline", layers: clineLayers, longest: harness.ClineTimeout(harness.PreToolUse),
			limits: []string{"there are no managed settings, and programs in the repository's .cline/hooks run without confirmation"}},
		{name: harness.OpenCode, folder: ".config/opencode", layers: openCodeLayers,
			off: "a plugin that runs after reviewer's and changes a call",
			limits: []string{"a plugin that is loaded after reviewer's can change a call that was reviewed, and --pure loads no plugin: " +
				"use no other plugins, and set OPENCODE_DISABLE_PROJECT_CONFIG when you work in unfamiliar repositories"}},
		{name: harness.Pi, folder: ".pi", layers: piLayers, off: "an extension that runs after reviewer's and changes a call",
			limits: []string{"an extension that is loaded after reviewer's can change a call that was reviewed; " +
				"extensions of a repository run without confirmation"}},
		{name: harness.Cursor, folder: ".cursor", layers: cursorLayers,
			note: cursorNote, limits: []string{cursorNote}},
	}
}

// Agents lists the agents whose settings reviewer edits.
func Agents() []Agent {
	known := harness.Harnesses()
	var list []Agent
	for _, r := range rows() {
		if i := slices.IndexFunc(known, func(h harness.Harness) bool { return h.Name == r.name }); i >= 0 {
			list = append(list, r.agent(known[i]))
		}
	}
	return list
}

func (r row) agent(h harness.Harness) Agent {
	return Agent{Harness: h, Off: r.off, Stands: r.stands, Note: r.note, Limits: r.limits, Longest: r.longest,
		Layers: func(p Places) []Layer { return r.layers(h, p) },
		Folder: func(p Places) string { return p.folder(r.variable, r.folder) },
	}
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

// Names returns the names of Agents. Every command line is built with them, so they are listed
// without describing the agents.
func Names() []string {
	var names []string
	for _, r := range rows() {
		names = append(names, r.name)
	}
	return names
}

// Targets returns the files of a layer to which hooks are written.
func (a Agent) Targets(p Places, layer string) []Layer {
	var list []Layer
	for _, l := range a.Layers(p) {
		if l.Name == layer && l.Path != "" && l.Format.Install != nil && !l.Dir {
			list = append(list, l)
		}
	}
	return list
}
