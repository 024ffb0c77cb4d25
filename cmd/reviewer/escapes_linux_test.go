package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/agent-reviewer/reviewer/engine/await"
	"golang.org/x/sys/unix"
)

// escapes are the program that tries to get out of a run, and one outside that it tries to reach.
func escapes() map[string]func() {
	return map[string]func(){"escape": asEscape, "outsider": asOutsider}
}

// asOutsider listens in the folder `outsider DIR` at the sockets docker.sock, bus and agent.sock, at an abstract one and
// at a port, and, once the file `start` is there, at late.sock. The file `facts` says where. Each connection makes
// a file.
func asOutsider() {
	dir := os.Args[1]
	port, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	go accept(port, dir+"/reached-port")
	for _, name := range []string{"docker.sock", "bus", "agent.sock"} {
		l, err := net.Listen("unix", filepath.Join(dir, name))
		fail(err)
		go accept(l, dir+"/reached-"+name)
	}
	abstract, err := net.Listen("unix", "@"+dir)
	fail(err)
	go accept(abstract, dir+"/reached-abstract")
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	fail(err)
	fail(unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	fail(err)
	facts := fmt.Sprintf("pid=%d\nport=%d\nterminal=%d\n", os.Getpid(), port.Addr().(*net.TCPAddr).Port, number)
	fail(os.WriteFile(dir+"/facts.new", []byte(facts), 0o644))
	fail(os.Rename(dir+"/facts.new", dir+"/facts"))
	if exists(os.Args[2]) {
		l, err := net.Listen("unix", dir+"/late.sock")
		fail(err)
		accept(l, dir+"/reached-late")
	}
}

// exists waits for a file.
func exists(path string) bool {
	return await.Holds(func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

func fail(err error) {
	if err != nil {
		panic(err)
	}
}

func accept(l net.Listener, reached string) {
	for {
		if _, err := l.Accept(); err != nil {
			return
		}
		_ = put(reached)
	}
}

// asEscape makes every attempt, and prints one line for each: `escape OUTSIDE PID PORT TERMINAL`. OUTSIDE is a folder
// next to the workspace with the sockets of asOutsider, PID its process, which has the variable SECRET, PORT its
// port, and TERMINAL the number of a terminal that it has. A file of that folder is open as 9.
func asEscape() {
	a := attempts{outside: os.Args[1], port: os.Args[3], terminal: os.Args[4], home: os.Getenv("HOME"), state: os.Getenv("REVIEWER_HOME")}
	a.pid, _ = strconv.Atoi(os.Args[2])
	escaped := 0
	list := a.list()
	for _, one := range list {
		if err := one.try(); err != nil {
			fmt.Printf("stopped %s: %v\n", one.name, err)
			continue
		}
		escaped++
		fmt.Printf("escaped %s\n", one.name)
	}
	fmt.Printf("%d of %d stopped\n", len(list)-escaped, len(list))
}

type attempts struct {
	outside, port, terminal, home, state string
	pid                                  int
}

type attempt struct {
	name string
	try  func() error // nil: it got out
}

func (a attempts) list() []attempt {
	return slices.Concat(a.files(), a.processes(), a.kernel(), a.network(), a.sockets(), a.latecomers(), a.others(), a.system())
}

func read(path string) error {
	b, err := os.ReadFile(path)
	if err == nil && len(b) == 0 {
		return errors.New("it is empty")
	}
	return err
}

func put(path string) error { return os.WriteFile(path, []byte("escaped\n"), 0o644) }

func (a attempts) files() []attempt {
	link := func(name, target string, do func(string) error) func() error {
		return func() error {
			_ = os.Remove(name)
			if err := os.Symlink(target, name); err != nil {
				return err
			}
			return do(name)
		}
	}
	return []attempt{
		{"read a private key", func() error { return read(a.home + "/.ssh/id_ed25519") }},
		{"read a private key through a link", link("key-link", a.home+"/.ssh/id_ed25519", read)},
		{"read another project", func() error { return read(a.outside + "/notes.txt") }},
		{"write outside", func() error { return put(a.outside + "/new.txt") }},
		{"change the permissions of a file outside", func() error { return os.Chmod(a.outside+"/notes.txt", 0o777) }},
		{"change the times of a file outside", func() error { return os.Chtimes(a.outside+"/notes.txt", time.Unix(0, 0), time.Unix(0, 0)) }},
		{"change the owner of a file outside", func() error { return os.Chown(a.outside+"/notes.txt", os.Getuid(), os.Getgid()) }},
		{"change an attribute of a file outside", func() error { return unix.Setxattr(a.outside+"/notes.txt", "user.reviewer", []byte("x"), 0) }},
		{"close a folder outside", func() error { return os.Chmod(a.outside, 0) }},
		{"read a file that others share in memory", func() error { return read("/dev/shm/reviewer-" + strconv.Itoa(a.pid)) }},
		{"write outside through a link", link("out-link", a.outside, func(p string) error { return put(p + "/new.txt") })},
		{"swap a folder for a link while writing", func() error { return a.race() }},
		{"hard link to a file outside", func() error { return os.Link(a.outside+"/notes.txt", "hard") }},
		{"move a file outside", func() error {
			if err := put("moved"); err != nil {
				return err
			}
			return os.Rename("moved", a.outside+"/moved")
		}},
		{"change a start-up file", func() error { return put(a.home + "/.bashrc") }},
		{"make a key that may log in", func() error { return put(a.home + "/.ssh/authorized_keys") }},
		{"make a service of the user", func() error { return put(a.home + "/.config/autostart/x.desktop") }},
		{"change the agent's settings", func() error { return put(a.home + "/.claude/settings.json") }},
		{"change the policy", func() error { return put(a.state + "/policy/settings.yaml") }},
		{"change the log", func() error { return put(a.state + "/sessions/x") }},
		{"read the key of the log", func() error { return read(a.state + "/key") }},
		{"change a git hook", func() error { return put(".git/hooks/post-checkout") }},
		{"replace the folder of git hooks", func() error { return os.Rename(".git/hooks", ".git/hooks.old") }},
		{"replace the repository", func() error { return os.Rename(".git", ".git.old") }},
		{"give the repository other settings", func() error { return put(".git/commondir") }},
		{"remove what keeps others from being given", func() error { return os.Remove(".git/commondir") }},
		{"make a repository of a module", func() error { return os.MkdirAll(".git/modules/x/hooks", 0o755) }},
		{"exchange the repository for another", func() error {
			if err := os.Mkdir("other.git", 0o755); err != nil {
				return err
			}
			return unix.Renameat2(unix.AT_FDCWD, "other.git", unix.AT_FDCWD, ".git", unix.RENAME_EXCHANGE)
		}},
		{"swap a link while reading", func() error { return a.readRace() }},
		{"change the system", func() error { return put("/etc/cron.d/reviewer-test") }},
	}
}

// races is how often a folder and a link change places.
const races = 20000

// race writes through a path of which a folder becomes a link in between.
func (a attempts) race() error {
	defer a.swap("swap", a.outside)()
	for range races {
		_ = put("swap/raced.txt")
	}
	if _, err := os.Stat(a.outside + "/raced.txt"); err == nil {
		return nil
	}
	return fmt.Errorf("%d times", races)
}

// readRace reads through such a path.
func (a attempts) readRace() error {
	defer a.swap("keys", a.home+"/.ssh")()
	_ = put("keys/id_ed25519") // it may be the link now
	for range races {
		if b, err := os.ReadFile("keys/id_ed25519"); err == nil && !strings.HasPrefix(string(b), "escaped") {
			return nil
		}
	}
	return fmt.Errorf("%d times", races)
}

// swap lets a folder and a link to a target change places, over and over.
func (a attempts) swap(name, target string) (stop func()) {
	fail(errors.Join(os.Mkdir(name, 0o755), os.Symlink(target, name+".link")))
	return exchange(name, name+".link")
}

// exchange lets two names change places, over and over. stop returns after the last time: the names may be relative,
// and the next attempt may change the working directory.
func exchange(one, other string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				fail(unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE))
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (a attempts) processes() []attempt {
	proc := "/proc/" + strconv.Itoa(a.pid)
	return []attempt{
		{"read the environment of another process", func() error { return read(proc + "/environ") }},
		{"read the environment of a process of a daemon", func() error {
			cmd := exec.Command("sh", "-c", "(setsid cat "+proc+"/environ > environ 2>&1; echo >> environ.done) & ")
			fail(cmd.Run())
			exists("environ.done")
			if b, _ := os.ReadFile("environ"); !strings.Contains(string(b), "SECRET=") {
				return errors.New("nothing was read")
			}
			return nil
		}},
		{"take a file from another process", func() error {
			fd, err := unix.PidfdOpen(a.pid, 0)
			if err == nil {
				_, err = unix.PidfdGetfd(fd, 1, 0)
			}
			return err
		}},
		{"read the memory of another process", func() error { return read(proc + "/mem") }},
		{"open the root of another process", func() error { return read(proc + "/root" + a.outside + "/notes.txt") }},
		{"trace another process", func() error { return syscall.PtraceAttach(a.pid) }},
		{"trace a child", func() error {
			runtime.LockOSThread()
			cmd := exec.Command("true")
			cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
			return cmd.Start()
		}},
		{"write the memory of another process", func() error {
			b := []byte{0}
			_, err := unix.ProcessVMWritev(a.pid, []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{{Base: 4096, Len: 1}}, 0)
			return err
		}},
		{"signal a process outside", func() error { return syscall.Kill(a.pid, syscall.SIGCONT) }},
		{"signal the supervisor from a new session", func() error {
			cmd := exec.Command("kill", "-CONT", strconv.Itoa(a.pid))
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			return cmd.Run()
		}},
		{"limit a process outside", func() error {
			return unix.Prlimit(a.pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1000, Max: 1000}, nil)
		}},
		{"type into the terminal", func() error {
			b := byte('x')
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&b)))
			return zero(errno)
		}},
	}
}

