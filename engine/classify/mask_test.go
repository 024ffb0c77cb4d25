package classify

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Secrets are put together here, so that this file holds none.
var (
	githubToken = "ghp_" + strings.Repeat("a1B2", 9)
	awsKey      = "AKIA" + "QX3ZP7LM2WTN5RSV"
	slackToken  = "xoxb-" + "2149850147-8812312912-Kq3vXn8TzPw1"
	password    = "Tr0ub4dor-and-3"
	keyBlock    = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA7", 8) + "\n-----END RSA " + "PRIVATE KEY-----"
	jsonToken   = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

func TestMask(t *testing.T) {
	m := &masker{mac: testMAC}
	for _, c := range []struct{ text, secret, kind string }{
		{githubToken, githubToken, "github_token"},
		{"https://x-access-token:" + githubToken + "@github.com/a/b", githubToken, "github_token"},
		{"export AWS_ACCESS_KEY_ID=" + awsKey, awsKey, "aws_key"},
		{"SLACK=" + slackToken, slackToken, "slack_token"},
		{"password=" + password, password, "password"},
		{"DB_PASSWORD='" + password + "'", password, "password"},
		{`{"client_secret": "a8Zk29fjQ0lmX7"}`, "a8Zk29fjQ0lmX7", "secret"},
		{"mysql -u root -p" + password + " shop", password, "password"},
		{"sshpass -p " + password + " ssh a@b", password, "password"},
		{"curl -u kim:" + password + " https://a.example", password, "password"},
		{"curl -H 'Authorization: Bearer " + jsonToken + "' https://a.example", jsonToken, "jwt"},
		{"curl -H 'Authorization: Bearer 8f14e45fceea167a5a36'", "8f14e45fceea167a5a36", "bearer"},
		{"postgres://kim:" + password + "@db.example/shop", password, "url_password"},
		{"tool --api-key q8wW2kd9sLx0 run", "q8wW2kd9sLx0", "api_key"},
		{"https://a.example/?access_token=a8Zk29fjQ0lmX7&b=1", "a8Zk29fjQ0lmX7", "token"},
		{"key:\n" + keyBlock, keyBlock[strings.Index(keyBlock, "MII") : strings.Index(keyBlock, "MII")+20], "private_key"},
	} {
		got := m.text(c.text)
		if strings.Contains(got, c.secret) || !strings.Contains(got, redacted+c.kind+"_") {
			t.Errorf("%.60q -> %q, want %s masked", c.text, got, c.kind)
		}
		if again := m.text(got); again != got {
			t.Errorf("masking twice: %q -> %q", got, again)
		}
	}
}

func TestMaskLeaves(t *testing.T) {
	m := &masker{mac: testMAC}
	for _, text := range []string{
		"", "rm -rf build", "password=$DB_PASSWORD", `password="${DB_PASSWORD}"`, "token: <your token>", "API_KEY=your_api_key_here",
		"git log --format=%H 4b825dc642cb6eb9a060e54bf8d69288fbee4904", "max_tokens=4096", "--token-file /run/token", "passwd: files systemd",
		"token := parser.next()", "if password == \"\" {", "const tokenKind = iota", "PWD=/srv/shop/a", "secrets: inherit", "key=value",
		"sk-learn-pipeline-for-images", "https://a.example/path?page=2", "password: string", "sort_key=created_at_desc_2", "mkdir -p a/b",
		"See https://a.example/tokens/2 for tokens.", "AKIAXXXXXXXXXXXXXXXX", "npm_config_registry=x", `"password": "********"`,
	} {
		if got := m.text(text); got != text {
			t.Errorf("%q -> %q, want it as it is", text, got)
		}
	}
}

func TestMaskSameSecretSameName(t *testing.T) {
	m := &masker{mac: testMAC}
	a, b := m.text("a "+githubToken), m.text(githubToken+" b")
	if strings.Fields(a)[1] != strings.Fields(b)[0] {
		t.Errorf("one secret has two names: %q, %q", a, b)
	}
	if strings.Trim(strings.Fields(a)[1], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		t.Errorf("replacement %q holds more than letters, digits and _", a)
	}
}

// TestMaskKnown: what gave a secret away stands elsewhere.
func TestMaskKnown(t *testing.T) {
	m := &masker{mac: testMAC}
	m.learn("tool --password 'Tr0ub4dor'-and-3 --token s3cr3t")
	for in, secret := range map[string]string{"Tr0ub4dor-and-3": "Tr0ub4dor-and-3", "x=Tr0ub4dor-and-3;": "Tr0ub4dor-and-3"} {
		if got := m.text(in); strings.Contains(got, secret) {
			t.Errorf("%q -> %q", in, got)
		}
	}
	if got := m.text("s3cr3ts"); got != "s3cr3ts" {
		t.Errorf("a short secret inside of a word: %q", got)
	}
}

func TestCountSecrets(t *testing.T) {
	m := &masker{mac: testMAC}
	raw := githubToken + "\n" + githubToken + "\npassword=" + password + "\n"
	n := m.count(raw)
	if n["github_token"] != 2 || n["password"] != 1 {
		t.Errorf("counted %v", n)
	}
	masked := m.count(m.text(raw))
	if masked["github_token"] != 2 || masked["password"] != 1 {
		t.Errorf("counted %v in masked text", masked)
	}
	if m.count("nothing") != nil {
		t.Error("nothing counted as a secret")
	}
}

// TestNoSecretLeaves plants secrets at every place of every tool's call.
func TestNoSecretLeaves(t *testing.T) {
	c := &Classifier{World: nowhere(), MAC: testMAC}
	names := append(sortedKeys(builtins), "mcp__a__run", "mcp__files__write", "Strange")
	for i, name := range names {
		for _, secret := range []string{[]string{githubToken, awsKey, slackToken, jsonToken}[i%4]} {
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
	for _, a := range builtins[name].args {
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
		"mysql -u root -p" + password + " -e 'select 1'", "curl -u kim:" + password + " https://a.example", "DB_PASSWORD=" + password + " ./run",
		"tool --password " + password, "tool --password '" + password + "' x", `tool --password="` + password + `"`, "psql postgres://kim:" + password + "@db.example/a",
		"curl -H 'X-Api-Key: " + password + "1234' https://a.example", "sshpass -p " + password + " ssh kim@a.example rm x", "echo password=" + password + " > .env",
	} {
		args, err := json.Marshal(map[string]any{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", "Bash", string(args)))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), password) {
			t.Errorf("%s: leaves in %s", command, b)
		}
	}
}

// TestMaskIsLinear: a text made of beginnings of secrets takes no longer than
// any other. It would not end in the time of a test if each began a new search.
// Every fourth beginning is tried; all with REVIEWER_EVERY=1 (`make fidelity`).
func TestMaskIsLinear(t *testing.T) {
	for i, lead := range []string{"eyJ", "password=", "://", "ghp_", "xoxb-", "-----BEGIN RSA PRIVATE KEY-----", "bearer ", "curl -u ", "a.", "\"", "token: ", "cookie: ;", "Q~", ":A",
		"password:", "secret:1", "name: token value: ", "kind: secret\n", "kind: secret\n---\n", "auth:", "authorization: basic ", "a\" == password", "sqlplus a/", "glpat-", "REDACTED_token_", "login a password ", ":5432:", "token(", "{{", "xoxb-1-", "secret = a{b)", "sudo -S ", "echo a | chpasswd ", "-----END RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----\nabcdefghijklmnopqrstuvwxyzabcdefghijkl\n", "<token>", "token: |\n", "env token ", "token is ",
		"${token:-", "token {", "random_password \"result", "token = a() or ", "token = byte(", "password: send ", "SetBasicAuth(a,", "{pass: ", "Private-Lines: 1\n", "name=\"token\">", "gh secret set <<< ", "curl -b a=", "$2a$", "arn:a:token:", "create user password "} {
		if i%4 != 0 && os.Getenv("REVIEWER_EVERY") == "" {
			continue
		}
		text := strings.Repeat(lead, (1<<18)/len(lead))
		m, start := &masker{mac: testMAC}, time.Now()
		m.learn(text)
		if got := m.text(text); got == "" {
			t.Errorf("%q: nothing is left", lead)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%q: a quarter of a megabyte takes %v", lead, d)
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("password=" + password + " x")
	f.Add("curl -u a:" + password + " " + githubToken)
	f.Add(keyBlock)
	f.Add("\x8b0")
	f.Fuzz(func(t *testing.T, text string) {
		text = string([]rune(text)) // what leaves is text
		m := &masker{mac: testMAC}
		spans, end := findSecrets(text), 0
		for _, s := range spans {
			if s.start < end || s.end <= s.start || s.end > len(text) {
				t.Fatalf("spans %v in %q", spans, text)
			}
			end = s.end
		}
		masked := m.text(text)
		if len(spans) == 0 && masked != text {
			t.Errorf("%q -> %q without a secret", text, masked)
		}
		if again := m.text(masked); again != masked {
			t.Errorf("%q -> %q -> %q", text, masked, again)
		}
		if got := m.text(text + " " + githubToken); strings.Contains(got, githubToken) {
			t.Errorf("%q hides a token: %q", text, got)
		}
	})
}
