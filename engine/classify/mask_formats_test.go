package classify

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

const (
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
	upperLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	numerals     = "0123456789"
	hexDigits    = "0123456789abcdef"
)

// made returns n characters that look issued. They are made here, so that this
// file holds no secret.
func made(seed uint64, n int, alphabet string) string {
	r := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	if n >= 8 && len(alphabet) > 36 {
		copy(b[2:], "Q7x") // of each class one
	}
	return string(b)
}

// row is a secret in a text, and the kind that it is masked as.
type row struct{ kind, secret, text string }

// issuedRows are tokens that stand alone.
func issuedRows() []row {
	all := lowerLetters + upperLetters + numerals
	list := []row{
		{kind: "aws_key", secret: "ASIA" + made(1, 16, upperLetters+"234567")},
		{kind: "github_token", secret: "github_pat_" + made(2, 22, all) + "_" + made(3, 59, all)},
		{kind: "gitlab_token", secret: "glpat-" + made(4, 20, all)},
		{kind: "gitlab_token", secret: "glpat-" + made(5, 40, all) + ".01." + made(6, 9, lowerLetters+numerals)},
		{kind: "slack_token", secret: "xoxp-" + made(7, 11, "123456789") + "-" + made(8, 12, "123456789") + "-" + made(9, 12, "123456789") + "-" + made(10, 32, hexDigits)},
		{kind: "stripe_key", secret: "rk_live_" + made(11, 24, all)},
		{kind: "npm_token", secret: "npm_" + made(12, 36, all)},
		{kind: "pypi_token", secret: "pypi-" + "AgEIcHlwaS5vcmc" + made(13, 120, all)},
		{kind: "sendgrid_key", secret: "SG." + made(14, 22, all) + "." + made(15, 43, all)},
		{kind: "databricks_token", secret: "dapi" + made(16, 32, hexDigits)},
		{kind: "google_key", secret: "AIza" + made(17, 35, all)},
		{kind: "docker_token", secret: "dckr_pat_" + made(18, 27, all)},
		{kind: "notion_token", secret: "ntn_" + made(19, 46, all)},
		{kind: "airtable_token", secret: "pat" + made(20, 14, all) + "." + made(21, 64, hexDigits)},
		{kind: "tailscale_key", secret: "tskey-auth-" + made(22, 17, all) + "-" + made(23, 32, all)},
		{kind: "telegram_token", secret: made(24, 10, "123456789") + ":AA" + made(25, 33, all)},
		{kind: "azure_secret", secret: made(26, 3, all) + "8Q~" + made(27, 34, all)},
		{kind: "mailchimp_key", secret: made(28, 32, hexDigits) + "-us14"},
		{kind: "discord_token", secret: "MT" + made(29, 24, all) + ".G" + made(30, 5, all) + "." + made(31, 38, all)},
		{kind: "terraform_token", secret: made(32, 14, all) + ".atlasv1." + made(33, 67, all)},
		{kind: "jwt", secret: base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + ".eyJ" + made(34, 40, all) + "." + made(35, 43, all)},
		{kind: "vault_token", secret: "hvs." + made(36, 90, all)},
		{kind: "harness_token", secret: "pat." + made(37, 22, all) + "." + made(38, 24, all) + "." + made(39, 20, all)},
		{kind: "openshift_token", secret: "sha256~" + made(40, 43, all)},
	}
	for i := range list {
		list[i].text = "see " + list[i].secret + " there"
	}
	return list
}

