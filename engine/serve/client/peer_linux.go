package client

import (
	"strconv"
	"syscall"
)

// believed returns why the process at the other end of a socket is not the
// installed program of this user; empty if it is. Any program of the user could
// have bound the socket, and answer "allow".
func believed(fd int, program string) string {
	peer, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return "the process behind the socket is unknown"
	}
	if int(peer.Uid) != syscall.Geteuid() && peer.Uid != 0 {
		return "the socket belongs to another user"
	}
	link := make([]byte, 4096)
	n, err := syscall.Readlink("/proc/"+strconv.Itoa(int(peer.Pid))+"/exe", link)
	if err != nil || string(link[:n]) != program {
		return "the process behind the socket is not " + program
	}
	return ""
}
