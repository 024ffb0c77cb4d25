package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// knowledge compares the rows about programs, paths and words. Rows with identical
// texts are skipped, since there are thousands.
func (d *differ) knowledge(a, b *bundles.Effective) error {
	before, after := rowTexts(a), rowTexts(b)
	keys := slices.SortedFunc(maps.Keys(joinedKeys(before, after)), func(a, b rowKey) int {
		return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.layer, b.layer))
	})
	for _, key := range keys {
		was, is := before[key], after[key]
		if was.text == is.text && was.adds == is.adds {
			continue
		}
		x, err := was.row()
		if err != nil {
			return err
		}
		y, err := is.row()
		if err != nil {
			return err
		}
		more := func() Direction { return moreWords(key, a, b) }
		if c := rowChange(key.String(), x, y, wholeRow(was, is, more), knowledgeJudge(key.folder, more)); c != nil {
			d.add(*c)
		}
	}
	return nil
}

// rowKey names a row: the layer and the folder that it is in, and its name there.
type rowKey struct{ layer, folder, name string }

func (k rowKey) String() string { return k.folder + k.name }

// rowText is the source text of a row; empty: there is none.
type rowText struct {
	key        rowKey
	place      string
	text       string
	adds, ours bool // its layer can only add; it is not a converted row
}

func rowTexts(e *bundles.Effective) map[rowKey]rowText {
	all := map[rowKey]rowText{}
	for _, l := range e.RowLayers() {
		for _, file := range slices.Sorted(maps.Keys(l.Files)) {
			folder := strings.SplitAfter(file, "/")[0]
			if strings.HasPrefix(file, rows.ConvertedFolder) {
				folder = rows.ConvertedFolder
			}
			for _, b := range rows.Split(string(l.Files[file])) {
				for _, name := range b.Names {
					key := rowKey{l.Name, folder, name}
					_, text, _ := strings.Cut(b.Text, ":")
					at := fmt.Sprintf("%s:%d", file, b.Line)
					all[key] = rowText{key, at, all[key].text + text, l.Adds, folder != rows.ConvertedFolder}
				}
			}
		}
	}
	return all
}

func joinedKeys(a, b map[rowKey]rowText) map[rowKey]bool {
	all := map[rowKey]bool{}
	for _, m := range []map[rowKey]rowText{a, b} {
		for key := range m {
			all[key] = true
		}
	}
	return all
}

// row parses the text of a row.
func (t rowText) row() (*row, error) {
	if t.text == "" {
		return nil, nil
	}
	var parts map[string]any
	if err := yaml.Unmarshal([]byte("row:"+t.text), &parts); err != nil {
		return nil, err
	}
	inner, _ := parts["row"].(map[string]any)
	inner = maps.Clone(inner)
	if inner == nil {
		inner = map[string]any{}
	}
	inner["layer"] = t.key.layer
	return &row{KindRow, t.key.layer, t.place, inner}, nil
}

// wholeRow returns the direction of an added row. One of a layer that can only add
// tightens. One of a program or a tool makes it known, which loosens, and describes
// effects, which tightens. One of words or names is judged by its words.
func wholeRow(was, is rowText, more func() Direction) Direction {
	switch one := is; {
	case is.text == "":
		return wholeRow(rowText{}, was, more)
	case one.adds || !one.ours:
		return Tightened
	case one.key.folder == rows.ProgramsFolder, one.key.folder == rows.ToolsFolder:
		return Mixed
	case one.key.folder == rows.TokensFolder:
		return Tightened // more is masked, and found
	}
	return more()
}

// moreWords returns the direction of an added name in a class of paths, or of an added
// word in a list. A class tightens, except generated and test; for words, the list
// determines whether they can loosen.
func moreWords(key rowKey, a, b *bundles.Effective) Direction {
	switch key.folder {
	case rows.PlacesFolder:
		if rows.Loosens(key.name) || key.name == string(engine.ClassTest) {
			return Loosened
		}
		return Tightened
	case rows.WordsFolder:
		if rows.New(a.RowLayers()).Loosens(key.name) || rows.New(b.RowLayers()).Loosens(key.name) {
			return Mixed // it moves a word from another list, or makes a call known
		}
		return Tightened
	}
	return Undecided
}

// knowledgeJudge returns the direction of a change of a part of a row.
func knowledgeJudge(folder string, more func() Direction) judge {
	return func(part string, x, y any) Direction {
		switch part {
		case "about", "examples":
			return Unaffected
		case "reads_only", "replace", "dry_run", "usage":
			switch {
			case x == nil:
				return Loosened
			case y == nil:
				return Tightened
			}
		}
		if folder == rows.PlacesFolder || folder == rows.WordsFolder {
			return wordsOfRow(part, x, y, more)
		}
		return partOfUnknown(x, y)
	}
}

// wordsOfRow returns the direction of a change of words in a class of paths or a list.
func wordsOfRow(part string, x, y any, more func() Direction) Direction {
	a, b := wordList(x), wordList(y)
	var wide Direction // direction of a wider meaning
	switch part {
	case "words", "phrases", "names", "extensions", "ends", "home", "system", "folders", "inside", "parts", "packages":
		wide = grown(a, b)
	case "except", "not_below", "workspace":
		wide = grown(a, b).reversed()
	case "below":
		wide = wordsDirection(a, b)
	default:
		return partOfUnknown(x, y)
	}
	switch {
	case wide == Unaffected || wide == Mixed:
		return wide
	case wide == Tightened: // it grew
		return more()
	}
	return more().reversed()
}

// wordList returns a part of a row as words; anything but a string is one word.
func wordList(v any) []any {
	text, isText := v.(string)
	switch {
	case v == nil, v == false:
		return nil
	case !isText:
		return []any{v}
	}
	var list []any
	for _, w := range strings.Fields(text) {
		list = append(list, w)
	}
	return list
}

// whyUndecided describes why the effect of a change cannot be determined from the change alone.
func whyUndecided(c Change) string {
	if c.Direction != Undecided {
		return ""
	}
	switch c.Kind {
	case KindRow:
		return "what a call does is read from the row as a whole; whether that is more or less depends on the call"
	case KindRego, KindData:
		return "Rego is compared as text, not by its result"
	case KindRule, KindPattern, KindAccess:
		return "conditions and words are compared as text, not by what they match"
	case KindDetector:
		return "expressions are compared as text, not by what they match"
	}
	return "the values of this setting have no order"
}
