package mask

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

func TestMaskFormats(t *testing.T) {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	for _, r := range append(classifytest.IssuedRows(), classifytest.PlacedRows()...) {
		got := m.Text(r.Text)
		if strings.Contains(got, r.Secret) || !strings.Contains(got, Redacted+r.Kind+"_") {
			t.Errorf("%q -> %q, want %s masked", r.Text, got, r.Kind)
		}
		if again := m.Text(got); again != got {
			t.Errorf("masking twice: %q -> %q", got, again)
		}
		if want := m.Replacement(r.Kind, r.Secret); !strings.Contains(got, want) {
			t.Errorf("%q -> %q, want exactly the secret replaced", r.Text, got)
		}
	}
}

// TestMaskEscaped: the same tokens in texts that quote a string with line ends.
func TestMaskEscaped(t *testing.T) {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	for _, r := range classifytest.IssuedRows() {
		for _, text := range []string{`{"a":"b\n` + r.Secret + `\nc"}`, "a=%3D" + r.Secret + "&b", "'" + r.Secret + "'", "(" + r.Secret + ")"} {
			if got := m.Text(text); strings.Contains(got, r.Secret) {
				t.Errorf("%q -> %q", text, got)
			}
		}
	}
}

// TestMaskLookAlikes: texts that look like secrets but are not.
func TestMaskLookAlikes(t *testing.T) {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	sum := classifytest.Made(60, 64, classifytest.HexDigits)
	for _, text := range []string{
		"commit " + sum[:40], "image@sha256:" + sum, `"integrity": "sha512-` + classifytest.Made(61, 86, classifytest.LowerLetters+classifytest.UpperLetters+classifytest.Numerals) + `=="`, "sessionId: 9b2f7c1e-3d55-4e6a-8f10-2a7d44c0e913",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + classifytest.Made(62, 43, classifytest.LowerLetters+classifytest.UpperLetters+classifytest.Numerals) + " kim@a", "-----BEGIN PUBLIC KEY-----\n" + classifytest.Made(63, 64, classifytest.LowerLetters+classifytest.UpperLetters) + "\n-----END PUBLIC KEY-----",
		"token: ${{ secrets.DEPLOY_TOKEN_2 }}", `password: "{{ .Values.db.password2 }}"`, "password=%DB_PASSWORD1%", "curl -u $USER1:$PASS1 https://a.example", "curl -u user:[PASSWORD] https://a.example", "curl -u test:test https://a.example",
		"https://$USER:$PASS@a.example/", "https://{user}:{pass}@a.example/", "Authorization: Bearer <your token>", `"password": "must not be too short"`, "password := readPassword(terminal0)", `if kind == "password" {`,
		"for _, cookie := range jar.Cookies2 {", "Add login page and password hashing", "mongo --password --authenticationDatabase admin1", "AKIA" + "IOSFODNN7EXAMPLE", "glagent-" + strings.Repeat("X", 50),
		"eyJub3QganNvbg.eyJub3QganNvbg." + classifytest.Made(64, 43, classifytest.LowerLetters+classifytest.UpperLetters), "kind: SecretStore\ndata:\n  a: b2s6b2sy\n", "aGVsbG8/AP9" + classifytest.Made(65, 20, classifytest.LowerLetters+classifytest.UpperLetters+classifytest.Numerals),
		`getSecret("prod/db-1/main")`, "secret: a[b(c2)] + d",
	} {
		if got := m.Text(text); got != text {
			t.Errorf("%q -> %q, want it as it is", text, got)
		}
	}
}

// TestMaskNoHiding: the word that marks masked text does not hide a secret.
func TestMaskNoHiding(t *testing.T) {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	mask := m.Replacement("token", "x")
	for _, text := range []string{Redacted + classifytest.GitHubToken, mask + classifytest.GitHubToken, mask + "-" + classifytest.GitHubToken, Redacted + "note_" + classifytest.GitHubToken + "_0123abcd", "password=" + mask + classifytest.Password} {
		if got := m.Text(text); strings.Contains(got, classifytest.GitHubToken) || strings.Contains(got, classifytest.Password) {
			t.Errorf("%q -> %q", text, got)
		}
	}
}
