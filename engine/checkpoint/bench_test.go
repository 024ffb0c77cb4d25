package checkpoint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkTake measures the second and later checkpoints of a tree in which five files
// changed: what each command costs that is not proved to be read-only.
func BenchmarkTake(b *testing.B) {
	for _, folders := range []int{40, 1000} {
		b.Run(fmt.Sprint(folders*250, " files"), func(b *testing.B) {
			root := b.TempDir()
			for d := range folders {
				dir := filepath.Join(root, fmt.Sprintf("d%04d", d))
				if err := os.Mkdir(dir, 0o755); err != nil {
					b.Fatal(err)
				}
				for f := range 250 {
					if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", f)), []byte(strings.Repeat(fmt.Sprintln("line", d, f), 20+f%80)), 0o644); err != nil {
						b.Fatal(err)
					}
				}
			}
			benchTake(b, root, folders)
		})
	}
}

func benchTake(b *testing.B, root string, folders int) {
	s, err := Open(b.TempDir(), root, Options{Secret: make([]byte, 32), Bounds: Bounds{MaxFileBytes: 1 << 27, MaxBytes: 4 << 30, MaxFiles: 300000}})
	if err != nil {
		b.Fatal(err)
	}
	took := func() time.Duration {
		began := time.Now()
		if _, err := s.Take(context.Background(), Request{By: BySession}); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	first := took()
	time.Sleep(slack) // so that no file counts as just changed
	took()
	n := 0
	for b.Loop() {
		b.StopTimer()
		for range 5 {
			n++
			if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("d%04d", n%folders), "f1"), fmt.Append(nil, n), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		took()
	}
	b.ReportMetric(float64(first.Milliseconds()), "ms-first")
}
