package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// from runs something in another working directory.
func from(dir string, do func() error) func() error {
	return func() error {
		back, err := os.Getwd()
		if err != nil {
			return err
		}
		if err := os.Chdir(dir); err != nil {
			return err
		}
		defer func() { fail(os.Chdir(back)) }()
		return do()
	}
}

func connect(path string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: path})
}

// latecomers are the ways to a socket that is made outside during the run.
func (a attempts) latecomers() []attempt {
	late := a.outside + "/late.sock"
	return []attempt{
		{"connect to a late socket by its name", from(a.outside, func() error { return connect("late.sock") })},
		{"connect to a late socket from a folder above", func() error { return connect("../" + filepath.Base(a.outside) + "/late.sock") }},
		{"connect to a late socket through the working directory", from(a.outside, func() error { return connect("/proc/self/cwd/late.sock") })},
		{"connect to a late socket through that of a thread", from(a.outside, func() error { return connect("/proc/thread-self/cwd/late.sock") })},
		{"connect to a late socket through the root", func() error { return connect("/proc/self/root" + late) }},
		{"connect to a late socket through an open folder", func() error {
			dir, err := unix.Open(a.outside, unix.O_PATH|unix.O_DIRECTORY, 0)
			if err != nil {
				return err
			}
			defer unix.Close(dir)
			return connect(fmt.Sprintf("/proc/self/fd/%d/late.sock", dir))
		}},
		{"connect to a late socket as a process that cannot be read", func() error {
			fail(unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
			defer func() { fail(unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)) }()
			return connect(late)
		}},
		{"connect to a late socket through a link that changes", func() error { return a.socketRace(late) }},
		{"send to a late socket by a socket of a pair", func() error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(pair[0], []byte("escaped"), 0, &unix.SockaddrUnix{Name: late})
		}},
		{"send to a late socket by a raw one", func() error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_RAW, 0)
			if err == nil {
				err = unix.Sendto(fd, []byte("escaped"), 0, &unix.SockaddrUnix{Name: late})
			}
			return err
		}},
		{"ask the process that answers hooks from its folder", from(a.state+"/run", func() error { return connect("hook.sock") })},
	}
}

// socketRace connects through a link that leads to a socket of the run, and then to one outside.
func (a attempts) socketRace(outside string) error {
	inside, err := net.Listen("unix", "inside.sock")
	fail(err)
	defer inside.Close()
	fail(errors.Join(os.Symlink("inside.sock", "swap.sock"), os.Symlink(outside, "swap2.sock")))
	defer exchange("swap.sock", "swap2.sock")()
	for range races / 20 {
		_ = connect("swap.sock")
	}
	if _, err := os.Stat(a.outside + "/reached-late"); err == nil {
		return nil
	}
	return fmt.Errorf("%d times", races/20)
}

