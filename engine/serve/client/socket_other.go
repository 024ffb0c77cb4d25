//go:build !linux && !darwin

package client

import "os"

// connect fails: on this system the hook is `reviewer hook` itself.
func connect(string) (int, error) { return -1, os.ErrNotExist }

func believed(int, string) string { return "" }

func receive(int, int64) ([]byte, error) { return nil, os.ErrNotExist }

func writeAll(fd int, b []byte) error {
	f := os.Stdout
	if fd == 2 {
		f = os.Stderr
	}
	_, err := f.Write(b)
	return err
}
