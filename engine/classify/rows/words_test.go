package rows_test

import (
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// TestWordsThatShip: quickly read or not, a list has the words that YAML reads,
// and its examples hold one of them.
func TestWordsThatShip(t *testing.T) {
	all, err := rows.All[rows.WordList](classifytest.Rows(), rows.WordsFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		name, list := e.Names[0], e.Row
		if e.Place.Layer == "settings" {
			continue
		}
		if list.About == "" {
			t.Errorf("%s: what does it mean?", name)
		}
		for _, text := range list.Examples {
			if !list.Holds(text) {
				t.Errorf("%s: %q holds none of its words", name, text)
			}
		}
		set := rows.New([]rows.Layer{{Files: map[string][]byte{e.Place.File: classifytest.File(t, e.Place.File)}}})
		if !slices.Equal(set.Words(name), list.All()) {
			t.Errorf("%s: %q, by YAML %q", name, set.Words(name), list.All())
		}
	}
}

// TestWordsOfLayers: the organisation's layer adds and replaces; one that only
// adds is not heard where a word could loosen, or is another list's.
func TestWordsOfLayers(t *testing.T) {
	base := "prompt.limits:\n  words: except\n  loosens: true\nprompt.change_verbs:\n  words: touch\nprompt.ship_verbs:\n  words: push\nends.clear:\n  words: clear\n"
	with := func(adds bool, text string) *rows.Set {
		return rows.New([]rows.Layer{{Files: map[string][]byte{"words/a.yaml": []byte(base)}}, {Adds: adds, Files: map[string][]byte{"words/b.yaml": []byte(text)}}})
	}
	for _, c := range []struct {
		adds       bool
		list, text string
		want       []string
	}{
		{false, "prompt.limits", "prompt.limits:\n  words: merely\n", []string{"except", "merely"}},
		{false, "prompt.limits", "prompt.limits:\n  words: merely\n  replace: true\n", []string{"merely"}},
		{true, "prompt.limits", "prompt.limits:\n  words: merely\n", []string{"except"}},
		{true, "prompt.change_verbs", "prompt.change_verbs:\n  words: meddle push src/a\n", []string{"touch", "meddle"}},
		{true, "prompt.change_verbs", "prompt.change_verbs:\n  words: meddle\n  replace: true\n", []string{"touch"}},
		{true, "prompt.new", "prompt.new:\n  words: meddle\n", nil},
		{true, "ends.clear", "ends.clear: [\n", []string{"clear"}},
	} {
		set := with(c.adds, c.text)
		if got := set.Words(c.list); !slices.Equal(got, c.want) {
			t.Errorf("%v %s: %q, want %q", c.adds, c.text, got, c.want)
		}
		if c.adds && !slices.Equal(set.OwnWords(c.list), with(true, "x: {}\n").OwnWords(c.list)) {
			t.Errorf("%s: own words are %q", c.text, set.OwnWords(c.list))
		}
	}
}