// others are processes and terminals outside, and files that whoever started the run has open.
func (a attempts) others() []attempt {
	pid := uintptr(a.pid)
	zeros := make([]byte, 128)
	at := uintptr(unsafe.Pointer(&zeros[0]))
	call := func(number uintptr, args ...uintptr) func() error {
		return func() error {
			args := append(args, 0, 0, 0, 0)
			_, _, errno := unix.Syscall6(number, args[0], args[1], args[2], args[3], 0, 0)
			runtime.KeepAlive(zeros)
			return zero(errno)
		}
	}
	one := []byte{1, 0, 0, 0, 0, 0, 0, 0}
	first := uintptr(unsafe.Pointer(&one[0]))
	proc := "/proc/" + strconv.Itoa(a.pid)
	terminal := "/dev/pts/" + a.terminal
	return []attempt{
		{"read a file that was left open", func() error { _, err := unix.Read(9, make([]byte, 1)); return err }},
		{"read it by its place in /proc", func() error { return read("/proc/self/fd/9") }},
		{"read the keys of another terminal", func() error {
			fd, err := unix.Open(terminal, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}},
		{"write to another terminal", func() error { return put(terminal) }},
		{"change another terminal's owner", func() error { return os.Chmod(terminal, 0o666) }},
		{"slow a process outside down", call(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, pid, 10)},
		{"slow a group of processes down", call(unix.SYS_SETPRIORITY, unix.PRIO_PGRP, uintptr(getpgid(a.pid)), 10)},
		{"slow all processes of a user down", call(unix.SYS_SETPRIORITY, unix.PRIO_USER, 0, 10)},
		{"slow the files of a process outside down", call(unix.SYS_IOPRIO_SET, 1, pid, 3<<13)},
		{"slow the files of a user down", call(unix.SYS_IOPRIO_SET, 3, uintptr(os.Getuid()), 3<<13)},
		{"keep a process outside on one processor", call(unix.SYS_SCHED_SETAFFINITY, pid, 8, first)},
		{"change how a process outside is scheduled", call(unix.SYS_SCHED_SETSCHEDULER, pid, 3, at)},
		{"change its parameters", call(unix.SYS_SCHED_SETPARAM, pid, at)},
		{"change its attributes", func() error {
			attr := make([]byte, 56)
			attr[0], attr[4] = 56, 3
			return call(unix.SYS_SCHED_SETATTR, pid, uintptr(unsafe.Pointer(&attr[0])))()
		}},
		{"move the memory of a process outside", call(unix.SYS_MIGRATE_PAGES, pid, 1, first, first)},
		{"move pages of a process outside", call(unix.SYS_MOVE_PAGES, pid, 0)},
		{"signal a process outside by a file for it", func() error {
			fd, err := unix.PidfdOpen(a.pid, 0)
			if err == nil {
				err = unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
			}
			return err
		}},
		{"signal a thread outside", func() error { return unix.Tgkill(a.pid, a.pid, unix.SIGCONT) }},
		{"queue a signal for a process outside", call(unix.SYS_RT_SIGQUEUEINFO, pid, uintptr(unix.SIGCONT), at)},
		{"make a process outside the first to be killed", func() error { return os.WriteFile(proc+"/oom_score_adj", []byte("900"), 0) }},
		{"find the files of a process outside", func() error { _, err := os.Readlink(proc + "/fd/0"); return err }},
		{"read the map of a process outside", func() error { return read(proc + "/maps") }},
		{"find the folder of a process outside", func() error { _, err := os.Readlink(proc + "/cwd"); return err }},
	}
}

func getpgid(pid int) int {
	id, err := unix.Getpgid(pid)
	fail(err)
	return id
}

// system is what belongs to the whole machine.
func (a attempts) system() []attempt {
	device := func(path string) func() error {
		return func() error {
			fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK, 0)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}
	}
	write := func(path, text string) func() error {
		return func() error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString(text)
			return errors.Join(err, f.Close())
		}
	}
	return []attempt{
		{"leave the control group", func() error {
			groups, _ := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs")
			for _, file := range append(groups, "/sys/fs/cgroup/cgroup.procs") {
				if write(file, strconv.Itoa(os.Getpid()))() == nil {
					return nil
				}
			}
			return fmt.Errorf("%d groups", len(groups)+1)
		}},
		{"read the kernel's memory", device("/proc/kcore")},
		{"read the machine's memory", device("/dev/mem")},
		{"write the kernel's log", device("/dev/kmsg")},
		{"make a network", device("/dev/net/tun")},
		{"make a file system of its own", device("/dev/fuse")},
		{"read a disk", func() error {
			disks, _ := filepath.Glob("/dev/[svn][dv][a-z]*")
			for _, disk := range append(disks, "/dev/loop-control") {
				if device(disk)() == nil {
					return nil
				}
			}
			return fmt.Errorf("%d devices", len(disks)+1)
		}},
		{"run a program at each crash", write("/proc/sys/kernel/core_pattern", "|/bin/true")},
		{"give an order to the kernel", write("/proc/sysrq-trigger", "h")},
		{"make a device", func() error { return unix.Mknod("device", unix.S_IFBLK|0o666, int(unix.Mkdev(7, 0))) }},
		{"keep a program that gives rights", func() error {
			fail(put("setuid"))
			return syscall.Chmod("setuid", 0o4755)
		}},
		{"make a program that gives rights", func() error {
			fd, err := unix.Open("setuid.new", unix.O_CREAT|unix.O_WRONLY, 0o4755)
			if err == nil {
				err = unix.Close(fd)
			}
			return err
		}},
		{"make one in another way", func() error {
			fd, err := unix.Openat2(unix.AT_FDCWD, "setuid.newer", &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o4755})
			if err == nil {
				err = unix.Close(fd)
			}
			return err
		}},
		{"make one that is not a file", func() error { return unix.Mknod("setuid.node", unix.S_IFREG|0o4755, 0) }},
	}
}
