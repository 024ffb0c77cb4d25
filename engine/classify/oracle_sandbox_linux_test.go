package classify

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The sandbox of the oracle: namespaces of its own for users, mounts,
// processes and network, a root of its own in memory with the machine's /usr
// read-only, and stubs where a program must not run.

const (
	oracleName  = "reviewer-oracle" // as which the test runs itself
	oracleDir   = "/oracle"         // inside
	oracleLimit = 2 * time.Second   // for one command with all that it leaves behind
	oracleProbe = "true"
)

// oracleStubs must not run, or are not on every machine.
var oracleStubs = strings.Fields(`
	sudo doas busybox toybox sleep
	git gh glab hub svn hg curl wget http https xh nc ncat netcat socat telnet ftp sftp ssh scp rsync mosh dig nslookup ping
	docker podman docker-compose kubectl helm terraform tofu pulumi cdk aws gcloud az doctl flyctl heroku vercel netlify wrangler
	psql mysql mariadb sqlite3 mongosh redis-cli dropdb createdb pg_restore
	npm npx yarn pnpm bun bunx deno pip pip3 uv uvx pipx poetry cargo rustup go gem bundle composer brew apt apt-get apk dnf yum pacman snap
	systemctl service launchctl crontab at batch systemd-run reboot shutdown halt poweroff init telinit
	mkfs mkfs.ext4 mkfs.xfs fdisk parted wipefs cryptsetup swapoff sysctl iptables ufw nft insmod rmmod modprobe
	useradd usermod userdel passwd visudo setcap chattr claude codex gemini ngrok cloudflared tmux screen mail sendmail
	pwsh powershell cmd cmd.exe osascript tmutil diskutil security xdg-open open kill pkill killall gpg tailscale
	ruby php lua Rscript fd fdfind parallel make`)

// oracleTree is what is in the sandbox: a directory ends in a slash.
var oracleTree = map[string]string{
	"/srv/shop/go.mod": "module example.com/shop\n", "/srv/shop/main.go": "package main\n", "/srv/shop/a": "a\n", "/srv/shop/b": "b\n",
	"/srv/shop/notes.txt": "notes\n", "/srv/shop/.env": "KEY=1\n", "/srv/shop/.env.example": "KEY=\n", "/srv/shop/x.json": "{\"a\": 1}\n",
	"/srv/shop/api/main.go": "package api\n", "/srv/shop/api/old.log": "old\n", "/srv/shop/web/index.html": "<p>\n",
	"/srv/shop/build/out.bin": "built\n", "/srv/shop/dist/app.js": "1\n", "/srv/shop/node_modules/left/index.js": "1\n",
	"/srv/shop/.git/HEAD": "ref: refs/heads/main\n", "/srv/shop/.git/config": "[core]\n", "/srv/shop/docs/guide.md": "# Guide\n", "/srv/shop/empty/": "",
	"/srv/other/keep": "keep\n", "/opt/x/one": "1\n", "/opt/x/sub/two": "2\n", "/opt/y/one": "1\n", "/opt/z/one": "1\n", "/opt/a/one": "1\n", "/opt/b/one": "1\n",
	"/opt/file": "file\n", "/opt/data.db": "data\n", "/home/ana/.bashrc": "# rc\n", "/home/ana/.ssh/id_rsa": "key\n", "/home/ana/photos/1.jpg": "jpg\n",
	"/home/ana/notes.md": "notes\n", "/home/ben/work": "work\n", "/tmp/work/a": "a\n", "/tmp/l": "", "/tmp/empty/": "", "/var/log/app.log": "log\n", "/var/backups/db.gz": "x\n",
	"/etc/hosts": "127.0.0.1 localhost\n", "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\nana:x:0:0:Ana:/home/ana:/bin/bash\n", "/etc/group": "root:x:0:\n",
	"/etc/os-release": "ID=demo\n", "/etc/app.conf": "on\n", "/root/.profile": "#\n", "/mnt/disk/data": "data\n", "/boot/kernel": "k\n", "/media/": "", "/run/": "",
}

// oracleWatched are the directories whose changes count.
var oracleWatched = []string{"/srv", "/opt", "/home", "/tmp", "/var", "/etc", "/root", "/mnt", "/boot", "/media"}

// oracleJob is what the test hands to itself inside.
type oracleJob struct{ Root, Stub, Source string }

// oracleSeen is what a command did.
type oracleSeen struct {
	Calls   []oracleCall      // of stubs, in their order
	Changes map[string]string // path -> created, deleted, changed
	Late    bool              // it was ended
	Error   string            // the sandbox failed
}

