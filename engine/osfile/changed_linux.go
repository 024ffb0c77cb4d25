package osfile

import (
	"io/fs"
	"syscall"
)

// Changed returns when a file's contents, mode or names last changed, in
// nanoseconds since 1970; 0: unknown. Unlike the modification time it cannot be
// set.
func Changed(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
