package classify

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// tarOf is a tar that holds files of some names.
func tarOf(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: 1, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipOf(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestArchives: files that are there, and settings that are not, are among the
// effects of what unpacks an archive over them; nothing else of it is.
func TestArchives(t *testing.T) {
	tarred := tarOf(t, "notes.md", "src/wip.py", "fresh.txt")
	files := map[string]string{
		"/srv/shop/notes.md": "n", "/srv/shop/src/wip.py": "w", "/srv/shop/wip.py": "w",
		"/srv/shop/over.tar": tarred, "/srv/shop/over.tgz": gzipped(t, tarred),
		"/srv/shop/over.zip": zipOf(t, "src/wip.py"), "/srv/shop/new.zip": zipOf(t, "fresh/a.txt"),
		"/srv/shop/settings.tar": tarOf(t, "./.claude/settings.json"), "/srv/shop/up.tar": tarOf(t, "../shop/notes.md"),
		"/srv/shop/broken.tar": tarred[:300], "/srv/shop/packed.tar.xz": "\xfd7zXZ", "/srv/shop/packed.zip": "PK",
		"/srv/shop/abs.tar": tarOf(t, "/home/ana/.bashrc"), "/home/ana/.bashrc": "n",
	}
	w := diskWorld(files, nil)
	w.ReadFile = w.ReadHead
	for _, test := range []struct {
		command string
		want    string // what is written, by its short name
		forced  bool   // any file of the folder may be overwritten
	}{
		{"tar xf over.tar", "./notes.md ./src/wip.py", false},
		{"tar xzf over.tgz", "./notes.md ./src/wip.py", false},
		{"tar -xf /srv/shop/over.tgz -C /srv/shop", "./notes.md ./src/wip.py", false},
		{"cd /tmp && tar xf /srv/shop/over.tar -C /srv/shop", "./notes.md ./src/wip.py", false},
		{"tar xf over.tar --strip-components=1", "./wip.py", false},
		{"tar xf over.tar -k", "", false},
		{"tar xf over.tar -C other", "", false},
		{"tar xf settings.tar", "./.claude/settings.json", false},
		{"tar xf up.tar", "", false},
		{"unzip -o over.zip", "./src/wip.py", false},
		{"unzip over.zip", "", false},
		{"unzip -o new.zip", "", false},
		{"unzip -o 'missing.zip'", "", true},
		{"unzip -o missing.zip -d nowhere", "", false},
		{"tar --overwrite -xf broken.tar", "", true},
		{"tar xf broken.tar", "", true},
		{"tar xkf broken.tar", "", false},
		{"tar xf broken.tar -C nowhere", "", false},
		{"tar xf packed.tar.xz", "", true},
		{"tar --zstd -xf packed.tar.xz --skip-old-files", "", false},
		{"tar xf missing.tar", "", false},
		{"unzip packed.zip", "", false},
		{"tar xf abs.tar", "", false},
		{"tar xPf abs.tar", "~/.bashrc", false},
		{"tar -x --absolute-names -f abs.tar", "~/.bashrc", false},
		{"tar xPf over.tar", "./notes.md ./src/wip.py", false},
		{"tar xPf up.tar", "./notes.md", false},
		{"python3 -m zipfile -e over.zip .", "./src/wip.py", false},
		{"python3 -m tarfile -e over.tar", "./notes.md ./src/wip.py", false},
		{"python3 -m tarfile --extract over.tar /srv/shop", "./notes.md ./src/wip.py", false},
		{"python3 -m zipfile -l over.zip", "", false},
	} {
		var got []string
		forced := false
		for _, e := range filesAction(t, w, test.command).Effects {
			switch {
			case e.Kind != engine.EffectFileWrite:
			case e.Certainty == engine.CertaintyExact:
				got = append(got, e.Short)
			default:
				forced = forced || e.Forced
			}
		}
		slices.Sort(got)
		if list := strings.Join(slices.Compact(got), " "); list != test.want || forced != test.forced {
			t.Errorf("%s: writes %q (any file: %v), want %q (%v)", test.command, list, forced, test.want, test.forced)
		}
	}
}
