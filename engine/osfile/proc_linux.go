package osfile

import (
	"bytes"
	"io/fs"
	"syscall"
)

// ReadProc reads a file of /proc. The size of such a file is unknown, so that [os.ReadFile] reads most of them in many
// small parts.
func ReadProc(path string) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	for err == syscall.EINTR {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	var all []byte
	var part [4 << 10]byte // more than nearly all have
	for {
		n, err := syscall.Read(fd, part[:])
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		case n == 0:
			return all, nil
		case all == nil:
			all = bytes.Clone(part[:n])
		default:
			all = append(all, part[:n]...)
		}
	}
}
