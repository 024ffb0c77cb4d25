package runcmd

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/run/render"
	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
)

// formats are the names of the sandboxes whose configuration can be printed.
func formats() []string { return slices.Sorted(maps.Keys(render.Formats())) }

// print writes the confinement of the run as the configuration of another sandbox. Nothing is started or created.
func (p *plan) print(format string) error {
	write, known := render.Formats()[format]
	if !known {
		return cli.Usage("--print %q: expected one of %s", format, strings.Join(formats(), ", "))
	}
	if p.profile == profileObserve {
		return cli.Usage("--print %s: the observe profile confines nothing; add --profile workspace or strict", format)
	}
	c := &confinement{p: p, dry: true}
	if err := c.paths(sandbox.Features{Landlock: 6, Seccomp: true, Namespaces: true}); err != nil {
		return err
	}
	limits := limitsOf(&p.settings)
	_, err := fmt.Fprint(p.app.Stdout, write(render.Box{Plan: c.plan, Command: p.command, Dir: p.dir, Home: p.home, Links: links(),
		Variables: c.removed(os.Environ()), Hosts: c.hosts(), Refused: slices.Concat(p.settings.Hosts.Metadata, p.settings.Hosts.Drops),
		Memory: limits.Memory, Processes: limits.Processes, OpenFiles: limits.OpenFiles, User: user()}))
	return err
}

// removed lists the variables that a run does not get: those of an environment, and those that the settings name in full.
func (c *confinement) removed(env []string) []string {
	var list []string
	for _, pattern := range c.p.settings.Isolation.Variables {
		if !strings.ContainsAny(pattern, "*?[") {
			list = append(list, pattern)
		}
		for _, name := range names(env) {
			if fits(name, pattern) {
				list = append(list, name)
			}
		}
	}
	return list
}

// links returns the folders of the system that are links.
func links() map[string]string {
	found := map[string]string{}
	for _, path := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if to, err := os.Readlink(path); err == nil {
			found[path] = to
		}
	}
	return found
}

// user returns the numbers of the user and of the group; empty where the system has none.
func user() string {
	if os.Geteuid() < 0 {
		return ""
	}
	return strconv.Itoa(os.Geteuid()) + ":" + strconv.Itoa(os.Getegid())
}
