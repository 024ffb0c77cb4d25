package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Where the kernel puts what a filter sees of a system call. The processors that are supported store the
// low half of a number first.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// condition is one about an argument: its low half, masked, is or is not a number.
type condition struct {
	arg  uint32
	mask uint32 // 0: all of it
	is   uint32
	not  bool
}

// rule is what happens to a system call if all conditions hold.
type rule struct {
	number     uintptr
	conditions []condition
	action     uint32
}

// instructions check one rule: on to the next one if it does not apply.
func (r rule) instructions() []bpf.Instruction {
	body := []bpf.Instruction{}
	for _, c := range r.conditions {
		body = append(body, bpf.LoadAbsolute{Off: offArgs + 8*c.arg, Size: 4})
		if c.mask != 0 {
			body = append(body, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: c.mask})
		}
		body = append(body, nil) // a jump, below
	}
	body = append(body, bpf.RetConstant{Val: r.action})
	n := 0
	for i := range body {
		if body[i] == nil {
			body[i] = r.conditions[n].jump(uint8(len(body) - i - 1))
			n++
		}
	}
	head := []bpf.Instruction{bpf.LoadAbsolute{Off: offNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(r.number), SkipTrue: uint8(len(body))}}
	return append(head, body...)
}

// jump skips the rest of a rule if the condition does not hold.
func (c condition) jump(skip uint8) bpf.Instruction {
	if c.not {
		return bpf.JumpIf{Cond: bpf.JumpEqual, Val: c.is, SkipTrue: skip}
	}
	return bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: c.is, SkipTrue: skip}
}

func refuse(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// program is the whole filter. Programs for another architecture are killed: their numbers mean other calls.
func program(rules []rule) ([]bpf.RawInstruction, error) {
	list := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: otherABI, SkipTrue: 1},
		bpf.RetConstant{Val: refuse(unix.ENOSYS)},
	}
	for _, r := range rules {
		list = append(list, r.instructions()...)
	}
	return bpf.Assemble(append(list, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}))
}

// otherABI is where the numbers of the x32 interface begin; others have none as high.
const otherABI = 0x40000000

// newNamespaces are the flags with which clone and unshare make namespaces.
func newNamespaces() []uint32 {
	return []uint32{unix.CLONE_NEWNS, unix.CLONE_NEWCGROUP, unix.CLONE_NEWUTS, unix.CLONE_NEWIPC, unix.CLONE_NEWUSER, unix.CLONE_NEWPID,
		unix.CLONE_NEWNET}
}

// filterRules returns the rules of a plan. The supervisor is told what is refused, if it watches.
func (p Plan) filterRules() []rule {
	told := refuse(unix.EPERM)
	if p.Watch {
		told = unix.SECCOMP_RET_USER_NOTIF
	}
	var rules []rule
	for number := range refused() {
		rules = append(rules, rule{number, nil, told})
	}
	for _, number := range []uintptr{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_OPENAT2} {
		rules = append(rules, rule{number, nil, refuse(unix.ENOSYS)}) // programs then do without
	}
	// What it reserves is in no process's account of what it wrote. Without it, programs write.
	rules = append(rules, rule{unix.SYS_FALLOCATE, nil, refuse(unix.EOPNOTSUPP)})
	for _, flag := range newNamespaces() {
		rules = append(rules, rule{unix.SYS_CLONE, []condition{{arg: 0, mask: flag, is: flag}}, told},
			rule{unix.SYS_UNSHARE, []condition{{arg: 0, mask: flag, is: flag}}, told})
	}
	rules = append(rules,
		rule{unix.SYS_IOCTL, []condition{{arg: 1, is: unix.TIOCSTI}}, told},
		rule{unix.SYS_IOCTL, []condition{{arg: 1, is: tiocLinux}}, told},
		rule{unix.SYS_PRLIMIT64, []condition{{arg: 0, is: 0, not: true}}, told})
	// A program that runs with its owner's rights gives them to everybody outside, too.
	for _, call := range setModes() {
		is := []condition{{arg: call.mode, mask: unix.S_ISUID, is: unix.S_ISUID}}
		if !call.always {
			is = append(is, condition{arg: call.flags, mask: unix.O_CREAT, is: unix.O_CREAT})
		}
		rules = append(rules, rule{call.number, is, refuse(unix.EPERM)})
	}
	for number := range checked() {
		own := []condition{{arg: checkedArg(number), is: 0, not: true}}
		rules = append(rules, rule{number, own, told})
	}
	for _, number := range []uintptr{unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET} { // of a group, or a user
		is := map[uintptr]uint32{unix.SYS_SETPRIORITY: unix.PRIO_PROCESS, unix.SYS_IOPRIO_SET: 1}[number]
		rules = append(rules, rule{number, []condition{{arg: 0, is: is, not: true}}, told})
	}
	return append(rules, p.socketRules(told)...)
}

