package place

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"golang.org/x/text/unicode/norm"
)

// Systems with file names of their own kind: values of World.System.
const (
	Windows = "windows"
	MacOS   = "darwin"
)

// mac reports whether a session ran on macOS, where /etc, /tmp and /var are links into
// /private and disks ignore case. If the system is unknown, the session's folders show it.
func (w World) mac(workspace string) bool {
	if w.System != "" {
		return w.System == MacOS
	}
	return strings.HasPrefix(w.Home, "/Users/") || strings.HasPrefix(workspace, "/Users/") || strings.HasPrefix(workspace, "/private/")
}

// drives reports whether the session's system has drives.
func (r *Resolver) drives() bool {
	return r.World.System == Windows || Drive(r.workspace) || Drive(r.home)
}

// Here reports whether this machine's disk can be asked about a path: a path with a drive
// only on Windows, other paths only elsewhere.
func (r *Resolver) Here(p string) bool {
	return Drive(p) == (r.World.System == Windows) && !strings.HasPrefix(p, "//")
}

// public returns a path as macOS shows it: without /private, where /etc, /tmp and /var
// are, and with composed letters, since a letter and its accent are one letter on the disks
// there. So only one of the names of a file is used from here on.
func (r *Resolver) public(p string) string {
	if r.mac {
		p = norm.NFC.String(firm(p))
	}
	rest, found := strings.CutPrefix(p, "/private")
	if !found && r.mac && len(p) >= 8 && strings.EqualFold(p[:8], "/private") {
		rest, found = p[8:], true
	}
	for _, dir := range []string{"/etc", "/tmp", "/var"} {
		if tail, ok := belowFold(dir, rest); ok && found && r.mac {
			return dir + tail
		}
	}
	return p
}

// firm returns the usual name of a file of macOS for the names under which the system also has
// it: /System/Volumes/Data is the volume whose folders are seen in /, the prefixes /.nofollow
// and /.resolve/N restrict links, and a.txt/..namedfork/data is a.txt.
func firm(p string) string {
	if at := strings.Index(strings.ToLower(p), "/..namedfork/"); at > 0 {
		p = p[:at]
	}
	if rest, ok := belowFold("/.nofollow", p); ok {
		p = path.Clean("/" + rest)
	}
	if rest, ok := belowFold("/.resolve", p); ok {
		_, rest, _ = strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		p = path.Clean("/" + rest)
	}
	if rest, ok := belowFold("/System/Volumes/Data", p); ok {
		p = path.Clean("/" + rest)
	}
	return p
}

// respell replaces the beginning of a path with the spelling of the folder that it refers
// to, if disks ignore case.
func (r *Resolver) respell(p string) string {
	if !r.mac && !Drive(p) {
		return p
	}
	best, rest := "", p
	for _, known := range r.spellings() {
		if len(known) <= len(best) || known == "/" || Drive(known) != Drive(p) {
			continue
		}
		if tail, ok := belowFold(known, p); ok {
			best, rest = known, tail
		}
	}
	return best + rest
}

// spellings returns the folders whose names determine locations.
func (r *Resolver) spellings() []string {
	if r.spelled == nil {
		r.spelled = slices.Concat([]string{r.workspace, r.home}, r.guard, r.temps, r.homes)
		for _, name := range rootDirs {
			r.spelled = append(r.spelled, "/"+name)
		}
	}
	return r.spelled
}

// belowFold returns what follows a folder in a path, on disks that ignore case.
func belowFold(dir, p string) (tail string, ok bool) {
	head, tail := splitAt("/"+p, strings.Count("/"+dir, "/"))
	return tail, strings.EqualFold(head, "/"+dir)
}

// lower returns a path in the form in which names are compared. The disks of macOS treat a
// long s as an s.
func (r *Resolver) lower(p string) string {
	low := strings.ToLower(p)
	if r.mac {
		low = strings.ReplaceAll(low, "ſ", "s")
	}
	return low
}

