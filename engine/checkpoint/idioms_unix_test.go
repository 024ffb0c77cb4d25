//go:build unix

package checkpoint

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// idioms are ways in which commands change files. Each runs in a copy of the same
// small project.
func idioms() []struct{ name, needs, code string } {
	return []struct{ name, needs, code string }{
		{"redirect", "", "echo new > notes.txt"},
		{"append", "", "echo more >> notes.txt"},
		{"here-document", "", "cat > made.txt <<'X'\na\nb\nX"},
		{"sed -i", "", "sed -i.bak s/one/two/ notes.txt 2>/dev/null || sed -i '' s/one/two/ notes.txt"},
		{"tee", "", "echo x | tee notes.txt src/new.txt"},
		{"mv over another", "", "mv notes.txt src/main.py"},
		{"mv a folder", "", "mv src moved"},
		{"cp -r", "", "cp -R src copy && cp notes.txt src/main.py"},
		{"install", "install", "install -m 700 notes.txt src/main.py"},
		{"ln -sf", "", "ln -sf src/main.py notes.txt"},
		{"ln over a link", "", "rm link && ln notes.txt link"},
		{"chmod -R", "", "chmod -R go-rwx src && chmod 000 notes.txt"},
		{"read-only folder", "", "chmod 555 src"},
		{"truncate", "truncate", "truncate -s 0 notes.txt && truncate -s 100 src/main.py"},
		{"dd", "dd", "dd if=/dev/zero of=notes.txt bs=1 count=10 conv=notrunc 2>/dev/null"},
		{"patch", "patch", "printf -- '--- notes.txt\\n+++ notes.txt\\n@@ -1,2 +1,2 @@\\n-one\\n+two\\n three\\n' | patch -p0"},
		{"rm -rf", "", "rm -rf src untracked notes.txt"},
		{"find -exec", "find", "find . -name '*.py' -exec rm {} +"},
		{"find -delete", "find", "find . -type f -name '*.txt' -delete"},
		{"xargs", "xargs", "ls *.txt | xargs rm"},
		{"git checkout", "git", "echo x > notes.txt && git checkout -q -- ."},
		{"git stash", "git", "echo x > notes.txt && git stash -q"},
		{"git stash -u", "git", "git stash -q -u"},
		{"git reset --hard and clean", "git", "git reset -q --hard && git clean -qfdx"},
		{"git checkout of a branch", "git", "git checkout -q -b other && git rm -q -r src && git commit -q -m x"},
		{"tar", "tar", "tar cf a.tar src && rm -rf src && mkdir src && tar xf a.tar && rm src/main.py"},
		{"unzip", "unzip", "printf 'UEsDBAoAAAAAAAAAIVhX7BVnAwAAAAMAAAAJABwAbm90ZXMudHh0VVQJAAMAAAAAAAAAAHV4CwABBAAAAAAEAAAAAHp6ClBLAQIeAwoAAAAAAAAAIVhX7BVnAwAAAAMAAAAJABgAAAAAAAEAAACkgQAAAABub3Rlcy50eHRVVAUAAwAAAAB1eAsAAQQAAAAABAAAAABQSwUGAAAAAAEAAQBPAAAARgAAAAAA' | base64 -d > z.zip && unzip -oq z.zip || rm notes.txt"},
		{"rsync --delete", "rsync", "mkdir from && rsync -a --delete from/ src/"},
		{"python", "python3", "python3 -c \"import os,shutil; shutil.rmtree('src'); open('notes.txt','w').write('x')\""},
		{"python, a script", "python3", "printf 'import pathlib\\nfor p in pathlib.Path(\".\").glob(\"*.txt\"): p.unlink()\\n' > s.py && python3 s.py"},
		{"node", "node", "node -e \"const fs=require('fs');fs.rmSync('src',{recursive:true});fs.writeFileSync('n.js','x')\""},
		{"perl -i", "perl", "perl -pi -e 's/one/two/' notes.txt"},
		{"make", "make", "printf 'all:\\n\\trm -rf src\\n\\techo built > out.txt\\n' > Makefile && make -s"},
		{"awk", "awk", "awk '{print $0 \"!\"}' notes.txt > t && mv t notes.txt"},
		{"ed", "ed", "printf '1d\\nw\\nq\\n' | ed -s notes.txt"},
		{"ex", "ex", "ex -s -c '%d' -c 'wq' notes.txt"},
		{"gzip", "gzip", "gzip notes.txt"},
		{"split", "split", "split -b 2 notes.txt part."},
		{"sort -o", "sort", "sort -o notes.txt -r notes.txt"},
		{"go generate", "go", "printf 'package x\\n' > x.go && gofmt -w x.go && rm src/main.py"},
		{"npm install", "npm", "mkdir dep && printf '{\"name\":\"dep\",\"version\":\"1.0.0\"}' > dep/package.json && printf '{\"name\":\"p\"}' > package.json && npm install --offline --silent --no-audit --no-fund ./dep"},
		{"pip install", "python3", "mkdir -p site && printf 'x=1' > site/m.py && python3 -m compileall -q site"},
		{"mkfifo and socket", "mkfifo", "mkfifo pipe && rm notes.txt"},
		{"in a subshell, in the background", "", "( sleep 0.01; rm -rf src ) & wait"},
		{"empty folder", "", "rmdir empty && mkdir -p a/b/c"},
		{"a name with a newline", "", "printf x > 'a\nb' && rm notes.txt"},
		{"a folder becomes a file", "", "rm -rf src && echo x > src"},
		{"a file becomes a folder", "", "rm notes.txt && mkdir notes.txt && echo x > notes.txt/x"},
		{"a folder becomes a link", "", "mv src real && ln -s real src"},
		{"touch", "", "touch -t 202001010000 notes.txt && printf 'two\\n' > notes.txt && touch -t 202001010000 notes.txt"},
	}
}

