package checkpoint

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// A pack is a file of many frames, followed by their digests in order with the
// place of each:
//
//	magic 4 | frames | (digest 32, offset 8)… | number 8 | SHA-256 of digests, offsets and number 32 | magic 4
const (
	packMagic  = "rvp1"
	packEntry  = 32 + 8
	packFooter = 8 + sha256.Size + 4
)

type pack struct {
	file  *os.File
	size  int64
	index int64 // offset of the digests
	count int64
}

func openPack(name string) (*pack, error) {
	f, err := osfile.Open(name)
	if err != nil {
		return nil, err
	}
	p := &pack{file: f}
	if err := p.readFooter(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return p, nil
}

func (p *pack) readFooter() error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	p.size = info.Size()
	footer := make([]byte, packFooter)
	if _, err := p.file.ReadAt(footer, p.size-packFooter); err != nil || string(footer[packFooter-4:]) != packMagic {
		return fmt.Errorf("%w: a pack is truncated", ErrDamaged)
	}
	p.count = int64(binary.BigEndian.Uint64(footer))
	p.index = p.size - packFooter - p.count*packEntry
	if p.count < 0 || p.count > p.size/packEntry || p.index < 4 {
		return fmt.Errorf("%w: the index of a pack does not fit its size of %d bytes", ErrDamaged, p.size)
	}
	return nil
}

// find returns the offset of a frame.
func (p *pack) find(id Digest) (offset int64, ok bool, err error) {
	var entry [packEntry]byte
	lo, hi := int64(0), p.count
	for lo < hi {
		mid := (lo + hi) / 2
		if _, err := p.file.ReadAt(entry[:], p.index+mid*packEntry); err != nil {
			return 0, false, err
		}
		switch c := bytes.Compare(entry[:32], id[:]); {
		case c == 0:
			return int64(binary.BigEndian.Uint64(entry[32:])), true, nil
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false, nil
}

func (p *pack) frame(at int64) ([]byte, error) {
	header := make([]byte, frameHeader)
	if _, err := p.file.ReadAt(header, at); err != nil {
		return nil, err
	}
	size, err := frameSize(header)
	if err != nil || at < 4 || at+size > p.index {
		return nil, fmt.Errorf("%w: a pack has no contents at %d", ErrDamaged, at)
	}
	b := make([]byte, size)
	_, err = p.file.ReadAt(b, at)
	return b, err
}

// each checks the index of a pack, and calls fn for each frame.
func (p *pack) each(fn func(id Digest, where string, frame []byte, err error) error) error {
	tail := make([]byte, p.size-p.index)
	if _, err := p.file.ReadAt(tail, p.index); err != nil {
		return err
	}
	covered := p.count*packEntry + 8
	if sha256.Sum256(tail[:covered]) != [32]byte(tail[covered:covered+32]) {
		if err := fn(Digest{}, p.file.Name(), nil, fmt.Errorf("%w: the checksum of a pack's index does not match", ErrDamaged)); err != nil {
			return err
		}
	}
	var magic [4]byte
	if _, err := p.file.ReadAt(magic[:], 0); err != nil || string(magic[:]) != packMagic {
		if err := fn(Digest{}, p.file.Name(), nil, fmt.Errorf("%w: the beginning of a pack differs", ErrDamaged)); err != nil {
			return err
		}
	}
	for i := range p.count {
		entry := tail[i*packEntry:]
		frame, err := p.frame(int64(binary.BigEndian.Uint64(entry[32:])))
		if err := fn(Digest(entry[:32]), p.file.Name(), frame, err); err != nil {
			return err
		}
	}
	return nil
}

// packWriter writes a pack: it appears whole under its name, or not at all.
type packWriter struct {
	file    *os.File
	out     *bufio.Writer
	at      int64
	entries []packed
}

type packed struct {
	id Digest
	at int64
}

func newPack(dir string) (*packWriter, error) {
	if err := osfile.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return nil, err
	}
	w := &packWriter{file: f, out: bufio.NewWriterSize(f, 1<<18), at: 4}
	_, err = w.out.WriteString(packMagic)
	return w, err
}

func (w *packWriter) put(id Digest, frame []byte) error {
	w.entries = append(w.entries, packed{id, w.at})
	w.at += int64(len(frame))
	_, err := w.out.Write(frame)
	return err
}

// finish names the pack after the checksum of its index.
func (w *packWriter) finish() (err error) {
	defer func() {
		if err != nil {
			w.abort()
		}
	}()
	slices.SortFunc(w.entries, func(a, b packed) int { return bytes.Compare(a.id[:], b.id[:]) })
	sum := sha256.New()
	index := io.MultiWriter(w.out, sum)
	for _, e := range w.entries {
		if _, err := index.Write(binary.BigEndian.AppendUint64(e.id[:], uint64(e.at))); err != nil {
			return err
		}
	}
	if _, err := index.Write(binary.BigEndian.AppendUint64(nil, uint64(len(w.entries)))); err != nil {
		return err
	}
	digest := Digest(sum.Sum(nil))
	if _, err := w.out.Write(append(digest[:], packMagic...)); err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	if err := osfile.Sync(w.file); err != nil {
		return err
	}
	if err := w.file.Close(); err != nil {
		return err
	}
	return osfile.Rename(w.file.Name(), filepath.Join(filepath.Dir(w.file.Name()), digest.String()[:32]+".pack"))
}

func (w *packWriter) abort() {
	_ = w.file.Close() // the file is removed in any case
	_ = os.Remove(w.file.Name())
}
