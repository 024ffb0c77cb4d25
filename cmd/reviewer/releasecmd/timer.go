package releasecmd

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/ship"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/unit"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pullTimer is the flags of policy pull that are about a timer.
type pullTimer struct {
	every      time.Duration
	given      bool // --every
	on, remove bool // --install, --uninstall
}

func (t *pullTimer) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	cli.SpanVar(f, &t.every, "every", 0, "print the definition of a timer (systemd or launchd) that repeats this pull, such as 1h")
	f.BoolVar(&t.on, "install", false, "with --every: write the timer, and start nothing; with --layer it is one of its own")
	f.BoolVar(&t.remove, "uninstall", false, "remove the timer; with --layer, the one of that layer")
	cmd.MarkFlagsMutuallyExclusive("install", "uninstall")
	cmd.MarkFlagsMutuallyExclusive("every", "uninstall")
}

// asked reports whether the command is about a timer, and not a pull.
func (t *pullTimer) asked() bool { return t.given || t.on || t.remove }

// shortest is how often a server may be asked.
const shortest = time.Minute

// run prints, writes or removes the timer.
func (t *pullTimer) run(a *cli.App, cmd *cobra.Command, args []string, layer string) error {
	if t.remove && len(args) > 0 {
		return cli.Usage("--uninstall takes no PLACE; with --layer it removes the timer of that layer")
	} else if t.on && !t.given {
		return cli.Usage("--install needs --every DURATION, such as 1h")
	} else if !t.remove && t.every < shortest {
		return cli.Usage("--every %s: expected %s or more", t.every, shortest)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	home, err := a.StateHome()
	if err != nil {
		return err
	}
	var words []string
	if !t.remove {
		if words, err = pullWords(cmd, args[0], home); err != nil {
			return err
		}
	}
	if t.on || t.remove {
		if _, err := a.NoAgent("changing the timer"); err != nil {
			return err
		}
	}
	share := 0.0
	if t.on {
		id, err := machineID(home)
		if err != nil {
			return err
		}
		sum := sha256.Sum256([]byte(id))
		share = float64(binary.BigEndian.Uint32(sum[:])) / math.MaxUint32
	}
	u, err := unit.Timer(runtime.GOOS, user, layer, cli.Program(), words, max(t.every, shortest), share)
	if err != nil {
		return err
	}
	if there, same := u.Has(placeOf(words)); t.on && there && !same {
		return fmt.Errorf("%s pulls from another place; remove it first with --uninstall%s, or give this pull a timer of its own: "+
			"--layer with base, organisation or user", u.Place(), term.After(" --layer ", layer))
	}
	return t.apply(a, u)
}

// placeOf is the place in the command of pullWords; empty: there is no command.
func placeOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[2]
}

func (t *pullTimer) apply(a *cli.App, u unit.Unit) error {
	switch {
	case t.remove:
		if err := u.Remove(); err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "removed %s\nturn it off with:\n  %s\n", u.Place(), strings.Join(u.Off, "\n  "))
	case t.on:
		changed, err := u.Install()
		if err != nil {
			return err
		}
		word := map[bool]string{true: "installed", false: "already installed"}[changed]
		fmt.Fprintf(a.Stdout, "%s %s\nenable it with:\n  %s\n", word, u.Place(), strings.Join(u.On, "\n  "))
	default:
		for _, f := range u.Files {
			fmt.Fprintf(a.Stdout, "# %s\n%s\n", f.Path, f.Text)
		}
	}
	return nil
}

// pullWords is the command that the timer runs: this one, without what only a person may decide, and with whole paths.
func pullWords(cmd *cobra.Command, place, home string) ([]string, error) {
	from, err := ship.ParseRef(place)
	if err != nil {
		return nil, err
	}
	if folder, layout := strings.CutPrefix(place, "oci-layout:"); layout && !filepath.IsAbs(folder) {
		return nil, cli.Usage("%s: a timer needs the whole path of the folder", place)
	} else if !from.Remote() && !layout {
		if place, err = filepath.Abs(place); err != nil {
			return nil, err
		}
		if _, err := os.Stat(place); err != nil {
			return nil, fmt.Errorf("%s: no such folder or archive, so a timer could not pull it; for a registry write oci://HOST/NAME:TAG", place)
		}
	}
	words := []string{"policy", "pull", place, "--home", home}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		switch {
		case slices.Contains([]string{"every", "install", "uninstall", "home", "quiet", "format"}, f.Name):
		case slices.Contains([]string{"password-stdin", "allow-rollback", "resume", "reason"}, f.Name):
			err = cli.Usage("--%s cannot be repeated by a timer; leave it out", f.Name)
		case f.Name == "output" || f.Name == "report-to":
			if whole, other := filepath.Abs(value); other == nil {
				value = whole
			}
			fallthrough
		default:
			words = append(words, "--"+f.Name+"="+value)
		}
	})
	return words, err
}
