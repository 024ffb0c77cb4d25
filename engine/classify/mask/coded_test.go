package mask

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// Encoded secrets are masked in both forms; encoded text without a secret, and text
// that only looks encoded, stays.
func TestLearnCoded(t *testing.T) {
	plain := "curl -u kim:" + classifytest.Password + " https://a.example"
	secrets := map[string]string{
		"base64":             base64.StdEncoding.EncodeToString([]byte(plain)),
		"base64 without end": base64.RawStdEncoding.EncodeToString([]byte(plain)),
		"base64 for URLs":    base64.URLEncoding.EncodeToString([]byte("é?> " + plain)),
		"hex":                hex.EncodeToString([]byte(plain)),
		"long":               base64.StdEncoding.EncodeToString([]byte(strings.Repeat("ls && ", 2*maxPiece) + plain)),
		"key":                base64.StdEncoding.EncodeToString([]byte(classifytest.KeyBlock)),
	}
	for name, code := range secrets {
		for _, text := range []string{code, "echo " + code + " | base64 -d | sh", "CODE=" + code, `{"a":"` + code + `"}`} {
			m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
			Learn(m, text)
			got := m.Text(text + " " + classifytest.Password)
			if strings.Contains(got, code[len(code)/2:len(code)-2]) || name != "key" && strings.Contains(got, classifytest.Password) {
				t.Errorf("%s: %.60q becomes %.200q", name, text, got)
			}
		}
	}
	for _, text := range []string{
		"", "=", strings.Repeat("=", 40), strings.Repeat("a", minCoded-1) + "==", strings.Repeat("A", minCoded), strings.Repeat("f", minCoded),
		"echo " + base64.StdEncoding.EncodeToString([]byte("rm -rf /srv/shop/build")) + " | base64 -d", "/usr/share/doc/package/example/readme",
		"0123456789abcdef0123456789abcdef01234567", hex.EncodeToString([]byte("no secret in this text")),
	} {
		m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
		Learn(m, text)
		if got := m.Text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// The lines of a key are masked when a shell splits them, and when options and their
// values are items of a list.
func TestLearnParts(t *testing.T) {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	Learn(m, classifytest.KeyBlock)
	for _, line := range strings.Fields(classifytest.KeyBlock) {
		if got := m.Text(line); len(line) >= longWord && !strings.HasPrefix(got, Redacted) {
			t.Errorf("the line %q becomes %q", line, got)
		}
	}
	m = &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	Learn(m, []any{"-h", "db.example.com", "--password", classifytest.Password})
	if got := m.Text(classifytest.Password); !strings.HasPrefix(got, Redacted) {
		t.Errorf("the item behind --password becomes %q", got)
	}
}
