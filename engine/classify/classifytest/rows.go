package classifytest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Rows returns the rows of the built-in policy about programs.
var Rows = sync.OnceValue(func() *rows.Set { return rows.New(Layers()) })

// Layers returns the rows of the built-in policy, read from the files of this
// module: packages of the engine cannot import the bundle.
var Layers = sync.OnceValue(func() []rows.Layer {
	dir := defaultDir()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || !slices.Contains(rows.Folders(), strings.SplitAfter(filepath.ToSlash(name), "/")[0]) {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		panic(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "data.yaml"))
	if err != nil {
		panic(err)
	}
	return []rows.Layer{{Name: "base", Files: files}, settingWords(string(data))}
})

// settingWords are the lists of the built-in settings by which operations are
// read. Each is on one line.
func settingWords(data string) rows.Layer {
	lists := map[string][]string{}
	for _, name := range rows.SettingLists() {
		_, rest, _ := strings.Cut(data, "\n    "+strings.TrimPrefix(name, "services.")+": [")
		line, _, _ := strings.Cut(rest, "]")
		lists[name] = strings.Split(line, ", ")
	}
	return rows.Layer{Name: "settings", Files: map[string][]byte{"words/settings.yaml": rows.ListsFile(lists)}}
}

// defaultDir is where the built-in policy is.
func defaultDir() string {
	dir := "bundles/default"
	for range 8 {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Join("..", dir)
	}
	return dir
}

// File returns a file of the built-in policy.
func File(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(defaultDir(), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
