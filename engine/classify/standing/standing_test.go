package standing

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// disk makes a repository in a home folder, and returns a reader of it. Files that begin with a mark are changed after the
// commit (~) or not committed (?).
func disk(t *testing.T, files map[string]string) *Reader {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home := t.TempDir()
	top := filepath.Join(home, "src", "shop")
	put := func(name, text string) {
		p := filepath.Join(top, filepath.FromSlash(name))
		if rest, ok := strings.CutPrefix(name, "home/"); ok {
			p = filepath.Join(home, filepath.FromSlash(rest))
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.Symlink(to, p); err != nil {
				t.Fatal(err)
			}
			return
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		always := []string{"-C", top, "-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "core.autocrlf=false"}
		c := exec.Command("git", append(always, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for name, text := range files {
		if name[0] != '?' && name[0] != '~' {
			put(name, text)
		} else if name[0] == '~' {
			put(name[1:], "before\n")
		}
	}
	put("main.go", "package main\n")
	git("init", "-q")
	git("add", "-f", "-A")
	git("commit", "-qm", "start")
	for name, text := range files {
		if name[0] == '?' || name[0] == '~' {
			put(name[1:], text)
		}
	}
	return &Reader{World: place.LocalWorld(home, "", nil), Rows: classifytest.Rows(), Workspace: top, Harness: "claude-code",
		Masker: &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}}
}

// read describes files in short: path, a question mark where it is not trusted, and what is forbidden.
func read(files []File) []string {
	var list []string
	for _, f := range files {
		line := f.Path
		if !f.Trusted && f.Problem == "" {
			line += "?"
		}
		for _, s := range f.Sentences {
			for _, st := range s.Statements {
				line += " " + strings.Join(append([]string{st.Act}, st.Objects...), " ") + ";"
			}
		}
		if f.Problem != "" {
			line += " !"
		}
		list = append(list, line)
	}
	return list
}

func TestFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"none", nil, nil},
		{"committed", map[string]string{"CLAUDE.md": "Never commit.\n"}, []string{"CLAUDE.md commit;"}},
		{"changed since", map[string]string{"~CLAUDE.md": "Never commit.\n"}, []string{"CLAUDE.md? commit;"}},
		{"not committed", map[string]string{"?AGENTS.md": "Never commit.\n"}, []string{"AGENTS.md? commit;"}},
		{"the person's own", map[string]string{"home/.claude/CLAUDE.md": "Never push.\n"}, []string{"~/.claude/CLAUDE.md push;"}},
		{"of another agent", map[string]string{"home/.codex/AGENTS.md": "Never push.\n"}, nil},
		{"imports", map[string]string{"CLAUDE.md": "See @docs/rules.md and @docs/none.md.\n",
			"docs/rules.md": "Never push.\nAlso @../CLAUDE.md\n"}, []string{"CLAUDE.md", "docs/rules.md push;"}},
		{"an import in a fence", map[string]string{"CLAUDE.md": "```\n@docs/rules.md\n```\n", "docs/rules.md": "Never push.\n"}, []string{"CLAUDE.md"}},
		{"an import out of the repository", map[string]string{"CLAUDE.md": "@../other/rules.md\n@~/notes.md\n",
			"home/src/other/rules.md": "Never push.\n", "home/notes.md": "Never push.\n"}, []string{"CLAUDE.md", "~/src/other/rules.md !", "~/notes.md !"}},
		{"an import of a credential", map[string]string{"CLAUDE.md": "@.env\n", "?.env": "never push\n"}, []string{"CLAUDE.md", ".env !"}},
		{"next to the person's own", map[string]string{"home/.claude/CLAUDE.md": "@git.md\n", "home/.claude/git.md": "Never push.\n"},
			[]string{"~/.claude/CLAUDE.md", "~/.claude/git.md push;"}},
		{"nested", map[string]string{"legacy/CLAUDE.md": "Don't change `old.go`. Never commit. Don't delete anything here.\n",
			"legacy/old.go": "package old\n"}, []string{"legacy/CLAUDE.md change legacy/old.go;"}},
		{"of a dependency", map[string]string{"node_modules/x/CLAUDE.md": "Never push.\n"}, nil},
		{"a link", map[string]string{"CLAUDE.md": "-> AGENTS.md", "AGENTS.md": "Never push.\n"}, []string{"AGENTS.md push;"}},
		{"a link out of the repository", map[string]string{"CLAUDE.md": "-> ../rules.md", "home/src/rules.md": "Never push.\n"},
			[]string{"CLAUDE.md !"}},
		{"in a folder that is a link", map[string]string{"CLAUDE.md": "@docs/notes.md\n", "docs": "-> ../other", "home/src/other/notes.md": "Never push.\n"},
			[]string{"CLAUDE.md", "docs/notes.md !"}},
		{"a link to credentials", map[string]string{"AGENTS.md": "-> .env", ".env": "never push\n"}, []string{"AGENTS.md !"}},
		{"the person's own, by a link", map[string]string{"home/.claude/CLAUDE.md": "-> ../dotfiles/CLAUDE.md",
			"home/dotfiles/CLAUDE.md": "Never push.\n"}, []string{"~/dotfiles/CLAUDE.md push;"}},
		{"nested, of the rest", map[string]string{"lib/CLAUDE.md": "Only change files in `src/`. Never run `make deploy`. Do not push to main. " +
			"Never edit `../a.go`. Never edit `new.sql`.\n", "lib/src/b.go": "package b\n"}, []string{"lib/CLAUDE.md change lib/new.sql;"}},
		{"more names than are kept of one", map[string]string{"CLAUDE.md": "Never edit `a/`, `b/`, `c/`, `d/` or `e/`.\n"},
			[]string{"CLAUDE.md change a/ b/ c/; change d/ e/;"}},
		{"a folder of rules", map[string]string{".cursor/rules/git.mdc": "---\ndescription: never commit\n---\nNever push.\n",
			".cursor/rules/a.json": "{}"}, []string{".cursor/rules/git.mdc push;"}},
		{"too long", map[string]string{"CLAUDE.md": "Never push.\n" + strings.Repeat("Prefer short names.\n", 300_000) + "Never commit.\n"},
			[]string{"CLAUDE.md push; !"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := read(disk(t, c.files).Files()); !slices.Equal(got, c.want) {
				t.Errorf("read %q, want %q", got, c.want)
			}
		})
	}
}

// What a file below the repository's root is about, when the session works further below.
func TestFilesAbove(t *testing.T) {
	r := disk(t, map[string]string{"AGENTS.md": "Never push.\n", "app/CLAUDE.md": "Never commit.\n", "app/web/a.ts": "x\n",
		"lib/CLAUDE.md": "Never deploy.\n"})
	r.Workspace += "/app/web"
	want := []string{"../../AGENTS.md push;", "../CLAUDE.md commit;"}
	if got := read(r.Files()); !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

// While something is staged, nobody knows which file was committed.
func TestStaged(t *testing.T) {
	r := disk(t, map[string]string{"CLAUDE.md": "Never push.\n"})
	if err := os.WriteFile(filepath.Join(r.Workspace, "AGENTS.md"), []byte("Never deploy.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "-C", r.Workspace, "add", "AGENTS.md").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := []string{"CLAUDE.md? push;", "AGENTS.md? deploy;"}
	if got := read(r.Files()); !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

// A long file, and one that is only asked about, displace no prohibition of another file.
func TestKept(t *testing.T) {
	r := disk(t, map[string]string{"?CLAUDE.md": strings.Repeat("Never push to `b`.\n\nNever deploy.\n\n", 20), "AGENTS.md": "Never commit.\n",
		"GEMINI.md": strings.Repeat("Never change `a.go`.\n\n", 40)})
	kept := Kept(r.Files())
	if len(kept) != engine.MaxStanding || kept[0].Act != "commit" {
		t.Errorf("kept %+v", kept)
	}
}

// The digest changes with the text, and with whether it is trusted; at most MaxStanding prohibitions are kept.
func TestFacts(t *testing.T) {
	marks := func(text string) []string { return strings.Fields(text) }
	digest := func(files []File) string { return Facts(files, classifytest.MAC, marks).MAC }
	a := []File{{Path: "CLAUDE.md", text: []byte("x")}}
	for _, b := range [][]File{{{Path: "CLAUDE.md", text: []byte("y")}}, {{Path: "AGENTS.md", text: []byte("x")}},
		{{Path: "CLAUDE.md", Trusted: true, text: []byte("x")}}} {
		if digest(a) == digest(b) {
			t.Errorf("%v has the digest of %v", b, a)
		}
	}
	if Facts(nil, classifytest.MAC, marks) != nil {
		t.Error("facts of no files")
	}
	both := []File{{Path: "CLAUDE.md", Trusted: true, text: []byte("x")}, {Path: "AGENTS.md", text: []byte("y")}}
	if got := Facts(both, classifytest.MAC, marks).Marks; !slices.Equal(got, []string{"x"}) {
		t.Errorf("marks of %v, want those of the trusted file", got)
	}
	var text strings.Builder
	for i := range 2 * engine.MaxStanding {
		text.WriteString("Never change `d" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + "/x.go`.\n\n")
	}
	r := disk(t, map[string]string{"CLAUDE.md": text.String(),
		"AGENTS.md": strings.Repeat("Never change `"+strings.Repeat("long/", 30)+"x.go`.\n\n", 30)})
	s := Facts(r.Files(), classifytest.MAC, func(string) []string { return nil })
	if raw, err := json.Marshal(s); err != nil || len(raw) > maxFacts+200 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	if len(s.Statements) != engine.MaxStanding || s.Statements[1].From != "AGENTS.md:1" || s.Statements[2].From != "CLAUDE.md:3" {
		t.Errorf("%d statements: %+v", len(s.Statements), s.Statements[:3])
	}
}

// A word more in a list of an organisation changes what is found.
func TestLists(t *testing.T) {
	for name, c := range map[string]struct{ file, text, word string }{
		"project":              {"ZZQX.md", "Never push.", "ZZQX.md"},
		"person":               {"home/.zzqx.md", "Never push.", "claude-code:.zzqx.md"},
		"imports":              {"AGENTS.md", "See @rules.md", "AGENTS.md"},
		"nested":               {"lib/ZZQX.md", "Never change `a.go`.", "ZZQX.md"},
		"never":                {"AGENTS.md", "## zzqx\n- push", "zzqx"},
		"ask":                  {"AGENTS.md", "## zzqx\n- push", "zzqx"},
		"marks":                {"AGENTS.md", "- ☠ push", "☠"},
		"addressed":            {"AGENTS.md", "zzqx must never push", "zzqx"},
		"person_words":         {"AGENTS.md", "never push without permission from zzqx", "zzqx"},
		"uses":                 {"AGENTS.md", "never zzqx `make all`", "zzqx"},
		"or":                   {"AGENTS.md", "never use npm zzqx yarn", "zzqx"},
		"programs":             {"AGENTS.md", "never use zzqx", "zzqx"},
		"vague":                {"AGENTS.md", "never push", "push"},
		"plain":                {"AGENTS.md", "never push now", "now"},
		"headings":             {"AGENTS.md", "## Never zzqx\n- push", "zzqx"},
		"columns":              {"AGENTS.md", "| What | Zzqx |\n|---|---|\n| Deploy | only with approval of Kim |\n", "zzqx"},
		"no":                   {"AGENTS.md", "- `make all`: zzqx", "zzqx"},
		"ask_cell":             {"AGENTS.md", "- `make all`: zzqx", "zzqx"},
		"yes":                  {"AGENTS.md", "| What | Allowed |\n|---|---|\n| never push | zzqx |\n", "zzqx"},
		"keywords":             {"AGENTS.md", "never run `zzqx all`", "zzqx"},
		"ask_marks":            {"AGENTS.md", "- ☠ push", "☠"},
		"fine_marks":           {"AGENTS.md", "## Never\n- ☠ push", "☠"},
		"of":                   {"AGENTS.md", "never zzqx `make all`", "zzqx"},
		"restrict.closed":      {"AGENTS.md", "`make all` is zzqx", "zzqx"},
		"restrict.approval":    {"AGENTS.md", "`make all` needs the zzqx of Kim", "zzqx"},
		"restrict.needs":       {"AGENTS.md", "`make all` zzqx approval", "zzqx"},
		"restrict.asks":        {"AGENTS.md", "zzqx Kim before `make all`", "zzqx"},
		"restrict.first":       {"AGENTS.md", "consult Kim zzqx `make all`", "zzqx"},
		"restrict.others":      {"AGENTS.md", "`make all` is run only by zzqx", "zzqx"},
		"restrict.owned":       {"AGENTS.md", "`make all` zzqx maintainers", "zzqx"},
		"restrict.edits":       {"AGENTS.md", "never zzqx `lib/a.go`", "zzqx"},
		"restrict.installs":    {"AGENTS.md", "consult Kim before adding zzqx", "zzqx"},
		"restrict.adds":        {"AGENTS.md", "no zzqx crates", "zzqx"},
		"restrict.runs":        {"AGENTS.md", "never zzqx `lib/a.go`", "zzqx"},
		"restrict.performs":    {"AGENTS.md", "releases of zebras are not zzqx from here", "zzqx"},
		"restrict.is":          {"AGENTS.md", "this zzqx not to run `make all`", "zzqx"},
		"restrict.invocations": {"AGENTS.md", "never touch Terraform zzqx", "zzqx"},
		"restrict.reads":       {"AGENTS.md", "never zzqx `lib/a.go`", "zzqx"},
		"restrict.sometimes":   {"AGENTS.md", "zzqx it fails, never run `make all` again", "zzqx"},
		"restrict.fine":        {"AGENTS.md", "never run `make all`, `make some` is zzqx", "zzqx"},
		"restrict.not":         {"AGENTS.md", "zzqx run `make all` again", "zzqx"},
		"restrict.forget":      {"AGENTS.md", "never zzqx to run `make all` again", "zzqx"},
		"restrict.there":       {"AGENTS.md", "`lib/a.go` is old: never edit it zzqx", "zzqx"},
		"restrict.of":          {"AGENTS.md", "coverage zzqx `lib/a.go` must not be changed", "zzqx"},
		"restrict.compound":    {"AGENTS.md", "never install odd zzqx", "odd"},
		"restrict.commands":    {"AGENTS.md", "never do a zzqx", "zzqx=make all"},
		"restrict.depends":     {"AGENTS.md", "adding a crate zzqx serde needs approval", "zzqx"},
		"restrict.puts":        {"AGENTS.md", "never hand-edit zebras into `lib/a.go`", "hand-edit"},
		"restrict.files":       {"AGENTS.md", "never edit `.abc` zzqx", "zzqx"},
		"restrict.reserved":    {"AGENTS.md", "`make all` zzqx", "zzqx"},
		"restrict.out":         {"AGENTS.md", "`lib/a.go`: zzqx", "zzqx"},
		"restrict.waits":       {"AGENTS.md", "zzqx until Kim agrees before `make all`", "zzqx"},
		"restrict.always":      {"AGENTS.md", "zzqx never run `make all` here", "zzqx"},
		"restrict.welcome":     {"AGENTS.md", "pushing is not zzqx", "zzqx"},
		"restrict.comments":    {"AGENTS.md", "never reply to messages of zebras", "reply"},
		"restrict.forums":      {"AGENTS.md", "never post comments in odd zzqx", "zzqx"},
		"third":                {"AGENTS.md", "now never install odd zebras", "now"},
	} {
		files := map[string]string{c.file: c.text + "\n", "rules.md": "Never push.\n", "lib/a.go": "package a\n"}
		r := disk(t, files)
		before := describe(r)
		r.Rows = rows.New(append(classifytest.Layers(), rows.Layer{Name: "organisation",
			Files: map[string][]byte{"words/own.yaml": []byte(listOf(name) + ":\n  phrases: [\"" + c.word + "\"]\n")}}))
		if after := describe(r); before == after {
			t.Errorf("%s: a word more changes nothing: %s", name, before)
		}
	}
}

func listOf(name string) string {
	if strings.Contains(name, ".") {
		return name
	}
	return "instructions." + name
}

// describe is all that is found, with how long it holds.
func describe(r *Reader) string {
	raw, _ := json.Marshal(Facts(r.Files(), func(b []byte) string { return "" }, func(string) []string { return nil }))
	return string(raw)
}
