package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// connect answers a call of connect. The kernel does not decide about the address that the process passed: another thread
// could change it after it was read here. Instead, the supervisor copies it, checks it, takes the socket and connects it. Whatever
// it cannot find out is refused.
func (w *watcher) connect(c *call) verdict {
	d := Denial{Pid: int(c.pid), Program: programOf(c.pid), What: "connect", Refused: true}
	refused := verdict{id: c.id, errno: -int32(unix.EACCES)}
	raw, err := w.argument(c)
	if err != nil {
		w.tell(d)
		return refused
	}
	socket, err := socketOf(c)
	if err != nil {
		if !errors.Is(err, unix.EBADF) && !errors.Is(err, unix.ENOTSOCK) {
			w.tell(d)
		}
		return refused
	}
	defer unix.Close(socket)
	family, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	named := unix.AF_UNSPEC
	if len(raw) >= 2 {
		named = int(binary.NativeEndian.Uint16(raw))
	}
	var to string
	switch {
	case err != nil:
	case family == unix.AF_UNIX && named == unix.AF_UNIX && len(raw) > 2 && raw[2] != 0:
		return w.connectPath(c, d, socket, raw[2:])
	case family == unix.AF_UNIX: // abstract, which Landlock limits for the process, and the network for both; or without a name
		if !w.plan.Namespaces && named == unix.AF_UNIX {
			w.tell(d)
			return refused
		}
		return w.result(c, socket, raw)
	case family == unix.AF_INET, family == unix.AF_INET6:
		var ours bool
		if to, ours = w.address(raw); to == "" || ours {
			return w.result(c, socket, raw)
		}
		if d.Target = to; w.plan.Namespaces { // the network leads nowhere, and says so
			d.Refused = false
			w.tell(d)
			return w.result(c, socket, raw)
		}
	case family == unix.AF_NETLINK:
		return w.result(c, socket, raw)
	}
	w.tell(d)
	return refused
}

// result connects a socket of the process.
func (w *watcher) result(c *call, socket int, address []byte) verdict {
	return verdict{id: c.id, errno: -int32(connectRaw(socket, address))}
}

// address is where a connection of the internet leads, and whether it stays inside: in the run's own network, or with its proxy.
func (w *watcher) address(raw []byte) (to string, ours bool) {
	if len(raw) < 8 {
		return "", true
	}
	port := binary.BigEndian.Uint16(raw[2:])
	var ip netip.Addr
	switch binary.NativeEndian.Uint16(raw) {
	case unix.AF_INET:
		ip = netip.AddrFrom4([4]byte(raw[4:8]))
	case unix.AF_INET6:
		if len(raw) >= 24 {
			ip = netip.AddrFrom16([16]byte(raw[8:24])).Unmap()
		}
	}
	if !ip.IsValid() {
		return "", true
	}
	ours = ip.IsLoopback() || port == 0
	if !w.plan.Namespaces {
		ours = ip.IsLoopback() && port == w.plan.Proxy
	}
	return net.JoinHostPort(ip.String(), strconv.Itoa(int(port))), ours
}

// connectPath connects to a socket with a path, if a process of the run made it. The client of hooks may connect to the
// process that answers them, itself: that process asks the kernel who did.
func (w *watcher) connectPath(c *call, d Denial, socket int, raw []byte) verdict {
	name, _, _ := bytes.Cut(raw, []byte{0})
	d.Target = string(name)
	at, err := openAt(c.pid, d.Target)
	if err != nil {
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
			return verdict{id: c.id, errno: -int32(unix.ENOENT)}
		}
		w.tell(d)
		return verdict{id: c.id, errno: -int32(unix.EACCES)}
	}
	defer unix.Close(at)
	switch {
	case w.answersHooks(at) && filepath.IsAbs(d.Target) && w.isClient(c.pid):
		return verdict{id: c.id, flags: letRun}
	case w.madeInside(c.pid, at):
		self := append(binary.NativeEndian.AppendUint16(nil, unix.AF_UNIX), "/proc/self/fd/"+strconv.Itoa(at)+"\x00"...)
		return w.result(c, socket, self)
	}
	w.tell(d)
	return verdict{id: c.id, errno: -int32(unix.EACCES)}
}

// answersHooks reports whether a file is the socket of the process that answers hooks.
func (w *watcher) answersHooks(fd int) bool {
	var is, want unix.Stat_t
	return w.plan.Hooks != "" && unix.Fstat(fd, &is) == nil && unix.Stat(w.plan.Hooks, &want) == nil &&
		is.Dev == want.Dev && is.Ino == want.Ino
}

// isClient reports whether a process runs the client of hooks. Nothing else in the run can change its memory, so what it
// passed to the kernel stays as it was read here, and the run cannot change a folder that leads to the socket.
func (w *watcher) isClient(pid uint32) bool {
	var is unix.Stat_t
	if unix.Stat(procOf(pid)+"/exe", &is) != nil {
		return false
	}
	return slices.ContainsFunc(w.plan.Clients, func(program string) bool {
		var want unix.Stat_t
		return unix.Stat(program, &want) == nil && is.Dev == want.Dev && is.Ino == want.Ino
	})
}

// madeInside reports whether a process of the run made a socket. With a network of its own, the kernel knows: sockets belong to the
// network that they were made in.
func (w *watcher) madeInside(pid uint32, fd int) bool {
	if !w.plan.Namespaces {
		path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		return err == nil && slices.ContainsFunc(w.plan.UnixPaths, func(dir string) bool { return Within(path, dir) })
	}
	var s unix.Stat_t
	if unix.Fstat(fd, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return false
	}
	device, err := deviceOf(pid, fd)
	if err != nil {
		return false
	}
	bound, err := w.sockets.bound()
	return err == nil && slices.Contains(bound, boundAt{uint32(s.Ino), device})
}

// openAt finds a path as a process does, without opening what is there. Links in /proc lead elsewhere for every process,
// so that paths with them are refused.
func openAt(pid uint32, path string) (int, error) {
	if !filepath.IsAbs(path) {
		dir, err := os.Readlink(procOf(pid) + "/cwd")
		if err != nil {
			return -1, err
		}
		path = strings.TrimSuffix(dir, "/") + "/" + path // not cleaned: a folder before .. can be a link
	}
	root, err := unix.Open(procOf(pid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	return unix.Openat2(root, path, &how)
}

// deviceOf returns the number of the file system that a file is on. What stat says differs from it for some systems.
func deviceOf(pid uint32, fd int) (uint32, error) {
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return 0, err
	}
	mount := ""
	for line := range strings.Lines(string(info)) {
		if id, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			mount = strings.TrimSpace(id)
		}
	}
	list, err := os.ReadFile(procOf(pid) + "/mountinfo")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(list)) {
		words := strings.SplitN(line, " ", 4)
		if len(words) < 4 || words[0] != mount {
			continue
		}
		major, minor, _ := strings.Cut(words[2], ":")
		high, err := strconv.ParseUint(major, 10, 12)
		low, err2 := strconv.ParseUint(minor, 10, 20)
		return uint32(high<<20 | low), errors.Join(err, err2)
	}
	return 0, errors.New("its mount is unknown")
}

func procOf(pid uint32) string { return "/proc/" + strconv.Itoa(int(pid)) }
