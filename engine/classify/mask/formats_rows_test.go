package mask

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// TestTokenRows checks the examples of the built-in rows, and reads each form.
func TestTokenRows(t *testing.T) {
	if _, err := rows.All[rows.Token](classifytest.Rows(), rows.TokensFolder); err != nil {
		t.Fatal(err)
	}
	forms := 0
	for _, e := range rows.Tokens(classifytest.Rows()) {
		kind := e.Names[0]
		all, err := rows.All[rows.Token](rows.New([]rows.Layer{{Files: map[string][]byte{"tokens/a.yaml": []byte(textOf(t, e))}}}), rows.TokensFolder)
		if err != nil {
			t.Fatal(err)
		}
		row := all[0].Row
		if !slices.Equal(row.Forms, e.Row.Forms) || !slices.Equal(row.Inside, e.Row.Inside) || row.Go != e.Row.Go {
			t.Errorf("%s: read quickly %+v, by YAML %+v", kind, e.Row, row)
		}
		forms += len(row.Forms) + len(row.Inside)
		for _, text := range row.Forms {
			if _, err := rows.ParseForm(text); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
		for _, text := range row.Inside {
			if _, err := rows.ParseInside(text); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
		if row.Examples == nil || len(row.Examples.Match) == 0 {
			t.Fatalf("%s has no example", kind)
		}
		tryExamples(t, kind, *row.Examples)
	}
	if forms < 250 {
		t.Errorf("%d forms", forms)
	}
}

// textOf is a row as it is written.
func textOf(t *testing.T, e rows.Entry[rows.Token]) string {
	t.Helper()
	for _, b := range rows.Split(string(classifytest.File(t, e.Place.File))) {
		if b.Line == e.Place.Line {
			return b.Text
		}
	}
	t.Fatalf("%s: no such row", e.Place)
	return ""
}

func tryExamples(t *testing.T, kind string, examples rows.TokenExamples) {
	t.Helper()
	for _, text := range examples.Match {
		if got, err := Tried(classifytest.Rows(), "see "+text+" there"); err != nil || got[kind] != 1 || len(got) != 1 {
			t.Errorf("%s: %s is %v %v", kind, text, got, err)
		}
	}
	for _, text := range examples.NoMatch {
		if got, err := Tried(classifytest.Rows(), "see "+text+" there"); err != nil || len(got) > 0 {
			t.Errorf("%s: %s is %v %v", kind, text, got, err)
		}
	}
}

func TestChecksAreThere(t *testing.T) {
	for _, name := range rows.TokenChecks() {
		if checkNamed(name) == nil {
			t.Errorf("%s is not a check", name)
		}
	}
}

func ofLayer(adds bool, text string) *rows.Set {
	return rows.New([]rows.Layer{{Name: "l", Adds: adds, Files: map[string][]byte{"tokens/own.yaml": []byte(text)}}})
}

// TestOwnTokens: an organisation's tokens are masked in addition to the built-in ones,
// even if its policy lacks the built-in rows.
func TestOwnTokens(t *testing.T) {
	own := ofLayer(false, "shop_token:\n  forms: [\"shop_live_ alnum 24\"]\n")
	text := "curl -H 'X: shop_live_" + classifytest.Made(9, 24, classifytest.LowerLetters+classifytest.Numerals) + "' " + classifytest.GitHubToken
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(own, classifytest.Rows())}
	got := m.Text(text)
	if !strings.Contains(got, "REDACTED_shop_token_") || !strings.Contains(got, "REDACTED_github_token_") || m.Text(got) != got {
		t.Error(got)
	}
	if got := (&Masker{Mac: classifytest.MAC, Formats: FormatsOf(nil, classifytest.Rows())}).Text(text); strings.Contains(got, "shop_token") {
		t.Errorf("masked by the row of another policy: %s", got)
	}
	none := (&Masker{Mac: classifytest.MAC, Formats: FormatsOf(nil, nil)}).Text(text)
	if none != text {
		t.Errorf("masked without a row: %s", none)
	}
}

// TestTokensOfProjects: rows of the project's layer cannot hide a host, a path or a
// command, and do not affect other values.
func TestTokensOfProjects(t *testing.T) {
	wide := ofLayer(true, "a1:\n  forms:\n    - api. dotted 4+ word\n    - api.stripe token+./ 16+\n    - rm- token 0+\n    - ghq_ alnum 30+ exclusive\n"+
		"a2:\n  inside:\n    - token 4-30 -- token 0-30\n")
	for _, text := range []string{"curl https://api.stripe.com/v1/refunds/all/of/them", "git rm- --cached", "token=ghq_" + classifytest.Made(3, 20, classifytest.LowerLetters+classifytest.Numerals)} {
		with := (&Masker{Mac: classifytest.MAC, Formats: FormatsOf(wide, classifytest.Rows())}).Text(text)
		without := (&Masker{Mac: classifytest.MAC, Formats: FormatsOf(nil, classifytest.Rows())}).Text(text)
		if with != without {
			t.Errorf("%s is masked: %s", text, with)
		}
	}
	narrow := ofLayer(true, "own_token:\n  forms:\n    - own_ alnum 24\n")
	text := "own_" + classifytest.Made(4, 24, classifytest.LowerLetters+classifytest.Numerals)
	if got := (&Masker{Mac: classifytest.MAC, Formats: FormatsOf(narrow, nil)}).Text(text); !strings.HasPrefix(got, "REDACTED_own_token_") {
		t.Error(got)
	}
}

// TestManyTokens: the table has room for more beginnings than there are bytes.
func TestManyTokens(t *testing.T) {
	var b strings.Builder
	b.WriteString("many:\n  forms:\n")
	letters := classifytest.LowerLetters
	for i := range 26 * 26 {
		b.WriteString("    - " + string([]byte{letters[i/26], letters[i%26]}) + "+ digit 12\n")
	}
	f := FormatsOf(ofLayer(false, b.String()), nil)
	for _, text := range []string{"aa+123456789012", "mq+123456789012", "zz+123456789012"} {
		if len(f.Find(text)) != 1 {
			t.Errorf("%s is not found", text)
		}
	}
}

func BenchmarkFormats(b *testing.B) {
	files := map[string][]byte{"tokens/issued.yaml": classifytest.File(b, "tokens/issued.yaml")}
	for b.Loop() {
		FormatsOf(rows.New([]rows.Layer{{Files: files}}), nil)
	}
}
