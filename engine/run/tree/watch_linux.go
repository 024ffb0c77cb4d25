package tree

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Watch is a tree of processes that somebody else started: a process and all that descend from it. One that left its
// parents before it was seen is not found.
func Watch(pid int) (*Tree, error) {
	s, ok := readStat(pid)
	if !ok || s.ended {
		return nil, fmt.Errorf("no process %d runs", pid)
	}
	if pid == os.Getpid() || pid == 1 {
		return nil, errors.New("this process cannot be watched")
	}
	t := &Tree{ways: Ways{Track: Parents, Memory: Measured, Processes: Measured}, mine: map[int]bool{}, seen: map[int]spent{}, root: pid,
		known: map[int]int64{pid: s.started}}
	if _, mine := below(table(), []int{pid})[os.Getpid()]; mine {
		return nil, errors.New("this process is one of those that would be watched")
	}
	return t, nil
}

// Runs reports whether the first process of a tree that is watched runs.
func (t *Tree) Runs() bool {
	s, ok := readStat(t.root)
	return ok && !s.ended && s.started == t.known[t.root]
}

// Began returns when the first process of a tree that is watched was started.
func (t *Tree) Began() time.Time {
	if boot := bootTime(); !boot.IsZero() {
		return boot.Add(ticks(t.known[t.root]))
	}
	return time.Now()
}

// watched returns the processes that were seen before and still run, and remembers those that descend from them.
func (t *Tree) watched(all map[int]stat) map[int]stat {
	var roots []int
	for pid, started := range t.known {
		if s, runs := all[pid]; runs && s.started == started {
			roots = append(roots, pid)
		} else {
			delete(t.known, pid)
		}
	}
	found := below(all, roots)
	for pid, s := range found {
		if s.ended {
			delete(found, pid)
			continue
		}
		t.known[pid] = s.started
	}
	return found
}

// Connections lists the TCP connections of the processes to other machines, as far as the system shows them.
func (t *Tree) Connections() []Connection {
	var list []Connection
	tables := map[string]map[string]netip.AddrPort{} // by name space
	for _, p := range t.Processes() {
		at := "/proc/" + strconv.Itoa(p.Pid)
		space, _ := os.Readlink(at + "/ns/net") // those that cannot be read are one
		if tables[space] == nil {
			tables[space] = connected(at)
		}
		files, _ := filepath.Glob(at + "/fd/*") // the pattern is right
		for _, f := range files {
			to, _ := os.Readlink(f)
			if address, ok := tables[space][to]; ok {
				list = append(list, Connection{p, address})
			}
		}
	}
	slices.SortFunc(list, func(a, b Connection) int { return a.To.Compare(b.To) })
	return slices.Compact(list)
}

// connected returns the addresses at the other ends of sockets, by what files of processes are links to.
func connected(at string) map[string]netip.AddrPort {
	found := map[string]netip.AddrPort{}
	for _, name := range []string{"/net/tcp", "/net/tcp6"} {
		raw, _ := os.ReadFile(at + name) // without it nothing is known
		for line := range strings.Lines(string(raw)) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != "01" && f[3] != "02" { // established, or about to be
				continue
			}
			if to, ok := remote(f[2]); ok && !to.Addr().IsLoopback() {
				found["socket:["+f[9]+"]"] = to
			}
		}
	}
	return found
}

// remote reads an address as the kernel writes it: words of four bytes in the processor's order, here the reverse.
func remote(text string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	n, perr := strconv.ParseUint(port, 16, 16)
	if err != nil || perr != nil || len(raw) != net.IPv4len && len(raw) != net.IPv6len {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	ip, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), true
}
