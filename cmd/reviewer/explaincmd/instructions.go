package explaincmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/spf13/cobra"
)

// InstructionsCommand is `reviewer instructions`.
func InstructionsCommand(a *cli.App) *cobra.Command {
	var out term.Output
	agent := "claude-code"
	cmd := &cobra.Command{
		Use:   "instructions [FOLDER]",
		Short: "Show what instruction files such as CLAUDE.md forbid, and which sentences were not understood",
		Long: "Reads the instruction files for agents that apply in FOLDER, by default the current one: those of the\n" +
			"repository (CLAUDE.md, AGENTS.md and others, and what they import) and the user's own ones. For each\n" +
			"sentence that forbids something it shows the act and what it is about. A sentence that seems to forbid\n" +
			"something and was not understood is not enforced: reword it. Instruction files permit nothing.",
		Example: "  reviewer instructions\n  reviewer instructions ~/src/shop --agent codex\n  reviewer instructions -f json",
		Args:    cli.AtMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if names := harness.Names(); !slices.Contains(names, agent) {
				return term.Unknown("agent", agent, names)
			}
			doc, err := InstructionsIn(a, args, agent)
			if err != nil {
				return err
			}
			return out.Result(a.Stdout, doc, doc.text)
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&agent, "agent", agent, "agent whose files of the user are read")
	return cmd
}

// Instructions is what the instruction files of a folder forbid, as JSON.
type Instructions struct {
	Folder string            `json:"folder"`
	Files  []InstructionFile `json:"files"`

	names map[string]any // of acts, in words
}

// InstructionFile is one instruction file.
type InstructionFile struct {
	Path      string                `json:"path"`
	Trusted   bool                  `json:"trusted"`           // the user's own file, or unchanged in version control
	Problem   string                `json:"problem,omitempty"` // why it was not read, or only in part
	Sentences []InstructionSentence `json:"sentences"`
}

// InstructionSentence is a sentence that forbids something, or seems to.
type InstructionSentence struct {
	Line       int                `json:"line"`
	Text       string             `json:"text"`
	Statements []engine.Statement `json:"statements"`        // none: it was not understood
	Dropped    bool               `json:"dropped,omitempty"` // some of them do not hold: a session keeps a limited number
}

func InstructionsIn(a *cli.App, args []string, agent string) (*Instructions, error) {
	folder := "."
	if len(args) > 0 {
		folder = args[0]
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", args[0], err)
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", folder)
	}
	home, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	world, err := a.World(home)
	if err != nil {
		return nil, err
	}
	active, err := cli.MachineAt(home).Effective(folder)
	if err != nil {
		return nil, err
	}
	mac, err := cli.PassingMAC()
	if err != nil {
		return nil, err
	}
	c := classify.Classifier{World: world, MAC: mac, Secrets: bundles.BuiltInTokens(), Shipped: bundles.BuiltInRows}
	doc := &Instructions{Folder: folder, Files: []InstructionFile{}}
	if goals, ok := active.Document["goals"].(map[string]any); ok {
		doc.names, _ = goals["names"].(map[string]any)
	}
	files := c.Instructions(engine.Event{Harness: agent, Rows: classify.NewRows(active.RowLayers()), Redact: engine.PersonalKinds()}, folder)
	kept := classify.KeptInstructions(files)
	for _, f := range files {
		file := InstructionFile{Path: f.Path, Trusted: f.Trusted, Problem: f.Problem, Sentences: []InstructionSentence{}}
		for _, s := range f.Sentences {
			sentence := InstructionSentence{Line: s.Line, Text: s.Text, Statements: s.Statements}
			sentence.Dropped = slices.ContainsFunc(s.Statements, func(s engine.Statement) bool { return !isKept(kept, s) })
			if sentence.Statements == nil {
				sentence.Statements = []engine.Statement{}
			}
			file.Sentences = append(file.Sentences, sentence)
		}
		doc.Files = append(doc.Files, file)
	}
	return doc, nil
}

// isKept reports whether a statement holds in a session.
func isKept(kept []engine.Statement, s engine.Statement) bool {
	return slices.ContainsFunc(kept, func(k engine.Statement) bool { return k.From == s.From && k.Same(s) })
}

func (d *Instructions) text(w io.Writer) {
	if len(d.Files) == 0 {
		fmt.Fprintf(w, "no instruction files apply in %s\n", d.Folder)
		return
	}
	for i, f := range d.Files {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, term.OneLine(f.Path+term.After(": ", f.Problem), 400))
		if !f.Trusted && f.Problem == "" {
			fmt.Fprintln(w, "  this content is not committed, so what it forbids is only asked about")
		}
		if len(f.Sentences) == 0 && f.Problem == "" {
			fmt.Fprintln(w, "  forbids nothing that could be read")
		}
		for _, s := range f.Sentences {
			fmt.Fprintf(w, "  %4d  %s\n        %s\n", s.Line, term.OneLine(d.Meaning(s), 400), term.OneLine(s.Text, 160))
		}
	}
}

// Meaning describes what was read from a sentence.
func (d *Instructions) Meaning(s InstructionSentence) string {
	if len(s.Statements) == 0 {
		return "not understood"
	}
	var all []string
	if s.Dropped {
		all = append(all, "not kept, since a session keeps no more of these")
	}
	for _, s := range s.Statements {
		verb := "forbids"
		if s.Until != "" {
			verb = "asks before"
		}
		act, known := d.names[s.Act].(string)
		if !known {
			act = s.Act
		}
		all = append(all, verb+": "+act+term.After(": ", strings.Join(s.Objects, ", ")))
	}
	return strings.Join(all, "; ")
}
