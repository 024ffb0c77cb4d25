package shell

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// ReadsTree records that everything below the targets is read.
func (c *Call) ReadsTree(targets ...abstract.Arg) {
	c.readsBelow(abstract.RawEffect{}, targets)
}

// Sweeps records that everything below the targets is read, or what the options of a search
// select there. It counts only for what guards the session: what else there is to say, the effects
// on the targets themselves say.
func (c *Call) Sweeps(targets ...abstract.Arg) {
	only := c.searchesFor()
	if len(only) == 0 {
		c.readsBelow(abstract.RawEffect{ForGuard: true}, targets)
		return
	}
	for _, t := range targets {
		for _, pattern := range only {
			below := t.With(strings.TrimSuffix(t.Text, "/") + "/**/" + strings.TrimPrefix(pattern.Text, "/"))
			below.Glob = true
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", ForGuard: true}, below)
		}
	}
}

// searchesFor returns the patterns that restrict a search to files of some names; none: it is not
// restricted, or it is not known how.
func (c *Call) searchesFor() []abstract.Arg {
	var only []abstract.Arg
	switch {
	case c.named("grep", "egrep", "fgrep", "zgrep", "bzgrep", "ugrep"):
		only = c.Opts.All("--include")
	case c.named("rg", "ripgrep"):
		only = slices.DeleteFunc(c.Opts.All("-g", "--glob", "--iglob"), func(a abstract.Arg) bool { return a.HasPrefix("!") })
	}
	if slices.ContainsFunc(only, func(a abstract.Arg) bool { return !a.Known() || a.Text == "" }) {
		return nil
	}
	return only
}

func (c *Call) readsBelow(e abstract.RawEffect, targets []abstract.Arg) {
	e.Kind, e.Verb, e.Recursive, e.Except = engine.EffectFileRead, "read", true, c.leavesOut()
	for _, t := range targets {
		if t.From == nil && !t.Is("-") && !HarmlessDevice(t) && t.Text != "" {
			c.Emit(e, t)
		}
	}
}

// leavesOut returns the names that a search or a copy leaves out, as in RawEffect.Except. Options
// that may bring them back, and those that follow links to other names, make it unknown.
func (c *Call) leavesOut() string {
	o := c.Opts
	if o.Has("-h", "--dereference", "-R", "--dereference-recursive", "-L", "--copy-links", "--follow", "--include", "--filter", "--anchored",
		"--no-wildcards") {
		return ""
	}
	copies := c.named("tar", "gtar", "bsdtar", "rsync") // to others, --exclude is about files
	var list []string
	if c.named("rg", "ripgrep", "ag") && !o.Has("--hidden", "-.", "-u", "--unrestricted", "-uu", "-uuu", "-a") {
		list = append(list, abstract.HiddenNames)
	}
	for _, option := range o.List {
		if option.Name != "--exclude-dir" && option.Name != "--ignore-dir" && !(option.Name == "--exclude" && copies && option.at == 0) {
			continue // tar applies it only to what follows
		}
		a := option.Value
		if name := strings.Trim(strings.TrimPrefix(a.Text, "./"), "/"); a.Known() && !a.HasPrefix("/") && !strings.ContainsAny(name, `*?[\`) {
			list = append(list, name)
		}
	}
	return strings.Join(list, "\n")
}

func (c *Call) named(names ...string) bool { return slices.Contains(names, BaseName(c.Path.Text)) }
