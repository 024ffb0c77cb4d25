package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// knowledge compares the rows by which calls are read: what programs do, what
// paths are. Rows that are the same texts are not looked at any further, since
// there are thousands.
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
		if c := rowChange(key.String(), x, y, wholeRow(was, is), knowledgeJudge); c != nil {
			d.add(*c)
		}
	}
	return nil
}

// rowKey names a row: the layer and the folder that it is in, and its name there.
type rowKey struct{ layer, folder, name string }

func (k rowKey) String() string { return k.folder + k.name }

// rowText is a row as it is written; empty: there is none.
type rowText struct {
	key        rowKey
	place      string
	text       string
	adds, ours bool // its layer only adds; it is no row of facts of others
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

// row reads what a text says.
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

// wholeRow is what it does to have a row more. One of a layer that only adds
// tightens. Another one makes known what was unknown, which loosens, and says
// what is done, which tightens.
func wholeRow(was, is rowText) Direction {
	switch one := is; {
	case is.text == "":
		return wholeRow(rowText{}, was)
	case one.adds || !one.ours:
		return Tightened
	case one.key.folder == rows.ProgramsFolder:
		return Mixed
	}
	return Undecided
}

// knowledgeJudge is what it does to change a part of a row.
func knowledgeJudge(part string, x, y any) Direction {
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
	return partOfUnknown(x, y)
}
