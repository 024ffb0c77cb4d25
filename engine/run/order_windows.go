package run

import (
	"errors"
	"os"
	"os/exec"
)

// order is not available on Windows.
type order struct{}

func newOrder(Options) (*order, error) {
	return nil, errors.New("limits of single processes and isolation are not available on Windows")
}

func (o *order) attach(*exec.Cmd) {}

func (o *order) give(*os.Process) error { return nil }

func (o *order) close() {}

// Main is not available on Windows.
func Main(func(raw []byte, give func(files ...int) error) error) error {
	return errors.New("this command is started by `reviewer run`, which does not use it on Windows")
}

// HelperPossible reports whether Options.Helper can be used on this system.
const HelperPossible = false
