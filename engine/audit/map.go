package audit

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
)

// mapped calls fn with a file's first size bytes as memory: reading them first
// would cost a fifth of a verification. A file that is cut meanwhile is an
// error, not the end of the process.
func mapped(f *os.File, size int64, fn func([]byte) error) (err error) {
	if size == 0 {
		return fn(nil)
	}
	info, err := f.Stat()
	if err != nil || info.Size() < size {
		return shorter(size, err)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE|mapNow)
	if err != nil {
		return fmt.Errorf("map audit file: %w", err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			if _, ok := fault.(interface{ Addr() uintptr }); !ok {
				panic(fault)
			}
			err = shorter(size, nil)
		}
		if e := syscall.Munmap(data); err == nil && e != nil {
			err = fmt.Errorf("unmap audit file: %w", e)
		}
	}()
	return fn(data)
}

func shorter(size int64, err error) error {
	if err != nil {
		return fmt.Errorf("verify audit file: %w", err)
	}
	return fmt.Errorf("verify audit file: it became shorter than %d bytes meanwhile", size)
}
