package signed

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func denyTracing() error {
	if err := unix.PtraceDenyAttach(); err != nil {
		return fmt.Errorf("keep other processes from this one: %w", err)
	}
	return nil
}
