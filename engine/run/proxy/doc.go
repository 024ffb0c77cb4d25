// Package proxy is the only network access of an isolated run: a forward proxy for HTTP,
// and for TLS by CONNECT, that connects only to allowed hosts. TLS is not decrypted: the
// server name in the client's TLS handshake is compared with that of the CONNECT request.
//
// Out of scope: which hosts are allowed (policy, passed in), who opened a connection, and where it is
// recorded.
package proxy

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Rules define which connections are allowed.
type Rules struct {
	Hosts   []string // names; *.example.com: its subdomains
	Ports   []int64
	Refused []string // names and addresses that are always refused, with their subdomains
	Text    string   // for a client that is refused; {why}: the reason
}

// Connection is one that was opened or refused.
type Connection struct {
	Host    string
	Port    int
	Address string // to which it was opened
	Why     string // it was refused; empty: it was not
	Sent    int64  // bytes, to the host
	Got     int64
}

// refused reports why a host is refused; empty: it is not.
func (r Rules) refused(host string, port int) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	switch {
	case !plausible(host):
		return "its name is not a host name"
	case slices.ContainsFunc(r.Refused, func(name string) bool { return host == name || strings.HasSuffix(host, "."+name) }):
		return "the policy refuses it in any case"
	case !r.Lists(host):
		return "it is not among the allowed hosts (isolation.hosts)"
	case !slices.Contains(r.Ports, int64(port)):
		return "port " + strconv.Itoa(port) + " is not among the allowed ports (isolation.ports)"
	}
	return ""
}

// Lists reports whether a host is among those of the rules.
func (r Rules) Lists(host string) bool {
	return slices.ContainsFunc(r.Hosts, func(name string) bool { return matches(strings.ToLower(host), strings.ToLower(name)) })
}

func matches(host, name string) bool {
	if below, ok := strings.CutPrefix(name, "*"); ok {
		return strings.HasSuffix(host, below)
	}
	return host == name
}

// plausible reports whether a string can be a host name or an address.
func plausible(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host != "" && len(host) < 254 && !strings.ContainsFunc(host, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_')
	})
}

// nets are addresses that are not public, in addition to those that net/netip knows, or that embed others.
var nets = sync.OnceValue(func() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
		netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
		netip.MustParsePrefix("168.63.129.16/32"), netip.MustParsePrefix("fec0::/10"),
	}
})

// private reports whether an address belongs to this machine, a private network or a cloud's own services.
func private(ip netip.Addr) bool {
	ip = ip.Unmap()
	return !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.Zone() != "" ||
		slices.ContainsFunc(nets(), func(p netip.Prefix) bool { return p.Contains(ip) })
}

// public returns the first of some addresses, if none is private: a name with both kinds is
// an attempt to get another address at a second lookup.
func public(host string, ips []netip.Addr, refused []string) (netip.Addr, string) {
	if len(ips) == 0 {
		return netip.Addr{}, "it has no address"
	}
	for _, ip := range ips {
		if private(ip) || slices.Contains(refused, ip.Unmap().String()) {
			return netip.Addr{}, host + " resolves to " + ip.String() + ", which is not on the internet"
		}
	}
	return ips[0].Unmap(), ""
}

// hostPort splits a host and a port, if there is one.
func hostPort(text string, usual int) (string, int) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return strings.Trim(text, "[]"), usual
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return host, 0
	}
	return host, n
}
