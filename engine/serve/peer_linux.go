package serve

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// peer returns the process at the other end of a socket, if it belongs to this user.
func peer(conn net.Conn) (pid int, err error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	if e := raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); e != nil || err != nil {
		return 0, errors.Join(e, err)
	}
	if int(cred.Uid) != os.Geteuid() {
		return 0, errors.New("the client belongs to another user")
	}
	return int(cred.Pid), nil
}
