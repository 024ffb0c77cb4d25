package place

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// What a read has to do with reviewer's keys, by the names alone.
func TestReadsKey(t *testing.T) {
	lit := func(s string) abstract.Value { return abstract.Value{Text: s} }
	glob := func(s string) abstract.Value { return abstract.Value{Sure: abstract.Glob, Text: s} }
	start := func(s string) abstract.Value { return abstract.Value{Sure: abstract.Prefix, Text: s} }
	tree := abstract.RawEffect{Recursive: true}
	plain := abstract.RawEffect{}
	for _, c := range []struct {
		target abstract.Value
		raw    abstract.RawEffect
		want   string
	}{
		{lit("/srv/rs/key"), plain, "key"}, {lit("/srv/rs/api.token"), plain, "key"}, {lit("/srv/rs/approval.code"), plain, "key"},
		{lit("/srv/rs/lock"), plain, "key"}, {lit("/srv/rs/sessions/a/lock"), plain, "key"}, {lit("/srv/rs/./x/../key"), plain, "key"},
		{lit("../rs/key"), plain, "key"}, {lit("/proc/self/cwd/../rs/key"), plain, "key"}, {lit("/srv/rs"), plain, "key"}, {lit("/srv/rs"), tree, "key"},
		{lit("/srv/rs/ledger/000001.jsonl"), plain, ""}, {lit("/srv/rs/sessions"), tree, ""}, {lit("/srv/rs2/key"), plain, ""}, {lit("/srv/shop"), tree, ""},
		{lit("/srv/rs/api.address"), plain, ""}, {lit("/srv/rs/keys"), plain, ""}, {lit("key"), plain, ""},
		{lit("/srv"), tree, "holds_key"}, {lit("/"), tree, "holds_key"}, {lit("/srv"), plain, ""}, {lit("/home/kim"), tree, ""},

		{glob("/srv/rs/*"), plain, "key"}, {glob("/srv/rs/k?y"), plain, "key"}, {glob("/srv/rs/[jkl]ey"), plain, "key"}, {glob("/srv/rs/!(x)"), plain, ""},
		{glob("/srv/r*/!(x)"), plain, "key"}, {glob("/srv/*/key"), plain, "key"}, {glob("/s*/r*/a*"), plain, "key"}, {glob("/srv/rs/*.jsonl"), plain, ""},
		{glob("/srv/rs/s*/*/*"), plain, ""}, {glob("/srv/*"), plain, ""}, {glob("/srv/*"), tree, "key"}, {glob("/s*"), tree, "holds_key"},
		{glob("/srv/**/key"), plain, "key"}, {glob("/srv/**/*.go"), tree, ""}, {glob("/srv/**"), tree, "holds_key"}, {glob("/srv/rs/**"), plain, "key"},
		{glob("/srv/**/*"), plain, "holds_key"}, {glob("/srv/shop/*"), tree, ""},

		{start("/srv/rs/"), plain, "key"}, {start("/srv/rs/k"), plain, "key"}, {start("/srv/rs/s"), plain, ""}, {start("/srv/r"), plain, "key"},
		{start("/srv/"), plain, ""}, {start("/"), plain, ""}, {start("/srv/shop/"), plain, ""},

		{lit("/home/ann/.local/state/reviewer/key"), plain, "key"}, {lit("/home/ann/.local/state/reviewer"), tree, "key"},
		{glob("/home/*/.local/state/reviewer/k*"), plain, "key"}, {lit("/mnt/b/kim/.local/state/reviewer/key"), plain, "key"},
		{start("/home/ann/.local/state/reviewer/"), plain, "key"}, {start("/home/ann/.local/state/"), plain, ""},
		{lit("/home/ann/.local/state"), tree, ""}, {lit("/home/ann/.local/state/reviewers/key"), plain, ""},

		{lit("/srv/rs"), abstract.RawEffect{Verb: engine.VerbList}, ""}, {lit("/srv/rs"), abstract.RawEffect{Names: true}, ""},
		{glob("/srv/rs/*"), abstract.RawEffect{Names: true}, ""}, {lit("/srv/rs/key"), abstract.RawEffect{Names: true}, "key"},
		{lit("/srv/rs/key"), abstract.RawEffect{Host: "ssh:build"}, ""},
		{lit("/srv"), abstract.RawEffect{Recursive: true, Except: "rs"}, ""}, {lit("/srv"), abstract.RawEffect{Recursive: true, Except: "x\nrs"}, ""},
		{lit("/"), abstract.RawEffect{Recursive: true, Except: "srv/rs"}, ""}, {lit("/srv"), abstract.RawEffect{Recursive: true, Except: "key"}, "holds_key"},
		{lit("/srv"), abstract.RawEffect{Recursive: true, Except: "s"}, "holds_key"}, {lit("/srv/rs"), abstract.RawEffect{Recursive: true, Except: "rs"}, "key"},
		{lit("/srv"), abstract.RawEffect{Recursive: true, Except: abstract.HiddenNames}, "holds_key"},
	} {
		w := World{Home: "/home/kim", State: "/srv/rs", Guard: []string{"/srv/rs"}}
		raw := c.raw
		raw.Kind, raw.Target, raw.Dir = engine.EffectFileRead, c.target, lit("/srv/shop")
		if raw.Verb == "" {
			raw.Verb = "read"
		}
		e := NewResolver(w, "/srv/shop", classifytest.Rows()).Effect(raw)
		if e.Guard != c.want {
			t.Errorf("%+v %+v: %q, want %q", c.target, c.raw, e.Guard, c.want)
		}
	}
}

