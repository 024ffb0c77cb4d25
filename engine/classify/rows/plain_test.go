package rows

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pieces are lines of blocks, in the usual form and in others.
var pieces = []string{
	"  forms:", "  inside:", "  go: x", "  about: one text", "  about:", "  examples:", "    match:", "      - a{b 1}", "    - a b 1", "    - 'c: d'",
	"    - \"e\"", "    more words", "  forms: [a, b]", "  forms: a", "  about: \"open", "  about: 'it''s'", "    - {a: b}", "    - null", "    - ~", "  about: >",
	"    text: a", "", "  # note", "  forms: &x", "    - *x", "    - a # b", "    - a:", "    - - a", "   x", "      deep", "    - \"a\\n\"", "    - |", "      text", "    - a: b",
	"  about: [x", "  go: \"y\"", "  about: a: b", "    - true", "    - 12", "\tx", "    -", "  - x", "  ? a", "    - a\tb", "  forms: # c", "    - #c", "  go:",
	"  forms: [a, b c,", "    d, e]", "    f]", "  inside: [a b", "    c, \"d\", e f]", "  forms: [don't, a: b]", "  inside: []", "  forms: [a,]", "    x, ,", "  inside: [, a]",
	"  forms: [a # b, c]", "    # d", "    c, 'd',", "    - e]", "  inside: [\"a, b\", c]", "    null, ~, 12]", "  forms: [a b, c d", "    \"e\"]",
}

// TestPlainIsYAML: what is read quickly is read by YAML alike, whatever lines
// follow each other.
func TestPlainIsYAML(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	quick := 0
	for range 60000 {
		var b strings.Builder
		b.WriteString("a_kind:\n")
		for range 1 + r.IntN(6) {
			b.WriteString(pieces[r.IntN(len(pieces))] + "\n")
		}
		text := b.String()
		v, ok := plain(text, "forms", "inside", "go")
		if !ok {
			continue
		}
		row, err := parse[loose](text)
		if err != nil {
			continue // whoever checks a policy refuses it
		}
		quick++
		if !slices.Equal(v.list("forms"), row.Forms) || !slices.Equal(v.list("inside"), row.Inside) || v.text("go") != row.Go {
			t.Fatalf("%s\nquickly %q, by YAML %+v", text, v, row)
		}
	}
	if quick < 2000 {
		t.Errorf("%d blocks were read quickly", quick)
	}
}

// loose reads any texts and examples.
type loose struct {
	Forms, Inside []string
	Go            string
	About         any
	Examples      any
}

func TestForms(t *testing.T) {
	for text, want := range map[string]string{
		"ab alnum 24": "", "ab token+: 16-26 word mixed": "", "ab hex 3+ exclusive": "",
		"ab alnum": "expected a prefix", "a alnum 2": "two characters", "ab letters 2": "unknown characters", "ab alnum x": "expected a number of characters",
		"ab alnum 9-3": "expected a number of characters", "ab alnum 2 mixt": "unknown word", "ab alnum 9999": "at most 512", "äb alnum 2": "ASCII",
	} {
		_, err := ParseForm(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"hex 32 -us digit 1-2 alone": "", "hex 32 -us digit": "expected characters", "hex 32+ -us digit 1": "a limited length", "hex 32 - digit 1": "two characters",
	} {
		_, err := ParseInside(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestSpecimen(t *testing.T) {
	one, err := Specimen("shop_{alnum 24} {digit 3}")
	again, _ := Specimen("shop_{alnum 24} {digit 3}")
	if err != nil || one != again || len(one) != len("shop_")+24+1+3 || !strings.HasPrefix(one, "shop_") {
		t.Errorf("%q %q %v", one, again, err)
	}
	var wrong []string
	for _, text := range []string{"{alnum}", "{alnum 24", "{letters 2}", "{alnum -1}", "{alnum 99999}"} {
		if _, err := Specimen(text); err == nil {
			wrong = append(wrong, text)
		}
	}
	if diff := cmp.Diff([]string(nil), wrong); diff != "" {
		t.Errorf("accepted:\n%s", diff)
	}
}
