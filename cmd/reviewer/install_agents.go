package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/codexserver"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/spf13/cobra"
)

// choice is how a person says which agents are meant: by name, all, or those on this machine.
type choice struct{ all, detect bool }

func (c *choice) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.all, "all", false, "every supported agent")
	cmd.Flags().BoolVar(&c.detect, "detect", false, "every agent whose program or settings folder is on this machine")
	cmd.MarkFlagsMutuallyExclusive("all", "detect")
}

func (c *choice) several() bool { return c.all || c.detect }

// known accepts a known agent, and lists them in its error.
func (c *choice) known(cmd *cobra.Command, args []string) error {
	list := strings.Join(settings.Names(), ", ")
	_, supported := settings.Find(strings.Join(args, " "))
	switch {
	case c.several() && len(args) > 0:
		return errors.New("an agent is given together with --all or --detect; give only one of them")
	case c.several() || supported:
		return nil
	case len(args) == 0:
		return fmt.Errorf("no agent given: expected `%s AGENT`, where AGENT is one of %s, or --all or --detect", cmd.CommandPath(), list)
	case len(args) > 1:
		return cli.AtMost(1)(cmd, args)
	}
	return term.Unknown("agent", args[0], settings.Names())
}

// agents returns the chosen ones. If there are several, those that have no settings in the layer
// are left out.
func (c *choice) agents(a *cli.App, args []string, layer string) ([]settings.Agent, error) {
	if !c.several() {
		agent, _ := settings.Find(args[0])
		return []settings.Agent{agent}, nil
	}
	p, err := signed.Places(a)
	if err != nil {
		return nil, err
	}
	var list []settings.Agent
	for _, agent := range settings.Agents() {
		if (c.all || present(agent, p)) && len(agent.Targets(p, layer)) > 0 {
			list = append(list, agent)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no agent with %s settings was found on this machine; supported are %s", layer,
			strings.Join(settings.Names(), ", "))
	}
	return list, nil
}

// present reports whether an agent is on this machine: its program, or the folder that it creates.
func present(agent settings.Agent, p settings.Places) bool {
	if info, err := os.Stat(agent.Folder(p)); err == nil && info.IsDir() {
		return true
	}
	return programOf(agent.Harness) != ""
}

// programOf returns the path of an agent's program; empty: it is not on PATH.
func programOf(h harness.Harness) string {
	for _, name := range h.Programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// trustCodex makes Codex trust reviewer's hooks of this folder, and reports the result. Any change of a
// hook, such as another time limit, ends the trust.
func trustCodex(ctx context.Context) string {
	const byHand = "start `codex` and accept reviewer's hooks when it asks about them; until then it skips them without a message"
	h, _ := harness.Find(harness.Codex)
	program := programOf(h)
	if program == "" {
		return "codex is not on PATH, so it could not be told to trust the hooks: " + byHand
	}
	hooks, err := trusted(ctx, program)
	switch {
	case err != nil:
		return fmt.Sprintf("codex does not trust the hooks (%v): %s", err, byHand)
	case len(hooks) == 0:
		return "codex does not list the hooks, perhaps because it does not trust this project: " + byHand
	}
	for _, hook := range hooks {
		if !hook.Runs() {
			return "codex does not trust all hooks: " + byHand
		}
	}
	return "codex trusts the hooks as they are now; after a change by hand run this command again"
}

// trusted returns reviewer's hooks in this folder after Codex was told to trust them.
func trusted(ctx context.Context, program string) ([]codexserver.Hook, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, errors.New("the working directory is not known")
	}
	own := func(h codexserver.Hook) bool { return settings.OwnLine(harness.Codex, h.Command) }
	hooks, err := codexserver.Trust(ctx, program, folder, own)
	var list []codexserver.Hook
	for _, h := range hooks {
		if own(h) {
			list = append(list, h)
		}
	}
	return list, err
}