func zero(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

func (a attempts) kernel() []attempt {
	call := func(number uintptr, args ...uintptr) func() error {
		return func() error {
			args := append(args, 0, 0, 0)
			_, _, errno := unix.Syscall(number, args[0], args[1], args[2])
			return zero(errno)
		}
	}
	return []attempt{
		{"mount a file system", func() error { return unix.Mount("none", ".", "tmpfs", 0, "") }},
		{"make a user namespace", func() error { return inThread(func() error { return unix.Unshare(unix.CLONE_NEWUSER) }) }},
		{"clone into a user namespace", func() error {
			cmd := exec.Command("true")
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
			return cmd.Run()
		}},
		{"enter another network", func() error {
			f, err := os.Open("/proc/" + strconv.Itoa(a.pid) + "/ns/net")
			if err != nil {
				return err
			}
			return inThread(func() error { return unix.Setns(int(f.Fd()), 0) })
		}},
		{"run code in the kernel", call(unix.SYS_BPF, 0, 0, 0)},
		{"use io_uring", call(unix.SYS_IO_URING_SETUP, 1, 0)},
		{"gain privileges by a program of root", func() error {
			out, err := exec.Command("sh", "-c", "grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status").Output()
			if err == nil && strings.Contains(string(out), "CapEff:\t0000000000000000") && strings.Contains(string(out), "NoNewPrivs:\t1") {
				return errors.New("no program gets any")
			}
			return err
		}},
	}
}

// inThread keeps a change of a thread from the others.
func inThread(do func() error) error {
	err := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with it
		err <- do()
	}()
	return <-err
}

