package classify

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/google/go-cmp/cmp"
)

// diskWorld is a machine with some files; git says about each that it is
// untracked, unless its name is in states.
func diskWorld(files, states map[string]string) place.World {
	m := fstest.MapFS{}
	for name, text := range files {
		m[strings.TrimPrefix(name, "/")] = &fstest.MapFile{Data: []byte(text), Mode: 0o755}
	}
	name := func(p string) string { return path.Clean("./" + p) }
	w := place.World{Home: "/home/ana"}
	w.Lstat = func(p string) (fs.FileInfo, error) { return m.Lstat(name(p)) }
	w.ReadDir = func(p string, limit int) ([]fs.DirEntry, error) { return m.ReadDir(name(p)) }
	w.ReadHead = func(p string, limit int64) ([]byte, error) {
		b, err := m.ReadFile(name(p))
		return b[:min(len(b), int(limit))], err
	}
	w.Git = func() func(string) string {
		return func(p string) string {
			if s, ok := states[p]; ok {
				return s
			}
			return "untracked"
		}
	}
	return w
}

// filesAction is what a command means on such a machine, in /srv/shop.
func filesAction(t *testing.T, w place.World, command string) *engine.Action {
	t.Helper()
	return actionIn(t, w, "/srv/shop", command)
}

// actionIn is what a command means on a machine, in a workspace.
func actionIn(t *testing.T, w place.World, workspace, command string) *engine.Action {
	t.Helper()
	c := &Classifier{World: w, MAC: classifytest.MAC, Rows: classifytest.Rows()}
	e := engine.Event{Phase: engine.PhasePre, Tool: "Bash", CWD: workspace, Args: []byte(fmt.Sprintf(`{"command":%q}`, command))}
	facts, err := c.Classify(context.Background(), e, workspace)
	if err != nil {
		t.Fatal(err)
	}
	return facts.Action
}

// TestCodeInFilesOnDrives: a file on a drive of Windows is code as well, under each name
// that Git Bash has for it. On other systems nothing is there under such a name.
func TestCodeInFilesOnDrives(t *testing.T) {
	files := map[string]string{
		"C:/srv/shop/x.sh":     "cd \"$HOME\"\nrm -r Documents\n",
		"C:/srv/shop/Makefile": "build:\n\trm -r ~/Documents\n",
	}
	for _, c := range []struct{ system, command, want string }{
		{place.Windows, "./x.sh", "delete ~/Documents"},
		{place.Windows, "bash C:/srv/shop/x.sh", "delete ~/Documents"},
		{place.Windows, "cd /c/srv/shop/web && ../x.sh", "delete ~/Documents"},
		{place.Windows, "source /c/srv/shop/x.sh", "delete ~/Documents"},
		{place.Windows, `cat 'C:\srv\shop\x.sh' | sh`, "delete ~/Documents"},
		{place.Windows, "cd /c/srv/shop && make build", "delete ~/Documents"},
		{"linux", "./x.sh", ""},
		{"linux", "make build", ""},
	} {
		w := diskWorld(files, nil)
		w.System, w.Home = c.system, "C:/Users/ana"
		got := strings.Join(slices.Compact(changesOf(actionIn(t, w, `C:\srv\shop`, c.command))), ", ")
		if got != c.want {
			t.Errorf("%s: %s: %q, want %q", c.system, c.command, got, c.want)
		}
	}
}

// changesOf lists what is deleted and written, and what was not understood.
func changesOf(a *engine.Action) []string {
	var list []string
	for _, e := range a.Effects {
		if e.Kind == engine.EffectFileDelete || e.Kind == engine.EffectFileWrite {
			list = append(list, fmt.Sprintf("%s %s", e.Verb, e.Short))
		}
	}
	for _, o := range a.Opaque {
		list = append(list, "opaque "+o.Reason)
	}
	slices.Sort(list)
	return list
}

