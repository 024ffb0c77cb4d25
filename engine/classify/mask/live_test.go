package mask_test

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// TestLive: secrets that somebody may use, and what only looks like one. Keys are made here, so that this file contains none.
func TestLive(t *testing.T) {
	t.Parallel()
	set := classifytest.Rows()
	m := &mask.Masker{Mac: func([]byte) string { return "00000000000000000000" }, Formats: mask.FormatsOf(set, nil)}
	words := mask.LiveWords{Examples: set.Words("keys.placeholders"), Public: set.Words("keys.public"), Unclear: set.Words("keys.unclear")}
	for _, row := range classifytest.IssuedRows() {
		want := row.Kind
		if row.Kind == "jwt" {
			want = ""
		}
		if got := m.Live(row.Text, words); got != want {
			t.Errorf("Live of a %s = %q, want %q", row.Kind, got, want)
		}
		if got := m.Live("KEY="+row.Secret+" # an example", words); got != "" {
			t.Errorf("Live of a %s with a comment that says example = %q, want none", row.Kind, got)
		}
	}
	all := classifytest.LowerLetters + classifytest.UpperLetters + classifytest.Numerals
	google, github := "AIza"+classifytest.Made(1, 35, all), "ghp_"+classifytest.Made(2, 36, all)
	for text, want := range map[string]string{
		`initial_password: "Winter20` + `31!"`:                                                 "password",
		"DB_PASSWORD=kX9#" + "mQ2!vL":                                                          "password",
		"API_TOKEN=" + classifytest.Made(3, 24, all):                                           "token",
		`public static final String KEY = "` + github + `";`:                                   "github_token",
		"postgres://app:" + classifytest.Made(4, 18, all) + "@db.shop-eu.net:5432/shop":        "url_password",
		"postgres://app:" + classifytest.Made(4, 18, all) + "@localhost:5432/shop":             "",
		"postgres://app:" + classifytest.Made(4, 18, all) + "@db:5432/shop":                    "",
		"postgres://app:password@db.shop-eu.net:5432/shop":                                     "",
		"AccountName=shop;AccountKey=" + classifytest.Made(5, 86, all) + "==;EndpointSuffix=x": "access_key",
		"POSTGRES_PASSWORD: postgres":                                                          "",
		"password: changeme":                                                                   "",
		`password: "password` + `123"`:                                                         "",
		"password: ${DB_PASSWORD}":                                                             "",
		`NEXT_PUBLIC_KEY="` + google + `"`:                                                     "",
		`key = "` + google + `"`:                                                               "google_key",
		"sk_test_" + classifytest.Made(4, 24, all):                                             "",
		"AKIAIOSFODNN7" + "EXAMPLE":                                                            "",
		"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx":                                             "",
		"integrity: sha512-" + classifytest.Made(5, 86, all):                                   "",
		"commit " + classifytest.Made(6, 40, classifytest.HexDigits):                           "",
	} {
		if got := m.Live(text, words); got != want {
			t.Errorf("Live(%q) = %q, want %q", text, got, want)
		}
	}
}
