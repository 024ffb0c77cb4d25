package sources

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/klauspost/compress/zstd"
)

// file is a file on disk, an object in a store, or standard input.
type file struct {
	path   string // of an object its name
	size   int64
	packed packing
	object *objects.Object
	access *objects.Access
	stop   func(error) // see Options.Stop; may be nil
	in     io.Reader   // standard input, inflated; it can be read once
	taken  bool        // of in
	parts  *stream     // of a packed file that contains several sessions
}

// place is the location of a session or of a part of one.
type place struct {
	file   *file
	name   string  // path; of a file in an archive, after the archive's
	off, n int64   // in the inflated file; n < 0: all of it
	packed packing // of a file in an archive
	cost   int64   // bytes on disk
	line   int     // lines before it in the file of this name
	counts bool    // it is the first with its name
	empty  bool    // there is nothing in it
	head   head
}

// packing is the compression of a file, from its first bytes.
type packing int

const (
	plain packing = iota
	gzipped
	zstandard
)

func packingOf(begin []byte) packing {
	switch {
	case bytes.HasPrefix(begin, []byte{0x1f, 0x8b}):
		return gzipped
	case bytes.HasPrefix(begin, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstandard
	}
	return plain
}

// maxWindow bounds how far back zstd data may point, in bytes: what the zstd
// command accepts without being asked.
const maxWindow = 128 << 20

// inflate reads compressed data as a stream. A decompression bomb costs no more memory
// than an uncompressed file of that size.
func inflate(r io.Reader, p packing) (io.ReadCloser, error) {
	switch p {
	case gzipped:
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", atEnd(err))
		}
		return unpacked{z, "gzip"}, nil
	case zstandard:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", atEnd(err))
		}
		return unpacked{z.IOReadCloser(), "zstd"}, nil
	}
	return io.NopCloser(r), nil
}

func atEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// unpacked adds to its errors that the compressed data is damaged.
type unpacked struct {
	io.ReadCloser
	how string
}

func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	switch {
	case err == nil || err == io.EOF || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return n, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return n, fmt.Errorf("the %s data is truncated: %w", u.how, err)
	}
	return n, fmt.Errorf("the %s data is damaged: %w", u.how, err)
}

// tap ends with the context, and reports the bytes that are read.
type tap struct {
	ctx  context.Context
	r    io.Reader
	tell func(int64)
}

func (t tap) Read(p []byte) (int, error) {
	if err := context.Cause(t.ctx); err != nil {
		return 0, err
	}
	n, err := t.r.Read(p)
	t.tell(int64(n))
	return n, err
}

// opened is a reader, and what must be closed after it.
type opened struct {
	io.Reader
	close []io.Closer
}

