package run

import "syscall"

// cloexec keeps files that are received from being passed on to other programs.
const cloexec = syscall.MSG_CMSG_CLOEXEC