var shopFiles = map[string]string{
	"/srv/shop/go.mod":         "module shop\n",
	"/srv/shop/x.sh":           "#!/bin/bash\n# clean up\nrm -rf /opt/data\n",
	"/srv/shop/args.sh":        "rm -r \"$1\" && for f in \"${@:2}\"; do :; done; rm \"$2\"\n",
	"/srv/shop/all.sh":         "rm -r \"$@\"\n",
	"/srv/shop/sub/here.sh":    "cd \"$(dirname \"$0\")\" && rm -r data\n",
	"/srv/shop/sub/source.sh":  "DIR=\"$( cd -- \"$( dirname -- \"${BASH_SOURCE[0]}\" )\" &> /dev/null && pwd )\"\nrm -r \"$DIR/data\"\n",
	"/srv/shop/outer.sh":       "set -e\n./x.sh\nrm -r \"$UNSET\"/*\n",
	"/srv/shop/self.sh":        "case $1 in go) rm -r /opt/self;; *) ./self.sh go;; esac\n",
	"/srv/shop/t.py":           "import shutil, os, sys\nshutil.rmtree(os.path.expanduser('~'))\nos.remove(sys.argv[1])\nos.system(cmd)\nwhile True: pass\n",
	"/srv/shop/t.js":           "require('fs').rmSync('/opt/data', {recursive: true})\nfs.unlinkSync(name)\n",
	"/srv/shop/hashbang":       "#!/usr/bin/env python3\nimport os\nos.remove('/opt/data')\n",
	"/srv/shop/tool.awk":       "#!/usr/bin/awk -f\n{ print $1 }\n",
	"/srv/shop/prog":           "\x7fELF\x00\x00rm -rf /opt",
	"/srv/shop/test":           "rm -r /opt/data\n",
	"/srv/shop/lib.sh":         "gone() { rm -r /opt/data; }\n",
	"/srv/shop/dist/b.js":      "fs.rmSync('/opt/data')\n",
	"/srv/shop/dist/b.sh":      "rm -r /opt/data\n",
	"/srv/shop/node_modules/b": "rm -r /opt/data\n",
	"/srv/shop/d1.sh":          "bash d2.sh\n",
	"/srv/shop/d2.sh":          "bash d3.sh\n",
	"/srv/shop/d3.sh":          "bash d4.sh\n",
	"/srv/shop/d4.sh":          "bash x.sh\n",
	"/srv/shop/long.sh":        strings.Repeat("echo 1\n", 40000),
	"/srv/shop/dist/long.js":   strings.Repeat("f(1)\n", 60000),
	"/srv/shop/drop.sql":       "DROP TABLE users;\n",
	"/usr/lib/x.sh":            "rm -r /opt/data\n",
	"/home/ana/.tool/env":      "eval \"$THING\"\nrm -f \"$LOCK\"\nrm -r /opt/data\n",
}

func TestRunFile(t *testing.T) {
	w := diskWorld(shopFiles, map[string]string{"/srv/shop/dist/b.js": "ignored", "/srv/shop/dist/b.sh": "ignored", "/srv/shop/dist/long.js": "ignored"})
	data := []string{"delete /opt/data"}
	for command, want := range map[string][]string{
		"./x.sh":                             data,
		"bash x.sh":                          data,
		"sh -eu ./x.sh":                      data,
		"source x.sh":                        data,
		". ./x.sh":                           data,
		"sh < x.sh":                          data,
		"cat x.sh | sh":                      data,
		"cat go.mod x.sh | bash -s a":        data,
		`eval "$(cat x.sh)"`:                 data,
		`bash -c "$(<x.sh)"`:                 data,
		"bash <(cat x.sh)":                   data,
		"cd sub && ../x.sh":                  data,
		"cd sub; bash ../x.sh":               data,
		"sudo ./x.sh":                        data,
		"timeout 5 bash ./x.sh &":            data,
		"env A=1 ./x.sh":                     data,
		"nohup ./x.sh >/dev/null":            data,
		"find . -name y -exec ./x.sh {} \\;": data,
		"BASH_ENV=x.sh bash -c true":         data,
		"./test":                             data,
		"bash /proc/self/cwd/x.sh":           data,
		"bash /proc/self/root/srv/shop/x.sh": data,
		"./outer.sh":                         {"delete ", "delete /*", "delete /opt/data", "opaque target"}, // as on a command line
		"./args.sh a b":                      {"delete ./a", "delete ./b"},
		"./all.sh a b":                       {"delete ./a", "delete ./b"},
		"bash sub/here.sh":                   {"delete ./sub/data"},
		"cd sub && ./here.sh":                {"delete ./sub/data"},
		". sub/source.sh":                    {"delete ./sub/data"},
		"./self.sh":                          {"delete /opt/self"},
		". ./lib.sh && gone":                 data,
		"python3 t.py":                       {"delete ~"},
		"node t.js":                          data,
		"./hashbang":                         data,
		"source ~/.tool/env":                 data,
		"bash dist/b.sh":                     data,
		"./d1.sh":                            {"opaque budget"},
		"bash long.sh":                       {"opaque budget"},
		"cat long.sh | bash":                 {"opaque budget"},
		"head -5 long.sh | bash":             {"opaque code"},
		"source <(tail -3 long.sh)":          {"opaque code"},
		// What is not looked into is as it was.
		"./tool.awk":                  nil,
		"./prog":                      nil,
		"node dist/b.js":              nil,
		"node dist/long.js":           nil,
		"bash node_modules/b":         nil,
		"bash /usr/lib/x.sh":          nil,
		"bash nowhere.sh":             nil,
		"cat x.sh":                    nil,
		"cat x.sh | head":             nil,
		"cat long.sh | grep a | head": nil,
		"head -1 long.sh | jq keys":   nil,
		"cat long.sh | while read l; do echo $l; done": nil,
		"grep -n rm x.sh":                nil,
		"bash -n x.sh":                   nil,
		"docker run --rm alpine sh x.sh": nil,
	} {
		if diff := cmp.Diff(want, changesOf(filesAction(t, w, command))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", command, diff)
		}
	}
}

