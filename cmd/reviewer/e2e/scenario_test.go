package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

// A Call is one tool call that the scripted model asks for. Input is the
// tool's arguments as the model writes them, a JSON object.
type Call struct {
	Tool  string
	Input json.RawMessage
}

// A Step is one answer of the scripted model: what it says, then the calls that
// it asks for. A step without calls ends the agent's turn.
type Step struct {
	Say   string
	Calls []Call
}

// A Script is what the model answers, one step for each request that offers
// tools, in order. Past its end the model says that it is done.
type Script []Step

// A Scenario is a prompt, what the model does about it, and the files that are
// there before it begins. Keys of Files begin with the place they belong to:
// project/, home/ or outside/ (a folder next to the project, not part of it).
type Scenario struct {
	About  string
	Prompt string
	Script Script
	Files  map[string]string
}

// LoadScenario reads a txtar file with the parts prompt, script and files.
// In all of them $PROJECT, $HOME and $OUTSIDE stand for the folders given.
func LoadScenario(path string, places map[string]string) (Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Scenario{}, fmt.Errorf("read scenario: %w", err)
	}
	s, err := parseScenario(data, places)
	if err != nil {
		return s, fmt.Errorf("read scenario %s: %w", filepath.Base(path), err)
	}
	return s, nil
}

func parseScenario(data []byte, places map[string]string) (Scenario, error) {
	archive := txtar.Parse(data)
	s := Scenario{About: strings.TrimSpace(string(archive.Comment)), Files: map[string]string{}}
	for _, f := range archive.Files {
		text := expand(string(f.Data), places)
		switch f.Name {
		case "prompt":
			s.Prompt = strings.TrimSpace(text)
		case "script":
			script, err := ParseScript(text)
			if err != nil {
				return s, err
			}
			s.Script = script
		default:
			s.Files[f.Name] = text
		}
	}
	if s.Prompt == "" || len(s.Script) == 0 {
		return s, fmt.Errorf("a scenario needs a prompt and a script")
	}
	return s, nil
}

// expand replaces $NAME for the names given and leaves every other dollar
// alone, since scripts contain shell commands.
func expand(text string, places map[string]string) string {
	for name, dir := range places {
		text = strings.ReplaceAll(text, "$"+name, dir)
	}
	return text
}

// ParseScript reads steps separated by empty lines. In a step, a line
// "say TEXT" is something that the model says and a line "call TOOL JSON" is
// something that it does; a line that begins with # is a remark.
func ParseScript(text string) (Script, error) {
	var script Script
	for _, block := range strings.Split(text, "\n\n") {
		step, err := parseStep(block)
		if err != nil {
			return nil, err
		}
		if step.Say != "" || len(step.Calls) > 0 {
			script = append(script, step)
		}
	}
	return script, nil
}

func parseStep(block string) (Step, error) {
	var step Step
	for _, line := range strings.Split(block, "\n") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case verb == "" || strings.HasPrefix(verb, "#"):
		case verb == "say":
			step.Say = strings.TrimSpace(step.Say + "\n" + rest)
		case verb == "call":
			call, err := parseCall(rest)
			if err != nil {
				return step, fmt.Errorf("line %q: %w", line, err)
			}
			step.Calls = append(step.Calls, call)
		default:
			return step, fmt.Errorf("line %q: want say, call or #", line)
		}
	}
	return step, nil
}

func parseCall(text string) (Call, error) {
	tool, input, _ := strings.Cut(text, " ")
	if tool == "" || !json.Valid([]byte(input)) {
		return Call{}, fmt.Errorf("want a tool's name and its input as JSON")
	}
	return Call{Tool: tool, Input: json.RawMessage(input)}, nil
}

// LoadScripts reads a txtar file of scripts and returns them by name; places as
// in LoadScenario.
func LoadScripts(path string, places map[string]string) (map[string]Script, error) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		return nil, fmt.Errorf("read scripts: %w", err)
	}
	scripts := map[string]Script{}
	for _, f := range archive.Files {
		script, err := ParseScript(expand(string(f.Data), places))
		if err != nil {
			return nil, fmt.Errorf("read script %s of %s: %w", f.Name, filepath.Base(path), err)
		}
		scripts[f.Name] = script
	}
	return scripts, nil
}

// Do is a step that asks for one call; input is any value that encodes to the
// tool's JSON arguments.
func Do(tool string, input any) Step {
	data, err := json.Marshal(input)
	if err != nil {
		data = []byte(`{}`)
	}
	return Step{Calls: []Call{{Tool: tool, Input: data}}}
}

// Shell is a step that asks for one Bash command.
func Shell(command string) Step {
	return Do("Bash", map[string]string{"command": command, "description": "Run a command"})
}
