package main

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
)

// TestExamples refuses a command whose help shows no example, and one in a group of
// sections that is in none of them.
func TestExamples(t *testing.T) {
	root := rootCommand(&cli.App{})
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		if !strings.Contains(cmd.Example, cmd.Root().Name()+" ") {
			t.Errorf("%s: its help has no example", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			if len(cmd.Groups()) > 0 && c.GroupID == "" {
				t.Errorf("%s is in no section of the help of %s", c.CommandPath(), cmd.CommandPath())
			}
			look(c)
		}
	}
	look(root)
}
