package place

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// Another name of a protected file is that file, whenever it was made.
func TestHardLinks(t *testing.T) {
	dir := t.TempDir()
	home, shop := filepath.Join(dir, "home"), filepath.Join(dir, "shop")
	for name, text := range map[string]string{
		"home/.ssh/id_work": "key", "home/.aws/credentials": "key", "home/.bashrc": "true", "home/notes": "x", "state/log": "x", "shop/plain": "x",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(shop+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	for to, from := range map[string]string{
		"a": "home/.ssh/id_work", "sub/b": "home/.aws/credentials", "c": "home/.bashrc", "d": "state/log", "e": "home/notes", "plain2": "shop/plain",
	} {
		if err := os.Link(filepath.Join(dir, from), filepath.Join(shop, to)); err != nil {
			t.Skip(err)
		}
	}
	r := NewResolver(LocalWorld(home, "", []string{filepath.Join(dir, "state")}), shop, classifytest.Rows())
	for name, want := range map[string]engine.Class{
		"a": engine.ClassCredential, "sub/b": engine.ClassCredential, "c": engine.ClassStartup, "d": engine.ClassGuard, "e": "", "plain": "", "plain2": "",
	} {
		for _, kind := range []engine.EffectKind{engine.EffectFileRead, engine.EffectFileWrite} {
			e := r.Effect(abstract.RawEffect{Kind: kind, Verb: "read", Target: abstract.Value{Text: name}, Dir: abstract.Value{Text: shop}})
			if e.Class != want {
				t.Errorf("%s %s: class %q, want %q", kind, name, e.Class, want)
			}
		}
	}
}
