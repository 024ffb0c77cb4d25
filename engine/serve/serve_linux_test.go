package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// serving is a server that repeats the input, with its state directory.
func serving(t *testing.T, s *Server) string {
	t.Helper()
	if s.Home == "" {
		dir, err := os.MkdirTemp("", "r") // short, for the socket
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) }) // of a test that is over
		s.Home = dir
	}
	if s.Handle == nil {
		s.Handle = func(_ context.Context, _ Client, r *wire.Request, _ *Pause) *wire.Answer {
			return &wire.Answer{Stdout: r.Input}
		}
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(s.Serve(ctx), s.Close()) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s.Home
}

func answers(t *testing.T, home string) {
	t.Helper()
	a, who, err := Ask(home, &wire.Request{Home: home, Once: "o", Input: []byte("x")}, 5*time.Second)
	if err != nil || string(a.Stdout) != "x" || a.Once != "o" || who.Pid != os.Getpid() {
		t.Errorf("%+v, %+v, %v", a, who, err)
	}
}

// raw sends bytes and returns what comes after the greeting.
func raw(t *testing.T, home string, b []byte) []byte {
	t.Helper()
	conn, err := net.Dial("unix", Socket(home))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := message(conn); err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Write(b) // the server may have hung up
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Error(err)
	}
	rest, _ := io.ReadAll(conn) // a reset is not an answer either
	return rest
}

// TestBadRequests: half a request, one that claims to be too long, another protocol and
// none get no answer, and the next client gets its own.
func TestBadRequests(t *testing.T) {
	home := serving(t, &Server{})
	whole := (&wire.Request{Home: home, Input: []byte("x")}).Encode()
	for name, b := range map[string][]byte{"half": whole[:len(whole)/2], "header": whole[:6], "none": nil,
		"too long": append([]byte(whole[:4:4]), 0xff, 0xff, 0xff, 0xff), "older": append([]byte("rvq1"), whole[4:]...),
		"answer": (&wire.Answer{}).Encode(), "http": []byte("GET / HTTP/1.1\r\n\r\n")} {
		if got := raw(t, home, b); len(got) > 0 {
			t.Errorf("%s: answered %q", name, got)
		}
	}
	answers(t, home)
	a, _, err := Ask(home, &wire.Request{Home: home + "/other"}, 5*time.Second)
	if err != nil || a.Status != wire.InProcess {
		t.Errorf("another state directory: %+v, %v", a, err)
	}
}

// TestStaleSocket: what a process left that was killed is replaced, but not a socket that
// is in use.
func TestStaleSocket(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, wire.RunDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(Socket(dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	serving(t, &Server{Home: dir})
	answers(t, dir)
	if err := (&Server{Home: dir}).Listen(); !errors.Is(err, ErrRunning) {
		t.Errorf("a second one: %v", err)
	}
	answers(t, dir)
}

func TestObstacles(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, wire.RunDir)
	if err := Obstacle(dir); err != nil {
		t.Error(err)
	}
	refused := func(home, want string) {
		t.Helper()
		for what, err := range map[string]error{"obstacle": Obstacle(home), "listen": (&Server{Home: home}).Listen()} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		}
	}
	refused(filepath.Join(dir, strings.Repeat("x", 100)), "use a state directory with a shorter path")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(run, 0o777); err != nil {
		t.Fatal(err)
	}
	refused(dir, "other users can write to")
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Chmod(run, 0o700), os.Chown(run, 4711, 4711)); err != nil {
			t.Fatal(err)
		}
		refused(dir, "belongs to user 4711, not to you")
	}
	if err := errors.Join(os.Remove(run), os.Symlink(t.TempDir(), run)); err != nil {
		t.Fatal(err)
	}
	refused(dir, "is not a folder")
}