// Slashes converts the separators of a Windows path, and removes prefixes that do not
// change the place: \\?\C:\a, \\.\C:\a and \\localhost\C$\a are C:/a.
func Slashes(p string) string {
	if !Drive(p) && !strings.HasPrefix(p, `\\`) && !strings.HasPrefix(p, `\??\`) && !verbatim(p) {
		return p
	}
	p = strings.ReplaceAll(p, `\`, "/")
	if rest, ok := strings.CutPrefix(p, "/??/"); ok {
		p = "//?/" + rest
	}
	if len(p) > 8 && strings.EqualFold(p[:8], "//?/UNC/") {
		p = "//" + p[8:]
	}
	if verbatim(p) {
		return p[4:]
	}
	return ownShare(p)
}

// verbatim reports whether a path with a drive is in the form that Windows does not
// normalise.
func verbatim(p string) bool {
	return len(p) > 4 && slices.Contains([]string{"//?/", "//./"}, strings.ReplaceAll(p[:4], `\`, "/")) && Drive(p[4:])
}

// ownShare returns a path on a drive of this machine that was written as a network path.
func ownShare(p string) string {
	parts := strings.SplitN(p, "/", 5) // "", "", host, share, the rest
	if len(parts) < 4 || parts[0] != "" || parts[1] != "" || !Loopback(strings.ToLower(parts[2])) {
		return p
	}
	share, found := strings.CutSuffix(parts[3], "$")
	if drive := share + ":"; found && len(share) == 1 && Drive(drive) {
		return drive + "/" + strings.Join(parts[4:], "/")
	}
	return p
}

// onNetwork returns the other machine of a path such as \\host\share\a; empty if it is not
// on one. Only Windows has such paths: elsewhere //a is /a.
func (r *Resolver) onNetwork(text string) (host string) {
	if !strings.HasPrefix(text, `\\`) && !(r.drives() && strings.HasPrefix(text, "//")) {
		return ""
	}
	p := Slashes(text)
	if p = ownShare(p); !strings.HasPrefix(p, "//") || strings.HasPrefix(p, "//?/") || strings.HasPrefix(p, "//./") {
		return ""
	}
	host, _, _ = strings.Cut(p[2:], "/")
	host, _, _ = strings.Cut(strings.ToLower(host), "@") // a port or a protocol: \\host@SSL@8443\a
	return host
}

// onShare restores the second slash of a network path, which cleaning POSIX paths removes:
// //host/share/a.
func onShare(p string) string {
	if strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "//") {
		return "/" + p
	}
	return p
}

// device returns what a path refers to that names a device or a volume of Windows.
func device(p string) (engine.Location, bool) {
	switch rest, found := strings.CutPrefix(p, "//./"); {
	case found && quiet(rest):
		return engine.LocationNull, true
	case found:
		return engine.LocationDevice, true
	}
	return engine.LocationUnknown, strings.HasPrefix(p, "//?/")
}

// reserved recognises names that Windows treats as devices in every folder. With an
// extension, some versions treat them as files, so only the bare name counts.
func reserved(name string) (engine.Location, bool) {
	name = strings.ToUpper(name)
	if quiet(name) {
		return engine.LocationNull, true
	}
	if name == "PRN" || name == "AUX" {
		return engine.LocationDevice, true
	}
	for _, port := range []string{"COM", "LPT"} {
		n, ok := strings.CutPrefix(name, port)
		if ok && slices.Contains([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"}, n) {
			return engine.LocationDevice, true
		}
	}
	return "", false
}

// quiet reports whether a device discards what is written, or is the console.
func quiet(name string) bool {
	return slices.Contains([]string{"NUL", "CON", "CONIN$", "CONOUT$"}, strings.ToUpper(name))
}

// WindowsClean returns C:/x in a normalised spelling: without the parts of names that
// Windows ignores, and without the stream of a file.
func WindowsClean(p string) string {
	parts := strings.Split(strings.ReplaceAll(p[2:], `\`, "/"), "/")
	for i, name := range parts {
		parts[i] = windowsName(name)
	}
	return strings.ToUpper(p[:1]) + ":" + path.Clean("/"+strings.Join(parts, "/"))
}

// windowsName returns the name of a file as the system stores it: without trailing dots and
// spaces, and a.txt for a.txt:notes and a.txt::$DATA, which are parts of it.
func windowsName(name string) string {
	if up := strings.TrimRight(name, " "); up == "." || up == ".." {
		return up
	}
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimRight(name, ". ")
}

// onDrive returns a path that Windows interprets relative to a drive: \a and D:a, the
// latter in the drive's current folder, which is known only for the drive of the working
// directory.
func (r *Resolver) onDrive(p, dir string) string {
	switch {
	case strings.HasPrefix(p, `\`) && !strings.HasPrefix(p, `\\`) && Drive(dir):
		return dir[:2] + p
	case len(p) > 2 && Drive(p[:2]) && !Drive(p) && Drive(dir) && strings.EqualFold(p[:2], dir[:2]):
		return dir + "/" + p[2:]
	case len(p) > 2 && Drive(p[:2]) && !Drive(p):
		return p[:2] + "/" + p[2:]
	}
	return p
}

// realOnDrive resolves links and junctions in a path with a drive, if its disk can be
// asked. Windows removes .. before it follows links.
func (r *Resolver) realOnDrive(p string, followLast bool) string {
	cur := WindowsClean(p)
	for links := 0; links < maxLinks && r.Here(cur); links++ {
		next, found := r.firstLink(cur, followLast)
		if !found {
			break
		}
		cur = next
	}
	return r.long(cur)
}

// firstLink returns a path with its first link resolved.
func (r *Resolver) firstLink(p string, followLast bool) (string, bool) {
	names := strings.Split(p, "/")
	for i := 2; i <= len(names); i++ {
		head := strings.Join(names[:i], "/")
		if i == len(names) && !followLast {
			break
		}
		to, ok := r.link(head)
		if !ok {
			continue
		}
		if to = Slashes(to); !Drive(to) {
			to = path.Dir(head) + "/" + to
		}
		return WindowsClean(to + "/" + strings.Join(names[i:], "/")), Drive(to)
	}
	return p, false
}

// long returns a path without short names such as PROGRA~1, if the disk has the long ones.
func (r *Resolver) long(p string) string {
	if r.World.Long == nil || !r.Here(p) || !slices.ContainsFunc(strings.Split(p, "/"), shortName) {
		return p
	}
	for head, tail := p, ""; len(head) > 3; head, tail = path.Dir(head), "/"+path.Base(head)+tail {
		if full, err := r.World.Long(head); err == nil && Drive(Slashes(full)) {
			return WindowsClean(full + tail)
		}
	}
	return p
}

// shortName reports whether a name has the form of the 8.3 names that Windows generates.
func shortName(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	at := strings.LastIndexByte(base, '~')
	_, err := strconv.Atoi(base[at+1:])
	return at > 0 && len(base) <= 8 && err == nil
}

// isLink reports whether an entry leads elsewhere. Go reports junctions as irregular files.
func isLink(info fs.FileInfo) bool {
	return info != nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0
}

// ofAnotherDisk reports whether the absence of a path outside the workspace says nothing, since the workspace is not
// on this disk either: the call is of another machine.
func (r *Resolver) ofAnotherDisk(p string) bool {
	return r.workspace != "" && !Within(p, r.workspace) && r.Lstat(r.workspace) == nil
}
