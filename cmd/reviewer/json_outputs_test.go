package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
)

// TestJSONDocuments refuses a command with -f json whose document no script holds
// against its schema, and one whose error no script does.
func TestJSONDocuments(t *testing.T) {
	validated := scriptDocuments(t)
	for _, cmd := range jsonCommands() {
		_, name, _ := strings.Cut(cmd.CommandPath(), " ")
		if !validated[name].result {
			t.Errorf("no script validates what `reviewer %s -f json` writes; expected lines such as\n"+
				"reviewer %s -f json\nvalid %s stdout", name, name, documentName(name))
		}
		if !neverFails(name) && !validated[name].failure {
			t.Errorf("no script validates the error of `reviewer %s -f json`; expected lines such as\n"+
				"exits 1 reviewer %s -f json\nvalid error stdout", name, name)
		}
	}
}

// documents is which documents of a command scripts validate.
type documents struct{ result, failure bool }

// neverFails reports whether a command only prints what the program holds: the one
// error that it has is a usage error.
func neverFails(name string) bool {
	return slices.Contains([]string{"version", "schema", "policy codes", "agents"}, name)
}

// jsonCommands lists the commands that write a document with -f json.
func jsonCommands() []*cobra.Command {
	var list []*cobra.Command
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		if f := cmd.Flags().Lookup("format"); f != nil && slices.Contains(formatsIn(f.Usage), "json") && !ownStream(cmd) {
			list = append(list, cmd)
		}
		for _, c := range cmd.Commands() {
			look(c)
		}
	}
	look(rootCommand(&cli.App{}))
	return list
}

// ownStream reports whether -f json of a command is another's format: OPA's document of
// capabilities, and records alone; or belongs to the commands below it.
func ownStream(cmd *cobra.Command) bool {
	own := []string{"reviewer policy capabilities", "reviewer audit export", "reviewer audit tail", "reviewer policy new"}
	return slices.Contains(own, cmd.CommandPath())
}

// formatsIn reads the formats out of a flag's description.
func formatsIn(usage string) []string {
	_, list, _ := strings.Cut(usage, ": ")
	return strings.Split(list, ", ")
}

// scriptDocuments lists by command which of its documents scripts hold against a schema.
func scriptDocuments(t *testing.T) map[string]documents {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	all := map[string]documents{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(raw), "\n-- ")
		documentsOf(script, all)
	}
	return all
}

// documentsOf notes each `valid SCHEMA stdout` under the command before it.
func documentsOf(script string, all map[string]documents) {
	command, failed := "", false
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		if i := slices.Index(words, "reviewer"); i >= 0 && !strings.HasPrefix(line, "#") {
			command, failed = "", words[0] == "exits"
			if strings.Contains(line, "-f json") {
				command = commandIn(words[i+1:])
			}
		}
		if len(words) == 3 && words[0] == "valid" && command != "" {
			d := all[command]
			d.result, d.failure = d.result || words[1] != "error", d.failure || failed
			all[command] = d
		}
	}
}

// commandIn returns the command that the words of a command line name.
func commandIn(words []string) string {
	cmd, _, err := rootCommand(&cli.App{}).Find(words)
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}
