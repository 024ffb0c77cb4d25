package sources

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Whatever is in a file, looking at it ends, and what came before it is read.
func FuzzTranscript(f *testing.F) {
	good := claude("aaaa", "p1!", "a1", "a2", "a3")
	for _, seed := range []string{
		"", "{", `{"uuid":"x"`, claude("bbbb", "p1!", "a1"), claude("aaaa", "a1"), "\xff\xfe", strings.Repeat("[", 1000), `{"sessionId":"` + strings.Repeat("x", 300), gz(good)[:30],
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := told(t, find(t, folder(t, "x.jsonl", good+text)))
		for _, call := range []string{" a1", " a2", " a3"} {
			if !strings.Contains(got, call) {
				t.Errorf("%q costs the call%s: %s", text, call, got)
			}
		}
		anything(t, text, gz(text), zst(text), gz(good)+text, tarred("x", text, "y", good), tarred("x", good)+text)
	})
}

// anything must neither panic nor run forever.
func anything(t *testing.T, files ...string) {
	t.Helper()
	for _, text := range files {
		for _, in := range []string{"x.jsonl", stdin} {
			o := options()
			o.Stdin = strings.NewReader(text)
			if in != stdin {
				in = filepath.Join(folder(t, "x.jsonl", text), in)
			}
			if set, err := Find(t.Context(), []string{in}, o); err == nil {
				told(t, set)
			}
		}
	}
}

// Whatever follows the lines of a log, they are read as they are.
func FuzzLog(f *testing.F) {
	dir := home(f, 3, "s1")
	good, export := read(f, chainFilesOf(f, dir)[0]), exported(f, dir, "jsonl")
	for _, seed := range []string{"", "{", "\n", "hello\n", good, good[:300], strings.SplitAfter(good, "\n")[1], `{"v":1,"prev":"`, export, "]", `{"chain":"x"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, text := range []string{good + text, export + text, gz(export + text), "[\n" + export + text} {
			path := filepath.Join(folder(t, "x.jsonl", text), "x.jsonl")
			want := records(t, find(t, path))
			if n := strings.Count(good, "\n"); len(want) < n-1 {
				t.Errorf("%q costs records: %d are left of %d", text, len(want), n)
			}
			if again := records(t, find(t, path)); !slices.Equal(want, again) {
				t.Errorf("%q is read in two ways", text)
			}
		}
		anything(t, text, export+text)
	})
}

// filler gives a given number of bytes without holding them.
type filler struct{ left int }

func (f *filler) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), f.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	f.left -= n
	return n, nil
}

// A line of 200 MB is read as any other, with a part of its text; of 40 without REVIEWER_EVERY=1 (`make
// fidelity`).
func TestHugeLine(t *testing.T) {
	size := 40 << 20
	if os.Getenv("REVIEWER_EVERY") != "" {
		size = 200 << 20
	}
	head, tail, _ := strings.Cut(claude("aaaa", "big?"), `"command":"big"`)
	o := options()
	o.Stdin = io.MultiReader(strings.NewReader(claude("aaaa", "p1!", "a1")+head+`"command":"`), &filler{size}, strings.NewReader(`"`+tail+claude("aaaa", "a2")))
	set, err := Find(t.Context(), []string{"-"}, o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := told(t, set), "- aaaa: a1 big a2 (-:4 a string was shortened to 4 MiB)\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A bomb costs time, and no memory: it is never inflated as a whole. Looking at
// it ends with the context.
func TestBomb(t *testing.T) {
	bomb := gz(claude("aaaa", "a1") + strings.Repeat("x", 200<<20))
	dir := folder(t, "x.gz", bomb)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	set := find(t, dir)
	runtime.ReadMemStats(&after)
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 50 {
		t.Errorf("looking at a bomb takes %d MiB", grown)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := set.Families[0].kin[0][0].open(ctx, options())
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that of the context", err)
	}
	if _, err := inflate(strings.NewReader("\x28\xb5\x2f\xfd\x00\xff"+strings.Repeat("\xff", 100)), zstandard); err != nil {
		t.Error(err) // a window beyond the bound is refused when it is read
	}
}

// In a compressed archive, parts that are read out of order are the same.
func TestStreamOutOfOrder(t *testing.T) {
	dir := folder(t, "x", gz(tarred("1", claude("a1a1", "x1"), "2", claude("b2b2", "x2"), "3", claude("c3c3", "x3"))))
	set := find(t, dir)
	if len(set.Families) != 3 {
		t.Fatalf("%d families", len(set.Families))
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 2, 0}, {1, 1, 1}} {
		for _, i := range order {
			one := &Set{Families: set.Families[i : i+1]}
			if got, want := told(t, one), []string{"- a1a1: x1\n", "- b2b2: x2\n", "- c3c3: x3\n"}[i]; got != want {
				t.Errorf("%v: part %d is %s", order, i, got)
			}
		}
	}
}

// Finding costs a fixed part of each file.
func BenchmarkFind(b *testing.B) {
	dir := b.TempDir()
	text := claude("aaaa", "p1!", "a1", "a2", "a3")
	for i := range 10_000 {
		id := "id" + string(rune('a'+i%26)) + strings.Repeat("0", 6) + hexOf(i)
		own := strings.NewReplacer("aaaa", id, "of-line-", "of-line-"+id, `"a1"`, `"`+id+`"`).Replace(text)
		if err := os.WriteFile(filepath.Join(dir, id), []byte(own), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		set := find(b, dir)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(len(set.Families)), "families")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(set.Families)), "B/session")
	}
}

func hexOf(i int) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[i>>12&15], digits[i>>8&15], digits[i>>4&15], digits[i&15]})
}
