//go:build unix

package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/history"
)

// Benchmarks report ratios of things measured side by side: absolute times say
// little on a machine that is shared.

// BenchmarkVerify holds verifying on one core, in processor time, against
// SHA-256 over the same bytes in memory, and over the same files.
func BenchmarkVerify(b *testing.B) {
	s := testStore(b)
	s.RotateBytes = DefaultRotateBytes
	r := pre("call")
	r.Event.CWD = string(bytes.Repeat([]byte("d"), 600)) // lines of about 1.5 KB
	err := s.Update(context.Background(), testKey, func(t history.Tail) error {
		if err := t.Append(openRecord()); err != nil {
			return err
		}
		for range 20_000 {
			if err := t.Append(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	files := fileSizes(s.sessionDir(testKey))
	var data [][]byte
	for _, f := range files {
		raw, err := os.ReadFile(f.path)
		if err != nil {
			b.Fatal(err)
		}
		data = append(data, raw)
	}
	hashMemory := func() {
		for _, d := range data {
			sha256.Sum256(d)
		}
	}
	var raw, memory, disk, one, all time.Duration
	for b.Loop() {
		raw += timed(func() { memory += worked(hashMemory) })
		disk += worked(func() { hashFiles(b, files) })
		one += worked(func() { b.SetBytes(verifyAll(b, s, 1)) })
		all += timed(func() { verifyAll(b, s, 0) })
	}
	b.ReportMetric(float64(memory)/float64(one), "one-core/sha256")
	b.ReportMetric(float64(disk)/float64(one), "one-core/sha256-of-files")
	b.ReportMetric(float64(raw)/float64(all), "all-cores/sha256")
}

func hashFiles(b *testing.B, files []sizedFile) {
	sum, buf := sha256.New(), make([]byte, 128<<10)
	for _, file := range files {
		f, err := os.Open(file.path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{f}, buf); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

func verifyAll(b *testing.B, s *Store, workers int) int64 {
	report, err := s.Verify(context.Background(), Check{Workers: workers})
	if err != nil || len(report.Problems) > 0 {
		b.Fatal(report.Problems, err)
	}
	return report.Bytes
}

func timed(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}

// worked returns the processor time that the process spent.
func worked(do func()) time.Duration {
	spent := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			return 0
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := spent()
	do()
	return spent() - start
}

// BenchmarkAppend is one record per Update, as the resident process writes.
func BenchmarkAppend(b *testing.B) {
	s := testStore(b)
	i := 0
	for b.Loop() {
		mustAdd(b, s, testKey, pre(fmt.Sprint(i)))
		i++
	}
}

// BenchmarkCall holds a call after 10,000 records against one after 10: warm in
// a process that keeps the state, cold in one that reads it.
func BenchmarkCall(b *testing.B) {
	s := testStore(b)
	long, short := named("long"), named("short")
	g := generator{rand.New(rand.NewPCG(1, 2)), false}
	for range 10_000 {
		mustAdd(b, s, long, g.record())
	}
	shorts := 0
	start := func() {
		if shorts++; shorts%10 == 1 { // never far from ten records
			short = named(fmt.Sprint("short", shorts))
			for range 10 {
				mustAdd(b, s, short, g.record())
			}
		}
	}
	var warmLong, warmShort, coldLong, coldShort time.Duration
	for b.Loop() {
		start()
		r := g.record()
		warmLong += timed(func() { mustAdd(b, s, long, r) })
		warmShort += timed(func() { mustAdd(b, s, short, r) })
	}
	rounds := time.Duration(min(b.N, 300))
	for range rounds {
		start()
		r := g.record()
		coldLong += timed(func() { mustAdd(b, &Store{Dir: s.Dir, Env: testEnv}, long, r) })
		coldShort += timed(func() { mustAdd(b, &Store{Dir: s.Dir, Env: testEnv}, short, r) })
	}
	b.ReportMetric(float64(warmLong)/float64(warmShort), "warm-10000/10")
	b.ReportMetric(float64(coldLong)/float64(coldShort), "cold-10000/10")
	b.ReportMetric(float64((coldLong-coldShort).Microseconds())/float64(rounds), "cold-us-more")
}
