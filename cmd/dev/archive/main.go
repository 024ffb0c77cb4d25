// Command archive writes a synthetic archive of sessions, for measurements: the same
// flags give the same bytes.
//
// Out of scope: real sessions, and what is done with the archive.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"
)

func main() {
	events := flag.Int("events", 100_000, "events in the archive: prompts, calls and results")
	perSession := flag.Int("session", 100, "events of a session")
	out := flag.String("out", "archive", "folder to write")
	flag.Parse()
	if err := write(*out, *events, *perSession); err != nil {
		fmt.Fprintln(os.Stderr, "archive:", err)
		os.Exit(1)
	}
}

// write makes one object for each session.
func write(out string, events, perSession int) error {
	for i := 0; i*perSession < events; i++ {
		s := newSession(i)
		content := s.lines(min(perSession, events-i*perSession))
		name := filepath.Join(out, fmt.Sprintf("dt=%s", s.began.Format(time.DateOnly)), s.id+".jsonl.zst")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		packed, err := compress(content)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, packed, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func compress(content []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(content, nil), z.Close()
}

// session is a synthetic session of Claude Code.
type session struct {
	random *rand.Rand
	id     string
	began  time.Time
	text   bytes.Buffer
	line   int
}

func newSession(i int) *session {
	began := time.Date(2026, 7, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(i) * 7 * time.Minute)
	id := fmt.Sprintf("%08x-5e55-4000-8000-%012x", i*2654435761%(1<<32), i)
	return &session{random: rand.New(rand.NewPCG(uint64(i), 26)), id: id, began: began}
}

// lines writes a number of events: a prompt, then calls and their results.
func (s *session) lines(events int) []byte {
	s.message("user", `"work on the next task"`)
	for n := 1; n+1 < events; n += 2 {
		call := fmt.Sprintf("toolu_%s_%04d", s.id[:8], n)
		tool, input := s.call()
		s.message("assistant", fmt.Sprintf(`[{"type":"tool_use","id":"%s","name":"%s","input":%s}]`, call, tool, input))
		s.message("user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"%s","content":"%d bytes"}]`, call, s.random.IntN(100)))
	}
	return s.text.Bytes()
}

func (s *session) message(role, content string) {
	id := func(n int) string { return fmt.Sprintf("%s-%04d-4000-8000-%012d", s.id[:8], n%10000, n) }
	parent := "null"
	if s.line > 0 {
		parent = `"` + id(s.line) + `"`
	}
	s.line++
	at := s.began.Add(time.Duration(s.line) * 3 * time.Second)
	fmt.Fprintf(&s.text, `{"type":"%s","uuid":"%s","parentUuid":%s,"isSidechain":false,"sessionId":"%s",`,
		role, id(s.line), parent, s.id)
	fmt.Fprintf(&s.text, `"cwd":"/srv/project-%d","version":"2.0.0","timestamp":"%s",`,
		s.random.IntN(3), at.Format("2006-01-02T15:04:05.000Z"))
	fmt.Fprintf(&s.text, `"message":{"role":"%s","content":%s}}`+"\n", role, content)
}

// call is a tool and its input: mostly harmless, as sessions are.
func (s *session) call() (tool, input string) {
	file := fmt.Sprintf("src/file%d.go", s.random.IntN(400))
	commands := []string{"go test ./...", "git status", "git diff --stat", "ls -la src", "npm run build", "make lint", "grep -rn TODO src",
		"git add -A", "git commit -m step", "git push origin work", "rm -rf build", "curl -fsS https://example.com/data.json", "docker ps",
		"pip install requests", "chmod +x run.sh", "git push --force origin main"}
	switch s.random.IntN(10) {
	case 0, 1, 2:
		return "Read", fmt.Sprintf(`{"file_path":"/srv/project/%s"}`, file)
	case 3, 4:
		return "Edit", fmt.Sprintf(`{"file_path":"/srv/project/%s","old_string":"a","new_string":"b%d"}`, file, s.random.IntN(1000))
	}
	at := min(s.random.IntN(len(commands)), s.random.IntN(len(commands)))
	return "Bash", fmt.Sprintf(`{"command":"%s"}`, commands[at])
}