func (o opened) Close() error {
	var errs []error
	for _, c := range o.close {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// open returns what is at the place, inflated.
func (p place) open(ctx context.Context, o Options) (io.ReadCloser, error) {
	switch {
	case p.file.in != nil:
		return p.file.standardInput(ctx, o)
	case p.file.packed != plain && p.n >= 0:
		return p.openPart(ctx, o)
	}
	f, err := p.file.from(ctx, p.off, p.n)
	if err != nil {
		return nil, err
	}
	var raw io.Reader = f
	if p.n >= 0 {
		raw = &exactly{f, p.n}
	}
	r, err := inflate(bufio.NewReaderSize(tap{ctx, raw, o.read}, 64<<10), max(p.file.packed, p.packed))
	if err != nil {
		f.Close()
		return nil, err
	}
	return opened{r, []io.Closer{r, f}}, nil
}

// from opens a file or an object at an offset; n < 0: all that follows.
func (f *file) from(ctx context.Context, off, n int64) (io.ReadCloser, error) {
	if f.object != nil {
		r, err := f.access.Open(ctx, *f.object, max(off, 0), n)
		return guarded{r, f.stop}, f.refused(err)
	}
	on, err := os.Open(f.path)
	if err != nil || n < 0 {
		return on, err
	}
	return opened{io.NewSectionReader(on, off, n), []io.Closer{on}}, nil
}

// refused passes on an error of reading, and stops the run if every other object would
// give the same one.
func (f *file) refused(err error) error {
	if f.stop != nil && errors.Is(err, objects.ErrCredentials) {
		f.stop(fmt.Errorf("%s: %w", f.path, err))
	}
	return err
}

// guarded stops the run like refused.
type guarded struct {
	io.ReadCloser
	stop func(error)
}

func (g guarded) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	if g.stop != nil && errors.Is(err, objects.ErrCredentials) {
		g.stop(err)
	}
	return n, err
}

// exactly reads a part of a file; a file that ends before the part is truncated.
type exactly struct {
	r    io.Reader
	left int64
}

func (e *exactly) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if e.left -= int64(n); err == io.EOF && e.left > 0 {
		err = fmt.Errorf("the file is truncated: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}

func (p place) openPart(ctx context.Context, o Options) (io.ReadCloser, error) {
	r, err := p.file.parts.part(ctx, p.off, p.n)
	if err != nil {
		return nil, err
	}
	o.read(p.cost)
	return inflate(r, p.packed)
}

// standardInput can be opened once; the families in it are read once.
func (f *file) standardInput(ctx context.Context, o Options) (io.ReadCloser, error) {
	if f.taken {
		return nil, errors.New("standard input has already been read")
	}
	f.taken = true
	return io.NopCloser(tap{ctx, f.in, func(int64) {}}), nil
}

// Bounds of a compressed file with several sessions, in bytes.
const (
	maxKept = 64 << 20 // skipped parts that are kept for later readers
	maxPart = 1 << 30  // one of them: it is held in memory while it is read
)

// stream is a compressed file with several sessions. It can only be read forwards: the
// latest skipped parts are kept, so that reading sessions nearly in order takes one
// pass.
type stream struct {
	file  *file
	spans []span // of the parts, in order

	mu   sync.Mutex
	raw  io.Closer
	r    io.ReadCloser
	at   int64 // offset in r
	kept []keptPart
	held int64 // bytes in kept
}

type span struct{ off, n int64 }

type keptPart struct {
	span
	data []byte
}

// part returns the bytes of one part. Where the file is cut or damaged in it,
// they end with that error.
func (s *stream) part(ctx context.Context, off, n int64) (io.Reader, error) {
	if n > maxPart {
		return nil, fmt.Errorf("%d MiB in a compressed file with several sessions: unpack it, and name its contents", n>>20)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if data, ok := s.unkeep(off); ok {
		return bytes.NewReader(data), nil
	}
	if err := s.forward(ctx, off); err != nil {
		return nil, err
	}
	data, err := s.take(ctx, n)
	if err != nil {
		s.close() // the rest cannot be read either, with the same error
	}
	return io.MultiReader(bytes.NewReader(data), failing{err}), nil
}

// failing fails, or is at its end if there is no error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

func (s *stream) unkeep(off int64) ([]byte, bool) {
	for i, k := range s.kept {
		if k.off == off {
			s.kept = append(s.kept[:i], s.kept[i+1:]...)
			s.held -= k.n
			return k.data, true
		}
	}
	return nil, false
}

// forward reads up to off, from the beginning if off was passed already, and keeps the
// parts on the way.
func (s *stream) forward(ctx context.Context, off int64) error {
	if s.r == nil || s.at > off {
		if err := s.rewind(ctx); err != nil {
			return err
		}
	}
	for _, one := range s.spans {
		if one.off < s.at || one.off >= off || one.n > maxKept {
			continue
		}
		err := s.pass(ctx, one.off)
		var data []byte
		if err == nil {
			data, err = s.take(ctx, one.n)
		}
		if err != nil {
			s.close()
			return err
		}
		s.keep(keptPart{one, data})
	}
	return s.pass(ctx, off)
}

func (s *stream) keep(k keptPart) {
	for len(s.kept) > 0 && s.held+k.n > maxKept {
		s.held -= s.kept[0].n
		s.kept = s.kept[1:]
	}
	s.kept, s.held = append(s.kept, k), s.held+k.n
}

func (s *stream) rewind(ctx context.Context) error {
	s.close()
	f, err := s.file.from(context.WithoutCancel(ctx), 0, -1) // it outlives the session that asks first
	if err != nil {
		return err
	}
	r, err := inflate(bufio.NewReaderSize(f, 64<<10), s.file.packed)
	if err != nil {
		f.Close()
		return err
	}
	s.raw, s.r, s.at = f, r, 0
	return nil
}

func (s *stream) close() {
	if s.r != nil {
		s.r.Close()
		s.raw.Close()
		s.r, s.raw = nil, nil
	}
}

// pass skips up to off.
func (s *stream) pass(ctx context.Context, off int64) error {
	n, err := io.CopyN(io.Discard, tap{ctx, s.r, func(int64) {}}, off-s.at)
	s.at += n
	return atEnd(err)
}

func (s *stream) take(ctx context.Context, n int64) ([]byte, error) {
	var b bytes.Buffer
	got, err := io.CopyN(&b, tap{ctx, s.r, func(int64) {}}, n)
	s.at += got
	return b.Bytes(), atEnd(err)
}
