package classify

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// TestNoKindLeaves plants a secret of each kind, as it is in a string, at
// each place of an event.
func TestNoKindLeaves(t *testing.T) {
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	for _, r := range append(classifytest.IssuedRows(), classifytest.PlacedRows()...) {
		if r.Secret == "secret" {
			continue // an ordinary word elsewhere
		}
		for _, e := range eventsWith(t, r.Text) {
			f, err := c.Classify(context.Background(), e, "/srv/shop")
			if err != nil {
				if strings.Contains(err.Error(), r.Secret) {
					t.Errorf("%s: leaves in the error %v", r.Kind, err)
				}
				continue
			}
			b, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			quoted, err := json.Marshal(r.Secret)
			if err != nil {
				t.Fatal(err)
			}
			if at := strings.Index(string(b), string(quoted[1:len(quoted)-1])); at >= 0 {
				t.Errorf("%s: %s %.80s %s leaves in …%s", r.Kind, e.Tool, e.Args, e.Prompt, b[max(0, at-80):min(len(b), at+60)])
			}
		}
	}
}

// eventsWith are events of the tools with a string at each place in turn.
func eventsWith(t *testing.T, text string) []engine.Event {
	t.Helper()
	list := []engine.Event{
		{Phase: engine.PhasePrompt, Prompt: text}, {Phase: engine.PhasePre, Tool: text, Args: json.RawMessage(`{}`)}, {Phase: engine.PhasePre, Tool: "Bash", Args: json.RawMessage(`{"command":"true"}`), CWD: "/srv/shop", Mode: text, PromptID: text},
		{Phase: engine.PhasePost, Tool: "Bash", Args: json.RawMessage(`{"command":"true"}`), Result: &engine.Result{Failed: true, Error: text}},
	}
	for tool, args := range map[string]any{
		"Bash": map[string]any{"command": "echo '" + text + "' > a; cat <<'EOF'\n" + text + "\nEOF", "description": text}, "Write": map[string]any{"file_path": "/srv/shop/a", "content": text},
		"Edit": map[string]any{"file_path": "/srv/shop/a", "old_string": text, "new_string": text}, "Grep": map[string]any{"pattern": text, "path": text}, "WebFetch": map[string]any{"url": "https://a.example/", "prompt": text},
		"Task": map[string]any{"prompt": text, "description": text}, "mcp__a__run": map[string]any{text: []any{text, map[string]any{text: text}}}, "Strange": map[string]any{"deep": map[string]any{"er": text}},
	} {
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, engine.Event{Phase: engine.PhasePre, Tool: tool, Args: raw, CWD: "/srv/shop"})
	}
	return list
}

// TestPersonalLeavesNowhere: the kinds of an event reach each of its strings.
func TestPersonalLeavesNowhere(t *testing.T) {
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	const text = "kim.dahl@example.com"
	for _, e := range eventsWith(t, text) {
		for _, kinds := range [][]string{nil, {"card"}, {"email"}} {
			e.Redact = kinds
			f, err := c.Classify(context.Background(), e, "/srv/shop")
			if err != nil {
				continue
			}
			b, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(b), "kim.dahl") && slices.Contains(kinds, "email") {
				t.Errorf("%s %.80s: leaves in %s", e.Tool, e.Args, b)
			}
			if strings.Contains(string(b), mask.Redacted+"email") && !slices.Contains(kinds, "email") {
				t.Errorf("%s %.80s: replaced without any policy in %s", e.Tool, e.Args, b)
			}
		}
	}
}

// TestNoSecretLeaves plants secrets at every place of every tool's call.
func TestNoSecretLeaves(t *testing.T) {
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	names := append(slices.Sorted(maps.Keys(Tools(c.Rows))), "mcp__a__run", "mcp__files__write", "Strange")
	for i, name := range names {
		for _, secret := range []string{[]string{classifytest.GitHubToken, classifytest.AwsKey, classifytest.SlackToken, classifytest.JsonToken}[i%4]} {
			for _, e := range planted(name, secret) {
				f, err := c.Classify(context.Background(), e, "/srv/shop")
				if err != nil {
					t.Fatalf("%s %s: %v", name, e.Args, err)
				}
				b, err := json.Marshal(f)
				if err != nil {
					t.Fatal(err)
				}
				if i := strings.Index(string(b), secret); i >= 0 {
					t.Errorf("%s %s: leaves in …%s", name, e.Args, b[max(0, i-60):i+20])
				}
			}
		}
	}
}

// planted are events of a tool with a secret at each place in turn.
func planted(name, secret string) []engine.Event {
	keys := []string{"command", "file_path", "path", "pattern", "url", "prompt", "content", "description", "query", "old_string", "new_string", "script", "todos", "token", "other", secret}
	for _, a := range toolOf(classifytest.Rows(), name).args {
		keys = append(keys, a.name)
	}
	var list []engine.Event
	for _, k := range keys {
		for _, v := range []any{
			secret, "/srv/shop/" + secret + "/a", "https://a.example/" + secret + "?x=" + secret, "curl -u a:" + secret + " https://a.example/" + secret,
			"rm -rf /srv/" + secret + " && echo " + secret + " > " + secret, []any{secret, map[string]any{secret: secret}}, "Remove-Item " + secret, "'" + secret,
		} {
			args, err := json.Marshal(map[string]any{k: v, "file_path": "/srv/shop/a", "command": "true"})
			if k == "file_path" || k == "command" {
				args, err = json.Marshal(map[string]any{k: v})
			}
			if err != nil {
				continue
			}
			list = append(list, engine.Event{Phase: engine.PhasePost, Tool: name, Args: args, CWD: "/srv/shop/" + secret, Mode: secret, PromptID: secret, Name: secret,
				Result: &engine.Result{Failed: true, Error: "Exit code 1\n" + secret + " is wrong: " + secret, Output: json.RawMessage(`{"stdout":"` + secret + `"}`)}})
		}
	}
	return append(list, engine.Event{Phase: engine.PhasePre, Tool: secret, Args: json.RawMessage(`{}`)}, engine.Event{Phase: engine.PhasePrompt, Prompt: secret})
}

// TestContextSecretsStayIn: secrets that only their surroundings give away do
// not leave by the commands, effects and arguments either.
func TestContextSecretsStayIn(t *testing.T) {
	for _, command := range []string{
		"mysql -u root -p" + classifytest.Password + " -e 'select 1'", "curl -u kim:" + classifytest.Password + " https://a.example", "DB_PASSWORD=" + classifytest.Password + " ./run",
		"tool --password " + classifytest.Password, "tool --password '" + classifytest.Password + "' x", `tool --password="` + classifytest.Password + `"`, "psql postgres://kim:" + classifytest.Password + "@db.example/a",
		"curl -H 'X-Api-Key: " + classifytest.Password + "1234' https://a.example", "sshpass -p " + classifytest.Password + " ssh kim@a.example rm x", "echo password=" + classifytest.Password + " > .env",
	} {
		args, err := json.Marshal(map[string]any{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", "Bash", string(args)))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), classifytest.Password) {
			t.Errorf("%s: leaves in %s", command, b)
		}
	}
}
