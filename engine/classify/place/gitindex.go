package place

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/gitignore"
)

// The index file of a git repository, versions 2 to 4, as gitformat-index(5)
// describes it: a header ("DIRC", version, number of entries), the entries in
// the order of their paths, extensions, and a checksum of 20 bytes.

// indexEntry is a tracked path.
type indexEntry struct {
	path  string // from the repository's root, with slashes
	sec   uint32 // time of change of the file when it was added
	nsec  uint32
	size  uint32 // of the file, modulo 2^32
	hash  [sha1.Size]byte
	stage uint8 // not 0: in conflict
}

// errIndex means that an index cannot be read: it is damaged, or of an unsupported kind
// (split, sparse, SHA-256). Then nothing is known about files.
var errIndex = errors.New("git index is damaged or of an unknown version")

const (
	indexHeader = 12
	entryFixed  = 62     // bytes of an entry before its path
	extended    = 0x4000 // flag: two more bytes of flags, versions 3 and 4
)

// parseIndex reads the entries of an index, and the tree that it was written as.
func parseIndex(b []byte) ([]indexEntry, string, error) {
	if len(b) < indexHeader+sha1.Size || string(b[:4]) != "DIRC" {
		return nil, "", errIndex
	}
	version, count := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 || uint64(count)*entryFixed > uint64(len(b)) {
		return nil, "", errIndex
	}
	end := len(b) - sha1.Size
	list := make([]indexEntry, 0, count)
	at, last := indexHeader, ""
	for range count {
		e, next, err := parseEntry(b[:end], at, version, last)
		if err != nil {
			return nil, "", err
		}
		list = append(list, e)
		at, last = next, e.path
	}
	if !slices.IsSortedFunc(list, func(a, b indexEntry) int { return strings.Compare(a.path, b.path) }) {
		return nil, "", errIndex
	}
	tree, err := readExtensions(b[at:end])
	return list, tree, err
}

func parseEntry(b []byte, at int, version uint32, last string) (indexEntry, int, error) {
	var e indexEntry
	if len(b)-at < entryFixed+1 {
		return e, 0, errIndex
	}
	f := b[at:]
	e.sec, e.nsec, e.size = binary.BigEndian.Uint32(f[8:]), binary.BigEndian.Uint32(f[12:]), binary.BigEndian.Uint32(f[36:])
	copy(e.hash[:], f[40:])
	flags := binary.BigEndian.Uint16(f[60:])
	e.stage = uint8(flags >> 12 & 3)
	head := entryFixed
	if flags&extended != 0 {
		head += 2
	}
	if len(f) <= head {
		return e, 0, errIndex
	}
	if version == 4 {
		return parsePath4(e, f[head:], at+head, last)
	}
	n := bytes.IndexByte(f[head:], 0)
	if n < 0 {
		return e, 0, errIndex
	}
	e.path = string(f[head : head+n])
	size := (head + n + 8) &^ 7 // one to eight zeros at the end
	if size > len(f) {
		return e, 0, errIndex
	}
	return e, at + size, nil
}

// parsePath4 parses a path that shares a prefix with the previous one: the number of bytes
// to remove from that one, and the text to add.
func parsePath4(e indexEntry, b []byte, at int, last string) (indexEntry, int, error) {
	strip, n := offsetVarint(b)
	if n == 0 || strip > len(last) {
		return e, 0, errIndex
	}
	end := bytes.IndexByte(b[n:], 0)
	if end < 0 {
		return e, 0, errIndex
	}
	e.path = last[:len(last)-strip] + string(b[n:n+end])
	return e, at + n + end + 1, nil
}

// offsetVarint is the number format of pack offsets; n is 0 if it is damaged.
func offsetVarint(b []byte) (v, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		v = v<<7 | int(c&0x7f)
		n++
		if c&0x80 == 0 {
			return v, n
		}
		v++
	}
	return 0, 0
}

// readExtensions rejects extensions without which the entries are incomplete: their names
// start with a lower-case letter. From the others it reads the cached trees.
func readExtensions(b []byte) (tree string, err error) {
	for len(b) >= 8 {
		if b[0] >= 'a' {
			return "", errIndex
		}
		size := binary.BigEndian.Uint32(b[4:])
		if uint64(size) > uint64(len(b)-8) {
			return "", errIndex
		}
		if string(b[:4]) == "TREE" {
			tree = rootTree(b[8 : 8+size])
		}
		b = b[8+size:]
	}
	return tree, nil
}

// rootTree returns the name of the whole index as a tree. The first entry of the list is
// the root: an empty path, the number of entries it covers (-1: changed since), the number
// of subtrees, and the name.
func rootTree(b []byte) string {
	line, rest, ok := bytes.Cut(b, []byte{'\n'})
	if !ok || len(line) < 2 || line[0] != 0 || line[1] == '-' || len(rest) < sha1.Size {
		return ""
	}
	return hex.EncodeToString(rest[:sha1.Size])
}

