package place

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// canonicalHost writes an address of this machine's network one way, however it is
// given: as one number, in hexadecimal or octal, with parts left out, or within an
// IPv6 address. Names stay as they are.
func canonicalHost(host string) string {
	if strings.Contains(host, ":") {
		return canonicalIPv6(host)
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 || host == "" || host[0] < '0' || host[0] > '9' {
		return host
	}
	var numbers []uint64
	for _, p := range parts {
		n, err := strconv.ParseUint(radix(p), 0, 32)
		if err != nil || strings.Contains(p, "_") {
			return host
		}
		numbers = append(numbers, n)
	}
	last := numbers[len(numbers)-1]
	if len(parts) == 1 && last < leastNumber {
		return host // a port, or a number of something else
	}
	if last >= 1<<(8*(5-len(parts))) {
		return host
	}
	for i, n := range numbers[:len(numbers)-1] {
		if n > 255 {
			return host
		}
		last |= n << (24 - 8*i)
	}
	return netip.AddrFrom4([4]byte{byte(last >> 24), byte(last >> 16), byte(last >> 8), byte(last)}).String()
}

// leastNumber is the smallest number that is an address when it is the whole
// host.
const leastNumber = 1 << 24

// radix writes an octal number as Go reads it.
func radix(s string) string {
	if len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '7' {
		return "0o" + strings.TrimLeft(s, "0") + zeroOf(s)
	}
	return s
}

func zeroOf(s string) string {
	if strings.Trim(s, "0") == "" {
		return "0"
	}
	return ""
}

// nat64 are the IPv6 addresses that stand for those of IPv4.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func canonicalIPv6(host string) string {
	a, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	return a.Unmap().String()
}

// linkLocal returns the link-local address that is the known beginning of a host, or
// an empty string: such an address has no name, so the unknown rest is a path.
func linkLocal(text string) string {
	if !strings.HasPrefix(text, "169.254.") {
		return ""
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return ""
	}
	return a.String()
}

// The port at which the documentation serves the HTTP API, and the one at which `reviewer ui` serves its pages unless another is
// named. Tool calls must not use them, whether or not something is served there.
const (
	usualPort = 9470
	PagePort  = 9471
)

// guardPorts returns the ports of reviewer's HTTP API and of its pages.
func (w World) guardPorts() []int { return append(slices.Clone(w.Ports), usualPort, PagePort) }

// asksGuard returns what a network effect has to do with the process of reviewer, as in
// engine.Effect.Guard.
func (r *Resolver) asksGuard(e *engine.Effect, target abstract.Value) string {
	if strings.HasPrefix(target.Text, "/") && target.Sure == abstract.Literal { // a socket
		if r.Class(r.Real(target.Text, "/", true)) == engine.ClassGuard {
			return guardIs
		}
		return ""
	}
	host, port := authority(target)
	if n, err := strconv.Atoi(host); err == nil && e.Verb == "listen" && port == unknownPort {
		host, port = "localhost", n
	}
	switch {
	case !Loopback(canonicalHost(host)) && host != "0":
		return ""
	case port == unknownPort:
		return GuardMay
	case slices.Contains(r.World.guardPorts(), port):
		return guardIs
	}
	return ""
}

// Results of authority besides a port.
const (
	unknownPort = 0
	otherPort   = -1 // that of a protocol
)

// authority returns the host of a URL, of host:port or of a bare name, in lower case, and its
// port. The host may go on if the target is only the beginning of one.
func authority(target abstract.Value) (host string, port int) {
	s := strings.ToLower(target.Text)
	scheme := ""
	if i := strings.Index(s, "://"); i >= 0 {
		scheme, s = s[:i], s[i+3:]
	}
	end := strings.IndexAny(s, `/?#\`)
	whole, path := end >= 0 || target.Sure == abstract.Literal, end >= 0 && s[end] == '/'
	if end >= 0 {
		s = s[:end]
	}
	host = s[strings.LastIndexByte(s, '@')+1:]
	digits, given := "", false
	if rest, ok := strings.CutPrefix(host, "["); ok {
		host, rest, _ = strings.Cut(rest, "]")
		digits, given = strings.CutPrefix(rest, ":")
	} else if strings.Count(host, ":") == 1 {
		host, digits, given = strings.Cut(host, ":")
	}
	host = strings.TrimSuffix(host, ".")
	switch n, err := strconv.Atoi(digits); {
	case !whole || given && err != nil:
	case given:
		port = n
	case scheme != "" || path:
		port = otherPort
	}
	return host, port
}

// apiWords are words that only requests to reviewer's HTTP API contain, if their port is unknown.
var apiWords = []string{"/v1/approvals", "reviewer-approval-code"}

// SettlePorts decides about requests to this machine whose port is unknown: they go to reviewer's
// HTTP API if the arguments of the call contain its port as a number, or a word of the API.
func (r *Resolver) SettlePorts(effects []engine.Effect, args string) {
	args = strings.ToLower(args)
	mentioned := func() bool {
		return slices.ContainsFunc(apiWords, func(word string) bool { return strings.Contains(args, word) }) ||
			slices.ContainsFunc(strings.FieldsFunc(args, func(c rune) bool { return c < '0' || c > '9' }), func(digits string) bool {
				n, err := strconv.Atoi(digits)
				return err == nil && slices.Contains(r.World.guardPorts(), n)
			})
	}
	for i := range effects {
		if e := &effects[i]; e.Guard == GuardMay {
			if e.Guard = ""; mentioned() {
				e.Guard = guardIs
			}
		}
	}
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		strings.HasPrefix(host, "127.") && strings.Trim(host, "0123456789.") == "" ||
		host == "::1" || host == "0.0.0.0" || host == "::" || host == "ip6-localhost"
}
