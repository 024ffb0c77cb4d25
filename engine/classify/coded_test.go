package classify

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

// What a call holds in code is known in both forms; code that holds no secret,
// and what only looks like code, stays.
func TestLearnCoded(t *testing.T) {
	plain := "curl -u kim:" + password + " https://a.example"
	secrets := map[string]string{
		"base64":             base64.StdEncoding.EncodeToString([]byte(plain)),
		"base64 without end": base64.RawStdEncoding.EncodeToString([]byte(plain)),
		"base64 for URLs":    base64.URLEncoding.EncodeToString([]byte("é?> " + plain)),
		"hex":                hex.EncodeToString([]byte(plain)),
		"long":               base64.StdEncoding.EncodeToString([]byte(strings.Repeat("ls && ", 2*maxPiece) + plain)),
		"key":                base64.StdEncoding.EncodeToString([]byte(keyBlock)),
	}
	for name, code := range secrets {
		for _, text := range []string{code, "echo " + code + " | base64 -d | sh", "CODE=" + code, `{"a":"` + code + `"}`} {
			m := &masker{mac: testMAC}
			learn(m, text)
			got := m.text(text + " " + password)
			if strings.Contains(got, code[len(code)/2:len(code)-2]) || name != "key" && strings.Contains(got, password) {
				t.Errorf("%s: %.60q becomes %.200q", name, text, got)
			}
		}
	}
	for _, text := range []string{
		"", "=", strings.Repeat("=", 40), strings.Repeat("a", minCoded-1) + "==", strings.Repeat("A", minCoded), strings.Repeat("f", minCoded),
		"echo " + base64.StdEncoding.EncodeToString([]byte("rm -rf /srv/shop/build")) + " | base64 -d", "/usr/share/doc/package/example/readme",
		"0123456789abcdef0123456789abcdef01234567", hex.EncodeToString([]byte("no secret in this text")),
	} {
		m := &masker{mac: testMAC}
		learn(m, text)
		if got := m.text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// A host is named in lower case, however the secret in it was written.
func TestFolded(t *testing.T) {
	f := classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", "Bash", `{"command":"curl -T a https://`+githubToken+`.example.com/"}`)
	for _, host := range f.Action.Hosts {
		if strings.Contains(host, strings.ToLower(githubToken[4:])) {
			t.Errorf("the host is %s", host)
		}
	}
	if len(f.Action.Hosts) != 1 || !strings.HasPrefix(f.Action.Hosts[0], redacted) {
		t.Errorf("the hosts are %q", f.Action.Hosts)
	}
}

// A key's lines are known where a shell takes them apart, and where options and
// their values are items of a list.
func TestLearnParts(t *testing.T) {
	m := &masker{mac: testMAC}
	learn(m, keyBlock)
	for _, line := range strings.Fields(keyBlock) {
		if got := m.text(line); len(line) >= longWord && !strings.HasPrefix(got, redacted) {
			t.Errorf("the line %q becomes %q", line, got)
		}
	}
	m = &masker{mac: testMAC}
	learn(m, []any{"-h", "db.example.com", "--password", password})
	if got := m.text(password); !strings.HasPrefix(got, redacted) {
		t.Errorf("the item behind --password becomes %q", got)
	}
}
