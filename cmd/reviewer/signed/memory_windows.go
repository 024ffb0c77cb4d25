package signed

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func lockMemory(b []byte) error {
	return windows.VirtualLock(uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
}

func unlockMemory(b []byte) error {
	return windows.VirtualUnlock(uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
}
