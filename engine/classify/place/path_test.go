package place

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

func TestLocation(t *testing.T) {
	for _, c := range []struct{ workspace, path, want string }{
		{"/srv/shop", "/srv/shop", "self"}, {"/srv/shop", "/srv/shop/a", "inside"}, {"/srv/shop", "/srv/shop2", "outside"}, {"/srv/shop", "/srv", "root"},
		{"/srv/a/shop", "/srv/a", "ancestor"}, {"/srv/shop", "/", "root"}, {"/srv/shop", "/etc", "root"}, {"/srv/shop", "/etc/passwd", "system"},
		{"/srv/shop", "/usr/local/bin/x", "system"}, {"/srv/shop", "/tmp", "temp_root"}, {"/srv/shop", "/tmp/x", "temp"}, {"/srv/shop", "/var/tmp/x", "temp"},
		{"/srv/shop", "/dev/shm/x", "temp"}, {"/srv/shop", "/dev/null", "null"}, {"/srv/shop", "/dev/fd/3", "null"}, {"/srv/shop", "/dev/sda1", "device"}, {"/srv/shop", "/dev", "root"},
		{"/srv/shop", "/home", "root"}, {"/srv/shop", "/home/kim", "home_root"}, {"/srv/shop", "/home/ann", "home_root"}, {"/srv/shop", "/root", "home_root"},
		{"/srv/shop", "/home/kim/x", "home"}, {"/srv/shop", "/Users/kim", "home_root"}, {"/srv/shop", "/Users/kim/x", "home"}, {"/srv/shop", "/mnt/c", "root"}, {"/srv/shop", "/mnt/c/x", "outside"},
		{"/srv/shop", "/data", "outside"}, {"/home/kim/shop", "/home/kim", "home_root"}, {"/home/kim/a/shop", "/home/kim/a", "ancestor"}, {"/home/kim", "/home/kim", "home_root"},
		{"/tmp/ws", "/tmp/ws/a", "inside"}, {"/tmp/ws", "/tmp/other", "beside"}, {"/tmp/ws", "/tmp/tmp.x1/a", "temp"}, {"/tmp/tmp.x1/ws", "/tmp/tmp.x1/a", "beside"}, {"/tmp/a/ws", "/tmp/a", "ancestor"}, {"/tmp/ws", "/tmp", "ancestor"}, {"/tmp/ws", "/var/tmp/x", "temp"},
		{"", "/srv/shop", "outside"}, {"/", "/srv/shop/a", "outside"}, {"/", "/etc/x", "system"}, {"/srv/shop", "C:/", "root"}, {"/srv/shop", "C:/Users/kim", "home_root"},
		{"/srv/shop", "C:/Users", "root"}, {"/srv/shop", "D:/x", "outside"}, {"/srv/shop", "C:/Windows/a", "system"}, {"/srv/shop", "C:/Program Files", "root"},
		{`C:\srv\shop`, "C:/srv/SHOP/a", "inside"}, {`C:\srv\shop`, "C:/srv", "ancestor"},
	} {
		r := NewResolver(namesOnly(), c.workspace, classifytest.Rows())
		if got := r.Location(c.path); got != engine.Location(c.want) {
			t.Errorf("workspace %q, path %q: %s, want %s", c.workspace, c.path, got, c.want)
		}
	}
}

