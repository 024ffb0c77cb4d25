package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// mounts changes what this process's namespace shows. Other processes are not affected.
func (p Plan) mounts() error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working directory of the run: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separate the mounts of the run: %w", err)
	}
	if err := p.freeze(); err != nil {
		return err
	}
	for _, path := range p.Pinned { // the kernel renames no place of a mount
		if err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
	}
	for _, path := range p.Protected {
		if err := readOnly(path); err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
	}
	if err := p.empty(); err != nil {
		return err
	}
	return os.Chdir(dir) // it may be on another mount now
}

// empty mounts the folders that have nothing in them at the start of the run.
func (p Plan) empty() error {
	for _, path := range p.Masked {
		if err := unix.Mount("none", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_RDONLY, "size=4k,mode=755"); err != nil {
			return fmt.Errorf("empty %s: %w", path, err)
		}
	}
	for _, path := range p.Own {
		if err := separate(path); err != nil {
			return fmt.Errorf("separate %s: %w", path, err)
		}
	}
	return nil
}

// separate gives the run an empty folder of the same kind: one for files in memory, or for terminals.
func separate(path string) error {
	var is unix.Statfs_t
	if err := unix.Statfs(path, &is); err != nil {
		return err
	}
	if is.Type != unix.DEVPTS_SUPER_MAGIC {
		return unix.Mount("none", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
	}
	return unix.Mount("none", path, "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=620,ptmxmode=666")
}

// readOnly makes a file or folder unchangeable.
func readOnly(path string) error {
	if err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// freeze makes everything unchangeable but what is below Plan.Write. Landlock does not limit who changes the
// permissions, owners, times and extended attributes of a file.
func (p Plan) freeze() error {
	trees := map[string]int{} // copies that stay changeable
	for _, path := range p.Write {
		fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
			continue // the run cannot reach it either
		}
		if err != nil {
			return fmt.Errorf("keep %s changeable: %w", path, err)
		}
		trees[path] = fd
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make what is outside unchangeable: %w", err)
	}
	for path, fd := range trees {
		err := unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
		if err = errors.Join(err, unix.Close(fd)); err != nil {
			return fmt.Errorf("keep %s changeable: %w", path, err)
		}
	}
	return nil
}

// network opens the sockets of the run's own network, and passes them to the supervisor.
func (p Plan) network(give func(files ...int) error) error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("create the network of the run: %w", err)
	}
	addresses := append([]string{net.JoinHostPort("127.0.0.1", strconv.Itoa(int(p.Proxy)))}, p.Loopback...)
	var files []int
	for _, address := range addresses {
		fd, err := listen(address)
		if err != nil {
			return fmt.Errorf("listen at %s in the network of the run: %w", address, err)
		}
		files = append(files, fd)
	}
	asks, err := newSockets()
	if err != nil {
		return fmt.Errorf("ask about the sockets of the run: %w", err)
	}
	files = append(files, asks)
	if err := give(files...); err != nil {
		return err
	}
	for _, fd := range files {
		_ = unix.Close(fd) // the supervisor has it
	}
	return nil
}

// loopbackUp turns the loopback interface on: the only one that the network has.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

func listen(address string) (int, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0, err
	}
	ip := net.ParseIP(host)
	family, to := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(number), Addr: [16]byte(ip.To16())})
	if four := ip.To4(); four != nil {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Port: int(number), Addr: [4]byte(four)}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(unix.Bind(fd, to), unix.Listen(fd, syscall.SOMAXCONN)); err != nil {
		return 0, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}
