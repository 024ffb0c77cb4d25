package sandbox

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_X86_64

func refusedHere() map[uintptr]string {
	return map[uintptr]string{unix.SYS_IOPL: "iopl", unix.SYS_IOPERM: "ioperm", unix.SYS_MODIFY_LDT: "modify_ldt"}
}

func setModesHere() []modeOf {
	return []modeOf{{unix.SYS_CHMOD, 1, 0, true}, {unix.SYS_MKNOD, 1, 0, true}, {unix.SYS_CREAT, 1, 0, true}, {unix.SYS_OPEN, 2, 1, false}}
}
