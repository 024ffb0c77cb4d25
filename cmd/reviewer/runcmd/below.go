package runcmd

import (
	"fmt"
	"net"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/run/proxy"
	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
)

// connected records connections through the proxy.
func (c *confinement) connected(conn proxy.Connection, ended bool) {
	to := net.JoinHostPort(conn.Host, strconv.Itoa(conn.Port))
	switch {
	case ended:
		c.see(observed{"connection", fmt.Sprintf("%s ended: %d bytes sent, %d received", to, conn.Sent, conn.Got), run.Event{}, ""})
	case conn.Why != "":
		c.see(observed{"refused", fmt.Sprintf("%s: %s", to, conn.Why), run.Event{}, ""})
	default:
		seen := observed{"connection", fmt.Sprintf("%s at %s", to, conn.Address), run.Event{}, conn.Host}
		if to == conn.Address {
			seen.host = "" // policy names the address itself
		}
		c.see(seen)
	}
}

// denied records system calls that were refused, and of connections that do not go through the proxy.
func (c *confinement) denied(d sandbox.Denial) {
	detail := fmt.Sprintf("%s by %s", d.What, d.Program)
	if d.Target != "" {
		detail = fmt.Sprintf("%s to %s by %s", d.What, d.Target, d.Program)
	}
	c.see(observed{"denied", detail, run.Event{Pid: d.Pid, Program: d.Program}, ""})
}

// maxSeen limits what is recorded of one run: a program can try the same thing forever.
const maxSeen = 2000

// see keeps what was seen, once.
func (c *confinement) see(o observed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := o.what + " " + o.detail
	if c.seen[key] && o.what != "connection" || len(c.seen) >= maxSeen {
		return
	}
	c.seen[key] = true
	c.queue = append(c.queue, o)
}

// take returns what was seen since the last time.
func (c *confinement) take() []observed {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.queue
	c.queue = nil
	return list
}

// below records what the proxy and the sandbox saw, and compares it with what was reported to the hooks: a connection to a host
// that no reviewed call named is one that nobody judged. The last of these is a reason to end the run, by policy.
func (o *observer) below() (stop string) {
	for _, seen := range o.p.confined.take() {
		o.note(seen.what, o.p.mask(seen.detail), seen.event)
		if seen.what == "refused" || seen.what == "denied" {
			o.refuse(seen.detail)
		}
		if seen.host == "" || o.named(seen.host) {
			continue
		}
		o.unexpected++
		text := fill(o.p.settings.Isolation.Texts.Unexpected, "host", o.p.mask(seen.host))
		o.note("unexpected", text, run.Event{})
		if o.p.settings.Isolation.Unexpected == "stop" {
			stop = text
		}
	}
	return stop
}

// named reports whether a host is one that the agent itself needs, or that a reviewed call named.
func (o *observer) named(host string) bool {
	own := proxy.Rules{Hosts: o.p.settings.Isolation.AgentHosts[o.p.agent]}
	if own.Lists(host) {
		return true
	}
	for _, f := range o.sessions {
		if f.hosts[host] {
			return true
		}
	}
	return false
}