// Limits of what is examined for one path's git state.
const (
	maxIndex   = 32 << 20 // bytes; about 300,000 tracked files
	maxCompare = 1 << 20  // bytes of a file whose content is compared
	maxHashed  = 16 << 20 // bytes of all files that are compared
	maxWalk    = 2000     // entries of a directory, all levels
)

// gitView determines the git state of files from the files of repositories. It caches what
// it has read, so it is used for one action only.
type gitView struct {
	world  World
	repos  map[string]*repository // by root
	hashed int
}

// repository is a work tree with its index.
type repository struct {
	root    string
	dir     string // the directory with HEAD and the index
	common  string // the directory with config and info/exclude
	entries []indexEntry
	tree    string // the tree that the index was written as; empty: it has changed since
	sec     int64  // time of change of the index
	nsec    int
	ignores map[string][]gitignore.Rule // by directory
	broken  bool
}

func (w World) gitView() func(string) string {
	return (&gitView{world: w, repos: map[string]*repository{}}).state
}

// added reports when the contents of a file were added to the repository, by the object file
// that git add, a commit or a fetch creates. Objects in packs are older.
func (w World) added(name string) int64 {
	v := &gitView{world: w, repos: map[string]*repository{}}
	r := v.repository(DirOf(name))
	if r == nil || r.broken {
		return 0
	}
	e, ok := r.find(name[len(strings.TrimSuffix(r.root, "/"))+1:])
	if !ok {
		return 0
	}
	hash := hex.EncodeToString(e.hash[:])
	info, err := w.Lstat(Join(r.common, "objects/"+hash[:2]+"/"+hash[2:]))
	if err != nil {
		return 0
	}
	return info.ModTime().UnixMilli()
}

// Tracked lists the tracked files in a folder and its folders whose last part is one that is looked for, in order, and reports
// whether the index may have something that is not in the last commit. In no repository, nothing is tracked or staged.
func (w World) Tracked(dir string, is func(base string) bool) (list []string, staged bool) {
	if w.Lstat == nil || w.ReadFile == nil {
		return nil, false
	}
	v := &gitView{world: w, repos: map[string]*repository{}}
	r := v.repository(dir)
	if r == nil || r.broken {
		return nil, r != nil
	}
	for _, e := range r.entries {
		p := Join(r.root, e.path)
		if strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") && is(e.path[strings.LastIndexByte(e.path, '/')+1:]) {
			list = append(list, p)
		}
	}
	return list, v.staged(r) != "clean"
}

// state returns the git state of a file, or of everything in a directory: the state of what
// would be hardest to recover. Empty: unknown, or in no repository.
func (v *gitView) state(name string) string {
	if strings.Contains(name+"/", "/.git/") {
		return ""
	}
	info, err := v.world.Lstat(name)
	if err != nil {
		return ""
	}
	if info.IsDir() && v.exists(Join(name, ".git")) {
		return "untracked" // a repository does not contain its own history
	}
	r := v.repository(DirOf(name))
	if r == nil || r.broken {
		return ""
	}
	if info.IsDir() {
		return v.dirState(r, name)
	}
	return v.fileState(r, name, info)
}

func (v *gitView) exists(name string) bool {
	_, err := v.world.Lstat(name)
	return err == nil
}

// DirOf returns the directory of a path.
func DirOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i > 0 {
		return p[:i]
	}
	return "/"
}

// repository returns the work tree that contains a directory.
func (v *gitView) repository(dir string) *repository {
	for ; ; dir = DirOf(dir) {
		if r, ok := v.repos[dir]; ok {
			return r
		}
		if v.exists(Join(dir, ".git")) {
			r := v.open(dir)
			v.repos[dir] = r
			return r
		}
		if dir == "/" {
			return nil
		}
	}
}

