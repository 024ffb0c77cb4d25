//go:build !linux

package signed

import (
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// start has a reading of both clocks.
var start = time.Now()

// Harden keeps the memory of this process, in which a code is about to be, from other processes of the same user, as far as the
// system lets it.
func Harden() error {
	cli.NoCoreDump()
	return denyTracing()
}

// Now reads the clocks of the system. One that is set shows as time asleep.
func Now() Moment {
	now := time.Now()
	return Moment{Awake: now.Sub(start), All: now.Round(0).Sub(start.Round(0))} // without the monotonic reading
}
