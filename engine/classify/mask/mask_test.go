package mask

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

func TestMask(t *testing.T) {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	for _, c := range []struct{ text, secret, kind string }{
		{classifytest.GitHubToken, classifytest.GitHubToken, "github_token"},
		{"https://x-access-token:" + classifytest.GitHubToken + "@github.com/a/b", classifytest.GitHubToken, "github_token"},
		{"export AWS_ACCESS_KEY_ID=" + classifytest.AwsKey, classifytest.AwsKey, "aws_key"},
		{"SLACK=" + classifytest.SlackToken, classifytest.SlackToken, "slack_token"},
		{"password=" + classifytest.Password, classifytest.Password, "password"},
		{"DB_PASSWORD='" + classifytest.Password + "'", classifytest.Password, "password"},
		{`{"client_secret": "a8Zk29fjQ0lmX7"}`, "a8Zk29fjQ0lmX7", "secret"},
		{"mysql -u root -p" + classifytest.Password + " shop", classifytest.Password, "password"},
		{"sshpass -p " + classifytest.Password + " ssh a@b", classifytest.Password, "password"},
		{"curl -u kim:" + classifytest.Password + " https://a.example", classifytest.Password, "password"},
		{"curl -H 'Authorization: Bearer " + classifytest.JsonToken + "' https://a.example", classifytest.JsonToken, "jwt"},
		{"curl -H 'Authorization: Bearer 8f14e45fceea167a5a36'", "8f14e45fceea167a5a36", "bearer"},
		{"postgres://kim:" + classifytest.Password + "@db.example/shop", classifytest.Password, "url_password"},
		{"tool --api-key q8wW2kd9sLx0 run", "q8wW2kd9sLx0", "api_key"},
		{"https://a.example/?access_token=a8Zk29fjQ0lmX7&b=1", "a8Zk29fjQ0lmX7", "token"},
		{"key:\n" + classifytest.KeyBlock, classifytest.KeyBlock[strings.Index(classifytest.KeyBlock, "MII") : strings.Index(classifytest.KeyBlock, "MII")+20], "private_key"},
	} {
		got := m.Text(c.text)
		if strings.Contains(got, c.secret) || !strings.Contains(got, Redacted+c.kind+"_") {
			t.Errorf("%.60q -> %q, want %s masked", c.text, got, c.kind)
		}
		if again := m.Text(got); again != got {
			t.Errorf("masking twice: %q -> %q", got, again)
		}
	}
}

func TestMaskLeaves(t *testing.T) {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	for _, text := range []string{
		"", "rm -rf build", "password=$DB_PASSWORD", `password="${DB_PASSWORD}"`, "token: <your token>", "API_KEY=your_api_key_here",
		"git log --format=%H 4b825dc642cb6eb9a060e54bf8d69288fbee4904", "max_tokens=4096", "--token-file /run/token", "passwd: files systemd",
		"token := parser.next()", "if password == \"\" {", "const tokenKind = iota", "PWD=/srv/shop/a", "secrets: inherit", "key=value",
		"sk-learn-pipeline-for-images", "https://a.example/path?page=2", "password: string", "sort_key=created_at_desc_2", "mkdir -p a/b",
		"See https://a.example/tokens/2 for tokens.", "AKIAXXXXXXXXXXXXXXXX", "npm_config_registry=x", `"password": "********"`,
	} {
		if got := m.Text(text); got != text {
			t.Errorf("%q -> %q, want it as it is", text, got)
		}
	}
}

func TestMaskSameSecretSameName(t *testing.T) {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	a, b := m.Text("a "+classifytest.GitHubToken), m.Text(classifytest.GitHubToken+" b")
	if strings.Fields(a)[1] != strings.Fields(b)[0] {
		t.Errorf("one secret has two names: %q, %q", a, b)
	}
	if strings.Trim(strings.Fields(a)[1], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		t.Errorf("replacement %q holds more than letters, digits and _", a)
	}
}

