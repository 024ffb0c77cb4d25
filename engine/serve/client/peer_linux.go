package client

import (
	"strconv"
	"syscall"
)

// process is one at the other end of a socket that is the installed program.
type process struct{ comm int }

// watch returns why a process is not the installed program, or sees different files from
// this process; empty if it can be trusted. Any program of the user could have bound the
// socket, and answer "allow".
//
// The process that listens is not checked: it could have handed the socket to another
// one, and become the installed program. What counts is the process that wrote the
// greeting: it must be the one that answers with what only this process knows, and
// still be running then.
func watch(pid int32, program string) (process, string) {
	at := "/proc/" + strconv.Itoa(int(pid))
	comm, err := syscall.Open(at+"/comm", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return process{}, "the process behind the socket is unknown"
	}
	if !same(at+"/exe", program) {
		return process{}, "the process behind the socket is not " + program
	}
	if !same(at+"/ns/mnt", "/proc/self/ns/mnt") || !same(at+"/root", "/proc/self/root") {
		return process{}, "the resident process sees different files from the agent"
	}
	return process{comm}, ""
}

// same reports whether two names are of the same file. Names alone prove nothing: in a name
// space of its own, a process can have any file at any place.
func same(a, b string) bool {
	var one, other syscall.Stat_t
	return syscall.Stat(a, &one) == nil && syscall.Stat(b, &other) == nil && one.Dev == other.Dev && one.Ino == other.Ino
}

// alive reports whether the process has not ended: its number could have gone to another.
func (p process) alive() bool {
	n, err := syscall.Read(p.comm, make([]byte, 1))
	return n == 1 && err == nil
}