func dial(network, address string) error {
	conn, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if strings.HasPrefix(network, "udp") {
		_, err = conn.Write([]byte("escaped"))
	}
	return err
}

func (a attempts) network() []attempt {
	return []attempt{
		{"connect past the proxy", func() error { return dial("tcp4", "198.51.100.1:443") }},
		{"connect past the proxy by IPv6", func() error { return dial("tcp6", "[2001:db8::1]:443") }},
		{"connect to a service of this machine", func() error { return dial("tcp4", "127.0.0.1:"+a.port) }},
		{"send by UDP", func() error { return dial("udp4", "198.51.100.1:53") }},
		{"look a name up", func() error { _, err := net.LookupHost("example.com"); return err }},
		{"open a raw socket", func() error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP); return err }},
		{"open a packet socket", func() error { _, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0); return err }},
		{"open a socket between machines", func() error { _, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0); return err }},
		{"ask the proxy for another host", func() error { return a.through("example.com:443") }},
		{"ask the proxy for a metadata service", func() error { return a.through("169.254.169.254:80") }},
		{"ask the proxy for this machine", func() error { return a.through("127.0.0.1:" + a.port) }},
	}
}

// through asks the proxy for a connection.
func (a attempts) through(host string) error {
	conn, err := net.Dial("tcp", strings.TrimPrefix(os.Getenv("HTTPS_PROXY"), "http://"))
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
	line := make([]byte, 12)
	if _, err := io.ReadFull(conn, line); err != nil || string(line) == "HTTP/1.1 200" {
		return err
	}
	return errors.New(string(line))
}

