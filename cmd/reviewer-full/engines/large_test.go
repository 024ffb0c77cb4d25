//go:build e2e && linux

package engines

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

const (
	large    = 5 << 30
	cutAfter = large - 1<<28 // bytes, then the connection breaks for the first time
)

// largeObject writes a session of the archive with a hole of 5 GiB in the middle, a line
// that no program wrote, and returns the number of the other lines.
func largeObject(t *testing.T) (name string, lines int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(shared.archive, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no archive", err)
	}
	packed, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	half := bytes.IndexByte(text[len(text)/2:], '\n') + len(text)/2 + 1
	name = filepath.Join(t.TempDir(), "session.jsonl")
	f, err := os.Create(name)
	if err == nil {
		_, err = f.Write(text[:half])
	}
	if err == nil {
		_, err = f.WriteAt(append([]byte("\n"), text[half:]...), int64(half)+large)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return name, bytes.Count(text, []byte("\n"))
}

// breaking is an answer whose connection breaks after some bytes.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return b.ResponseWriter.Write(p)
}

// An object of more than 5 GiB is read as a stream in little memory, also after its
// connection broke; the line that is too long is named.
func TestLargeObject(t *testing.T) {
	name, lines := largeObject(t)
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	const etag = `"5e551015e551015e551015e551015e55"`
	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("list-type") != "" {
			fmt.Fprintf(w, `<ListBucketResult><Name>logs</Name><IsTruncated>false</IsTruncated>`)
			if strings.HasPrefix("q3/session.jsonl", r.URL.Query().Get("prefix")) {
				fmt.Fprintf(w, `<Contents><Key>q3/session.jsonl</Key><Size>%d</Size><ETag>%s</ETag><LastModified>2026-07-01T00:00:00Z</LastModified></Contents>`, info.Size(), etag)
			}
			fmt.Fprintf(w, `</ListBucketResult>`)
			return
		}
		f, err := os.Open(name)
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		defer f.Close()
		w.Header().Set("ETag", etag)
		if requests++; r.Header.Get("Range") == "" && r.Method == http.MethodGet {
			w = &breaking{w, cutAfter}
		}
		http.ServeContent(w, r, "", time.Time{}, f)
	}))
	defer s.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	report := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.CommandContext(t.Context(), shared.program, "policy", "simulate", "s3://logs/q3?endpoint="+s.URL+"&region=us-east-1&use_path_style=true",
		"--candidate", shared.policy, "-f", "json", "-o", report)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err = cmd.Run()
	used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no usage")
	}
	t.Logf("%v after %d requests, %d MB of memory\n%s", err, requests, used.Maxrss>>10, &errs)
	content, readErr := os.ReadFile(report)
	if err != nil || readErr != nil || requests < 3 || !bytes.Contains(content, []byte(`"why": "longer than 16 MiB"`)) ||
		!bytes.Contains(content, fmt.Appendf(nil, `"lines": %d,`, lines+1)) {
		t.Errorf("%v, %v; expected %d lines and the hole: %.3000s", err, readErr, lines, content)
	}
	if used.Maxrss>>10 > 300 {
		t.Error("more than 300 MB")
	}
}
