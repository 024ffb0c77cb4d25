package term

import (
	"io"
)

// Streams are what a process reads and writes, and the environment that says how.
type Streams struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Env    func(string) string
}
