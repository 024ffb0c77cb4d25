package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// tamperingCommands are the commands that are tampering in an agent's tool call; all others may run there.
var tamperingCommands = []string{
	"allow", "approvals approve", "approvals code", "approvals deny", "approvals watch", "checkpoint expire", "checkpoint gc",
	"checkpoint restore", "checkpoint take", "hook", "incident close", "install", "notify deliver", "notify test", "policy accept", "policy activate",
	"policy history restore", "policy rollback", "policy sign", "policy trust accept", "policy trust add", "policy trust remove",
	"policy trust restore", "policy trust rotate", "policy trust sign", "run-helper", "serve", "session abort", "session mine", "session resume",
	"session rollback", "session scope", "ui", "uninstall",
}

// toClass says what to do about a command without a row.
const toClass = "add it to the cases of `reviewer` in bundles/default/programs/agents.yaml; if an agent must not run it, with the signal " +
	"guard_tampering and in tamperingCommands too"

// commandsBelow returns every command below one, hidden ones as well, by each of its names.
func commandsBelow(c *cobra.Command, path ...string) map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	for _, sub := range c.Commands() {
		for _, name := range append([]string{sub.Name()}, sub.Aliases...) {
			at := append(slices.Clone(path), name)
			all[strings.Join(at, " ")] = sub
			for below, command := range commandsBelow(sub, at...) {
				all[below] = command
			}
		}
	}
	return all
}

func allCommands() map[string]*cobra.Command {
	root := rootCommand(&cli.App{})
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	return commandsBelow(root)
}

// tampers reports whether a command line is tampering in a tool call.
func tampers(t *testing.T, line string) bool {
	t.Helper()
	c := &classify.Classifier{World: classify.System{Home: "/home/kim"}, MAC: classifytest.MAC, Rows: bundles.BuiltInRows()}
	args, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := c.Classify(context.Background(), engine.Event{Harness: "claude-code", Session: "s1", Phase: engine.PhasePre, Tool: "Bash",
		Args: args, CWD: "/srv/shop"}, "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(facts.Action.Signals, engine.SignalGuardTamper)
}

// hasCase reports whether a case of the row of reviewer names a command.
func hasCase(t *testing.T, path string) bool {
	t.Helper()
	known, ok, err := bundles.BuiltInRows().Program("reviewer")
	if err != nil || !ok {
		t.Fatalf("the row of reviewer: %t, %v", ok, err)
	}
	words := strings.Fields(path)
	row := known.Program
	if sub, ok := row.Subcommands[words[0]]; ok {
		row, words = sub, words[1:]
	}
	return row.Go != "" || slices.ContainsFunc(row.Cases, func(c rows.Case) bool {
		return slices.ContainsFunc(rows.SubPatterns(c.Sub), func(p rows.SubPattern) bool {
			for i, names := range p {
				word := ""
				if i < len(words) {
					word = words[i]
				}
				if !rows.Fits(names, word) {
					return false
				}
			}
			return true
		})
	})
}

func TestEachCommandIsClassed(t *testing.T) {
	all := allCommands()
	for path := range all {
		line := "reviewer " + path
		if !hasCase(t, path) {
			t.Errorf("%s has no row, so it is tampering in a tool call: %s", line, toClass)
		}
		if want := slices.Contains(tamperingCommands, path); tampers(t, line) != want || all[path].Runnable() && !all[path].HasSubCommands() && tampers(t, line+" x") != want {
			t.Errorf("%s: tampering in a tool call is to be %t: %s", line, want, toClass)
		}
		if tampers(t, "reviewer help "+path) {
			t.Errorf("help about %s is tampering", path)
		}
	}
	for _, path := range tamperingCommands {
		if all[path] == nil {
			t.Errorf("there is no command %q: remove it from tamperingCommands", path)
		}
	}
}

// A row knows which options take a value. Before the name of a subcommand, options of that subcommand take the next
// word even if they have no value: it does not hide the command.
func TestOptionsHideNoCommand(t *testing.T) {
	all := allCommands()
	known, _, err := bundles.BuiltInRows().Program("reviewer")
	if err != nil {
		t.Fatal(err)
	}
	switches := map[string]bool{"--version": true} // of the root
	for _, c := range all {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { switches["--"+f.Name] = switches["--"+f.Name] || f.NoOptDefVal != "" })
	}
	for path, c := range all {
		group, leaf, _ := strings.Cut(path, " ")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			option := "--" + f.Name
			if !switches[option] && !rows.Has(known.Persistent, option) && option != "--help" {
				t.Errorf("%s takes a value: name it in persistent of `reviewer` in bundles/default/programs/agents.yaml", option)
			}
			if !slices.Contains(tamperingCommands, path) || !switches[option] {
				return
			}
			for other := range all {
				if other == path {
					continue
				}
				line := "reviewer " + option + " " + other + " " + path + " x"
				if in, read, nested := strings.Cut(other, " "); nested && in == group {
					line = "reviewer " + group + " " + option + " " + read + " " + leaf + " x"
				} else if nested || other == "run" || other == "trash" || all[other+" "+path] != nil {
					continue // these are other commands, or refused because of the word before them
				}
				if !tampers(t, line) {
					t.Errorf("%s is not tampering", line)
				}
			}
		})
	}
}

func TestVariantsOfCommands(t *testing.T) {
	for line, want := range map[string]bool{
		"reviewer": false, "reviewer --version": false, "reviewer -v": false, "reviewer --help": false, "reviewer approvals": false,
		"reviewer -h": false, "reviewer --home /tmp/h session list": false, "reviewer policy pull acme": false, "reviewer doctor": false,
		"reviewer session stop s1": false, "reviewer trash --list": false, "reviewer config show approvals": false,
		"reviewer policy test --run sign policy": false, "reviewer schema allow -f json": false, "reviewer audit show deny -f json": false,
		"reviewer run -- npm install --force": false, "reviewer policy docs all": false,

		"reviewer allow --each": true, "reviewer doctor --fix": true, "reviewer trash --empty": true, "reviewer policy pull acme --activate": true,
		"reviewer policy pull acme --every 1h --install": true, "reviewer policy pull acme --uninstall": true, "reviewer policy pull acme --every 1h": false,
		"reviewer install --dry-run": true, "reviewer frobnicate": true, "reviewer session frobnicate": true, `reviewer "$c"`: true,
		`reviewer session "$c"`: true, "reviewer __complete approvals approve ''": true, "reviewer policy trust frobnicate": true,
		"reviewer config set approvals.queue never": true, "reviewer policy accept": true, "reviewer policy accept --dry-run=false": true,
		"reviewer policy accept --dry-run": false, "reviewer policy accept --dry-run --dry-run=false": true,

		"reviewer-hook --version": false, "reviewer-hook -v": false, "reviewer-hook --help": false, "reviewer-hook -h": false,
		"reviewer-hook": true, "reviewer-hook hook claude-code PreToolUse": true, "reviewer-hook --home /tmp/h --version": true,
		"reviewer-hook --version hook": true, "reviewer-hook frobnicate": true, "reviewer-hook hook --help": true, `reviewer-hook "$c"`: true,
	} {
		if got := tampers(t, line); got != want {
			t.Errorf("%s: tampering %t, want %t", line, got, want)
		}
	}
}
