package sessioncmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// What a person adds is spelled as the effects of a session spell it, and not
// everything can be added.
func TestAddable(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, work := filepath.Join(root, "users", "kim"), filepath.Join(root, "srv", "code", "shop")
	for _, dir := range []string{filepath.Join(home, "notes"), filepath.Join(work, "src"), filepath.Join(root, "srv", "code", "docs"), filepath.Join(root, "srv", "photos")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "users"), filepath.Join(root, "srv", "everybody")); err != nil {
		t.Fatal(err)
	}
	world := classify.LocalWorld(home, "", nil)
	for path, want := range map[string]string{
		filepath.Join(home, "notes"): "~/notes", filepath.Join(work, "src"): "./src", filepath.Join(work, "../docs"): filepath.Join(root, "srv/code/docs"),
		filepath.Join(root, "srv/everybody/kim/notes"): "~/notes", filepath.Join(root, "srv/code"): filepath.Join(root, "srv/code"),
		filepath.Join(root, "srv/photos"): filepath.Join(root, "srv/photos"),
	} {
		if got, err := addable(world, work, path); err != nil || got != want {
			t.Errorf("%s is added as %q, %v, want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{
		"/": "the whole machine", home: "is or contains your home directory", filepath.Join(root, "users"): "is or contains your home directory",
		filepath.Join(root, "srv/everybody"): "is or contains your home directory", work: "this is the workspace",
		filepath.Join(root, "srv"): "wider than the parent folder of the workspace", filepath.Join(root, "nowhere"): "no such file or folder",
	} {
		if got, err := addable(world, work, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is added as %q, %v, want the error %q", path, got, err, want)
		}
	}
}

// A word that changes nothing, or for which there is no room, is refused before
// it is recorded.
func TestScopeChanges(t *testing.T) {
	h := history.New()
	h.Lenient = true
	for i, path := range []string{"~/a", "~/b"} {
		h.Append(&engine.Record{Kind: engine.KindControl, N: int64(i + 1), Control: &engine.Control{Do: engine.ControlScope, Path: path}})
	}
	for choice, want := range map[engine.Control]string{
		{Do: engine.ControlScope, Path: "~/c"}:   "",
		{Do: engine.ControlUnscope, Path: "~/a"}: "",
		{Do: engine.ControlScope, Path: "~/a"}:   "is already in scope",
		{Do: engine.ControlUnscope, Path: "~/c"}: "was not added; added paths: ~/a, ~/b",
	} {
		if err := scopeChanges(h, choice); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s %s: %v, want %q", choice.Do, choice.Path, err, want)
		}
	}
	for i := range 30 {
		choice := engine.Control{Do: engine.ControlScope, Path: "~/many/" + string(rune('a'+i))}
		if err := scopeChanges(h, choice); err != nil {
			if !strings.Contains(err.Error(), "maximum number of paths") {
				t.Error(err)
			}
			return
		}
		h.Append(&engine.Record{Kind: engine.KindControl, N: h.N + 1, Control: &choice})
	}
	t.Error("there is no end to what can be added")
}
