package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/spf13/cobra"
)

func agentsCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "agents [AGENT…]",
		Short: "List the supported agents, and what reviewer can do in each",
		Long: "Shows whether each agent is on this machine, and whether each channel for acting on it is enforced\n" +
			"(the agent must comply), advisory (the model is told, and decides for itself)\n" +
			"or not covered (reviewer cannot do it). For agents given as arguments, it also shows the reasons and the location of\n" +
			"the settings. `reviewer doctor` checks whether reviewer is installed and works.",
		Example:   "  reviewer agents\n  reviewer agents codex gemini\n  reviewer agents --json",
		ValidArgs: settings.Names(),
		Args:      knownAgents,
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON {
				out.Format = "json"
			}
			p, err := signed.Places(a)
			if err != nil {
				return err
			}
			doc := knownAgentsAt(p, args)
			return out.Result(a.Stdout, doc, func(w io.Writer) { doc.text(w, len(args) > 0) })
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().BoolVar(&asJSON, "json", false, "short for --format json")
	return cmd
}

func knownAgents(_ *cobra.Command, args []string) error {
	for _, name := range args {
		if _, known := settings.Find(name); !known {
			return term.Unknown("agent", name, settings.Names())
		}
	}
	return nil
}

// agentsDocument lists the agents and what each lets a hook do.
type agentsDocument struct {
	Agents  []agentEntry      `json:"agents"`
	Without []unsupportedText `json:"unsupported,omitempty"`
}

type agentEntry struct {
	Name       string         `json:"name"`
	Present    bool           `json:"present"`    // its program or its settings folder is on this machine
	Unverified bool           `json:"unverified"` // never tested with the agent itself
	Ways       []wayEntry     `json:"ways"`
	Settings   []settingsText `json:"settings"` // the files to which hooks are written
	Off        string         `json:"off,omitempty"`
	Limits     []string       `json:"limits,omitempty"`
	Seconds    float64        `json:"seconds"` // for a hook before a call
}

type wayEntry struct {
	Way     engine.Way     `json:"way"`
	Support engine.Support `json:"support"`
	Why     string         `json:"why"`
}

type settingsText struct {
	Layer string `json:"layer"`
	Path  string `json:"path"`
}

type unsupportedText struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// knownAgentsAt describes the named agents, or all agents, including unsupported
// ones.
func knownAgentsAt(p settings.Places, names []string) agentsDocument {
	doc := agentsDocument{Agents: []agentEntry{}}
	for _, agent := range settings.Agents() {
		if len(names) == 0 || slices.Contains(names, agent.Name) {
			doc.Agents = append(doc.Agents, entryOf(agent, p))
		}
	}
	if len(names) > 0 {
		return doc
	}
	for _, u := range harness.Without() {
		doc.Without = append(doc.Without, unsupportedText(u))
	}
	return doc
}

func entryOf(agent settings.Agent, p settings.Places) agentEntry {
	e := agentEntry{Name: agent.Name, Present: present(agent, p), Unverified: agent.Unverified, Off: agent.Off, Limits: agent.Limits,
		Seconds: agent.Timeout(agent.EventAt(engine.PhasePre)).Round(time.Second).Seconds()}
	for _, w := range engine.Ways() {
		c := agent.Channels.Of(w)
		e.Ways = append(e.Ways, wayEntry{w, c.Support, c.How})
	}
	for _, layer := range []string{settings.LayerUser, settings.LayerProject, settings.LayerManaged} {
		for _, l := range agent.Targets(p, layer) {
			e.Settings = append(e.Settings, settingsText{layer, l.Path})
		}
	}
	return e
}

func (d agentsDocument) text(w io.Writer, detailed bool) {
	if detailed {
		for i, e := range d.Agents {
			if i > 0 {
				fmt.Fprintln(w)
			}
			e.text(w)
		}
		return
	}
	d.matrix(w)
	fmt.Fprintln(w, "\nNot supported:")
	for _, u := range d.Without {
		fmt.Fprintf(w, "  %s %s\n", term.Pad(u.Name, 10), u.Why)
	}
	fmt.Fprintln(w, "\n`reviewer agents AGENT` shows the reasons and the location of the settings;")
	fmt.Fprintln(w, "`reviewer install --detect` installs reviewer for every agent on this machine.")
}

// cellOf returns a short form of a level of support.
func cellOf(s engine.Support) string {
	switch s {
	case engine.SupportEnforced:
		return "enforced"
	case engine.SupportAdvisory:
		return "advisory"
	}
	return "-"
}

// matrix has a line for each agent; the columns are the ways.
func (d agentsDocument) matrix(w io.Writer) {
	fmt.Fprintf(w, "%s %s", term.Pad("", 12), term.Pad("here", 5))
	for _, way := range engine.Ways() {
		fmt.Fprintf(w, " %s", term.Pad(string(way), max(len(way), 8)))
	}
	fmt.Fprintln(w)
	for _, e := range d.Agents {
		here := "no"
		if e.Present {
			here = "yes"
		}
		line := term.Pad(e.Name, 12) + " " + term.Pad(here, 5)
		for _, way := range e.Ways {
			line += " " + term.Pad(cellOf(way.Support), max(len(way.Way), 8))
		}
		if line = strings.TrimRight(line, " "); e.Unverified {
			line += "  unverified"
		}
		fmt.Fprintln(w, line)
	}
}

func (e agentEntry) text(w io.Writer) {
	fmt.Fprintf(w, "%s%s\n", e.Name, map[bool]string{true: " (on this machine)"}[e.Present])
	if e.Unverified {
		fmt.Fprintln(w, "  unverified: never tested with the agent itself")
	}
	for _, way := range e.Ways {
		fmt.Fprintf(w, "  %s %s %s\n", term.Pad(string(way.Way), 14), term.Pad(string(way.Support), 11), way.Why)
	}
	for _, s := range e.Settings {
		fmt.Fprintf(w, "  %s %s\n", term.Pad(s.Layer+" settings", 16), s.Path)
	}
	if e.Off != "" {
		fmt.Fprintf(w, "  turned off by a repository: %s\n", e.Off)
	}
	for _, limit := range e.Limits {
		fmt.Fprintf(w, "  limit: %s\n", limit)
	}
}
