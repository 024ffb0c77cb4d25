package checkpoint

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of an entry.
type Kind string

// The kinds of entries.
const (
	File    Kind = "file"
	Link    Kind = "link"
	Folder  Kind = "folder"
	LeftOut Kind = "left_out" // exists, but its contents are not stored: Why has the reason
)

// Digest identifies contents: SHA-256, or HMAC-SHA-256 under the store's key
// for what is encrypted, since a plain hash of a short secret can be guessed.
type Digest [32]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Entry is one path of a workspace.
type Entry struct {
	Path   string // relative to the workspace with slashes, or absolute: outside it; any bytes
	Kind   Kind
	Mode   fs.FileMode // permissions, setuid, setgid and sticky; of files and folders
	Size   int64
	Digest Digest // of a file's contents
	Sealed bool   // the contents are stored encrypted
	Target string // of a link
	Group  string // for hard links of one file: the first of their paths in the workspace; empty if there is only one
	Why    string // of what is left out
	Whole  bool   // for a folder outside the workspace, or one that a scan leaves out: its contents are included
}

// same reports whether restoring one entry over the other would change nothing.
func (e *Entry) same(o *Entry) bool {
	return e.Kind == o.Kind && e.Mode == o.Mode && e.Digest == o.Digest && e.Target == o.Target && e.Group == o.Group &&
		(e.Kind != LeftOut || e.Size == o.Size)
}

// outside reports whether a path is absolute, and so lies outside the workspace.
func outside(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':'
}

// split returns the folder of a path, and its name there.
func split(p string) (dir, name string) {
	dir, name = path.Split(p)
	if dir != "/" {
		dir = strings.TrimSuffix(dir, "/")
	}
	return dir, name
}

func join(dir, name string) string {
	if dir == "" || dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// Change is the difference of a path between two checkpoints. A nil entry
// means that the path did not exist.
type Change struct {
	Path          string
	Before, After *Entry
}

// Does returns the kind of change: created, deleted, changed, mode.
func (c Change) Does() string {
	switch {
	case c.Before == nil:
		return "created"
	case c.After == nil:
		return "deleted"
	case c.Before.Kind == c.After.Kind && c.Before.Digest == c.After.Digest && c.Before.Target == c.After.Target && c.Before.Mode != c.After.Mode:
		return "mode"
	}
	return "changed"
}

// sameContents reports whether a file has the same contents and links before and after.
func (c Change) sameContents() bool {
	return c.Before != nil && c.Before.Kind == File && c.Before.Digest == c.After.Digest && c.Before.Group == c.After.Group
}

// Lost reports whether the former contents cannot be restored.
func (c Change) Lost() bool { return c.Before != nil && c.Before.Kind == LeftOut }

// entryLine is an Entry in a list of entries: one line of JSON.
type entryLine struct {
	Path   string `json:"p,omitempty"`
	Raw    string `json:"p64,omitempty"` // the path, if it is not UTF-8
	Gone   bool   `json:"gone,omitempty"`
	Kind   Kind   `json:"k,omitempty"`
	Mode   uint32 `json:"m,omitempty"` // as in Unix
	Size   int64  `json:"s,omitempty"`
	Digest string `json:"h,omitempty"`
	Sealed bool   `json:"x,omitempty"`
	Target string `json:"t,omitempty"`
	Raw2   string `json:"t64,omitempty"`
	Group  string `json:"g,omitempty"`
	Why    string `json:"w,omitempty"`
	Whole  bool   `json:"a,omitempty"`
}

// encodeChanges returns changes as lines: what each path became.
func encodeChanges(list []Change) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i := range list {
		line := entryLine{Gone: list[i].After == nil}
		line.Path, line.Raw = text(list[i].Path)
		if e := list[i].After; e != nil {
			line.Kind, line.Mode, line.Size, line.Sealed, line.Group, line.Why = e.Kind, unixMode(e.Mode), e.Size, e.Sealed, e.Group, e.Why
			line.Whole = e.Whole
			line.Target, line.Raw2 = text(e.Target)
			if e.Kind == File {
				line.Digest = e.Digest.String()
			}
		}
		if err := enc.Encode(line); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// text returns a string in a form that JSON can represent: itself, or in
// base64.
func text(s string) (plain, raw string) {
	if utf8.ValidString(s) {
		return s, ""
	}
	return "", base64.StdEncoding.EncodeToString([]byte(s))
}

func fromText(plain, raw string) (string, error) {
	if raw == "" {
		return plain, nil
	}
	b, err := base64.StdEncoding.DecodeString(raw)
	return string(b), err
}

// decodeEntries calls fn for each line of a list. The entry is nil for a path
// that no longer exists.
func decodeEntries(list []byte, fn func(path string, e *Entry)) error {
	lines := bufio.NewReader(bytes.NewReader(list))
	d := json.NewDecoder(lines)
	for d.More() {
		var l entryLine
		if err := d.Decode(&l); err != nil {
			return fmt.Errorf("list of files: %w", err)
		}
		p, err := fromText(l.Path, l.Raw)
		if err != nil || !validPath(p) {
			return fmt.Errorf("list of files: %q is not a path", p)
		}
		if l.Gone {
			fn(p, nil)
			continue
		}
		e, err := l.entry(p)
		if err != nil {
			return err
		}
		fn(p, e)
	}
	return nil
}

func (l *entryLine) entry(p string) (*Entry, error) {
	e := &Entry{Path: p, Kind: l.Kind, Mode: goMode(l.Mode), Size: l.Size, Sealed: l.Sealed, Group: l.Group, Why: l.Why, Whole: l.Whole}
	var err error
	if e.Target, err = fromText(l.Target, l.Raw2); err != nil {
		return nil, fmt.Errorf("list of files: target of %q: %w", p, err)
	}
	if l.Digest != "" {
		b, err := hex.DecodeString(l.Digest)
		if err != nil || len(b) != len(e.Digest) {
			return nil, fmt.Errorf("list of files: digest of %q: %q", p, l.Digest)
		}
		e.Digest = Digest(b)
	}
	return e, nil
}

// validPath reports whether a path names something and has no .. in it.
func validPath(p string) bool {
	if p == "" || strings.ContainsRune(p, 0) {
		return false
	}
	return path.Clean(p) == p && p != "." && p != ".." && !strings.HasPrefix(p, "../")
}

const specialBits = fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// unixMode returns permissions and special bits as chmod(2) takes them.
func unixMode(m fs.FileMode) uint32 {
	u := uint32(m.Perm())
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if m&bit != 0 {
			u |= 0o1000 << i
		}
	}
	return u
}

func goMode(u uint32) fs.FileMode {
	m := fs.FileMode(u & 0o777)
	for i, bit := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if u&(0o1000<<i) != 0 {
			m |= bit
		}
	}
	return m
}
