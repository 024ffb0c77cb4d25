package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Line is a raw line with its position.
type Line struct {
	File   string // path
	Number int64  // in the file, from 1
	N      int64  // in the chain
	Raw    []byte // with the newline; valid until the next line is requested
}

// Ledger iterates over the machine's chain.
func (s *Store) Ledger() iter.Seq2[*engine.Record, error] {
	return records(s.ledgerDir(), 0)
}

// LedgerFrom is Ledger from record number n on.
func (s *Store) LedgerFrom(n int64) iter.Seq2[*engine.Record, error] {
	return records(s.ledgerDir(), n)
}

// LedgerSize returns the size of the ledger's files, which changes with each record.
func (s *Store) LedgerSize() int64 {
	var size int64
	for _, f := range fileSizes(s.ledgerDir()) {
		size += f.size
	}
	return size
}

// Records iterates over a session's records from number n on, as far as
// retention kept them. It stops at the first error. An incomplete line at the
// end is not a record yet.
func (s *Store) Records(key engine.SessionKey, n int64) iter.Seq2[*engine.Record, error] {
	return records(s.sessionDir(key), n)
}

// Lines is Records without decoding.
func (s *Store) Lines(key engine.SessionKey, n int64) iter.Seq2[Line, error] {
	return lines(s.sessionDir(key), n)
}

func records(dir string, from int64) iter.Seq2[*engine.Record, error] {
	return func(yield func(*engine.Record, error) bool) {
		for line, err := range lines(dir, from) {
			var r *engine.Record
			if err == nil {
				if r, err = readRecord(line.Raw); err != nil {
					err = damaged(line.File, line.Number, err)
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func lines(dir string, from int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		files, err := filesFrom(dir, from)
		if err != nil {
			yield(Line{}, err)
			return
		}
		for _, n := range files {
			if !fileLines(filepath.Join(dir, fileName(n)), from, yield) {
				return
			}
		}
	}
}

// filesFrom lists the files that contain the lines from a number on.
func filesFrom(dir string, from int64) ([]int, error) {
	files, err := chainFiles(dir)
	if err != nil || from <= 1 {
		return files, err
	}
	for i := len(files) - 1; i > 0; i-- {
		h, err := firstHead(filepath.Join(dir, fileName(files[i])))
		if err == nil && h.n <= from {
			return files[i:], nil
		}
	}
	return files, nil
}

// fileLines yields a file's lines; it returns false when no more are wanted.
func fileLines(path string, from int64, yield func(Line, error) bool) bool {
	f, size, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true // retention was faster
	}
	if err != nil {
		return yield(Line{}, err) && false
	}
	defer f.Close()
	reader := newLineReader(f, size)
	for number := int64(1); ; number++ {
		raw, err := reader.next()
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return true
		}
		h, bad := parseHead(raw)
		if err = errors.Join(err, bad); err != nil {
			return yield(Line{}, damaged(path, number, err)) && false
		}
		if h.n >= from && !yield(Line{File: path, Number: number, N: h.n, Raw: raw}, nil) {
			return false
		}
	}
}

func openFile(path string) (*os.File, int64, error) {
	f, err := osfile.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("open audit file: %w", err)
	}
	_, size, err := identify(f)
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, size, nil
}

// usualFirst is more than most open records take, in bytes.
const usualFirst = 2 << 10

// firstLine returns a file's first line; io.EOF where it is not whole yet.
func firstLine(path string) ([]byte, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := newLineReader(f, min(size, usualFirst)).next()
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	if err == errLong {
		err = damaged(path, 1, err)
	}
	return raw, err
}

func firstHead(path string) (head, error) {
	raw, err := firstLine(path)
	if err != nil {
		return head{}, err
	}
	h, err := parseHead(raw)
	if err != nil {
		return head{}, damaged(path, 1, err)
	}
	return h, nil
}

// firstRecord returns the first record of a chain that is still on disk.
func firstRecord(dir string) (*engine.Record, error) {
	files, err := chainFiles(dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fs.ErrNotExist
	}
	path := filepath.Join(dir, fileName(files[0]))
	raw, err := firstLine(path)
	if err != nil {
		return nil, err
	}
	r, err := readRecord(raw)
	if err != nil {
		return nil, damaged(path, 1, err)
	}
	return r, nil
}

// read implements history.Tail.Read. The record is nearly always near the end.
func (c *chain) read(n int64) (*engine.Record, error) {
	if n < 1 || n > c.state.N {
		return nil, fmt.Errorf("read record %d of %d: no such record", n, c.state.N)
	}
	if r := c.readBack(n); r != nil {
		return r, nil
	}
	for r, err := range records(c.dir, n) {
		if err != nil {
			return nil, err
		}
		if r.N == n {
			return r, nil
		}
		break
	}
	return nil, fmt.Errorf("read record %d: %w", n, errPurged)
}

var errPurged = errors.New("it was deleted by retention")

// readBack looks for a record in the last part of the current file: first where those of the last calls are.
func (c *chain) readBack(n int64) *engine.Record {
	if c.file == nil {
		return nil
	}
	for _, most := range []int64{2 * engine.MaxLine, 2 * engine.MaxKeyframe} {
		part := make([]byte, min(c.end.Offset, most))
		if _, err := c.file.ReadAt(part, c.end.Offset-int64(len(part))); err != nil {
			return nil
		}
		for line := range bytes.Lines(part) {
			if h, err := parseHead(line); err == nil && h.n == n {
				r, _ := readRecord(line)
				return r
			}
		}
	}
	return nil
}
