package bundles

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// withRows is a layer with one file of rows.
func withRows(layer, file, text string) error {
	b := &Bundle{Layer: layer, Rows: map[string][]byte{file: []byte(text)}}
	return b.checkRows()
}

func TestTokenRowsAreChecked(t *testing.T) {
	for _, c := range []struct{ layer, text, want string }{
		{Organisation, "shop_token:\n  forms: [\"shop_live_ alnum 24\"]\n  examples: {match: [\"shop_live_{alnum 24}\"]}\n", ""},
		{Organisation, "a1:\n  inside: [\"hex 32 -us digit 1-2\"]\n", ""},
		{Organisation, "Shop:\n  forms: [\"shop_ alnum 24\"]\n", "the name of a kind of secret has"},
		{Organisation, "shop_token: {about: nothing}\n", "a token needs forms"},
		{Organisation, "shop_token:\n  forms: [\"shop_ letters 24\"]\n", "unknown characters"},
		{Organisation, "shop_token:\n  forms: [\"shop_ alnum 24 mixt\"]\n", "unknown word"},
		{Organisation, "shop_token:\n  forms: [\"shop_ alnum 24\", \"shop_  alnum 24\"]\n", "duplicate"},
		{Organisation, "shop_token:\n  form: [\"shop_ alnum 24\"]\n", "did you mean \"forms\""},
		{Organisation, "shop_token:\n  go: x\n", "a function that finds tokens"},
		{Organisation, "shop_token:\n  forms: [\"shop_ alnum 24\"]\n  examples: {match: [\"{alnum}\"]}\n", "such as {alnum 24}"},
		{Project, "shop_token:\n  forms: [\"shop_ alnum 24\"]\n", ""},
		{Project, "shop_token:\n  forms: [\"shop_ alnum 4\"]\n", "in this layer"},
		{User, "shop_token:\n  forms: [\"api.stripe base64 24\"]\n", "in this layer"},
		{Project, "shop_token:\n  forms: [\"shop_ alnum 24 exclusive\"]\n", "only allowed in the organisation's layer"},
		{Project, "shop_token:\n  inside: [\"hex 32 -us digit 1-2\"]\n", "may only have forms"},
	} {
		err := withRows(c.layer, "tokens/own.yaml", c.text)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s: %v, want %q", c.layer, c.text, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "tokens/own.yaml:") {
			t.Errorf("%s: no place in %v", c.text, err)
		}
	}
}

func TestWordRowsAreChecked(t *testing.T) {
	for _, c := range []struct{ layer, text, want string }{
		{Organisation, "prompt.blocks:\n  words: merely\n", ""},
		{Organisation, "ends.delete:\n  words: vanish\n", ""},
		{Organisation, "ends.deleted:\n  words: vanish\n", "did you mean \"ends.delete\""},
		{Organisation, "services.money:\n  words: invoice\n", "write services: {money: [...]} into settings.yaml"},
		{Organisation, "ends.delete: {about: x}\n", "needs words or phrases"},
		{Organisation, "ends.delete:\n  words: vanish vanish\n", "duplicate"},
		{Organisation, "ends.delete:\n  word: vanish\n", "did you mean \"words\""},
		{Project, "act.change.verbs:\n  words: verschieben\n", ""},
		{Project, "act.change.verbs:\n  words: pushing\n", "it is in act.push.verbs"},
		{Project, "prompt.not:\n  words: src/cart\n", "it looks like a path"},
		{User, "prompt.blocks:\n  words: merely\n", "move this to the organisation's layer"},
		{Project, "act.change.verbs:\n  words: verschieben\n  replace: true\n", "may only add words"},
	} {
		err := withRows(c.layer, "words/own.yaml", c.text)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s: %v, want %q", c.layer, c.text, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "words/own.yaml:") {
			t.Errorf("%s: no place in %v", c.text, err)
		}
	}
}

// TestShippedTokens: what is masked on every machine is there.
func TestShippedTokens(t *testing.T) {
	if BuiltInTokens().RowsDigest() == "" {
		t.Error("no tokens ship")
	}
}

// A base layer without a folder of rows is read by the built-in one; one that
// has the folder, by its own alone.
func TestBaseWithoutRows(t *testing.T) {
	files, _, err := readFiles(DefaultFS())
	if err != nil {
		t.Fatal(err)
	}
	for name := range files {
		if slices.ContainsFunc(rows.Folders(), func(folder string) bool { return strings.HasPrefix(name, folder) }) {
			delete(files, name)
		}
	}
	files["programs/own.yaml"] = []byte("shopctl: {cases: [{do: []}]}")
	b, err := FromFiles(files, Base)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Assemble(b)
	if err != nil {
		t.Fatal(err)
	}
	set := rows.New(e.RowLayers())
	if names := set.Names(true); !slices.Equal(names, []string{"shopctl"}) {
		t.Errorf("programs: %v", names)
	}
	if len(set.Words("operation.delete")) == 0 {
		t.Error("no built-in words")
	}
}