// If nothing is known about the machine, the state folder is the usual one; that a search skips
// hidden folders then matters.
func TestReadsKeyOfTheUsualFolder(t *testing.T) {
	for _, c := range []struct{ target, except, want string }{
		{"/home/kim", "", "holds_key"}, {"/home/kim", abstract.HiddenNames, ""}, {"/home/kim/.local", abstract.HiddenNames, "holds_key"},
		{"/home/kim/.local/state/reviewer", "", "key"}, {"/home/kim/shop", "", ""},
	} {
		e := NewResolver(World{Home: "/home/kim"}, "/home/kim/shop", classifytest.Rows()).Effect(abstract.RawEffect{Kind: engine.EffectFileRead,
			Verb: "read", Target: abstract.Value{Text: c.target}, Recursive: true, Except: c.except})
		if e.Guard != c.want {
			t.Errorf("%s without %q: %q, want %q", c.target, c.except, e.Guard, c.want)
		}
	}
}

// A copy and another name of a key are the key, whoever made them.
func TestCopiesOfKeys(t *testing.T) {
	dir := t.TempDir()
	state, shop := filepath.Join(dir, "rs"), filepath.Join(dir, "shop")
	for name, text := range map[string]string{
		"rs/key": "0123456789abcdef", "rs/api.token": "token", "shop/copy": "0123456789abcdef", "shop/same-size": "0123456789abcdeX", "shop/empty": "",
		"shop/sub/token.bak": "token", "shop/link-target": "x",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for to, from := range map[string]string{"sub/hard": "key", "sub/soft": ""} {
		make := os.Link
		if from == "" {
			make = os.Symlink
		}
		if err := make(filepath.Join(state, from), filepath.Join(shop, to)); err != nil {
			t.Skip(err)
		}
	}
	if _, err := os.Readlink(filepath.Join(shop, "sub", "soft")); err != nil {
		t.Skip(err) // wine reports that it made a link, and makes none
	}
	w := LocalWorld(dir, "", []string{state})
	w.State = state
	r := NewResolver(w, shop, classifytest.Rows())
	for _, c := range []struct {
		target string
		glob   bool
		want   string
	}{
		{target: "copy", want: "key"}, {target: "same-size"}, {target: "empty"}, {target: "link-target"}, {target: "sub/token.bak", want: "key"},
		{target: "sub/hard", want: "key"}, {target: "sub/soft/key", want: "key"}, {target: "sub/soft/run"}, {target: "c*", glob: true, want: "key"},
		{target: "s*", glob: true}, {target: "sub/*", glob: true, want: "key"},
	} {
		v := abstract.Value{Text: c.target}
		if c.glob {
			v.Sure = abstract.Glob
		}
		e := r.Effect(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", Target: v, Dir: abstract.Value{Text: shop}})
		if e.Guard != c.want {
			t.Errorf("%s: %q, want %q", c.target, e.Guard, c.want)
		}
	}
}