type oracleCall struct {
	Name string
	Args []string
	CWD  string
}

func TestMain(m *testing.M) {
	if os.Args[0] == oracleName {
		os.Exit(oracleInside())
	}
	os.Exit(m.Run())
}

// oracleBox is what all runs share.
type oracleBox struct{ dir, stub string }

// newOracleBox builds the stub and tries the sandbox; where this machine does
// not let us have one, the test is skipped.
func newOracleBox(t *testing.T) oracleBox {
	t.Helper()
	dir := t.TempDir()
	box := oracleBox{dir, filepath.Join(dir, "stub")}
	build := exec.Command("go", "build", "-o", box.stub, "./testdata/oracle/stub")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the stub: %v\n%s", err, out)
	}
	if _, err := box.run(oracleProbe); err != nil {
		t.Skipf("no sandbox on this machine, so nothing was run: %v", err)
	}
	return box
}

// run executes a piece of shell code in a sandbox of its own.
func (b oracleBox) run(src string) (oracleSeen, error) {
	root, err := os.MkdirTemp(b.dir, "root")
	if err != nil {
		return oracleSeen{}, err
	}
	defer os.Remove(root)
	job, err := json.Marshal(oracleJob{root, b.stub, src})
	if err != nil {
		return oracleSeen{}, err
	}
	var out, problems bytes.Buffer
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{oracleName}, Stdin: bytes.NewReader(job), Stdout: &out, Stderr: &problems, Env: []string{},
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
			Pdeathsig: syscall.SIGKILL,
		}}
	if err := cmd.Run(); err != nil {
		return oracleSeen{}, fmt.Errorf("%w %s", err, problems.String())
	}
	var seen oracleSeen
	if err := json.Unmarshal(out.Bytes(), &seen); err != nil {
		return seen, err
	}
	if seen.Error != "" {
		return seen, errors.New(seen.Error)
	}
	return seen, nil
}

// oracleInside is the first process of the sandbox.
func oracleInside() int {
	var job oracleJob
	seen := oracleSeen{}
	err := json.NewDecoder(os.Stdin).Decode(&job)
	if err == nil {
		err = enterRoot(job.Root, job.Stub)
	}
	if err == nil {
		err = seen.watch(job.Source)
	}
	if err != nil {
		seen.Error = err.Error()
	}
	if json.NewEncoder(os.Stdout).Encode(seen) != nil {
		return 1
	}
	return 0
}

// enterRoot makes the sandbox's root and leaves the machine's behind.
func enterRoot(root, stub string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount("tmpfs", root, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "size=64m,mode=755"); err != nil {
		return fmt.Errorf("mount a root: %w", err)
	}
	binary, err := os.ReadFile(stub)
	if err != nil {
		return err
	}
	for _, step := range []func(string) error{bindSystem, layTree, layDevices, func(root string) error { return layStubs(root, binary) }, pivot} {
		if err := step(root); err != nil {
			return err
		}
	}
	if err := os.WriteFile("/usr/oracle", nil, 0o600); !errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("/usr can be written to: %v", err)
	}
	return nil
}

// bindSystem shows the machine's programs, read-only.
func bindSystem(root string) error {
	for _, name := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		info, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			if err == nil {
				err = os.Symlink(to, root+name)
			}
			if err != nil {
				return err
			}
			continue
		}
		if err := bindReadOnly(name, root+name); err != nil {
			return err
		}
	}
	return copyLinks("/etc/alternatives", root)
}

