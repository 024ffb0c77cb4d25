package checkpoint

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// indexMagic begins the index: the state of the workspace at the newest checkpoint together
// with what the file system said about each file, so that a file that looks the
// same is not read again. It can be deleted: then all files are read once more.
//
//	magic 4 | hash of the checkpoint's line 32 | folders… | CRC-32C of all that 4
const indexMagic = "rvi1"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s *Store) indexFile() string { return filepath.Join(s.dir, "index") }

// saveIndex writes the index of the checkpoint whose line has the hash.
func (s *Store) saveIndex(head Digest, t tree) error {
	size := 64
	for dir, list := range t {
		size += len(dir) + 16 + len(list)*120
	}
	b := append(make([]byte, 0, size), indexMagic...)
	b = append(b, head[:]...)
	b = binary.AppendUvarint(b, uint64(len(t)))
	for _, dir := range t.folders() {
		b = appendText(b, dir)
		b = binary.AppendUvarint(b, uint64(len(t[dir])))
		for i := range t[dir] {
			b = t[dir][i].append(b)
		}
	}
	return writeCache(s.indexFile(), binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)))
}

// writeCache replaces a file that may be lost without harm.
func writeCache(name string, b []byte) error {
	f, err := osfile.OpenFile(name+".new", createOnly, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return osfile.Rename(name+".new", name)
}

var kinds = []Kind{File, Link, Folder, LeftOut}

func (i *item) append(b []byte) []byte {
	kind, flags := 0, byte(0)
	for n, k := range kinds {
		if k == i.Kind {
			kind = n
		}
	}
	for n, on := range []bool{i.Sealed, i.has, i.racy, i.linked, i.Whole} {
		if on {
			flags |= 1 << n
		}
	}
	b = append(b, byte(kind), flags)
	b = appendText(b, i.name)
	b = binary.AppendUvarint(b, uint64(unixMode(i.Mode)))
	for _, n := range []int64{i.Size, i.stat.size, i.stat.modified, i.stat.changed} {
		b = binary.AppendVarint(b, n)
	}
	for _, n := range []uint64{i.stat.inode, i.stat.device} {
		b = binary.AppendUvarint(b, n)
	}
	if i.Kind == File {
		b = append(b, i.Digest[:]...)
	}
	return appendText(appendText(appendText(b, i.Target), i.Group), i.Why)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// loadIndex returns the index if it belongs to the checkpoint whose line has the
// hash, else nil.
func (s *Store) loadIndex(head Digest) (tree, error) {
	b, err := osfile.ReadFile(s.indexFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	end := len(b) - 4
	if end < len(indexMagic)+len(head) || string(b[:4]) != indexMagic || Digest(b[4:36]) != head ||
		crc32.Checksum(b[:end], castagnoli) != binary.BigEndian.Uint32(b[end:]) {
		return nil, nil // written before a process was killed, or by another version
	}
	r := &indexReader{text: string(b[36:end])}
	t := make(tree, r.number())
	for r.text != "" && !r.failed {
		dir := r.string()
		list := make([]item, min(r.number(), uint64(len(r.text))))
		for i := range list {
			r.item(dir, &list[i])
		}
		t[dir] = list
	}
	if r.failed {
		return nil, nil
	}
	return t, nil
}

// indexReader parses an index without copying its texts.
type indexReader struct {
	text   string
	failed bool
}

func (r *indexReader) number() uint64 {
	var v uint64
	for i := 0; i < len(r.text) && i < binary.MaxVarintLen64; i++ {
		c := r.text[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.text = r.text[i+1:]
			return v
		}
	}
	r.failed = true
	return 0
}

func (r *indexReader) signed() int64 {
	u := r.number()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *indexReader) bytes(n uint64) string {
	if n > uint64(len(r.text)) {
		r.failed = true
		return ""
	}
	s := r.text[:n]
	r.text = r.text[n:]
	return s
}

func (r *indexReader) string() string { return r.bytes(r.number()) }

func (r *indexReader) item(dir string, i *item) {
	head := r.bytes(2)
	if r.failed || int(head[0]) >= len(kinds) {
		r.failed = true
		return
	}
	flags := head[1]
	i.Kind, i.Sealed, i.has, i.racy, i.linked = kinds[head[0]], flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&8 != 0
	i.Whole = flags&16 != 0
	i.name = r.string()
	i.Path = join(dir, i.name)
	i.Mode = goMode(uint32(r.number()))
	i.Size, i.stat.size, i.stat.modified, i.stat.changed = r.signed(), r.signed(), r.signed(), r.signed()
	i.stat.inode, i.stat.device = r.number(), r.number()
	if i.Kind == File {
		copy(i.Digest[:], r.bytes(uint64(len(i.Digest))))
	}
	i.Target, i.Group, i.Why = r.string(), r.string(), r.string()
}