// What a commit contains is trusted.
func TestRunFileCommitted(t *testing.T) {
	for state, want := range map[string]int{"clean": 0, "dirty": 1, "untracked": 1, "ignored": 1, "": 1} {
		w := diskWorld(shopFiles, map[string]string{"/srv/shop/x.sh": state})
		if got := len(changesOf(filesAction(t, w, "./x.sh"))); got != want {
			t.Errorf("%q: %d changes seen, want %d", state, got, want)
		}
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// A program of the session's own folders is known by what it is: a link to one of the system, or a copy of one, of reviewer too.
func TestCopiesAndLinks(t *testing.T) {
	elf := func(text string) string { return "\x7fELF\x00" + text }
	w := diskWorld(map[string]string{"/usr/bin/rm": elf("rm"), "/usr/bin/ls": elf("ls"), "/home/ana/bin/reviewer": elf("guard"),
		"/srv/shop/sweep": elf("rm"), "/srv/shop/list": elf("ls"), "/srv/shop/tool": elf("to"), "/srv/shop/r": elf("guard"), "/srv/shop/rm.txt": "rm"}, nil)
	w.Path, w.Programs = []string{"/home/ana/bin", "/usr/bin", "/missing"}, []string{"/home/ana/bin/reviewer"}
	w.Readlink = func(string) (string, error) { return "", fs.ErrInvalid }
	for command, want := range map[string]string{"./sweep -rf uploads": "rm", "/srv/shop/sweep a": "rm", "./list": "ls", "./tool": "tool", "./r allow last": "reviewer",
		"./rm.txt": "rm.txt", "./missing": "missing", "docker run a ./sweep x": "docker"} {
		if got := filesAction(t, w, command).Commands[0].Name; got != want {
			t.Errorf("%s runs %s, want %s", command, got, want)
		}
	}
}

// For each file that runs, it is known why its code was not read.
func TestUnread(t *testing.T) {
	w := diskWorld(map[string]string{"/srv/shop/tool": "\x7fELF\x00", "/srv/shop/a.sh": "echo a", "/srv/shop/old.sh": "echo a", "/srv/shop/new.sh": "echo a",
		"/srv/shop/node_modules/a/b.js": "1", "/usr/bin/tool": "\x7fELF\x00"}, map[string]string{"/srv/shop/old.sh": "clean", "/srv/shop/new.sh": "clean"})
	w.Added = func(name string) int64 {
		if name == "/srv/shop/new.sh" {
			return 1
		}
		return 0
	}
	for command, want := range map[string]string{"./tool": "binary", "sh a.sh": "", "sh old.sh": "committed", "sh new.sh": "", "node node_modules/a/b.js": "package", "/usr/bin/tool": ""} {
		got := ""
		for _, e := range filesAction(t, w, command).Effects {
			got += e.Unread
		}
		if got != want {
			t.Errorf("%s: unread %q, want %q", command, got, want)
		}
	}
}
