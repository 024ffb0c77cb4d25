package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
	"github.com/agent-reviewer/reviewer/engine/serve/client"
)

// TestMain lets the tests start this binary as the helper, and as a program that asks whether it is confined.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "helper":
		fmt.Fprintln(os.Stderr, run.Main(sandbox.Apply))
		os.Exit(1)
	case len(os.Args) == 3 && os.Args[1] == "proven":
		fmt.Println(client.Proven(client.Proof(os.Args[2])))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// stage is a workspace with a folder next to it.
type stage struct {
	t       *testing.T
	dir     string // the workspace
	outside string
	plan    sandbox.Plan

	mu     sync.Mutex
	denied []sandbox.Denial
}

func set(t *testing.T) *stage {
	t.Helper()
	f := sandbox.Probe()
	if missing := f.Missing(); len(missing) > 0 {
		t.Skip(missing)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, dir: filepath.Join(dir, "inside"), outside: filepath.Join(dir, "outside")}
	for path, text := range map[string]string{"inside/.git/hooks/pre-commit": "ours", "inside/notes": "notes", "outside/notes": "secret", "inside/hidden/key": "key"} {
		path = filepath.Join(dir, path)
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, []byte(text+"\n"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.plan = sandbox.Plan{Read: []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", filepath.Dir(self)}, Write: []string{s.dir},
		Devices: []string{"/dev/null"}, Namespaces: true, Watch: true, Exact: true, Proxy: 3128}
	return s
}

// run runs a script in the confinement, and returns what it printed.
func (s *stage) run(script string) string {
	s.t.Helper()
	box, err := sandbox.New(s.plan, func(d sandbox.Denial) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.denied = append(s.denied, d)
	}, func(list []net.Listener) {
		for _, l := range list {
			s.t.Cleanup(func() { l.Close() })
		}
	})
	if err != nil {
		s.t.Fatal(err)
	}
	defer box.Close()
	out, err := os.Create(filepath.Join(s.t.TempDir(), "out"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	r, err := run.Start(s.t.Context(), run.Options{Command: []string{"sh", "-c", script}, Dir: s.dir, Env: os.Environ(), Helper: []string{os.Args[0], "helper"},
		Stdout: out, Stderr: out, Confine: box, Limits: run.Limits{Time: time.Minute}})
	if err != nil {
		s.t.Fatal(err)
	}
	r.Wait()
	b, err := os.ReadFile(out.Name())
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// try asserts which of some commands succeed.
func (s *stage) try(want map[string]bool) {
	s.t.Helper()
	for command, ok := range want {
		got := s.run("(" + command + ") && echo SUCCEEDED")
		if strings.Contains(got, "SUCCEEDED") != ok {
			s.t.Errorf("%s: want success %t\n%s", command, ok, got)
		}
	}
}

// Files are read and changed where the plan allows it, and nowhere else, by any name.
func TestFiles(t *testing.T) {
	s := set(t)
	s.plan.Hidden = []string{"/etc/shadow", filepath.Join("/etc", "passwd")}
	s.try(map[string]bool{
		"echo new > new":                              true,
		"cat notes":                                   true,
		"cat /etc/group":                              true,
		"cat /etc/passwd":                             false,
		"cat ../outside/notes":                        false,
		"echo new > ../outside/new":                   false,
		"ln -s ../outside out; echo new > out/new":    false,
		"ln ../outside/notes hard":                    false,
		"mv notes ../outside/":                        false,
		"mkdir /tmp/sandbox-test-folder":              false,
		"cat /proc/self/root/" + s.outside + "/notes": false,
		"echo new > /dev/null":                        true,
	})
}

// Who may use a file, and when it changed, is changed inside only; and folders of the run's own are empty.
func TestAttributes(t *testing.T) {
	s := set(t)
	s.plan.Read = append(s.plan.Read, s.outside)
	s.plan.Devices = append(s.plan.Devices, "/dev/shm")
	s.plan.Own = []string{"/dev/shm"}
	s.try(map[string]bool{
		"chmod 700 notes && touch -d 2001-01-01 notes": true,
		"cat ../outside/notes":                         true,
		"chmod 700 ../outside/notes":                   false,
		"chmod 700 ../outside":                         false,
		"touch -d 2001-01-01 ../outside/notes":         false,
		"chown $(id -u) ../outside/notes":              false,
		"mount -o remount,rw /":                        false,
		"test -z \"$(ls -A /dev/shm)\" && echo new > /dev/shm/new && cat /dev/shm/new": true,
	})
	if _, err := os.Stat("/dev/shm/new"); err == nil {
		t.Error("a file in memory is seen outside")
	}
}

// What is protected stays as it is, under its own name: what leads to it cannot be renamed.
func TestProtected(t *testing.T) {
	s := set(t)
	s.plan.Pinned = []string{filepath.Join(s.dir, ".git")}
	s.plan.Protected = []string{filepath.Join(s.dir, ".git/hooks")}
	s.plan.Masked = []string{filepath.Join(s.dir, "hidden")}
	s.try(map[string]bool{
		"cat .git/hooks/pre-commit":            true,
		"echo new > .git/other":                true,
		"echo new > .git/hooks/pre-commit":     false,
		"rm .git/hooks/pre-commit":             false,
		"mv .git/hooks .git/old":               false,
		"mv .git old":                          false,
		"rm -r .git":                           false,
		"umount .git/hooks":                    false,
		"mount -o remount,rw .git/hooks":       false,
		"cat hidden/key":                       false,
		"mv notes .git/notes && rm .git/notes": true,
	})
	if b, err := os.ReadFile(filepath.Join(s.dir, ".git/hooks/pre-commit")); err != nil || string(b) != "ours\n" {
		t.Errorf("%s, %v", b, err)
	}
}

// System calls that lead out are refused, and the supervisor is told.
func TestCalls(t *testing.T) {
	s := set(t)
	s.try(map[string]bool{
		"unshare -U true":                    false,
		"unshare -m true":                    false,
		"setpriv --reuid 1 true":             false,
		"mount -t tmpfs none .":              false,
		"kill -0 " + fmt.Sprint(os.Getpid()): false,
		"cat /proc/" + fmt.Sprint(os.Getpid()) + "/environ | grep -q .": false,
		"grep -q 'CapEff:.0000000000000000' /proc/self/status":          true,
		"grep -q 'NoNewPrivs:.1' /proc/self/status":                     true,
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	told := map[string]bool{}
	for _, d := range s.denied {
		if told[d.What] = true; d.Pid == 0 || !d.Refused {
			t.Errorf("%+v", d)
		}
	}
	if !told["unshare"] || !told["mount"] {
		t.Errorf("%+v", s.denied)
	}
}

// A process inside can tell that it is confined for a state directory, and for no other one. Outside there is no proof.
func TestProof(t *testing.T) {
	s := set(t)
	s.plan.Proof = client.Proof("/home/a/state")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for home, want := range map[string]string{"/home/a/state": "true\n", "/home/b/state": "false\n", "": "false\n"} {
		if got := s.run(self + " proven '" + home + "'"); got != want {
			t.Errorf("%s: %q", home, got)
		}
	}
	if client.Proven(client.Proof("/home/a/state")) {
		t.Error("a process that is not confined has a proof")
	}
}

// Without namespaces, Landlock lets connections through to the port of the proxy only.
func TestWithoutNamespaces(t *testing.T) {
	s := set(t)
	s.plan.Namespaces = false
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	port := func(l net.Listener) string { return fmt.Sprint(l.Addr().(*net.TCPAddr).Port) }
	s.plan.Proxy = uint16(proxy.Addr().(*net.TCPAddr).Port)
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash opens the connections")
	}
	s.try(map[string]bool{
		"bash -c 'echo > /dev/tcp/127.0.0.1/" + port(proxy) + "'": true,
		"bash -c 'echo > /dev/tcp/127.0.0.1/" + port(other) + "'": false,
		"bash -c 'echo > /dev/udp/127.0.0.1/" + port(other) + "'": false,
	})
}

// What the system lacks is an error where nothing may be left out.
func TestMissing(t *testing.T) {
	for want, f := range map[string]sandbox.Features{
		"":                                       {Landlock: 6, Seccomp: true, Namespaces: true},
		"Landlock of version 6":                  {Landlock: 5, Seccomp: true, Namespaces: true},
		"but the kernel has 0":                   {Seccomp: true, Namespaces: true},
		"seccomp with user notification":         {Landlock: 7, Namespaces: true},
		"namespaces for mounts and network: off": {Landlock: 7, Seccomp: true, Why: "off"},
	} {
		if got := strings.Join(f.Missing(), "; "); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%+v: %q", f, got)
		}
	}
}

// The same holds for a user without privileges, who needs a user namespace.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is one")
	}
	dir, err := os.MkdirTemp("", "sandbox")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, temp := filepath.Join(dir, "bin", "test"), filepath.Join(dir, "temp")
	b, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	for _, err := range []error{os.Chmod(dir, 0o755), os.Mkdir(filepath.Dir(program), 0o755), os.WriteFile(program, b, 0o755),
		os.Mkdir(temp, 0o755), os.Chown(temp, nobody, nobody)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-test.v", "-test.run", "^(TestFiles|TestProtected|TestCalls|TestProof|TestWithoutNamespaces)$")
	cmd.Dir, cmd.Env = temp, []string{"PATH=/usr/bin:/bin", "TMPDIR=" + temp, "HOME=" + temp}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("%s", out)
	}
}
