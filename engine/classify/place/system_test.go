package place

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// onWindows is a session in C:\srv\shop about which nothing is known but names.
func onWindows() *Resolver {
	w := World{System: Windows, Home: `C:\Users\kim`, TempDirs: []string{`C:\Users\kim\AppData\Local\Temp`},
		Guard: []string{`C:\Users\kim\AppData\Local\reviewer`, `C:\Program Files\reviewer`}}
	return NewResolver(w, `C:\srv\shop`, classifytest.Rows())
}

// onMac is one in /Users/kim/shop.
func onMac() *Resolver {
	w := World{System: MacOS, Home: "/Users/kim", Guard: []string{"/Users/kim/.local/state/reviewer", "/Library/Application Support/reviewer"}}
	return NewResolver(w, "/Users/kim/shop", classifytest.Rows())
}

// said is what is known about a path that is written to.
func said(r *Resolver, text string) string {
	e := r.Effect(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "write", Target: abstract.Value{Text: text}, Dir: abstract.Value{Text: r.workspace}})
	words := []string{e.Short, string(e.Location), string(e.Class), r.Guard(&e), e.Host}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// TestWindowsNames: one file has one answer, however its name is written.
func TestWindowsNames(t *testing.T) {
	for _, c := range []struct {
		want  string
		names []string
	}{
		{"./.env inside env_file", []string{`.env`, `C:\srv\shop\.env`, `c:/SRV/Shop/.ENV`, `\\?\C:\srv\shop\.env`, `\\.\C:\srv\shop\.env`, `//?/C:/srv/shop/.env`,
			`\??\C:\srv\shop\.env`, `\srv\shop\.env`, `C:.env`, `/c/srv/shop/.env`, `.env.`, `.env .`, `.env::$DATA`, `.env:notes`, `a\..\.env`,
			`C:\srv.\shop \.env`, `\\localhost\C$\srv\shop\.env`, `\\127.0.0.1\c$\srv\shop\.env`, `//localhost/c$/srv/shop/.env`}},
		{"~/.ssh/id_rsa home credential", []string{`C:\Users\kim\.ssh\id_rsa`, `~/.ssh/id_rsa`, `/c/Users/kim/.ssh/id_rsa`, `c:\users\KIM\.ssh\id_rsa`,
			`\\?\C:\Users\kim\.ssh\id_rsa`, `C:\Users\kim\.ssh\id_rsa::$DATA`, `C:\Users\kim\.ssh.\id_rsa. `, `\Users\kim\.ssh\id_rsa`,
			`\\?\UNC\localhost\C$\Users\kim\.ssh\id_rsa`}},
		{"~/AppData/Local/reviewer/key home guard is", []string{`C:\Users\kim\AppData\Local\reviewer\key`, `c:\users\kim\APPDATA\local\Reviewer\key`,
			`\\?\c:\users\kim\appdata\local\reviewer\key`, `~/AppData/Local/reviewer/key`}},
		{"C:/Program Files/reviewer/policy/data.yaml system guard is", []string{`C:\Program Files\reviewer\policy\data.yaml`,
			`c:\PROGRAM FILES\Reviewer\policy\data.yaml`, `\\localhost\c$\program files\reviewer\policy\data.yaml`}},
		{"C:/Program Files/ClaudeCode/managed-settings.json system agent_config is", []string{`C:\Program Files\ClaudeCode\managed-settings.json`}},
		{"~/AppData/Local/Temp/a.txt temp", []string{`C:\Users\kim\AppData\Local\Temp\a.txt`, `c:\users\kim\appdata\local\temp\a.txt`}},
		{"C:/Windows/Temp/a.txt temp", []string{`C:\Windows\Temp\a.txt`}},
		{"D:/x outside", []string{`D:\x`, `D:x`, `/d/x`, `\\?\D:\x`}},
		{"//files.example/share/a.txt outside files.example", []string{`\\files.example\share\a.txt`, `\\?\UNC\files.example\share\a.txt`,
			`//files.example/share/a.txt`, `\\FILES.example@SSL@8443\share\a.txt`}},
		{"//./PhysicalDrive0 device", []string{`\\.\PhysicalDrive0`}},
	} {
		for _, name := range c.names {
			got := said(onWindows(), name)
			if strings.Contains(name, "FILES.example") {
				got = strings.ReplaceAll(got, "FILES.example@SSL@8443", "files.example")
			}
			if !strings.EqualFold(got, c.want) {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}

// TestHomeOnAnotherDrive: a home directory need not be below C:\Users.
func TestHomeOnAnotherDrive(t *testing.T) {
	r := NewResolver(World{System: Windows, Home: `D:\profiles\kim`}, `C:\srv\shop`, classifytest.Rows())
	for name, want := range map[string]string{
		"~/Documents": "~/Documents home", `d:\Profiles\KIM\Documents`: "~/Documents home", `D:\profiles\kim`: "~ home_root",
		"~/.ssh/id_rsa": "~/.ssh/id_rsa home credential", `D:\profiles\kimberley\a`: "D:/profiles/kimberley/a outside",
	} {
		if got := said(r, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestReservedNames: a name of a device is one in every folder, and a file with
// such a beginning is a file.
func TestReservedNames(t *testing.T) {
	for name, want := range map[string]engine.Location{
		"NUL": "null", "nul": "null", `C:\srv\shop\nul`: "null", `src\NUL`: "null", "nul:": "null", `\\.\nul`: "null", "CON": "null", "CONOUT$": "null",
		"COM1": "device", "lpt9": "device", "aux": "device", "prn": "device",
		"aux.txt": "inside", "COM0": "inside", "null": "inside", "console": "inside", "com10": "inside", `nul\a`: "inside",
	} {
		if got := onWindows().Location(onWindows().locate(name, "C:/srv/shop", true).real); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	unix := NewResolver(World{System: "linux", Home: "/home/kim"}, "/srv/shop", classifytest.Rows())
	if got := unix.Location(unix.locate("nul", "/srv/shop", true).real); got != engine.LocationInside {
		t.Errorf("nul is %s elsewhere, want a file", got)
	}
}

// TestMacNames: of two names of one file both get one answer, in both directions.
func TestMacNames(t *testing.T) {
	for _, c := range []struct {
		want  string
		names []string
	}{
		{"/etc/hosts system system_config", []string{"/etc/hosts", "/private/etc/hosts", "/ETC/hosts", "/Private/Etc/hosts"}},
		{"/etc/ssl/private/a.key system credential", []string{"/etc/ssl/private/a.key", "/private/etc/ssl/private/a.key"}},
		{"/etc/pam.d/sudo system startup", []string{"/etc/pam.d/sudo", "/private/etc/pam.d/sudo"}},
		{"/var/db/a system", []string{"/var/db/a", "/private/var/db/a"}},
		{"/etc root system_config", []string{"/etc", "/private/etc"}},
		{"/tmp/a temp", []string{"/tmp/a", "/private/tmp/a", "/TMP/a", "/System/Volumes/Data/private/tmp/a"}},
		{"/var/folders/x/a temp", []string{"/var/folders/x/a", "/private/var/folders/x/a"}},
		{"./.env inside env_file", []string{".env", "/Users/kim/shop/.env", "/users/KIM/Shop/.env", ".ENV",
			"/System/Volumes/Data/Users/kim/shop/.env", ".env/..namedfork/data"}},
		{"~/.ssh/id_rsa home credential", []string{"~/.ssh/id_rsa", "/users/kim/.ssh/id_rsa", "/Users/Kim/.SSH/id_rsa", "~/.ſsh/id_rsa",
			"/System/Volumes/Data/Users/kim/.ssh/id_rsa", "/system/volumes/DATA/users/kim/.ssh/id_rsa", "/.nofollow/Users/kim/.ssh/id_rsa",
			"/.resolve/1/System/Volumes/Data/Users/kim/.ssh/id_rsa", "~/.ssh/id_rsa/..namedfork/rsrc"}},
		{"~/.local/state/reviewer/key home guard is", []string{"~/.local/state/reviewer/key", "~/.Local/STATE/reviewer/key", "/USERS/kim/.local/state/Reviewer/key",
			"/System/Volumes/Data/Users/kim/.local/state/reviewer/key"}},
		{"~/Library/LaunchAgents/a.plist home startup", []string{"~/Library/LaunchAgents/a.plist", "/users/kim/library/launchagents/a.plist"}},
		{"/Library/LaunchDaemons/a.plist system startup", []string{"/Library/LaunchDaemons/a.plist", "/library/launchdaemons/a.plist"}},
		{"~/Library/Keychains/login.keychain-db home credential", []string{"~/Library/Keychains/login.keychain-db", "~/library/keychains/login.keychain-db"}},
		{"/Library/Keychains/System.keychain system credential", []string{"/Library/Keychains/System.keychain"}},
		{"/Library/Application Support/ClaudeCode/managed-settings.json system agent_config is", []string{
			"/Library/Application Support/ClaudeCode/managed-settings.json", "/library/application support/claudecode/managed-settings.json"}},
	} {
		for _, name := range c.names {
			if got := said(onMac(), name); !strings.EqualFold(strings.ReplaceAll(got, "ſ", "s"), c.want) {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}

// TestPrivateIsNoMacElsewhere: on Linux these are other files.
func TestPrivateIsNoMacElsewhere(t *testing.T) {
	r := NewResolver(World{System: "linux", Home: "/home/kim"}, "/srv/shop", classifytest.Rows())
	for name, want := range map[string]string{"/ETC/hosts": "/ETC/hosts system system_config", "/private/var/a": "/private/var/a system", "/System/Volumes/Data/a": "/System/Volumes/Data/a system",
		"/srv/Shop/.env": "/srv/Shop/.env outside env_file"} {
		if got := said(r, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestMacWorkspaces: a workspace under one of its names holds what is written under the other.
func TestMacWorkspaces(t *testing.T) {
	for _, workspace := range []string{"/private/tmp/ws", "/tmp/ws"} {
		for _, name := range []string{"/private/tmp/ws/a", "/tmp/ws/a", "/tmp/WS/a"} {
			r := NewResolver(World{System: MacOS, Home: "/Users/kim"}, workspace, classifytest.Rows())
			if got := said(r, name); got != "./a inside" {
				t.Errorf("%s in %s: %s", name, workspace, got)
			}
		}
	}
}

// TestMacAccents: a letter with its accent is one letter or two in the name of a file, which
// is the same file on a Mac and another one elsewhere.
func TestMacAccents(t *testing.T) {
	one, two := "/Users/zo\u00eb", "/Users/zoe\u0308"
	for _, home := range []string{one, two} {
		w := World{System: MacOS, Home: home, Guard: []string{home + "/.local/state/reviewer"}}
		r := NewResolver(w, home+"/Caf\u00e9", classifytest.Rows())
		for _, name := range []string{one, two} {
			for _, c := range []struct{ rest, want string }{
				{"/.local/state/reviewer/key", "~/.local/state/reviewer/key home guard is"},
				{"/.ssh/id_rsa", "~/.ssh/id_rsa home credential"},
				{"/Caf\u00e9/a", "./a inside"}, {"/Cafe\u0301/a", "./a inside"}, {"/CAFE\u0301/a", "./a inside"},
			} {
				if got := said(r, name+c.rest); got != c.want {
					t.Errorf("home %+q: %+q: %s, want %s", home, name+c.rest, got, c.want)
				}
			}
		}
	}
	r := NewResolver(World{System: "linux", Home: one}, one+"/shop", classifytest.Rows())
	if got := said(r, two+"/.ssh/id_rsa"); !strings.HasPrefix(got, two) {
		t.Errorf("on Linux, another folder: %+q", got)
	}
}

// disk is a small disk: folders and files by name, and links with what they lead to.
type disk map[string]string

func (d disk) Lstat(name string) (fs.FileInfo, error) {
	for p, to := range d {
		if strings.EqualFold(p, name) {
			return thing{path.Base(p), to}, nil
		}
	}
	return nil, fs.ErrNotExist
}

func (d disk) Readlink(name string) (string, error) {
	info, err := d.Lstat(name)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(info.(thing).to, "junction "), nil
}

type thing struct{ name, to string }

func (t thing) Name() string       { return t.name }
func (t thing) Size() int64        { return 1 }
func (t thing) ModTime() time.Time { return time.Time{} }
func (t thing) IsDir() bool        { return t.to == "dir" }
func (t thing) Sys() any           { return nil }
func (t thing) Mode() fs.FileMode {
	switch {
	case t.to == "dir":
		return fs.ModeDir
	case strings.HasPrefix(t.to, "junction "):
		return fs.ModeIrregular // as Go says about them
	case t.to != "":
		return fs.ModeSymlink
	}
	return 0
}

// TestJunctions: the target of a link or a junction of Windows is what counts.
func TestJunctions(t *testing.T) {
	d := disk{"C:/srv/shop": "dir", "C:/srv/shop/keys": `junction \??\C:\Users\kim\.ssh`, "C:/srv/shop/up": `..\other`, "C:/Users/kim/.ssh": "dir",
		"C:/Users/kim/.ssh/id_rsa": "", "C:/srv/shop/loop": `C:\srv\shop\loop`, "C:/Users/kim/AppData": "dir"}
	w := World{System: Windows, Home: "C:/Users/kim", Lstat: d.Lstat, Readlink: d.Readlink, Guard: []string{"C:/Users/kim/AppData/Local/reviewer"},
		Same: func(a, b fs.FileInfo) bool { return a.Name() == b.Name() },
		Long: func(p string) (string, error) { return strings.ReplaceAll(p, "APPDA~1", "AppData"), nil }}
	for name, want := range map[string]string{
		`keys\id_rsa`: "~/.ssh/id_rsa home credential", `KEYS/id_rsa`: "~/.ssh/id_rsa home credential", `up\a`: "C:/srv/other/a outside", `loop\a`: "./loop/a inside",
		`C:\Users\kim\APPDA~1\Local\reviewer\key`: "~/AppData/Local/reviewer/key home guard is",
	} {
		got := said(NewResolver(w, `C:\srv\shop`, classifytest.Rows()), name)
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	r := NewResolver(w, `C:\srv\shop`, classifytest.Rows())
	e := r.Effect(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Target: abstract.Value{Text: "keys"}, Dir: abstract.Value{Text: "C:/srv/shop"}})
	if e.Short != "./keys" || e.Entry != "link" || e.Exists != "yes" {
		t.Errorf("a junction itself: %+v", e)
	}
}