// placedRows are secrets that only their surroundings give away.
func placedRows() []row {
	all := lowerLetters + upperLetters + numerals
	word, key := made(50, 12, all), made(51, 40, all+"/+")
	id := "AKIA" + made(52, 16, upperLetters+"234567")
	login64 := base64.StdEncoding.EncodeToString([]byte("kim:" + word))
	odd := "k{x)v" + "$#]n" + "@z?!q"
	return []row{
		{"password", word, "PGPASSWORD=" + word + " psql"},
		{"password", word, "machine a.example login kim password " + word},
		{"password", word, "db.example:5432:shop:kim:" + word},
		{"password", word, "smbclient //a/b -U kim%" + word},
		{"password", word, "sqlplus kim/" + word + "@shop"},
		{"password", word, "curl -s \\\n  -u kim:" + word + " https://a.example"},
		{"password", word, `curl -u "kim":"` + word + `" https://a.example`},
		{"password", word, `create user kim identified by '` + word + `'`},
		{"password", word, "keytool -storepass " + word},
		{"password", word, `if (password == "` + word + `") {`},
		{"password", word, `if ("` + word + `" !== my_password) {`},
		{"password", word, `char password[25] = "` + word + `";`},
		{"password", word, `<add key="Password" value="` + word + `" />`},
		{"password", word, "- name: DB_PASSWORD\n  value: " + word},
		{"password", word, `{"name": "DB_PASSWORD", "value": "` + word + `"}`},
		{"password", odd, "password: " + odd + ",\nuser: kim"},
		{"password", "correct horse battery staple", `passphrase = "` + "correct horse " + `battery staple"`},
		{"secret", odd, "client_secret := `" + odd + "`"},
		{"secret", odd, `secret("` + odd + `")`},
		{"token", "1" + made(53, 15, numerals), "asanaToken: 1" + made(53, 15, numerals)},
		{"aws_secret", key, id + "," + key},
		{"basic_auth", login64, `{"Authorization": "Basic ` + login64 + `"}`},
		{"registry_login", login64, `{"auths":{"r.example":{"auth":"` + login64 + `"}}}`},
		{"cookie", "sid=" + word + "; theme=dark", "Cookie: sid=" + word + "; theme=dark"},
		{"kubernetes_secret", login64, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  tls: " + login64 + "\n"},
		{"url_password", word, "mongodb+srv://kim:" + word + "@db.example/a"},
		{"url_password", "secret", "https://kim:" + "secret@a.example/"},
		{"slack_webhook", "T0" + word + "/B0" + word + "/" + word, "https://hooks.slack.com/services/" + "T0" + word + "/B0" + word + "/" + word},
	}
}

func TestMaskFormats(t *testing.T) {
	m := &masker{mac: testMAC}
	for _, r := range append(issuedRows(), placedRows()...) {
		got := m.text(r.text)
		if strings.Contains(got, r.secret) || !strings.Contains(got, redacted+r.kind+"_") {
			t.Errorf("%q -> %q, want %s masked", r.text, got, r.kind)
		}
		if again := m.text(got); again != got {
			t.Errorf("masking twice: %q -> %q", got, again)
		}
		if want := m.replacement(r.kind, r.secret); !strings.Contains(got, want) {
			t.Errorf("%q -> %q, want exactly the secret replaced", r.text, got)
		}
	}
}

// TestMaskEscaped: the same tokens in texts that quote a text with line ends.
func TestMaskEscaped(t *testing.T) {
	m := &masker{mac: testMAC}
	for _, r := range issuedRows() {
		for _, text := range []string{`{"a":"b\n` + r.secret + `\nc"}`, "a=%3D" + r.secret + "&b", "'" + r.secret + "'", "(" + r.secret + ")"} {
			if got := m.text(text); strings.Contains(got, r.secret) {
				t.Errorf("%q -> %q", text, got)
			}
		}
	}
}

// TestMaskLookAlikes: what has the look of a secret and is none.
func TestMaskLookAlikes(t *testing.T) {
	m := &masker{mac: testMAC}
	sum := made(60, 64, hexDigits)
	for _, text := range []string{
		"commit " + sum[:40], "image@sha256:" + sum, `"integrity": "sha512-` + made(61, 86, lowerLetters+upperLetters+numerals) + `=="`, "sessionId: 9b2f7c1e-3d55-4e6a-8f10-2a7d44c0e913",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + made(62, 43, lowerLetters+upperLetters+numerals) + " kim@a", "-----BEGIN PUBLIC KEY-----\n" + made(63, 64, lowerLetters+upperLetters) + "\n-----END PUBLIC KEY-----",
		"token: ${{ secrets.DEPLOY_TOKEN_2 }}", `password: "{{ .Values.db.password2 }}"`, "password=%DB_PASSWORD1%", "curl -u $USER1:$PASS1 https://a.example", "curl -u user:[PASSWORD] https://a.example", "curl -u test:test https://a.example",
		"https://$USER:$PASS@a.example/", "https://{user}:{pass}@a.example/", "Authorization: Bearer <your token>", `"password": "must not be too short"`, "password := readPassword(terminal0)", `if kind == "password" {`,
		"for _, cookie := range jar.Cookies2 {", "Add login page and password hashing", "mongo --password --authenticationDatabase admin1", "AKIA" + "IOSFODNN7EXAMPLE", "glagent-" + strings.Repeat("X", 50),
		"eyJub3QganNvbg.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + made(64, 43, lowerLetters+upperLetters), "kind: SecretStore\ndata:\n  a: b2s6b2sy\n", "aGVsbG8/AP9" + made(65, 20, lowerLetters+upperLetters+numerals),
		`getSecret("prod/db-1/main")`, "secret: a[b(c2)] + d",
	} {
		if got := m.text(text); got != text {
			t.Errorf("%q -> %q, want it as it is", text, got)
		}
	}
}

// TestMaskNoHiding: the word that marks what was masked hides nothing.
func TestMaskNoHiding(t *testing.T) {
	m := &masker{mac: testMAC}
	mask := m.replacement("token", "x")
	for _, text := range []string{redacted + githubToken, mask + githubToken, mask + "-" + githubToken, redacted + "note_" + githubToken + "_0123abcd", "password=" + mask + password} {
		if got := m.text(text); strings.Contains(got, githubToken) || strings.Contains(got, password) {
			t.Errorf("%q -> %q", text, got)
		}
	}
}

// TestNoKindLeaves plants a secret of each kind, as it stands in a text, at
// each place of an event.
func TestNoKindLeaves(t *testing.T) {
	c := &Classifier{World: nowhere(), MAC: testMAC}
	for _, r := range append(issuedRows(), placedRows()...) {
		if r.secret == "secret" {
			continue // an ordinary word elsewhere
		}
		for _, e := range eventsWith(t, r.text) {
			f, err := c.Classify(context.Background(), e, "/srv/shop")
			if err != nil {
				if strings.Contains(err.Error(), r.secret) {
					t.Errorf("%s: leaves in the error %v", r.kind, err)
				}
				continue
			}
			b, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			quoted, err := json.Marshal(r.secret)
			if err != nil {
				t.Fatal(err)
			}
			if at := strings.Index(string(b), string(quoted[1:len(quoted)-1])); at >= 0 {
				t.Errorf("%s: %s %.80s %s leaves in …%s", r.kind, e.Tool, e.Args, e.Prompt, b[max(0, at-80):min(len(b), at+60)])
			}
		}
	}
}

// eventsWith are events of the tools with a text at each place in turn.
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
