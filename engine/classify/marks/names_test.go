package marks

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// A member of an object in code is not a host, whatever it is called.
func TestHostNameEndsAsHostsDo(t *testing.T) {
	for name, want := range map[string]bool{
		"api.example.com": true, "cc7.collect.example": true, "build.corp": true, "crates.io": true, "db.internal": true,
		"console.error": false, "process.exit": false, "result.stringify": false, "self.assertequal": false, "window.fetch": false,
	} {
		if HostName(name) != want {
			t.Errorf("%s: %t, want %t", name, !want, want)
		}
	}
}

// The short cuts of hosts, addresses and file names never change an answer.
func FuzzShortCuts(f *testing.F) {
	for _, s := range []string{"", "a.b", "::1", "fe80::1%eth0", "10.0.0.1", "x", "Console.WriteLine", "https://a.io:8/x?y=z", "git@github.com:a/b",
		"a=b.example", "file://x.y", ".go", "main.go", "notes.sample", "a.\n", "zw", "aaa\naarp.x", "user@host.internal/x", "://.", "\xff.com"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := HostName(s), slowHostName(s); got != want {
			t.Errorf("HostName(%q) = %t, want %t", s, got, want)
		}
		top := s[strings.LastIndexByte(s, '.')+1:]
		if slowTop := strings.Contains(tops, "\n"+top+"\n") || slices.Contains(localTops, top); !strings.Contains(top, "\n") && topLevel(top) != slowTop {
			t.Errorf("topLevel(%q) = %t", top, !slowTop)
		}
		if strings.IndexByte(s, '.') < 0 && HostName(s) && strings.IndexByte(s, ':') < 0 {
			t.Errorf("addresses(%q) leaves out a host", s)
		}
		for _, set := range []struct {
			fast *signs
			slow string
		}{{betweenPieces, "\"'`<>()[]{}|;,\\"}, {betweenTokens, ":/?&#@%!$^~*="}, {quotes, "\"'`"}, {betweenShort, "=:&?@,;(){}[]<>|"}} {
			for _, r := range s {
				if set.fast.has(r) != strings.ContainsRune(set.slow, r) {
					t.Errorf("%q in %q: %t", r, set.slow, set.fast.has(r))
				}
			}
		}
	})
}

func slowHostName(h string) bool {
	if ip, err := netip.ParseAddr(h); err == nil {
		return !ip.Unmap().IsLoopback() && !ip.Unmap().IsUnspecified()
	}
	labels := strings.Split(mask.Lower(h), ".")
	if len(labels) < 2 || len(h) > 253 {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	top := labels[len(labels)-1]
	return (strings.Contains(tops, "\n"+top+"\n") || slices.Contains(localTops, top)) && !slices.Contains(fileExts, top) && (len(labels) > 2 || len(labels[0]) > 2 || len(h) >= 5) && h == mask.Lower(h)
}