// tiocLinux is TIOCLINUX, with which text is put into a console.
const tiocLinux = 0x541c

// socketRules leave streams of the internet and between processes.
func (p Plan) socketRules(told uint32) []rule {
	const kind = 0xf // of the type of a socket: the rest are flags
	is := func(family, typ uint32) []condition {
		return []condition{{arg: 0, is: family}, {arg: 1, mask: kind, is: typ}}
	}
	rules := []rule{
		{unix.SYS_SOCKET, is(unix.AF_INET, unix.SOCK_RAW), told},
		{unix.SYS_SOCKET, is(unix.AF_INET6, unix.SOCK_RAW), told},
		// Each message that they send can have another address. The kernel makes the same of both types.
		{unix.SYS_SOCKET, is(unix.AF_UNIX, unix.SOCK_DGRAM), refuse(unix.EACCES)},
		{unix.SYS_SOCKET, is(unix.AF_UNIX, unix.SOCK_RAW), refuse(unix.EACCES)},
		{unix.SYS_SOCKETPAIR, is(unix.AF_UNIX, unix.SOCK_DGRAM), refuse(unix.EACCES)},
		{unix.SYS_SOCKETPAIR, is(unix.AF_UNIX, unix.SOCK_RAW), refuse(unix.EACCES)},
		{unix.SYS_SOCKET, []condition{{arg: 0, is: unix.AF_NETLINK}, {arg: 2, is: unix.NETLINK_ROUTE, not: true}}, told},
		{unix.SYS_SOCKET, []condition{{arg: 0, is: unix.AF_UNIX, not: true}, {arg: 0, is: unix.AF_INET, not: true},
			{arg: 0, is: unix.AF_INET6, not: true}, {arg: 0, is: unix.AF_NETLINK, not: true}}, told},
	}
	if !p.Namespaces && p.Proxy != 0 {
		rules = append(rules, rule{unix.SYS_SOCKET, is(unix.AF_INET, unix.SOCK_DGRAM), refuse(unix.EACCES)},
			rule{unix.SYS_SOCKET, is(unix.AF_INET6, unix.SOCK_DGRAM), refuse(unix.EACCES)},
			// Landlock does not limit this kind of TCP.
			rule{unix.SYS_SOCKET, []condition{{arg: 2, is: unix.IPPROTO_MPTCP}}, refuse(unix.EPROTONOSUPPORT)})
	}
	if p.Watch {
		rules = append(rules, rule{unix.SYS_CONNECT, nil, unix.SECCOMP_RET_USER_NOTIF})
	}
	if p.Proof != 0 {
		asked := []condition{{arg: 0, is: proofOption}, {arg: 1, is: uint32(p.Proof)}, {arg: 2, is: uint32(p.Proof >> 32)}}
		rules = append(rules, rule{unix.SYS_PRCTL, asked, refuse(unix.ENOTNAM)})
	}
	return rules
}

// proofOption is an option of prctl that no kernel has. The filter answers it with ENOTNAM if the arguments are
// the halves of Plan.Proof: so a process knows that it is confined by this program, since nothing that runs in
// the confinement, or next to it, can have installed a filter that it inherited. The client of hooks asks it.
const proofOption = 0x72767772

// filter installs the filter, and passes the supervisor what tells it of system calls.
func (p Plan) filter(give func(files ...int) error) error {
	raw, err := program(p.filterRules())
	if err != nil {
		return fmt.Errorf("limit the system calls of the run: %w", err)
	}
	filters := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filters[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filters)), Filter: &filters[0]}
	flags := uintptr(0)
	if p.Watch {
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("limit the system calls of the run: %w", errno)
	}
	if !p.Watch {
		return nil
	}
	return errors.Join(give(int(fd)), unix.Close(int(fd)))
}
