package place

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// unsaved reports what would be lost at or under a path: clean (nothing),
// dirty, untracked, ignored; empty: unknown, or in no repository.
func (w World) unsaved(name string, what abstract.Discard) string {
	v := &gitView{world: w, repos: map[string]*repository{}}
	r := v.repository(name)
	if r == nil || r.broken || strings.Contains(name+"/", "/.git/") {
		return ""
	}
	state := "clean"
	for _, s := range v.losses(r, name, what) {
		switch {
		case s == "dirty":
			return s
		case s == "" || state == "":
			state = ""
		default:
			state = worse(state, s)
		}
	}
	return state
}

// losses returns the states of everything that the command would discard, one by one.
func (v *gitView) losses(r *repository, name string, what abstract.Discard) []string {
	var list []string
	if what.Stash {
		list = append(list, v.stashed(r))
	}
	if what.Changes {
		list = append(list, v.changed(r, name, what.Sides))
	}
	if what.Staged {
		list = append(list, v.staged(r))
	}
	if what.Untracked || what.Ignored {
		left := maxWalk
		switch info, err := v.world.Lstat(name); {
		case err != nil: // nothing is there
		case info.IsDir():
			list = append(list, v.strays(r, name, what, &left))
		default:
			list = append(list, v.stray(r, name, fs.FileInfoToDirEntry(info), what, &left))
		}
		if left < 0 {
			list = append(list, "")
		}
	}
	return list
}

// stashed returns dirty if something is stashed.
func (v *gitView) stashed(r *repository) string {
	if v.exists(Join(r.common, "reftable")) {
		return ""
	}
	if v.exists(Join(r.common, "refs/stash")) || v.packedRef(r, "refs/stash") != "" {
		return "dirty"
	}
	return "clean"
}

// maxTracked limits how many tracked files are compared.
const maxTracked = 20000

// changed reports whether some tracked file at or under a path differs from the index.
// Restoring a missing file loses nothing. With sides, neither does restoring a file in
// conflict.
func (v *gitView) changed(r *repository, name string, sides bool) string {
	list := r.below(name)
	if len(list) > maxTracked {
		return ""
	}
	for _, e := range list {
		if sides && e.stage != 0 {
			continue
		}
		at := Join(r.root, e.path)
		info, err := v.world.Lstat(at)
		if err != nil || info.IsDir() { // a submodule has an index of its own
			continue
		}
		if e.stage != 0 || !r.unchanged(e, info) && !v.sameContent(e, at, info) {
			return "dirty"
		}
	}
	return "clean"
}

// below lists the tracked paths at or under a path.
func (r *repository) below(name string) []indexEntry {
	rel := strings.TrimPrefix(strings.TrimPrefix(name, strings.TrimSuffix(r.root, "/")), "/")
	if rel == "" {
		return r.entries
	}
	first, _ := slices.BinarySearchFunc(r.entries, rel, func(e indexEntry, p string) int { return strings.Compare(e.path, p) })
	var list []indexEntry
	for _, e := range r.entries[first:] {
		if Within(rel, e.path) {
			list = append(list, e)
		} else if !strings.HasPrefix(e.path, rel) {
			break
		}
	}
	return list
}

// strays looks for untracked or ignored files.
func (v *gitView) strays(r *repository, dir string, what abstract.Discard, left *int) string {
	list, err := v.world.ReadDir(dir, *left+1)
	if err != nil {
		return ""
	}
	state := "clean"
	for _, d := range list {
		if *left--; *left < 0 {
			return state
		}
		name := Join(dir, d.Name())
		if d.Name() == ".git" {
			if dir != r.root {
				return "untracked" // another repository inside
			}
			continue
		}
		state = worse(state, v.stray(r, name, d, what, left))
	}
	return state
}

func (v *gitView) stray(r *repository, name string, d fs.DirEntry, what abstract.Discard, left *int) string {
	rel := name[len(strings.TrimSuffix(r.root, "/"))+1:]
	_, tracked := r.find(rel)
	switch {
	case tracked:
		return "clean"
	case !r.tracks(rel) && v.ignored(r, rel, d.IsDir()):
		if what.Ignored {
			return "ignored"
		}
		return "clean"
	case d.IsDir():
		return v.strays(r, name, what, left)
	case what.Untracked:
		return "untracked"
	}
	return "clean"
}