func bindReadOnly(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount(from, to, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", from, err)
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(to, &st); err != nil {
		return err
	}
	kept := uintptr(st.Flags) & (syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC | syscall.MS_NOATIME | syscall.MS_NODIRATIME | syscall.MS_RELATIME)
	if err := syscall.Mount("", to, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY|kept, ""); err != nil {
		return fmt.Errorf("make %s read-only: %w", from, err)
	}
	return nil
}

func copyLinks(dir, root string) error {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root+dir, 0o755); err != nil {
		return err
	}
	for _, e := range list {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			if err := os.Symlink(to, filepath.Join(root, dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// layTree writes the files of the sandbox under a directory.
func layTree(root string) error {
	for name, text := range oracleTree {
		dir := filepath.Dir(name)
		if strings.HasSuffix(name, "/") {
			dir = name
		}
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
		if strings.HasSuffix(name, "/") {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func layDevices(root string) error {
	if err := os.MkdirAll(root+"/dev/shm", 0o755); err != nil {
		return err
	}
	for _, name := range []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"} {
		if err := os.WriteFile(root+name, nil, 0o666); err != nil {
			return err
		}
		if err := syscall.Mount(name, root+name, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("bind %s: %w", name, err)
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(to, root+"/dev/"+name); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(root+"/proc", 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("proc", root+"/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

// layStubs puts the stub on PATH under each name, and over the programs of
// these names.
func layStubs(root string, binary []byte) error {
	bin := root + oracleDir + "/bin"
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"/.log", oracleDir + "/log"} {
		if err := os.WriteFile(root+name, nil, 0o644); err != nil {
			return err
		}
	}
	one := root + oracleDir + "/stub"
	if err := os.WriteFile(one, binary, 0o755); err != nil {
		return err
	}
	for _, name := range oracleStubs {
		if err := os.Link(one, bin+"/"+name); err != nil {
			return err
		}
		for _, dir := range []string{"/usr/bin/", "/usr/sbin/"} {
			if err := coverProgram(one, root, dir+name); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"zsh", "ksh"} {
		if err := os.Symlink("/bin/bash", bin+"/"+name); err != nil {
			return err
		}
	}
	if err := bindReadOnly(root+oracleDir, root+oracleDir); err != nil {
		return err
	}
	return syscall.Mount(root+"/.log", root+oracleDir+"/log", "", syscall.MS_BIND, "")
}

func coverProgram(stub, root, name string) error {
	if _, err := os.Lstat(root + name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil || !strings.HasPrefix(real, "/usr/") || filepath.Base(real) != filepath.Base(name) {
		return nil // a link to a program of another name: PATH finds the stub first
	}
	if err := syscall.Mount(stub, root+real, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("cover %s: %w", name, err)
	}
	return nil
}

func pivot(root string) error {
	old := root + "/old"
	if err := os.Mkdir(old, 0o700); err != nil {
		return err
	}
	if err := syscall.PivotRoot(root, old); err != nil {
		return fmt.Errorf("change root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := syscall.Unmount("/old", syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	return os.Remove("/old")
}

// watch runs code and notes what it changed and which stubs it called.
func (s *oracleSeen) watch(src string) error {
	before, err := snapshot()
	if err != nil {
		return err
	}
	if err := s.execute(src); err != nil {
		return err
	}
	after, err := snapshot()
	if err != nil {
		return err
	}
	s.Changes = changedPaths(before, after)
	log, err := os.Open(oracleDir + "/log")
	if err != nil {
		return err
	}
	defer log.Close()
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var c oracleCall
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("read a stub's line: %w", err)
		}
		s.Calls = append(s.Calls, c)
	}
	return nil
}

// execute runs code in user and mount namespaces once more: there the
// read-only mounts of ours cannot be changed.
func (s *oracleSeen) execute(src string) error {
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	attr := &os.ProcAttr{Dir: "/srv/shop", Files: []*os.File{null, null, null},
		Env: []string{"HOME=/home/ana", "USER=ana", "LANG=C.UTF-8", "PATH=" + oracleDir + "/bin:/usr/bin:/bin:/usr/sbin:/sbin", "PWD=/srv/shop"},
		Sys: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{Size: 1}}, GidMappings: []syscall.SysProcIDMap{{Size: 1}}}}
	if _, err := os.StartProcess("/bin/bash", []string{"bash", "-c", src}, attr); err != nil {
		return fmt.Errorf("start the shell: %w", err)
	}
	return s.await()
}

// await ends when no process is left, and sees to that in time.
func (s *oracleSeen) await() error {
	for end := time.Now().Add(oracleLimit); ; time.Sleep(time.Millisecond) {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.ECHILD) {
			return nil
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		if pid == 0 && time.Now().After(end) {
			s.Late = true
			if err := syscall.Kill(-1, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
		}
	}
}

// snapshot says about each watched path what it is.
func snapshot() (map[string]string, error) {
	seen := map[string]string{}
	for _, dir := range oracleWatched {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			state, err := stateOf(name)
			seen[name] = state
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return seen, nil
}

func stateOf(name string) (string, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return "", err
	}
	switch state := info.Mode().String(); {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(name)
		return state + " " + to, err
	case info.Mode().IsRegular():
		text, err := os.ReadFile(name)
		sum := sha256.Sum256(text)
		return state + " " + hex.EncodeToString(sum[:]), err
	default:
		return state, nil
	}
}

func changedPaths(before, after map[string]string) map[string]string {
	list := map[string]string{}
	for name, state := range before {
		switch now, there := after[name]; {
		case !there:
			list[name] = "deleted"
		case now != state:
			list[name] = "changed"
		}
	}
	for name := range after {
		if _, there := before[name]; !there {
			list[name] = "created"
		}
	}
	return list
}
