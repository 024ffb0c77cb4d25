package shell

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
)

// MakesContainer records a container with a name that docker run or create makes. One that is removed when it ends is
// gone when the call has ended, if the call waits for it.
func (c *Call) MakesContainer(image abstract.Arg) {
	name, ok := c.Opts.Get("--name")
	gone := c.Opts.Has("--replace") || c.Opts.Has("--rm") && !c.Opts.Has("-d", "--detach")
	if !ok || gone || !name.Known() || name.Text == "" {
		return
	}
	bare := image.Known() && c.Opts.Bare() && !slices.ContainsFunc(c.Opts.All("-v", "--volume"), func(v abstract.Arg) bool {
		volume, _, _ := strings.Cut(v.Text, ":")
		return !v.Known() || !c.Shell.emptied(volume)
	})
	c.Makes(engine.Made{Object: engine.MadeContainer, Name: name.Text, Image: options.ImageName(image.Text), Bare: bare})
}

// emptied reports whether a volume was removed before, by a command without which what follows does not run.
func (s *Machine) emptied(volume string) bool {
	return slices.ContainsFunc(s.Out.Effects, func(e abstract.RawEffect) bool {
		return e.Verb == "wipe" && e.Object == "volume" && e.Target.Text == volume && e.Host == s.Frame.Host &&
			abstract.Succeeds(&s.Out, e.Command)
	})
}
