package render

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
)

var update = flag.Bool("update", false, "write the golden files")

func example() Box {
	return Box{Command: []string{"claude", "-p", "it's done"}, Dir: "/src/shop", Home: "/users/a", Links: map[string]string{"/bin": "usr/bin"},
		Variables: []string{"SSH_AUTH_SOCK", "GITHUB_TOKEN"}, Hosts: []string{"proxy.example", "127.0.0.1:8080", "*.example.com"}, Refused: []string{"drop.example"},
		Memory: 8 << 30, Processes: 512, OpenFiles: 1024, User: "1000:1000",
		Plan: sandbox.Plan{Read: []string{"/usr", "/etc", "/proc", "/users/a/.gitconfig", `/users/a/"odd" \name`}, Write: []string{"/src/shop", "/users/a/.claude/projects"},
			Devices: []string{"/dev/null"}, Hidden: []string{"/etc/shadow.d", "/etc/key.pem", "/users/a/.ssh", "/src/shop/secrets"}, Masked: []string{"/run"},
			Pinned: []string{"/src/shop/.git"}, Protected: []string{"/src/shop/.git/hooks", "/src/shop/.git/config"}}}
}

// The configurations of a small confinement are those that were looked at. That of Seatbelt was not tried.
func TestGolden(t *testing.T) {
	for name, write := range Formats() {
		file, got := filepath.Join("testdata", name+".txt"), write(example())
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || got != strings.ReplaceAll(string(want), "\r\n", "\n") {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// bubblewrap starts a command with its configuration, and keeps it in.
func TestBubblewrap(t *testing.T) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip("bubblewrap is not installed")
	}
	if out, err := exec.Command(program, "--ro-bind", "/", "/", "--unshare-all", "true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap does not work here: %v %s", err, out)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"shop/.git/hooks/pre-commit": "ours", "other/notes": "secret", "shop/secrets/key": "key"} {
		path = filepath.Join(dir, path)
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	shop := filepath.Join(dir, "shop")
	b := Box{Dir: shop, Home: dir, Links: map[string]string{}, Variables: []string{"GITHUB_TOKEN"},
		Plan: sandbox.Plan{Read: []string{"/usr", "/etc"}, Write: []string{shop}, Hidden: []string{filepath.Join(shop, "secrets")},
			Pinned: []string{filepath.Join(shop, ".git")}, Protected: []string{filepath.Join(shop, ".git/hooks")}}}
	for _, path := range []string{"/bin", "/lib", "/lib64", "/sbin"} {
		if to, err := os.Readlink(path); err == nil {
			b.Links[path] = to
		} else {
			b.Plan.Read = append(b.Plan.Read, path)
		}
	}
	for script, ok := range map[string]bool{
		"echo new > new && cat new":         true,
		"cat .git/hooks/pre-commit":         true,
		"echo new > .git/hooks/pre-commit":  false,
		"mv .git old":                       false,
		"cat secrets/key":                   false,
		"cat ../other/notes":                false,
		"echo new > /usr/new":               false,
		"test -n \"$GITHUB_TOKEN\"":         false,
		"grep -q : /proc/net/route":         false,
		"test $(wc -l < /proc/net/dev) = 3": true,
	} {
		b.Command = []string{"sh", "-c", script}
		cmd := exec.Command("sh", "-c", Bubblewrap(b))
		cmd.Env = append(os.Environ(), "GITHUB_TOKEN=secret")
		if out, err := cmd.CombinedOutput(); (err == nil) != ok {
			t.Errorf("%s: want success %t: %v\n%s", script, ok, err, out)
		}
	}
}
