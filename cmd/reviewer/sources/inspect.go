package sources

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// inspect finds out what a file contains.
func inspect(ctx context.Context, c candidate, o Options) inspection {
	i := &inspector{ctx: ctx, candidate: c, file: &file{path: c.path, size: c.size, object: c.object, access: o.Objects, stop: o.Stop}}
	if err := i.look(o); err != nil && ctx.Err() == nil {
		i.lose(c.path, err)
	}
	return i.found
}

// inspector examines one file.
type inspector struct {
	ctx       context.Context
	candidate candidate
	file      *file
	found     inspection
}

func (i *inspector) lose(name string, err error) {
	i.found.lost = append(i.found.lost, simulate.Trouble{Path: name, Why: why(err), Count: 1, Failed: true})
}

func (i *inspector) look(o Options) error {
	if i.candidate.path == stdin {
		return i.lookAtInput(o.Stdin)
	}
	if i.file.object != nil {
		return i.lookAtObject()
	}
	f, err := os.Open(i.file.path)
	if err != nil {
		return err
	}
	defer f.Close()
	begin := make([]byte, 8)
	n, err := f.ReadAt(begin, 0)
	if err != nil && err != io.EOF {
		return err
	}
	i.file.packed = packingOf(begin[:n])
	var in io.Reader = tap{i.ctx, f, func(int64) {}}
	if i.file.packed != plain {
		in = bufio.NewReaderSize(in, 64<<10) // the head of a regular file is read directly
	}
	r, err := inflate(in, i.file.packed)
	if err != nil {
		return err
	}
	defer r.Close()
	return i.content(r)
}

// lookAtObject inspects an object; if it contains a single session, only its first
// part.
func (i *inspector) lookAtObject() error {
	f, err := i.file.from(i.ctx, 0, -1)
	if err != nil {
		return err
	}
	defer f.Close()
	b := bufio.NewReaderSize(tap{i.ctx, f, func(int64) {}}, 16<<10)
	begin, err := b.Peek(8)
	if err != nil && err != io.EOF {
		return err
	}
	i.file.packed = packingOf(begin)
	r, err := inflate(b, i.file.packed)
	if err != nil {
		return err
	}
	defer r.Close()
	return i.content(r)
}

// lookAtInput inspects standard input, and keeps what it has read for the reader.
func (i *inspector) lookAtInput(in io.Reader) error {
	if in == nil {
		return errors.New("there is no standard input")
	}
	b := bufio.NewReaderSize(in, 64<<10)
	begin, err := b.Peek(8)
	if err != nil && err != io.EOF {
		return err
	}
	r, err := inflate(b, packingOf(begin))
	if err != nil {
		return err
	}
	h, text, err := readHead(r)
	if isArchive(text) {
		return errors.New("an archive cannot be read from standard input: name the file")
	}
	i.file.in = io.MultiReader(bytes.NewReader(text), failing{err}, r)
	return i.place(place{file: i.file, name: stdin, n: -1, head: h, empty: len(text) == 0}, err)
}

// content inspects the inflated contents of a file.
func (i *inspector) content(r io.Reader) error {
	h, text, err := readHead(r)
	if isArchive(text) {
		return i.archive(r, text)
	}
	whole := place{file: i.file, name: i.file.path, n: -1, cost: i.file.size, head: h, empty: len(text) == 0}
	if h.kind != export {
		return i.place(whole, err)
	}
	parts, length, err := splitExport(io.MultiReader(bytes.NewReader(text), failing{err}, r))
	i.parts(whole, parts)
	i.price(length)
	return err
}

// place adds a file with a session. err is that of reading its head: the file can
// still contain the beginning of one.
func (i *inspector) place(p place, err error) error {
	switch p.head.kind {
	case broken:
		if errors.Is(p.head.why, errHalf) && !i.candidate.asked {
			return nil // a log that is being created
		}
		i.found.lost = append(i.found.lost, trouble(p, 1, p.head.why))
	case unknown, ledger:
		if err != nil {
			return err
		}
		i.useless(p)
	default:
		p.counts = true
		i.found.places = append(i.found.places, p)
	}
	return nil
}

// useless notes that a file contains no session, if it was named. In a folder it notes
// only files whose name suggests a session, and that is not a failure.
func (i *inspector) useless(p place) {
	asked := i.candidate.asked && p.name == i.candidate.path
	promises := !p.empty && slices.Contains([]string{".jsonl", ".json", ".traj"}, filepath.Ext(p.name))
	if !asked && (!promises || p.head.kind == ledger) {
		return
	}
	why := "contains no session in a known format: an audit log, or a transcript (" + strings.Join(formatNames(), ", ") + ")"
	if p.head.kind == ledger {
		why = "is the machine's ledger, which contains no sessions: they are in the folder sessions next to it"
	}
	i.found.lost = append(i.found.lost, simulate.Trouble{Path: p.name, Why: why, Count: 1, Failed: asked})
}

// price computes the size of each part on disk, once the total length is known.
func (i *inspector) price(length int64) {
	var spans []span
	for j := range i.found.places {
		p := &i.found.places[j]
		p.cost = p.n
		if i.file.packed != plain && length > 0 {
			p.cost = int64(float64(p.n) / float64(length) * float64(i.file.size))
		}
		if len(spans) == 0 || spans[len(spans)-1].off != p.off {
			spans = append(spans, span{p.off, p.n})
		}
	}
	if i.file.packed != plain {
		i.file.parts = &stream{file: i.file, spans: spans}
	}
}

// isArchive recognises a tar archive by its first header.
func isArchive(text []byte) bool {
	return len(text) > 262 && string(text[257:262]) == "ustar"
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// archive examines the files in a tar archive. It is read once completely, to find the
// offsets of its files.
func (i *inspector) archive(rest io.Reader, text []byte) error {
	in := &counter{r: io.MultiReader(bytes.NewReader(text), rest)}
	t := tar.NewReader(in)
	defer func() { i.price(in.n) }()
	for {
		entry, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the rest of the archive cannot be read: %w", atEnd(err))
		}
		if entry.Typeflag != tar.TypeReg || isBeside(entry.Name) {
			continue
		}
		name := i.file.path + "/" + entry.Name
		if int64(in.n)+entry.Size < in.n || isSparse(entry) {
			i.lose(name, errors.New("is a sparse file: unpack the archive"))
			continue
		}
		p := place{file: i.file, name: name, off: in.n, n: entry.Size}
		if err := i.entry(p, t); err != nil {
			i.lose(name, err)
		}
	}
}

func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if len(key) >= 11 && key[:11] == "GNU.sparse." {
			return true
		}
	}
	return false
}

// entry examines one file of an archive.
func (i *inspector) entry(p place, t io.Reader) error {
	b := bufio.NewReader(t)
	begin, err := b.Peek(8)
	if err != nil && err != io.EOF {
		return err
	}
	p.packed = packingOf(begin)
	r, err := inflate(b, p.packed)
	if err != nil {
		return err
	}
	defer r.Close()
	h, text, err := readHead(r)
	if p.head, p.empty = h, len(text) == 0; h.kind != export {
		return i.place(p, err)
	}
	if p.packed != plain {
		return errors.New("a compressed export inside an archive: unpack it")
	}
	parts, _, err := splitExport(io.MultiReader(bytes.NewReader(text), failing{err}, r))
	i.parts(p, parts)
	return err
}

// parts adds the parts of an export, each a session.
func (i *inspector) parts(whole place, parts []place) {
	for at, p := range parts {
		p.counts = at == 0
		p.file, p.name, p.off = whole.file, whole.name, whole.off+p.off
		i.found.places = append(i.found.places, p)
	}
}