const project = `set -e
git init -q . 2>/dev/null || true
git config user.email a@b.example; git config user.name a
printf 'one\n' > notes.txt; mkdir src empty; printf 'print(1)\n' > src/main.py; chmod 755 src/main.py
printf 'node_modules/\n*.log\n' > .gitignore
git add . && git commit -q -m first
printf 'one\nthree\n' > notes.txt; printf 'draft\n' > untracked; printf 'log\n' > build.log
ln -s notes.txt link; ln untracked twin; printf 'K=1\n' > .env; mkdir -p ro && printf r > ro/r && chmod 444 ro/r
`

func sh(t *testing.T, dir, code string) error {
	t.Helper()
	cmd := exec.Command("sh", "-c", code)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME="+dir+"/..", "npm_config_cache="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s: %v\n%s", code, err, out)
	}
	return err
}

// TestIdioms: after each command everything is restored, byte for byte, and the
// repository itself is left as it is.
func TestIdioms(t *testing.T) {
	for _, bin := range []string{"sh", "git"} {
		if _, err := exec.LookPath(bin); err != nil {
			t.Skip(bin + " is not installed")
		}
	}
	for _, c := range idioms() {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			if c.needs != "" {
				if _, err := exec.LookPath(c.needs); err != nil {
					t.Skip(c.needs + " is not installed")
				}
			}
			w := newWorkspace(t, nil)
			w.must(sh(t, w.root, project))
			want := w.snapshot()
			first := w.take(ByOthers)
			if sh(t, w.root, c.code) != nil {
				t.Fatal("the command failed")
			}
			taken, err := w.store.Take(context.Background(), Request{When: AfterCall, By: BySession, Session: "s1"})
			w.must(err)
			if len(taken.Changes) == 0 && len(taken.Left) == len(first.Left) {
				t.Error("nothing was seen to change")
			}
			git := gitBytes(w)
			w.restore(first.ID)
			w.same(want)
			if after := gitBytes(w); after != git {
				t.Error("the restore changed .git")
			}
			_ = os.Chmod(w.path("src"), 0o755) // so that the folder can be removed
		})
	}
}

// gitBytes returns everything in .git.
func gitBytes(w *workspace) string {
	out, err := exec.Command("tar", "cf", "-", "-C", w.root, ".git").Output()
	w.must(err)
	return string(out)
}