// TestEnds: without a request for a while, and when the program was replaced.
func TestEnds(t *testing.T) {
	for name, s := range map[string]*Server{"idle": {Idle: 50 * time.Millisecond}, "replaced": {Stale: func() bool { return true }}} {
		dir := t.TempDir()
		s.Home = dir
		if err := s.Listen(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- errors.Join(s.Serve(t.Context()), s.Close()) }()
		if name == "replaced" {
			if a, _, err := Ask(dir, &wire.Request{Home: dir}, 5*time.Second); err == nil {
				t.Errorf("an old program answered: %+v", a)
			}
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(5 * time.Minute):
			t.Fatalf("%s: it does not end", name)
		}
		if _, _, err := Ask(dir, &wire.Request{}, time.Second); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%s: the socket is still there: %v", name, err)
		}
	}
}

// TestCallers: the process lasts as long as a program that started a client.
func TestCallers(t *testing.T) {
	agent := exec.Command("sh", "-c", "sleep 600 & echo $!; wait")
	out, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	var client int
	if _, err := fmt.Fscan(out, &client); err != nil {
		t.Fatal(err)
	}
	var c callers
	if c.live() {
		t.Error("there is a caller before the first client")
	}
	if c.add(client); !c.live() {
		t.Error("the agent that started a client is not known")
	}
	if err := agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = agent.Wait() // it was killed
	if c.live() {
		t.Error("the agent has ended, and counts as running")
	}
	if err := syscall.Kill(client, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// TestRestore: a process whose socket is gone, was replaced, or lost its folder listens again, unless another one serves there.
func TestRestore(t *testing.T) {
	s := &Server{}
	home := serving(t, s)
	if lost, err := s.Restore(); lost || err != nil {
		t.Fatalf("nothing was lost: %v, %v", lost, err)
	}
	for what, lose := range map[string]func() error{
		"removed":             func() error { return os.Remove(Socket(home)) },
		"moved away":          func() error { return os.Rename(Socket(home), filepath.Join(home, "aside")) },
		"a file in its place": func() error { return errors.Join(os.Remove(Socket(home)), os.WriteFile(Socket(home), nil, 0o600)) },
		"without its folder":  func() error { return os.RemoveAll(filepath.Dir(Socket(home))) },
		"without its lock":    func() error { return errors.Join(os.Remove(lockOf(Socket(home))), os.Remove(Socket(home))) },
		"another socket": func() error {
			err := os.Remove(Socket(home))
			l, e := net.Listen("unix", Socket(home))
			if e == nil {
				t.Cleanup(func() { _ = l.Close() })
			}
			return errors.Join(err, e)
		},
	} {
		if err := lose(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if lost, err := s.Restore(); !lost || err != nil {
			t.Errorf("%s: %v, %v", what, lost, err)
		}
		answers(t, home)
		if err := (&Server{Home: home}).Listen(); !errors.Is(err, ErrRunning) {
			t.Errorf("%s: another process can listen: %v", what, err)
		}
	}
	if err := os.RemoveAll(filepath.Dir(Socket(home))); err != nil {
		t.Fatal(err)
	}
	other := &Server{}
	other.Home = home
	serving(t, other)
	if _, err := s.Restore(); !errors.Is(err, ErrRunning) {
		t.Errorf("another process serves there: %v", err)
	}
	answers(t, home)
}

// TestRestoreAfterTheEnd: a process that ended, or whose state directory is gone, makes no socket.
func TestRestoreAfterTheEnd(t *testing.T) {
	dir, err := os.MkdirTemp("", "r") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s := &Server{Home: filepath.Join(dir, "state")}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.Home, filepath.Join(dir, "aside")); err != nil {
		t.Fatal(err)
	}
	if lost, err := s.Restore(); !lost || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a state directory: %v, %v", lost, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if lost, err := s.Restore(); lost || err != nil {
		t.Errorf("after the end: %v, %v", lost, err)
	}
	if _, err := os.Lstat(s.Home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state directory is there again: %v", err)
	}
}
