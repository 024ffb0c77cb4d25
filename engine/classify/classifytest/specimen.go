package classifytest

import (
	"encoding/base64"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
)

const (
	LowerLetters = "abcdefghijklmnopqrstuvwxyz"
	UpperLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	Numerals     = "0123456789"
	HexDigits    = "0123456789abcdef"
)

// Made returns n characters that look like an issued token. They are made here, so that this
// file contains no secret.
func Made(seed uint64, n int, alphabet string) string {
	r := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	if n >= 8 && len(alphabet) > 36 {
		copy(b[2:], "Q7x") // one of each class
	}
	return string(b)
}

// Row is a secret in a string, and the kind that it is masked as.
type Row struct{ Kind, Secret, Text string }

// IssuedRows are tokens that stand alone.
func IssuedRows() []Row {
	all := LowerLetters + UpperLetters + Numerals
	list := []Row{
		{Kind: "aws_key", Secret: "ASIA" + Made(1, 16, UpperLetters+"234567")},
		{Kind: "github_token", Secret: "github_pat_" + Made(2, 22, all) + "_" + Made(3, 59, all)},
		{Kind: "gitlab_token", Secret: "glpat-" + Made(4, 20, all)},
		{Kind: "gitlab_token", Secret: "glpat-" + Made(5, 40, all) + ".01." + Made(6, 9, LowerLetters+Numerals)},
		{Kind: "slack_token", Secret: "xoxp-" + Made(7, 11, "123456789") + "-" + Made(8, 12, "123456789") + "-" + Made(9, 12, "123456789") + "-" + Made(10, 32, HexDigits)},
		{Kind: "stripe_key", Secret: "rk_live_" + Made(11, 24, all)},
		{Kind: "npm_token", Secret: "npm_" + Made(12, 36, all)},
		{Kind: "pypi_token", Secret: "pypi-" + "AgEIcHlwaS5vcmc" + Made(13, 120, all)},
		{Kind: "sendgrid_key", Secret: "SG." + Made(14, 22, all) + "." + Made(15, 43, all)},
		{Kind: "databricks_token", Secret: "dapi" + Made(16, 32, HexDigits)},
		{Kind: "google_key", Secret: "AIza" + Made(17, 35, all)},
		{Kind: "docker_token", Secret: "dckr_pat_" + Made(18, 27, all)},
		{Kind: "notion_token", Secret: "ntn_" + Made(19, 11, Numerals) + Made(19, 35, all)},
		{Kind: "airtable_token", Secret: "pat" + Made(20, 14, all) + "." + Made(21, 64, HexDigits)},
		{Kind: "tailscale_key", Secret: "tskey-auth-" + Made(22, 17, all) + "-" + Made(23, 32, all)},
		{Kind: "telegram_token", Secret: Made(24, 10, "123456789") + ":AA" + Made(25, 33, all)},
		{Kind: "azure_secret", Secret: Made(26, 3, all) + "8Q~" + Made(27, 34, all)},
		{Kind: "mailchimp_key", Secret: Made(28, 32, HexDigits) + "-us14"},
		{Kind: "discord_token", Secret: "MT" + Made(29, 24, all) + ".G" + Made(30, 5, all) + "." + Made(31, 38, all)},
		{Kind: "terraform_token", Secret: Made(32, 14, all) + ".atlasv1." + Made(33, 67, all)},
		{Kind: "jwt", Secret: base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + ".eyJ" + Made(34, 40, all) + "." + Made(35, 43, all)},
		{Kind: "vault_token", Secret: "hvs." + Made(36, 90, all)},
		{Kind: "harness_token", Secret: "pat." + Made(37, 22, all) + "." + Made(38, 24, all) + "." + Made(39, 20, all)},
		{Kind: "openshift_token", Secret: "sha256~" + Made(40, 43, all)},
	}
	for i := range list {
		list[i].Text = "see " + list[i].Secret + " there"
	}
	return list
}

// PlacedRows are secrets that only their surroundings reveal.
func PlacedRows() []Row {
	all := LowerLetters + UpperLetters + Numerals
	word, key := Made(50, 12, all), Made(51, 40, all+"/+")
	id := "AKIA" + Made(52, 16, UpperLetters+"234567")
	login64 := base64.StdEncoding.EncodeToString([]byte("kim:" + word))
	odd := "k{x)v" + "$#]n" + "@z?!q"
	return []Row{
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
		{"token", "1" + Made(53, 15, Numerals), "asanaToken: 1" + Made(53, 15, Numerals)},
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

// Specimen returns a string that matches a pattern.
func Specimen(r *rand.Rand, re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(classRune(r, re.Rune))
	case syntax.OpCapture:
		return Specimen(r, re.Sub[0])
	case syntax.OpAlternate:
		return Specimen(r, re.Sub[r.IntN(len(re.Sub))])
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(Specimen(r, sub))
		}
		return b.String()
	case syntax.OpRepeat:
		return times(r, re.Sub[0], re.Min, re.Max)
	case syntax.OpQuest:
		return times(r, re.Sub[0], 0, 1)
	}
	return "<no specimen of " + re.Op.String() + ">" // which no format matches
}

func times(r *rand.Rand, re *syntax.Regexp, least, most int) string {
	var b strings.Builder
	for range least + r.IntN(most-least+1) {
		b.WriteString(Specimen(r, re))
	}
	return b.String()
}

// classRune picks a character of ranges, each as likely as the others.
func classRune(r *rand.Rand, ranges []rune) rune {
	n := 0
	for i := 0; i < len(ranges); i += 2 {
		n += int(ranges[i+1]-ranges[i]) + 1
	}
	k := rune(r.IntN(n))
	for i := 0; ; i += 2 {
		size := ranges[i+1] - ranges[i] + 1
		if k < size {
			return ranges[i] + k
		}
		k -= size
	}
}

// Pattern parses the format of a token, a regular expression.
func Pattern(t *testing.T, format string) *syntax.Regexp {
	t.Helper()
	re, err := syntax.Parse(format, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return re
}
