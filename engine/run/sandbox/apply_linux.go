package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// Apply permanently confines this process, according to the plan that Order encoded. The command must then
// be started by the same thread: system call filters belong to a thread.
func Apply(raw []byte, give func(files ...int) error) error {
	runtime.LockOSThread()
	var p Plan
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("read the plan of the confinement: %w", err)
	}
	// Whoever started the supervisor may have left files open for it. The command gets its three streams.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close the files of others: %w", err)
	}
	if p.Namespaces {
		if err := errors.Join(p.mounts(), p.network(give)); err != nil {
			return err
		}
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	if err := p.files(); err != nil {
		return err
	}
	return p.filter(give)
}

// dropPrivileges drops all capabilities, including those that root's programs have automatically.
func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("drop privileges: %w", err)
	}
	const noRoot, noRootLocked = 1 << 0, 1 << 1
	for c := range uintptr(64) {
		if unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) != nil {
			break // there are no more, or this process has none
		}
	}
	_ = unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked, 0, 0, 0) // refused to those who are not root anyway
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// What Landlock calls the rights of a run.
const (
	readDir  = 1 << 3 // LANDLOCK_ACCESS_FS_READ_DIR
	execute  = 1 << 0 // LANDLOCK_ACCESS_FS_EXECUTE
	readFile = 1 << 2 // LANDLOCK_ACCESS_FS_READ_FILE
)

// files limits which files can be reached, and which processes get signals.
func (p Plan) files() error {
	// In a network of its own, a process may connect to anything.
	config, rules := landlock.MustConfig(landlock.AccessFSSet(allFS), landlock.ScopedSet(allScopes)), p.rules()
	if !p.Namespaces && p.Proxy != 0 {
		config = landlock.MustConfig(landlock.AccessFSSet(allFS), landlock.AccessNetSet(connectTCP), landlock.ScopedSet(allScopes))
		rules = append(rules, landlock.ConnectTCP(p.Proxy))
	}
	if !p.Exact {
		config = config.BestEffort()
	}
	if err := config.Restrict(rules...); err != nil {
		return fmt.Errorf("limit the files of the run: %w", err)
	}
	return nil
}

// allFS are the rights to files, and allScopes the limits between processes, of version 6.
const (
	allFS      = 1<<16 - 1
	allScopes  = 1<<2 - 1
	connectTCP = 1 << 1 // LANDLOCK_ACCESS_NET_CONNECT_TCP
)

func (p Plan) rules() []landlock.Rule {
	var rules []landlock.Rule
	for _, path := range p.Read {
		for _, one := range without(path, p.Hidden) {
			rules = append(rules, landlock.PathAccess(allowed(one, execute|readFile|readDir), one).IgnoreIfMissing())
		}
		if path == "/" {
			rules = append(rules, landlock.PathAccess(readDir, path)) // names are visible there
		}
	}
	for _, path := range p.Write {
		rules = append(rules, landlock.PathAccess(allowed(path, allFS), path).IgnoreIfMissing())
	}
	for _, path := range p.Devices {
		rules = append(rules, landlock.PathAccess(allowed(path, allFS&^execute), path).IgnoreIfMissing())
	}
	for fd := range 3 { // a terminal that is not in the run's own folder of terminals
		if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
			rules = append(rules, landlock.PathAccess(allowed("/dev/null", allFS&^execute), "/proc/self/fd/"+strconv.Itoa(fd)))
		}
	}
	return rules
}

// allowed keeps the rights that a file can have, if a path is none of a folder.
func allowed(path string, rights landlock.AccessFSSet) landlock.AccessFSSet {
	const ofFiles = 1<<0 | 1<<1 | 1<<2 | 1<<14 | 1<<15 // execute, write, read, truncate, ioctl
	var stat unix.Stat_t
	if unix.Stat(path, &stat) == nil && stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return rights & ofFiles
	}
	return rights
}
