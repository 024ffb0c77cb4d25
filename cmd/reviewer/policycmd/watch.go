package policycmd

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// watch runs something, and again whenever a file under the paths changes, until it is
// interrupted. Errors are reported, and do not end it.
func watch(ctx context.Context, a *cli.App, paths []string, run func() error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	for state, first := "", true; ctx.Err() == nil; first = false {
		now := stateOf(paths)
		if now == state && !first {
			pause(ctx, watchInterval)
			continue
		}
		state = now
		if err := run(); err != nil {
			fmt.Fprintln(a.Stderr, "reviewer:", cli.Masked(err.Error()))
		}
		fmt.Fprintln(a.Stderr, "waiting for changes (press Ctrl-C to stop)")
	}
	return nil
}

// watchInterval is how often files are checked: short enough for a person, and rare
// enough for the machine.
const watchInterval = 300 * time.Millisecond

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// stateOf summarises the files below paths: names, sizes and times.
func stateOf(paths []string) string {
	state := ""
	for _, p := range paths {
		_ = filepath.WalkDir(p, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // deleted in the meantime: the next check notices
			}
			if info, err := d.Info(); err == nil && !d.IsDir() {
				state += fmt.Sprintln(name, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return state
}
