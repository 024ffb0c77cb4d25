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
//
// Under `reviewer run` it is different: this process may not look at those outside, and nothing inside can write to
// the state directory, so that whoever listens there is outside. The supervisor has looked at it.
func watch(pid int32, program, home string) (process, string) {
	at := "/proc/" + strconv.Itoa(int(pid))
	comm, err := syscall.Open(at+"/comm", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return process{}, "the process behind the socket is unknown"
	}
	if Proven(Proof(home)) {
		return process{comm}, ""
	}
	if !same(at+"/exe", program) {
		return process{}, "the process behind the socket is not " + program
	}
	if !same(at+"/ns/mnt", "/proc/self/ns/mnt") || !same(at+"/root", "/proc/self/root") {
		return process{}, "the resident process sees different files from the agent"
	}
	return process{comm}, ""
}

// same reports whether two names are of the same file. Names alone tell nothing: in
// a name space of its own, a process can have any file at any place.
func same(a, b string) bool {
	var one, other syscall.Stat_t
	return syscall.Stat(a, &one) == nil && syscall.Stat(b, &other) == nil && one.Dev == other.Dev && one.Ino == other.Ino
}

// alive reports whether the process has not ended: its number could have gone to another.
func (p process) alive() bool {
	n, err := syscall.Read(p.comm, make([]byte, 1))
	return n == 1 && err == nil
}

// proofOption is an option of prctl that no kernel has; see engine/run/sandbox, whose filter answers it.
const proofOption = 0x72767772

// Proven reports whether the filter of system calls that this process inherited answers to a proof. A program that
// runs beside the agent cannot have given the agent one.
func Proven(proof uint64) bool {
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, proofOption, uintptr(uint32(proof)), uintptr(proof>>32))
	return errno == syscall.ENOTNAM
}