func TestClass(t *testing.T) {
	r := NewResolver(namesOnly(), "/srv/shop", classifytest.Rows())
	for p, want := range map[string]engine.Class{
		"/srv/shop/a.go": "", "/srv/shop/.env": "env_file", "/srv/shop/.env.local": "env_file", "/srv/shop/prod.env": "env_file", "/srv/shop/.envrc": "env_file",
		"/srv/shop/.env.example": "", "/srv/shop/.env.sample": "", "/srv/shop/.env.local.template": "", "/srv/shop/sample.env": "", "/srv/shop/.environment": "",
		"/home/kim/.ssh": "credential", "/home/kim/.ssh/config": "credential", "/home/kim/.ssh/known_hosts": "", "/home/kim/.SSH/id_rsa": "credential",
		"/home/kim/.aws/config": "credential", "/home/kim/.kube/config": "credential", "/home/kim/.npmrc": "credential", "/srv/shop/.npmrc": "",
		"/srv/shop/deploy.pem": "credential", "/srv/shop/node_modules/x/test/key.pem": "", "/etc/ssl/certs/a.pem": "system_config", "/etc/ssl/private/a.key": "credential",
		"/etc/shadow": "credential", "/proc/1/environ": "credential", "/home/kim/.bash_history": "credential", "/srv/shop/service-account-prod.json": "credential",
		"/home/kim/.zshrc": "startup", "/srv/shop/.zshrc": "", "/root/.profile": "startup", "/etc/cron.d/x": "startup", "/home/kim/.config/systemd/user/a.service": "startup",
		"/home/kim/Library/LaunchAgents/a.plist": "startup", "/srv/shop/.git/hooks/post-merge": "git_hook", "/srv/shop/.git/config": "git_hook", "/home/kim/.gitconfig": "git_hook",
		"/srv/shop/.husky/pre-commit": "git_hook", "/srv/shop/.pre-commit-config.yaml": "git_hook", "/srv/shop/.git": "git_data", "/srv/shop/.git/index": "git_data", "/srv/shop/.gitignore": "",
		"/srv/shop/.claude/settings.json": "agent_config", "/srv/shop/AGENTS.md": "agent_config", "/home/kim/.claude/projects/x/a.jsonl": "", "/home/kim/.claude/.credentials.json": "credential",
		"/home/kim/.codex/config.toml": "agent_config", "/srv/shop/.vscode/settings.json": "agent_config", "/srv/shop/.vscode/launch.json": "", "/srv/shop/settings.json": "",
		"/home/kim/.reviewer/key": "guard", "/usr/local/bin/reviewer": "guard", "/usr/local/bin/reviewer2": "", "/srv/shop/.github/workflows/a.yml": "ci_config", "/srv/shop/.github/FUNDING.yml": "",
		"/srv/shop/Jenkinsfile": "ci_config", "/srv/shop/db.sqlite3": "database", "/srv/shop/terraform.tfstate": "database", "/srv/shop/.git.bak": "backup", "/srv/shop/backups/a.tgz": "backup", "/etc/hosts": "system_config",
		"/srv/shop/s": "", "/srv/shop/o": "", "/srv/shop/o/settings.json": "", "/srv/shop/roo/settings.json": "", "/srv/shop/.pgpas": "", // parts of names in the lists
	} {
		if got := r.Class(p); got != want {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
}

func TestGuards(t *testing.T) {
	for p, want := range map[string]bool{
		"/srv/shop/.claude/settings.json": true, "/srv/shop/.claude/settings.local.json": true, "/srv/shop/.claude": true, "/home/kim/.claude.json": true, "/srv/shop/.mcp.json": true,
		"/srv/shop/.claude/hooks/a.sh": true, "/home/kim/.codex/config.toml": true, "/etc/claude-code/managed-settings.json": true,
		"/srv/shop/CLAUDE.md": false, "/srv/shop/.claude/commands/a.md": false, "/srv/shop/.claude/agents/a.md": false, "/srv/shop/o": false,
	} {
		if got := NewResolver(namesOnly(), "/srv/shop", classifytest.Rows()).guards(p); got != want {
			t.Errorf("%s: %v, want %v", p, got, want)
		}
	}
}

func TestGenerated(t *testing.T) {
	for p, want := range map[string]bool{
		"node_modules": true, "a/Node_Modules/b": true, "__pycache__": true, "x.egg-info": true, "a.pyc": true,
		"": false, "_": false, "__": false, "s": false, "node": false, "modules": false, "src/main.go": false,
	} {
		if got := NewResolver(namesOnly(), "/srv/shop", classifytest.Rows()).Generated(p); got != want {
			t.Errorf("%s: %v, want %v", p, got, want)
		}
	}
}

func TestDevices(t *testing.T) {
	r := NewResolver(namesOnly(), "/srv/shop", classifytest.Rows())
	for p, want := range map[string]engine.Location{"/dev/null": "null", "/dev/tty": "null", "/dev/l": "device", "/dev/r": "device"} {
		if got := r.Location(p); got != want {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
}

// resolveOne resolves one raw effect in a world without a disk.
func resolveOne(raw abstract.RawEffect) engine.Effect {
	if raw.Dir == (abstract.Value{}) {
		raw.Dir = abstract.Value{Text: "/srv/shop"}
	}
	return NewResolver(namesOnly(), "/srv/shop", classifytest.Rows()).Effect(raw)
}

func TestTargets(t *testing.T) {
	unsure := abstract.Value{Sure: abstract.Unknown}
	for _, c := range []struct {
		target, dir abstract.Value
		want        string // short, certainty, location, class
	}{
		{abstract.Value{Text: "a/../b"}, abstract.Value{}, "./b exact inside"}, {abstract.Value{Text: ".."}, abstract.Value{}, "/srv exact root"}, {abstract.Value{Text: "."}, abstract.Value{}, ". exact self"}, {abstract.Value{Text: "~"}, abstract.Value{}, "~ exact home_root"},
		{abstract.Value{Text: "~kim/x"}, abstract.Value{}, "~/x exact home"}, {abstract.Value{Text: "~ann"}, abstract.Value{}, "/home/ann exact home_root"}, {abstract.Value{Text: "~root/x"}, abstract.Value{}, "/root/x exact home"}, {abstract.Value{Text: "~+/x"}, abstract.Value{}, "./x exact inside"},
		{abstract.Value{Text: "x"}, abstract.Value{Text: "/tmp"}, "/tmp/x exact temp"}, {abstract.Value{Text: "x"}, unsure, " unknown unknown"}, {abstract.Value{Text: ".env"}, unsure, " unknown unknown env_file"}, {abstract.Value{Text: "/etc/x"}, unsure, "/etc/x exact system system_config"},
		{unsure, abstract.Value{}, " unknown unknown"}, {abstract.Value{}, abstract.Value{}, " unknown unknown"}, {abstract.Value{Text: `C:\`}, abstract.Value{}, "C:/ exact root"}, {abstract.Value{Text: "//etc//passwd"}, abstract.Value{}, "/etc/passwd exact system system_config"},
		{abstract.Value{Text: "/proc/self/root/home/kim"}, abstract.Value{}, "~ exact home_root"}, {abstract.Value{Text: "/proc/1/task/1/root/etc"}, abstract.Value{}, "/etc exact root system_config"}, {abstract.Value{Text: "/proc/self/cwd/.."}, abstract.Value{}, "/srv exact root"},
		{abstract.Value{Sure: abstract.Glob, Text: "*"}, abstract.Value{}, "./* glob self"}, {abstract.Value{Sure: abstract.Glob, Text: "*.log"}, abstract.Value{}, "./*.log glob inside"}, {abstract.Value{Sure: abstract.Glob, Text: "a/*"}, abstract.Value{}, "./a/* glob inside"}, {abstract.Value{Sure: abstract.Glob, Text: "/*"}, abstract.Value{}, "/* glob root"}, {abstract.Value{Sure: abstract.Glob, Text: "/[a-z]*"}, abstract.Value{}, "/[a-z]* glob root"},
		{abstract.Value{Sure: abstract.Glob, Text: "/home/*"}, abstract.Value{}, "/home/* glob root"}, {abstract.Value{Sure: abstract.Glob, Text: "/home/k*"}, abstract.Value{}, "/home/k* glob home_root"}, {abstract.Value{Sure: abstract.Glob, Text: "~/*"}, abstract.Value{}, "~/* glob home_root"}, {abstract.Value{Sure: abstract.Glob, Text: "../sh*"}, abstract.Value{}, "/srv/sh* glob self"},
		{abstract.Value{Sure: abstract.Glob, Text: "/s*/shop"}, abstract.Value{}, "/s*/shop glob self"}, {abstract.Value{Sure: abstract.Glob, Text: "../*"}, abstract.Value{}, "/srv/* glob root"}, {abstract.Value{Sure: abstract.Glob, Text: ".e*"}, abstract.Value{}, "./.e* glob inside env_file"}, {abstract.Value{Sure: abstract.Glob, Text: "*.pem"}, abstract.Value{}, "./*.pem glob inside credential"},
		{abstract.Value{Sure: abstract.Glob, Text: "*"}, unsure, " unknown unknown"}, {abstract.Value{Sure: abstract.Glob, Text: "C:/*"}, abstract.Value{}, "C:/* glob root"}, {abstract.Value{Sure: abstract.Glob, Text: ".g*"}, abstract.Value{}, "./.g* glob inside git_data"}, {abstract.Value{Sure: abstract.Glob, Text: "/tmp/*"}, abstract.Value{}, "/tmp/* glob temp_root"},
		{abstract.Value{Sure: abstract.Prefix, Text: "build-"}, abstract.Value{}, "./build-? prefix inside"}, {abstract.Value{Sure: abstract.Prefix, Text: "/"}, abstract.Value{}, "/? prefix unknown"}, {abstract.Value{Sure: abstract.Prefix, Text: "/srv/"}, abstract.Value{}, "/srv/? prefix unknown"}, {abstract.Value{Sure: abstract.Prefix, Text: "/tmp/x"}, abstract.Value{}, "/tmp/x? prefix temp"},
		{abstract.Value{Sure: abstract.Prefix, Text: "/home/"}, abstract.Value{}, "/home/? prefix unknown"}, {abstract.Value{Sure: abstract.Prefix, Text: "~/.ssh/"}, abstract.Value{}, "~/.ssh/? prefix home credential"}, {abstract.Value{Sure: abstract.Prefix, Text: "x"}, unsure, " unknown unknown"}, {abstract.Value{Sure: abstract.Prefix, Text: ""}, abstract.Value{}, " unknown unknown"},
	} {
		e := resolveOne(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Target: c.target, Dir: c.dir})
		got := strings.TrimRight(strings.Join([]string{e.Short, string(e.Certainty), string(e.Location), string(e.Class)}, " "), " ")
		if got != c.want {
			t.Errorf("%+v in %+v: %q, want %q", c.target, c.dir, got, c.want)
		}
	}
}

func TestContents(t *testing.T) {
	e := resolveOne(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Target: abstract.Value{Text: "/home/kim"}, Contents: true})
	if e.Location != engine.LocationHomeRoot || e.Certainty != engine.CertaintyGlob || e.Short != "~/*" {
		t.Errorf("contents of a home: %+v", e)
	}
}

func TestHosts(t *testing.T) {
	for in, want := range map[abstract.Value]string{
		{Text: "https://Example.com:8443/a?b"}: "example.com", {Text: "kim@example.com:/srv"}: "example.com", {Text: "example.com:22"}: "example.com", {Text: "http://[::1]:80/"}: "::1",
		{Text: "https://a@b@example.com/"}: "example.com", {Text: "example.com."}: "example.com", {Sure: abstract.Prefix, Text: "https://example.com/"}: "example.com", {Sure: abstract.Prefix, Text: "https://exam"}: "", {Sure: abstract.Unknown, Text: "https://a.example/"}: "", {Text: ""}: "",
		{Text: "https://evil.example\\@good.example/"}: "evil.example", {Text: "https://bücher.example/"}: "bücher.example",
	} {
		if got := HostOf(in); got != want {
			t.Errorf("%+v: %q, want %q", in, got, want)
		}
	}
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "127.1": true, "::1": true, "a.localhost": true, "0.0.0.0": true, "127.0.0.1.example.com": false, "example.com": false, "": false} {
		if got := Loopback(host); got != want {
			t.Errorf("loopback(%q): %v", host, got)
		}
	}
}

// TestRealPaths follows links on a real disk.
func TestRealPaths(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	err := os.Symlink("nowhere", link)
	if _, there := os.Lstat(link); err != nil || there != nil {
		t.Skipf("no symbolic links here: %v, %v", err, there) // wine makes none, and says that it did
	}
	root := tree(t, map[string]string{"home/.ssh/id_rsa": "k", "home/data/x": "x", "ws/src/a.go": "a", "ws/dir/": "", "other/y": "y"})
	home, ws := filepath.Join(root, "home"), filepath.Join(root, "ws")
	for name, to := range map[string]string{"ws/key": "../home/.ssh/id_rsa", "ws/away": "../other", "ws/loop": "loop", "ws/dead": "nowhere", "ws/up": "..", "ws/.env": "src/a.go"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	world := LocalWorld(home, "", nil)
	for _, c := range []struct{ verb, target, want string }{
		{"read", "key", "~/.ssh/id_rsa home credential yes file"}, {"delete", "key", "./key inside yes link"}, {"delete", "away/", "OTHER beside yes dir"}, {"delete", "away/y", "OTHER/y beside yes file"}, {"delete", "away", "./away inside yes link"},
		{"write", "dead", "./nowhere inside no"}, {"read", "loop", "./loop inside yes link"}, {"delete", "up/ws", ". self yes dir"}, {"delete", "up/home", "~ home_root yes dir"}, {"write", ".env", "./src/a.go inside env_file yes file"},
		{"write", "src/new", "./src/new inside no"}, {"write", "dir", "./dir inside yes dir"}, {"delete", "up/", "ROOT ancestor yes dir"}, {"read", "missing/../src/a.go", "./src/a.go inside yes file"},
	} {
		kind := map[string]engine.EffectKind{"read": engine.EffectFileRead, "write": engine.EffectFileWrite, "delete": engine.EffectFileDelete}[c.verb]
		e := NewResolver(world, ws, classifytest.Rows()).Effect(abstract.RawEffect{Kind: kind, Verb: c.verb, Target: abstract.Value{Text: c.target}, Dir: abstract.Value{Text: ws}})
		got := strings.Join(strings.Fields(strings.Join([]string{e.Short, string(e.Location), string(e.Class), e.Exists, e.Entry}, " ")), " ")
		got = strings.ReplaceAll(strings.ReplaceAll(got, root+"/other", "OTHER"), root, "ROOT")
		if got != c.want && !(c.target == "up/" && strings.HasPrefix(got, "ROOT")) {
			t.Errorf("%s %s: %q, want %q", c.verb, c.target, got, c.want)
		}
	}
	e := NewResolver(world, ws, classifytest.Rows()).Effect(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Target: abstract.Value{Text: "up/"}, Dir: abstract.Value{Text: ws}})
	if e.Location != engine.LocationAncestor {
		t.Errorf("the directory above the workspace: %s", e.Location)
	}
}

// TestTwin: a disk that ignores case shows one directory under two names.
func TestTwin(t *testing.T) {
	root := tree(t, map[string]string{"ws/a": "a"})
	world := World{Home: "/home/kim", Lstat: func(name string) (fs.FileInfo, error) {
		if rest, ok := strings.CutPrefix(strings.ToLower(name), "/srv/shop"); ok {
			return os.Lstat(root + "/ws" + rest)
		}
		return nil, fs.ErrNotExist
	}, Readlink: os.Readlink}
	for target, want := range map[string]engine.Location{"/srv/SHOP": engine.LocationSelf, "/Srv/Shop/a": engine.LocationInside, "/srv/shop2": engine.LocationOutside} {
		e := NewResolver(world, "/srv/shop", classifytest.Rows()).Effect(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Target: abstract.Value{Text: target}})
		if e.Location != want {
			t.Errorf("%s: %s, want %s", target, e.Location, want)
		}
	}
}

// TestHidden: whether a file is in a folder that may not be searched is not known.
func TestHidden(t *testing.T) {
	world := World{Home: "/home/kim", Lstat: func(name string) (fs.FileInfo, error) {
		if name == "/srv/shop" {
			return os.Lstat(t.TempDir())
		}
		if strings.HasPrefix(name, "/home/ada/closed/") {
			return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrPermission}
		}
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}, Readlink: os.Readlink}
	for target, want := range map[abstract.Value]string{
		{Text: "/home/ada/gone"}: "no", {Text: "/home/ada/gone/*.c", Sure: abstract.Glob}: "no",
		{Text: "/home/ada/closed/a"}: "", {Text: "/home/ada/closed/in/*.c", Sure: abstract.Glob}: "",
	} {
		r := NewResolver(world, "/srv/shop", classifytest.Rows())
		e := r.Effect(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Target: target})
		if e.Exists != want {
			t.Errorf("%s: %q, want %q", target.Text, e.Exists, want)
		}
	}
	r := NewResolver(world, "/srv/elsewhere", classifytest.Rows())
	e := r.Effect(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Target: abstract.Value{Text: "/home/ada/gone"}})
	if e.Exists != "" {
		t.Errorf("the workspace is not on this disk: %q", e.Exists)
	}
}

func TestReversibility(t *testing.T) {
	root := repo(t, map[string]string{".gitignore": "dist/\n", "a": "a", "b": "b", "dist/x": "x", "new": "n"}, "a", "b")
	if err := os.WriteFile(root+"/b", []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(root+"/empty/too", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kind, verb, target, want string }{
		{"file_read", "read", "a", "R0"}, {"file_delete", "delete", "a", "R2"}, {"file_delete", "delete", "b", "R4"}, {"file_delete", "delete", "new", "R4"}, {"file_delete", "delete", "dist", ""},
		{"file_write", "write", "a", "R2"}, {"file_write", "write", "new", "R4"}, {"file_write", "edit", "new", ""}, {"file_write", "write", "fresh", "R3"}, {"file_write", "append", "new", ""}, {"file_write", "write", "/dev/null", "R0"},
		{"file_delete", "move", "new", ""}, {"file_delete", "delete", "missing", "R1"}, {"file_delete", "delete", "empty", "R2"},
	} {
		r := NewResolver(LocalWorld("", "", nil), root, classifytest.Rows())
		e := r.Effect(abstract.RawEffect{Kind: engine.EffectKind(c.kind), Verb: c.verb, Target: abstract.Value{Text: c.target}, Dir: abstract.Value{Text: root}})
		if string(e.Reversibility) != c.want {
			t.Errorf("%s %s: %q, want %q", c.verb, c.target, e.Reversibility, c.want)
		}
	}
	r := NewResolver(namesOnly(), "/srv/shop", classifytest.Rows())
	send := r.Effect(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Target: abstract.Value{Text: "https://a.example/"}, Egress: true})
	local := r.Effect(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Target: abstract.Value{Text: "http://localhost/"}, Egress: true})
	if send.Reversibility != engine.R5 || local.Reversibility != "" {
		t.Errorf("send: %q, to this machine: %q", send.Reversibility, local.Reversibility)
	}
}

// namesOnly is a world of which only names are known.
func namesOnly() World {
	return World{Home: "/home/kim", Guard: []string{"/home/kim/.reviewer", "/usr/local/bin/reviewer"}}
}

// A recorded session says nothing about its home directory where its folder lies
// on another drive.
func TestShortOfAHomeThatIsNotKnown(t *testing.T) {
	for _, c := range []struct{ home, path, want string }{
		{"", "C:/Users/anna/.claude/plans/a.md", "~/.claude/plans/a.md"},
		{"", "/Users/anna/a.md", "~/a.md"},
		{"", "/srv/a.md", "/srv/a.md"},
		{"C:/Users/bert", "C:/Users/anna/a.md", "C:/Users/anna/a.md"},
		{"/home/bert", "/home/anna/a.md", "/home/anna/a.md"},
	} {
		if got := NewResolver(World{Home: c.home}, "D:/shop", nil).short(c.path); got != c.want {
			t.Errorf("%s, home %q: %s, want %s", c.path, c.home, got, c.want)
		}
	}
}