// TestMaskKnown: a secret is masked even where the text that identified it is
// elsewhere.
func TestMaskKnown(t *testing.T) {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	m.Remember("tool --password 'Tr0ub4dor'-and-3 --token s3cr3t")
	for in, secret := range map[string]string{"Tr0ub4dor-and-3": "Tr0ub4dor-and-3", "x=Tr0ub4dor-and-3;": "Tr0ub4dor-and-3"} {
		if got := m.Text(in); strings.Contains(got, secret) {
			t.Errorf("%q -> %q", in, got)
		}
	}
	if got := m.Text("s3cr3ts"); got != "s3cr3ts" {
		t.Errorf("a short secret inside a word: %q", got)
	}
}

func TestCountSecrets(t *testing.T) {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	raw := classifytest.GitHubToken + "\n" + classifytest.GitHubToken + "\npassword=" + classifytest.Password + "\n"
	n := m.Count(raw)
	if n["github_token"] != 2 || n["password"] != 1 {
		t.Errorf("counted %v", n)
	}
	masked := m.Count(m.Text(raw))
	if masked["github_token"] != 2 || masked["password"] != 1 {
		t.Errorf("counted %v in masked text", masked)
	}
	if m.Count("nothing") != nil {
		t.Error("nothing counted as a secret")
	}
}

// TestMaskIsLinear: a string made of beginnings of secrets takes no longer than
// any other. It would not end in the time of a test if each began a new search.
// Every fourth beginning is tried; all with REVIEWER_EVERY=1 (`make fidelity`).
func TestMaskIsLinear(t *testing.T) {
	count := sweep.Count(t, "repeated beginnings of secrets")
	for i, lead := range []string{"eyJ", "password=", "://", "ghp_", "xoxb-", "-----BEGIN RSA PRIVATE KEY-----", "bearer ", "curl -u ", "a.", "\"", "token: ", "cookie: ;", "Q~", ":A",
		"password:", "secret:1", "name: token value: ", "kind: secret\n", "kind: secret\n---\n", "auth:", "authorization: basic ", "a\" == password", "sqlplus a/", "glpat-", "REDACTED_token_", "login a password ", ":5432:", "token(", "{{", "xoxb-1-", "secret = a{b)", "sudo -S ", "echo a | chpasswd ", "-----END RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----\nabcdefghijklmnopqrstuvwxyzabcdefghijkl\n", "<token>", "token: |\n", "env token ", "token is ",
		"${token:-", "token {", "random_password \"result", "token = a() or ", "token = byte(", "password: send ", "SetBasicAuth(a,", "{pass: ", "Private-Lines: 1\n", "name=\"token\">", "gh secret set <<< ", "curl -b a=", "$2a$", "arn:a:token:", "create user password ", "sonar_login=", "sourcegraph ", "<username><password>", "sk-ant-", "AIza", "1234567890123456|"} {
		if !sweep.Has(i, 4) {
			continue
		}
		count.Add(1)
		text := strings.Repeat(lead, (1<<18)/len(lead))
		m, start := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}, osfile.ProcessTime()
		m.Remember(text)
		if got := m.Text(text); got == "" {
			t.Errorf("%q: nothing is left", lead)
		}
		if d := osfile.ProcessTime() - start; d > 20*time.Second {
			t.Errorf("%q: a quarter of a megabyte takes %v of processor time", lead, d)
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("password=" + classifytest.Password + " x")
	f.Add("curl -u a:" + classifytest.Password + " " + classifytest.GitHubToken)
	f.Add(classifytest.KeyBlock)
	f.Add("\x8b0")
	f.Fuzz(func(t *testing.T, text string) {
		text = string([]rune(text)) // what leaves is text
		m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
		spans, end := m.Secrets(text), 0
		for _, s := range spans {
			if s.Start < end || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("spans %v in %q", spans, text)
			}
			end = s.End
		}
		masked := m.Text(text)
		if len(spans) == 0 && masked != text {
			t.Errorf("%q -> %q without a secret", text, masked)
		}
		if again := m.Text(masked); again != masked {
			t.Errorf("%q -> %q -> %q", text, masked, again)
		}
		if got := m.Text(text + " " + classifytest.GitHubToken); strings.Contains(got, classifytest.GitHubToken) {
			t.Errorf("%q hides a token: %q", text, got)
		}
	})
}
