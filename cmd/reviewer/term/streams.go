package term

import (
	"io"
)

// Streams are the inputs and outputs of a process, and its environment.
type Streams struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Env    func(string) string
}
