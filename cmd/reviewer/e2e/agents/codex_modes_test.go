//go:build e2e && linux

package agents

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/scripted"
)

// With newer models, the model of Codex writes JavaScript, which makes the calls. Each of them is reviewed;
// a denial is an error in the script, which may go on with the next call.
func TestCodexCodeMode(t *testing.T) {
	s := newStage(t, installedFor(t, "codex"))
	s.driver.prepare = func(s *stage) { s.edit(".codex/config.toml", `model = "gpt-5.5"`, `model = "gpt-5.6-sol"`) }
	denied := strings.ReplaceAll(blocked, "{outside}", s.outside)
	code := fmt.Sprintf("await tools.exec_command({cmd:%q});\ntry { await tools.exec_command({cmd:%q}); } catch (e) { text(String(e)); }", "echo 1 > first", denied)
	run := s.run(scripted.Script{{Say: "Working.", Calls: []scripted.Call{{Tool: "exec", Namespace: "functions", Custom: true, Input: code}}}}, nil)
	if !exists(filepath.Join(s.project, "first")) || exists(filepath.Join(s.project, "mark")) {
		t.Errorf("of the two calls of the script, only the first was to run\n%s", s.story(run))
	}
	if !s.told(run) {
		t.Errorf("the model was not told the rule\n%s", s.story(run))
	}
	s.wantRecord("block")
}

// A call of a tool server is reviewed as well.
func TestCodexToolServer(t *testing.T) {
	s := newStage(t, installedFor(t, "codex"))
	self, err := os.Executable()
	s.must(err)
	called := filepath.Join(s.dir, "called")
	s.driver.prepare = func(s *stage) {
		path := filepath.Join(s.home, ".codex/config.toml")
		before, err := os.ReadFile(path)
		s.must(err)
		s.write(path, string(before)+fmt.Sprintf("[mcp_servers.stock]\ncommand = %q\nargs = [%q, %q]\n", self, stockArgument, called))
	}
	rule := "- id: stock.empty\n  title: The stock is emptied\n  severity: high\n  decision: block\n  harm: loss\n" +
		"  when: event.tool == 'mcp__stock__set' && event.args.count == 0\n  message: The stock of a product is not set to 0.\n"
	s.write(filepath.Join(s.state, "policy/rules/stock/stock.yaml"), rule)
	s.write(filepath.Join(s.state, "policy/settings.yaml"), "tools: {unknown: allow}\n") // it is denied where nobody can be asked
	set := func(n int) scripted.Step {
		return scripted.Step{Say: "Working.", Calls: []scripted.Call{{Tool: "set", Namespace: "mcp__stock", Input: map[string]int{"count": n}}}}
	}
	run := s.run(scripted.Script{set(3), set(0)}, nil)
	got, _ := os.ReadFile(called) // missing: no call arrived
	if string(got) != `{"count":3}`+"\n" {
		t.Errorf("calls that arrived: %q, want the first of two\n%s", got, s.story(run))
	}
	if !s.told(run) {
		t.Errorf("the model was not told the rule\n%s", s.story(run))
	}
	s.wantRecord("block")
}

// edit changes a string in a file of the home.
func (s *stage) edit(file, old, new string) {
	s.Helper()
	path := filepath.Join(s.home, file)
	before, err := os.ReadFile(path)
	s.must(err)
	if !strings.Contains(string(before), old) {
		s.Fatalf("%s does not contain %s:\n%s", file, old, before)
	}
	s.write(path, strings.Replace(string(before), old, new, 1))
}

// stockArgument makes the test program a tool server (Model Context Protocol).
const stockArgument = "stock-server"

// stockServer has one tool. It writes the arguments of each call to a file.
func stockServer(called string) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var req struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string
				Arguments       json.RawMessage
			}
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil || req.ID == nil {
			continue // a notification
		}
		result := `{}`
		switch req.Method {
		case "initialize":
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"stock","version":"1"}}`, req.Params.ProtocolVersion)
		case "tools/list":
			result = `{"tools":[{"name":"set","description":"Set how many there are","inputSchema":{"type":"object","properties":{"count":{"type":"integer"}}}}]}`
		case "tools/call":
			result = `{"content":[{"type":"text","text":"done"}]}`
			if f, err := os.OpenFile(called, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				fmt.Fprintf(f, "%s\n", req.Params.Arguments)
				f.Close()
			}
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.ID, result)
	}
}
