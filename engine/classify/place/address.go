package place

import (
	"net/netip"
	"strconv"
	"strings"
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
