package named

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// project returns a finder for a folder with some files.
func project(t *testing.T, files map[string]string) *Finder {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w := place.LocalWorld(filepath.Join(dir, "home"), "", nil)
	if w.System == place.Windows {
		t.Skip("commands are not looked for on Windows")
	}
	w.Path = []string{filepath.Join(dir, "path")}
	rows := classifytest.Rows()
	return &Finder{World: w, Res: place.NewResolver(w, dir, rows), Rows: rows, Dirs: []string{dir}}
}

// A command is absent only if its target, script or program is in no place where it may be.
func TestCommands(t *testing.T) {
	f := project(t, map[string]string{
		"Makefile":       "all: build\nbuild test:\n\tgo build\nX := y\n.PHONY: all\n",
		"package.json":   `{"name": "shopserve", "scripts": {"dev": "vite"}}`,
		"tools/seed.py":  "x",
		"path/installed": "x", "bin/ours": "x", "home/.local/bin/mine": "x", "shopfile": "x",
	})
	for line, want := range map[string]string{
		"make build": "", "make test": "", "make all": "", "make deploy": "make deploy", "make X=1 build": "", "make -C web deploy": "",
		"make shopfile": "", "npm run dev": "", "npm run start": "npm run start", "npm run start --prefix web": "", "npm start": "",
		"python tools/seed.py": "", "python tools/gone.py": "./tools/gone.py", "python gone.py": "", "python -m pytest": "",
		"./tools/gone.sh": "./tools/gone.sh", "./dist/app": "", "/opt/gone.sh": "", "~/gone.sh": "", "../gone.sh": "",
		"installed x": "", "ours x": "", "mine x": "", "shopserve x": "", "frobnicate x": "frobnicate", "git status": "", "export X": "",
		"Frobnicate x": "", "X=1 frobnicate": "", "": "",
	} {
		if got := strings.Join(f.Commands([]string{line}), "; "); got != want {
			t.Errorf("%q: %q is absent, want %q", line, got, want)
		}
	}
	if got := f.Commands([]string{"frobnicate x", "brew install frobnicate"}); got != nil {
		t.Errorf("a program that the message says how to install is absent: %q", got)
	}
	f.World.Path = nil
	if got := f.Commands([]string{"frobnicate x"}); got != nil {
		t.Errorf("without a known path, %q is absent", got)
	}
}

// Where a makefile gets its targets from elsewhere, none is absent.
func TestTargetsFromElsewhere(t *testing.T) {
	for _, text := range []string{"include other.mk\n", "-include a\n", "%.o: %.c\n\tcc\n", "$(BINS): x\n\tcc\n", "$(eval $(call x))\n"} {
		if got := project(t, map[string]string{"Makefile": "all:\n" + text}).Commands([]string{"make deploy"}); got != nil {
			t.Errorf("%q: %q is absent", text, got)
		}
	}
}

// A package is absent only if there is a manifest, and none names it.
func TestPackages(t *testing.T) {
	f := project(t, map[string]string{"requirements.txt": "Python_Dateutil==2.9\n"})
	if got := fmt.Sprint(f.Packages([]string{"python-dateutil", "left-pad"})); got != "[left-pad]" {
		t.Errorf("absent: %s", got)
	}
	if got := project(t, nil).Packages([]string{"left-pad"}); got != nil {
		t.Errorf("without a manifest, %q is absent", got)
	}
	long := project(t, map[string]string{"package.json": "{}", "package-lock.json": strings.Repeat(" ", maxManifest+1)})
	if got := long.Packages([]string{"left-pad"}); got != nil {
		t.Errorf("with a lock file that is not read, %q is absent", got)
	}
}

// A symbol is absent only if all files could be searched.
func TestSymbols(t *testing.T) {
	files := map[string]string{"src/cart.ts": "function parseCart() {}", "node_modules/x/i.js": "cartTotal",
		"a.png": strings.Repeat("x", maxSource+1)}
	if got := fmt.Sprint(project(t, files).Symbols([]string{"parseCart", "cartTotal"})); got != "[cartTotal]" {
		t.Errorf("absent: %s", got)
	}
	files["big.sql"] = strings.Repeat("x", maxSource+1)
	if got := project(t, files).Symbols([]string{"cartTotal"}); got != nil {
		t.Errorf("with a file that is too long, %q is absent", got)
	}
	if got := project(t, nil).Symbols([]string{"cartTotal"}); got != nil {
		t.Errorf("without any file, %q is absent", got)
	}
	many := map[string]string{}
	for i := range maxEntries {
		many[fmt.Sprint("f", i)] = ""
	}
	if got := project(t, many).Symbols([]string{"cartTotal"}); got != nil {
		t.Errorf("with too many files, %q is absent", got)
	}
}
