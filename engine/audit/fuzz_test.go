package audit

import (
	"bytes"
	"io"
	"os"
	"testing"
	"testing/iotest"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

func seedLines(f *testing.F) []byte {
	s := testStore(f)
	s.KeyframeEvery = 4
	fill(f, s, testKey, 6)
	raw, err := os.ReadFile(chainFile(s, 1))
	if err != nil {
		f.Fatal(err)
	}
	return raw
}

// FuzzRecordReader: whatever the bytes, reading does not panic, the two readers
// of a line agree, and a record that was read is written the same way forever.
func FuzzRecordReader(f *testing.F) {
	for line := range bytes.Lines(seedLines(f)) {
		f.Add(bytes.Clone(line))
	}
	f.Add([]byte(`{"v":1,"prev":"","n":1,"kind":"open"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := readRecord(line)
		if err != nil {
			return
		}
		h, err := parseHead(line)
		if err != nil || h.n != r.N || string(h.kind) != string(r.Kind) {
			t.Fatalf("fixed beginning %+v of a record %s %d: %v", h, r.Kind, r.N, err)
		}
		history.New().Append(r)
		once, err := engine.EncodeLine(r)
		if err != nil {
			return // longer than it was: escapes
		}
		again, err := readRecord(once)
		if err != nil {
			t.Fatalf("own line cannot be read: %v\n%s", err, once)
		}
		if twice, err := engine.EncodeLine(again); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("written differently (%v):\n%s\n%s", err, once, twice)
		}
	})
}

// FuzzLineReader: the lines put together are the input, however it comes.
func FuzzLineReader(f *testing.F) {
	f.Add(seedLines(f), 3)
	f.Add(bytes.Repeat([]byte("x\n\n"), 100), 1)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		reader := newLineReader(iotest.HalfReader(bytes.NewReader(in)), int64(max(0, size)))
		var out []byte
		for {
			line, err := reader.next()
			if out = append(out, line...); err == io.EOF || err == io.ErrUnexpectedEOF {
				break
			}
			if err == errLong {
				return
			}
			if err != nil || bytes.IndexByte(line, '\n') != len(line)-1 {
				t.Fatalf("line %q, %v", line, err)
			}
		}
		if !bytes.Equal(in, out) {
			t.Fatalf("%d bytes became %d", len(in), len(out))
		}
	})
}

// FuzzChain: a file of any bytes neither panics nor is changed before its end.
func FuzzChain(f *testing.F) {
	f.Add(seedLines(f))
	f.Fuzz(func(t *testing.T, in []byte) {
		s := testStore(t)
		dir := s.sessionDir(testKey)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(chainFile(s, 1), in, 0o600); err != nil {
			t.Fatal(err)
		}
		err := add(s, testKey, pre("x"))
		after, rerr := os.ReadFile(chainFile(s, 1))
		if rerr != nil {
			t.Fatal(rerr)
		}
		whole := in[:bytes.LastIndexByte(in, '\n')+1]
		if !bytes.HasPrefix(after, whole) {
			t.Fatalf("lines were changed: %q became %q", in, after)
		}
		if err == nil && len(after) <= len(whole) {
			t.Fatal("nothing was appended, and no error")
		}
	})
}
