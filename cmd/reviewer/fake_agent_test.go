package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/live"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// asQwen is an agent that speaks as Qwen Code does: `fake-qwen KIND ARGUMENT…`. An obedient one asks its
// hooks, a deaf one does not, an idle one runs no call, and a lonely one asks no model.
func asQwen() {
	if os.Getenv("PERSONAL_KEY") != "" {
		panic("the environment of a person reached the agent")
	}
	kind := os.Args[1]
	if kind == "lonely" {
		fmt.Println("no network here")
		return
	}
	for turn := range 5 {
		command := askModel(turn)
		if command == "" {
			return
		}
		if kind == "idle" || kind == "obedient" && !hookAllows(turn, command) {
			continue
		}
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%v: %s", err, out))
		}
	}
}

// askModel returns the command that the model asks for; empty: it asks for none.
func askModel(turn int) string {
	body := `{"model":"m","tools":[{}],"messages":[]}`
	answer, err := http.Post(os.Getenv("OPENAI_BASE_URL")+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	var said struct {
		Choices []struct {
			Message struct {
				Calls []struct {
					Function struct{ Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		panic(fmt.Sprintf("turn %d: %v", turn, err))
	}
	var input struct{ Command string }
	for _, call := range said.Choices[0].Message.Calls {
		if err := json.Unmarshal([]byte(call.Function.Arguments), &input); err != nil {
			panic(err)
		}
	}
	return input.Command
}

// hookAllows asks the hook in the user's settings.
func hookAllows(turn int, command string) bool {
	raw, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".qwen", "settings.json"))
	if err != nil {
		panic(err)
	}
	var said struct {
		Hooks struct {
			PreToolUse []struct{ Hooks []struct{ Command string } }
		}
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		panic(err)
	}
	folder, _ := os.Getwd() // the hook would say that it is missing
	input, err := json.Marshal(map[string]any{"session_id": "s1", "cwd": folder, "hook_event_name": "PreToolUse", "tool_name": "run_shell_command",
		"tool_input": map[string]string{"command": command}, "tool_use_id": fmt.Sprint("call_", turn)})
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("sh", "-c", said.Hooks.PreToolUse[0].Hooks[0].Command)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	return err == nil && !bytes.Contains(out, []byte(`"deny"`))
}

// Each agent that reviewer knows can be started by `doctor --live`, or needs an account.
func TestLiveDrivers(t *testing.T) {
	without := map[string]bool{"cursor": true}
	for _, name := range settings.Names() {
		if _, found := live.Find(name); found == without[name] {
			t.Errorf("%s: there is a driver: %t", name, found)
		}
	}
}