// open reads a repository's index. If it cannot be parsed, the repository is broken.
func (v *gitView) open(root string) *repository {
	r := &repository{root: root, ignores: map[string][]gitignore.Rule{}}
	dir := v.gitDir(root)
	r.dir, r.common = dir, dir
	if b, err := v.world.ReadFile(Join(dir, "commondir"), 4096); err == nil {
		r.common = absoluteIn(dir, strings.TrimSpace(string(b)))
	}
	config, err := v.world.ReadFile(Join(r.common, "config"), 1<<20)
	if err != nil || bytes.Contains(bytes.ToLower(config), []byte("sha256")) {
		r.broken = true
		return r
	}
	info, err := v.world.Lstat(Join(dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return r // nothing is tracked
	}
	b, err := v.world.ReadFile(Join(dir, "index"), maxIndex)
	if err != nil || info == nil {
		r.broken = true
		return r
	}
	r.sec, r.nsec = info.ModTime().Unix(), info.ModTime().Nanosecond()
	r.entries, r.tree, err = parseIndex(b)
	r.broken = err != nil
	return r
}

// gitDir follows the file that a linked work tree or a submodule has instead of the
// directory.
func (v *gitView) gitDir(root string) string {
	p := Join(root, ".git")
	b, err := v.world.ReadFile(p, 4096)
	if to, ok := strings.CutPrefix(string(b), "gitdir:"); err == nil && ok {
		return absoluteIn(root, strings.TrimSpace(to))
	}
	return p
}

func absoluteIn(dir, p string) string {
	if strings.HasPrefix(p, "/") || Drive(p) {
		return p
	}
	return Join(dir, p)
}

func (r *repository) find(rel string) (indexEntry, bool) {
	i, ok := slices.BinarySearchFunc(r.entries, rel, func(e indexEntry, p string) int { return strings.Compare(e.path, p) })
	if !ok {
		return indexEntry{}, false
	}
	return r.entries[i], true
}

// tracks reports whether anything under a directory is tracked.
func (r *repository) tracks(rel string) bool {
	lead := rel + "/"
	i, _ := slices.BinarySearchFunc(r.entries, lead, func(e indexEntry, p string) int { return strings.Compare(e.path, p) })
	return i < len(r.entries) && strings.HasPrefix(r.entries[i].path, lead)
}

func (v *gitView) fileState(r *repository, name string, info fs.FileInfo) string {
	rel := name[len(strings.TrimSuffix(r.root, "/"))+1:]
	e, ok := r.find(rel)
	switch {
	case !ok && v.ignored(r, rel, false):
		return "ignored"
	case !ok:
		return "untracked"
	case e.stage != 0:
		return "dirty"
	case r.unchanged(e, info) || v.sameContent(e, name, info):
		return "clean"
	}
	return "dirty"
}

// unchanged reports whether size and time equal those in the index. A file that is not
// older than the index may have changed within one tick of the clock.
func (r *repository) unchanged(e indexEntry, info fs.FileInfo) bool {
	t := info.ModTime()
	older := t.Unix() < r.sec || t.Unix() == r.sec && t.Nanosecond() < r.nsec
	return older && info.Mode().IsRegular() && uint32(info.Size()) == e.size && uint32(t.Unix()) == e.sec && uint32(t.Nanosecond()) == e.nsec
}

// sameContent compares the content with the hash in the index. Filters and
// line-end conversion are not applied: a file that needs them counts as changed.
func (v *gitView) sameContent(e indexEntry, name string, info fs.FileInfo) bool {
	content := []byte(nil)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := v.world.Readlink(name)
		if err != nil {
			return false
		}
		content = []byte(to)
	case info.Mode().IsRegular() && info.Size() <= maxCompare && v.hashed+int(info.Size()) <= maxHashed:
		b, err := v.world.ReadFile(name, maxCompare)
		if err != nil {
			return false
		}
		content = b
	default:
		return false
	}
	v.hashed += len(content)
	return blobHash(content) == e.hash
}

// dirState walks a directory. It stops where something changed is found.
func (v *gitView) dirState(r *repository, name string) string {
	left := maxWalk
	state := v.walk(r, name, &left)
	if left < 0 && state != "dirty" {
		return ""
	}
	return state
}

// worse returns the state that is harder to recover.
func worse(a, b string) string {
	order := []string{"clean", "ignored", "untracked", "dirty"}
	if slices.Index(order, a) > slices.Index(order, b) {
		return a
	}
	return b
}

func (v *gitView) walk(r *repository, dir string, left *int) string {
	rel := dir[len(strings.TrimSuffix(r.root, "/"))+1:]
	if !r.tracks(rel) && v.ignored(r, rel, true) {
		return "ignored"
	}
	list, err := v.world.ReadDir(dir, *left+1)
	if err != nil {
		return "untracked"
	}
	state := "clean"
	for _, d := range list {
		if *left--; *left < 0 || state == "dirty" {
			return state
		}
		state = worse(state, v.childState(r, Join(dir, d.Name()), d, left))
	}
	return state
}

func (v *gitView) childState(r *repository, name string, d fs.DirEntry, left *int) string {
	if d.Name() == ".git" {
		return "untracked" // another repository inside
	}
	if d.IsDir() {
		return v.walk(r, name, left)
	}
	info, err := d.Info()
	if err != nil {
		return "clean" // gone meanwhile
	}
	return v.fileState(r, name, info)
}