func (a attempts) sockets() []attempt {
	return []attempt{
		{"connect to docker", func() error { return dial("unix", a.outside+"/docker.sock") }},
		{"connect to docker through the root of a process", func() error { return dial("unix", "/proc/self/root"+a.outside+"/docker.sock") }},
		{"connect to D-Bus", func() error { return dial("unix", a.outside+"/bus") }},
		{"connect to an abstract socket", func() error { return dial("unix", "@"+a.outside) }},
		{"connect to a socket that is made during the run", func() error {
			fail(put("start"))
			if exists(a.outside + "/late.sock") {
				return dial("unix", a.outside+"/late.sock")
			}
			return nil // the test is broken
		}},
		{"connect to it through a link", func() error {
			fail(os.Symlink(a.outside+"/late.sock", "link.sock"))
			return dial("unix", "link.sock")
		}},
		{"use the ssh agent", func() error {
			if at := os.Getenv("SSH_AUTH_SOCK"); at != "" {
				return dial("unix", at)
			}
			return errors.New("SSH_AUTH_SOCK is not set")
		}},
		{"use the ssh agent at its place", func() error { return dial("unix", a.outside+"/agent.sock") }},
		{"use a secret of the environment", func() error {
			if os.Getenv("GITHUB_TOKEN") != "" {
				return nil
			}
			return errors.New("GITHUB_TOKEN is not set")
		}},
		{"put a socket in the place of the resident process", func() error {
			path := filepath.Join(a.state, "run/hook.sock")
			if err := os.Remove(path); err != nil {
				return err
			}
			_, err := net.Listen("unix", path)
			return err
		}},
		{"send to a socket of the system's log", func() error { return dial("unixgram", "/dev/log") }},
		{"run in 32 bits", thirtyTwoBits},
	}
}

// thirtyTwoBits starts a program for another kind of processor, whose system calls have other numbers.
func thirtyTwoBits() error {
	// It calls exit(0) through interrupt 0x80.
	code := []byte{0xb8, 1, 0, 0, 0, 0x31, 0xdb, 0xcd, 0x80}
	header := make([]byte, 84)
	copy(header, "\x7fELF\x01\x01\x01")
	for at, v := range map[int]uint32{16: 2 | 3<<16, 20: 1, 24: 0x08048054, 28: 52, 52: 1, 60: 0x08048000, 64: 0x08048000, 68: 93, 72: 93, 76: 5, 80: 0x1000} {
		binary.LittleEndian.PutUint32(header[at:], v)
	}
	binary.LittleEndian.PutUint16(header[40:], 52)
	binary.LittleEndian.PutUint16(header[42:], 32)
	binary.LittleEndian.PutUint16(header[44:], 1)
	if err := os.WriteFile("small", append(header, code...), 0o755); err != nil {
		return err
	}
	return exec.Command("./small").Run()
}
