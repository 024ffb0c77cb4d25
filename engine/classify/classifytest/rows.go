package classifytest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Rows returns what the policy that ships knows of programs.
var Rows = sync.OnceValue(func() *rows.Set { return rows.New(Layers()) })

// Layers returns the rows of the policy that ships, read from the files of this
// module: packages of the engine cannot import the bundle.
var Layers = sync.OnceValue(func() []rows.Layer {
	dir := "bundles/default"
	for range 8 {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Join("..", dir)
	}
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
	return []rows.Layer{{Name: "base", Files: files}}
})
