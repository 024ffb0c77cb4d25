package sandbox

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_AARCH64

func refusedHere() map[uintptr]string { return nil }

func setModesHere() []modeOf { return nil }
