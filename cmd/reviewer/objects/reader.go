package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// How an object is read.
const (
	firstPart = 64 << 10 // often only the beginning is needed
	mostTries = 4        // at the same place
)

// Open reads n bytes of an object from an offset; n < 0: all that follow. If the
// connection breaks, reading continues where it ended, as long as the object is the
// same.
func (a *Access) Open(ctx context.Context, o Object, off, n int64) (io.ReadCloser, error) {
	s, err := a.Store(ctx, o.Location)
	if err != nil {
		return nil, err
	}
	end := o.Size
	if n >= 0 {
		end = min(off+n, o.Size)
	}
	r := &reader{ctx: ctx, store: s, object: o, at: off, end: end}
	return r, r.next(firstPart)
}

// reader reads an object: a first part, then the rest.
type reader struct {
	ctx     context.Context
	store   Store
	object  Object
	at, end int64
	part    io.ReadCloser
	left    int64 // of the part
	tries   int
}

func (r *reader) next(most int64) error {
	r.close()
	n := r.end - r.at
	if most > 0 {
		n = min(n, most)
	}
	part, err := r.store.Open(r.ctx, r.object, r.at, n)
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	r.part, r.left = part, n
	return nil
}

func (r *reader) Read(p []byte) (int, error) {
	for {
		if r.at >= r.end {
			return 0, io.EOF
		}
		if r.part == nil || r.left == 0 {
			if err := r.next(0); err != nil {
				if !r.again(err) {
					return 0, err
				}
				continue
			}
		}
		n, err := r.part.Read(p[:min(int64(len(p)), r.left)])
		r.at, r.left = r.at+int64(n), r.left-int64(n)
		if n > 0 {
			r.tries = 0
			return n, nil
		}
		if err == io.EOF {
			err = fmt.Errorf("the object is shorter than its listed size of %d bytes: %w", r.object.Size, io.ErrUnexpectedEOF)
		}
		if err != nil && !r.again(err) {
			return 0, err
		}
	}
}

// again reports whether reading is tried again after an error, with a new part.
func (r *reader) again(err error) bool {
	r.close()
	r.tries++
	lasting := errors.Is(err, ErrGone) || errors.Is(err, ErrChanged) || errors.Is(err, ErrCredentials)
	return !lasting && r.ctx.Err() == nil && r.tries < mostTries
}

func (r *reader) close() {
	if r.part != nil {
		r.part.Close()
		r.part = nil
	}
}

func (r *reader) Close() error {
	r.close()
	return nil
}
