package sandbox

import "golang.org/x/sys/unix"

// refused are the system calls that no process of a run may make, with their names: access
// to other processes, to other mounts and namespaces, and into the kernel.
func refused() map[uintptr]string {
	calls := map[uintptr]string{
		unix.SYS_PTRACE: "ptrace", unix.SYS_PROCESS_VM_READV: "process_vm_readv", unix.SYS_PROCESS_VM_WRITEV: "process_vm_writev",
		unix.SYS_PIDFD_GETFD: "pidfd_getfd", unix.SYS_KCMP: "kcmp",
		unix.SYS_MOUNT: "mount", unix.SYS_UMOUNT2: "umount2", unix.SYS_PIVOT_ROOT: "pivot_root", unix.SYS_CHROOT: "chroot",
		unix.SYS_MOVE_MOUNT: "move_mount",
		unix.SYS_OPEN_TREE:  "open_tree", unix.SYS_FSOPEN: "fsopen", unix.SYS_FSCONFIG: "fsconfig", unix.SYS_FSMOUNT: "fsmount",
		unix.SYS_FSPICK:        "fspick",
		unix.SYS_MOUNT_SETATTR: "mount_setattr", unix.SYS_SETNS: "setns", unix.SYS_OPEN_BY_HANDLE_AT: "open_by_handle_at",
		unix.SYS_BPF: "bpf", unix.SYS_PERF_EVENT_OPEN: "perf_event_open", unix.SYS_USERFAULTFD: "userfaultfd",
		unix.SYS_KEYCTL: "keyctl", unix.SYS_ADD_KEY: "add_key", unix.SYS_REQUEST_KEY: "request_key",
		unix.SYS_INIT_MODULE: "init_module", unix.SYS_FINIT_MODULE: "finit_module", unix.SYS_DELETE_MODULE: "delete_module",
		unix.SYS_KEXEC_LOAD: "kexec_load", unix.SYS_KEXEC_FILE_LOAD: "kexec_file_load", unix.SYS_REBOOT: "reboot",
		unix.SYS_PROCESS_MADVISE: "process_madvise", unix.SYS_PROCESS_MRELEASE: "process_mrelease",
		unix.SYS_SWAPON: "swapon", unix.SYS_SWAPOFF: "swapoff", unix.SYS_ACCT: "acct", unix.SYS_QUOTACTL: "quotactl",
		unix.SYS_QUOTACTL_FD:  "quotactl_fd",
		unix.SYS_SETTIMEOFDAY: "settimeofday", unix.SYS_CLOCK_SETTIME: "clock_settime", unix.SYS_SETHOSTNAME: "sethostname",
		unix.SYS_SETDOMAINNAME: "setdomainname", unix.SYS_SYSLOG: "syslog", unix.SYS_VHANGUP: "vhangup",
	}
	for number, name := range refusedHere() {
		calls[number] = name
	}
	return calls
}

// checked names the system calls that change how a process runs, with their names: for one of the run only.
func checked() map[uintptr]string {
	return map[uintptr]string{unix.SYS_SETPRIORITY: "setpriority", unix.SYS_IOPRIO_SET: "ioprio_set",
		unix.SYS_SCHED_SETAFFINITY:  "sched_setaffinity",
		unix.SYS_SCHED_SETSCHEDULER: "sched_setscheduler", unix.SYS_SCHED_SETPARAM: "sched_setparam", unix.SYS_SCHED_SETATTR: "sched_setattr",
		unix.SYS_MIGRATE_PAGES: "migrate_pages", unix.SYS_MOVE_PAGES: "move_pages"}
}

// checkedArg is the argument of such a call that says which process; 0 is the caller.
func checkedArg(number uintptr) uint32 {
	if number == unix.SYS_SETPRIORITY || number == unix.SYS_IOPRIO_SET {
		return 1
	}
	return 0
}

// modeOf is where a system call has the permissions of a file that it makes or changes, and, if it only makes one with a flag, where
// that flag is.
type modeOf struct {
	number      uintptr
	mode, flags uint32
	always      bool
}

func setModes() []modeOf {
	return append(setModesHere(), modeOf{unix.SYS_FCHMOD, 1, 0, true}, modeOf{unix.SYS_FCHMODAT, 2, 0, true},
		modeOf{unix.SYS_FCHMODAT2, 2, 0, true}, modeOf{unix.SYS_MKNODAT, 2, 0, true}, modeOf{unix.SYS_OPENAT, 3, 2, false})
}
