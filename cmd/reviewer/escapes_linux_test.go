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

	"golang.org/x/sys/unix"
)

// escapes is the program that tries to get out of a run.
func escapes() map[string]func() { return map[string]func(){"escape": asEscape} }

// asEscape makes every attempt, and prints one line for each: `escape OUTSIDE PID PORT SOCKET`. OUTSIDE is a folder
// next to the workspace, PID a process outside with the variable SECRET, PORT one of this machine at which somebody
// listens, SOCKET a socket with a path outside.
func asEscape() {
	a := attempts{outside: os.Args[1], port: os.Args[3], socket: os.Args[4], home: os.Getenv("HOME"), state: os.Getenv("REVIEWER_HOME")}
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
	outside, port, socket, home, state string
	pid                                int
}

type attempt struct {
	name string
	try  func() error // nil: it got out
}

func (a attempts) list() []attempt {
	return slices.Concat(a.files(), a.processes(), a.kernel(), a.network(), a.sockets())
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
		{"change the system", func() error { return put("/etc/cron.d/reviewer-test") }},
	}
}

// race writes through a path of which a folder becomes a link in between.
func (a attempts) race() error {
	for range 200 {
		_ = os.RemoveAll("swap")
		if err := os.Mkdir("swap", 0o755); err != nil {
			return err
		}
		go func() { _ = os.Remove("swap"); _ = os.Symlink(a.outside, "swap") }()
		_ = put("swap/raced.txt")
		runtime.Gosched()
		if _, err := os.Stat(a.outside + "/raced.txt"); err == nil {
			return nil
		}
	}
	return errors.New("200 times")
}

func (a attempts) processes() []attempt {
	proc := "/proc/" + strconv.Itoa(a.pid)
	return []attempt{
		{"read the environment of another process", func() error { return read(proc + "/environ") }},
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
		{"connect to docker", func() error { return dial("unix", "/var/run/docker.sock") }},
		{"connect to D-Bus", func() error { return dial("unix", "/run/dbus/system_bus_socket") }},
		{"connect to a socket of another program", func() error { return dial("unix", a.socket) }},
		{"use the ssh agent", func() error {
			if at := os.Getenv("SSH_AUTH_SOCK"); at != "" {
				return dial("unix", at)
			}
			return errors.New("SSH_AUTH_SOCK is not set")
		}},
		{"use a secret of the environment", func() error {
			if os.Getenv("GITHUB_TOKEN") != "" {
				return nil
			}
			return errors.New("GITHUB_TOKEN is not set")
		}},
		{"put a socket in the place of the resident process", func() error {
			path := filepath.Join(a.state, "run/hook.sock")
			_ = os.Remove(path)
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
