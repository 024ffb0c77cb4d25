package client

import (
	"strconv"
	"syscall"
)

// process is the process at the other end of a socket, if it is the installed
// program.
type process struct{ comm int }

// expected contains what the process at the other end of the socket must have in common with
// this one, or with the installed program.
type expected struct {
	program          string
	file, mounts, at identity
}

// identity identifies a file; the zero value identifies none. Names alone prove nothing: in a
// namespace of its own, a process can have any file at any path.
type identity struct{ device, inode uint64 }

// known finds out what is expected of the process that greets.
func known(program string) expected {
	return expected{program, identify(program), identify("/proc/self/ns/mnt"), identify("/proc/self/root")}
}

func identify(name string) identity {
	var s syscall.Stat_t
	if syscall.Stat(name, &s) != nil {
		return identity{}
	}
	return identity{s.Dev, s.Ino}
}

// is reports whether a name refers to the file with an identity.
func (i identity) is(name string) bool { return i != identity{} && identify(name) == i }

// watch returns why a process is not the installed program, or sees different files from
// this process; empty if it can be trusted. Any program of the user could have bound the
// socket, and answer "allow".
//
// The process that listens is not checked: it could have handed the socket to another
// one, and become the installed program. What counts is the process that wrote the
// greeting: it must be the one that answers with what only this process knows, and
// still be running then.
//
// Under `reviewer run` it is different: this process may not examine those outside, and nothing inside can write to
// the state directory, so that whoever listens there is outside. The supervisor has checked it.
func watch(pid int32, want expected, home string) (process, string) {
	at := "/proc/" + strconv.Itoa(int(pid))
	comm, err := syscall.Open(at+"/comm", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return process{}, "the process behind the socket is unknown"
	}
	if Proven(Proof(home)) {
		return process{comm}, ""
	}
	if !want.file.is(at + "/exe") {
		return process{}, "the process behind the socket is not " + want.program
	}
	if !want.mounts.is(at+"/ns/mnt") || !want.at.is(at+"/root") {
		return process{}, "the resident process sees different files from the agent"
	}
	return process{comm}, ""
}

// alive reports whether the process has not ended: its number could have gone to another.
func (p process) alive() bool {
	n, err := syscall.Read(p.comm, make([]byte, 1))
	return n == 1 && err == nil
}

// proofOption is an option of prctl that no kernel has; see engine/run/sandbox, whose filter answers it.
const proofOption = 0x72767772

// Proven reports whether the filter of system calls that this process inherited answers to a proof. A program that
// runs next to the agent cannot have given the agent one.
func Proven(proof uint64) bool {
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, proofOption, uintptr(uint32(proof)), uintptr(proof>>32))
	return errno == syscall.ENOTNAM
}

// Maker returns the process that made the socket which a file descriptor refers to, as the kernel says: a program makes a
// pair of them for another one that it starts. 0: it is something else.
func Maker(fd int) int {
	if fd > 2 {
		syscall.CloseOnExec(fd) // it was passed on for this only
	}
	who, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil || who.Pid <= 0 {
		return 0
	}
	return int(who.Pid)
}