// staged reports whether the index differs from the last commit. It does not if the cached
// tree of the index is that commit's tree; an index with later changes has no cached tree.
func (v *gitView) staged(r *repository) string {
	head := v.head(r)
	if head == "" || r.tree == "" {
		return ""
	}
	commit := v.object(r, head)
	tree, ok := strings.CutPrefix(string(commit), "tree ")
	switch {
	case !ok || len(tree) < 40:
		return ""
	case tree[:40] == r.tree:
		return "clean"
	}
	return "dirty"
}

// head returns the name of the commit that is checked out; empty: unknown.
func (v *gitView) head(r *repository) string {
	b, err := v.world.ReadFile(Join(r.dir, "HEAD"), 4096)
	text := strings.TrimSpace(string(b))
	ref, named := strings.CutPrefix(text, "ref: ")
	switch {
	case err != nil:
		return ""
	case !named:
		return objectName(text)
	case !strings.HasPrefix(ref, "refs/") || strings.Contains(ref, ".."):
		return ""
	}
	if b, err := v.world.ReadFile(Join(r.common, ref), 4096); err == nil {
		return objectName(strings.TrimSpace(string(b)))
	}
	return v.packedRef(r, ref)
}

// packedRef finds a ref in the packed-refs file.
func (v *gitView) packedRef(r *repository, ref string) string {
	b, err := v.world.ReadFile(Join(r.common, "packed-refs"), maxIndex)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(b) {
		if name, of, ok := strings.Cut(strings.TrimSpace(string(line)), " "); ok && of == ref {
			return objectName(name)
		}
	}
	return ""
}

// objectName returns the full name of an object; empty if the text is not one.
func objectName(s string) string {
	if len(s) != 40 || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}

// maxObject limits the bytes of a commit that are read, maxPack the position in a pack: git
// puts the newest commits first.
const (
	maxObject = 64 << 10
	maxPack   = 8 << 20
)

// object returns the text of a commit; empty if it is neither a file of its own nor stored in
// a pack without a delta.
func (v *gitView) object(r *repository, name string) []byte {
	if b, err := v.world.ReadFile(Join(r.common, "objects/"+name[:2]+"/"+name[2:]), maxObject); err == nil {
		_, text, _ := bytes.Cut(inflate(b), []byte{0}) // "commit 213", a zero, the text
		return text
	}
	dir := Join(r.common, "objects/pack")
	list, err := v.world.ReadDir(dir, 64)
	if err != nil {
		return nil
	}
	for _, d := range list {
		if base, ok := strings.CutSuffix(d.Name(), ".idx"); ok {
			if text := v.packed(Join(dir, base), name); text != nil {
				return text
			}
		}
	}
	return nil
}

func inflate(b []byte) []byte {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(z, maxObject))
	if err != nil && len(text) == 0 {
		return nil
	}
	return text
}

// packed finds a commit in a pack.
func (v *gitView) packed(base, name string) []byte {
	idx, err := v.world.ReadFile(base+".idx", maxIndex)
	if err != nil {
		return nil
	}
	at, ok := packOffset(idx, name)
	if !ok || at > maxPack || v.world.ReadHead == nil {
		return nil
	}
	b, err := v.world.ReadHead(base+".pack", at+maxObject)
	if err != nil || int64(len(b)) <= at || b[at]>>4&7 != 1 { // 1: a commit, not a delta
		return nil
	}
	for b = b[at:]; len(b) > 0 && b[0]&0x80 != 0; b = b[1:] { // its size
	}
	if len(b) == 0 {
		return nil
	}
	return inflate(b[1:])
}

// packOffset finds an object in the index of a pack, version 2 of gitformat-pack(5): 256
// counts by the first byte, the sorted names, their checksums, their offsets.
func packOffset(idx []byte, name string) (int64, bool) {
	const head, counts = 8, 256 * 4
	want, err := hex.DecodeString(name)
	if err != nil || len(idx) < head+counts || !bytes.HasPrefix(idx, []byte("\xfftOc\x00\x00\x00\x02")) {
		return 0, false
	}
	n := int(binary.BigEndian.Uint32(idx[head+counts-4:]))
	names := idx[head+counts:]
	if n > len(names)/28 {
		return 0, false
	}
	i, found := sort.Find(n, func(i int) int { return bytes.Compare(want, names[i*20:i*20+20]) })
	if !found {
		return 0, false
	}
	at := binary.BigEndian.Uint32(names[n*24+i*4:])
	return int64(at), at < 1<<31 // larger offsets are in another table
}
