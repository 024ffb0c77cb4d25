package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/await"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/agent-reviewer/reviewer/engine/serve/client"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// TestMain is, by its name, one of the programs of an installation: the program, which
// serves or reviews in process, its client, or an impostor.
func TestMain(m *testing.M) {
	if os.Getenv("PROGRAMS") == "" {
		os.Exit(m.Run())
	}
	switch name := filepath.Base(os.Args[0]); {
	case name == "reviewer-hook":
		if os.Getenv("IMPATIENT") == "" {
			client.WaitLong()
		}
		os.Exit(client.Main(os.Args[1:]))
	case name == "reviewer" && os.Args[1] == "serve":
		serving(os.Args[2])
	case name == "reviewer":
		input, _ := io.ReadAll(os.Stdin) // what is missing shows in the output
		fmt.Printf("in process %q because %q", input, os.Getenv(wire.WhyVariable))
		os.Exit(3)
	case len(os.Args) == 4 && os.Args[1] == "asks":
		asks(os.Args[2], os.Args[3])
	default:
		impostor(os.Args[1], os.Args[2])
	}
}

// asks sends a request as the client of a hook would. What it does besides:
//
//	plain  nothing
//	early  it asks before it is greeted, and becomes the client
//	child  a child of it asks, and it becomes the client
//	given  it is that child
func asks(how, home string) {
	conn := os.NewFile(3, "socket")
	if how != "given" {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err = errors.Join(err, syscall.Connect(fd, &syscall.SockaddrUnix{Name: serve.Socket(home)})); err != nil {
			panic(err)
		}
		conn = os.NewFile(uintptr(fd), "socket")
	}
	request := wire.Request{Home: home, Input: []byte("who")}
	switch how {
	case "plain", "given":
		request.Challenge = greeted(conn)
		_, _ = conn.Write(request.Encode()) // what was not sent is not answered
		_, _ = io.ReadAll(conn)
		return
	case "early":
		_, _ = conn.Write(request.Encode())
	case "child":
		cmd := exec.Command(os.Args[0], "asks", "given", home)
		cmd.ExtraFiles, cmd.Stderr = []*os.File{conn}, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	}
	panic(syscall.Exec(filepath.Join(filepath.Dir(home), "reviewer-hook"), []string{"reviewer-hook", "hook"}, os.Environ()))
}

func greeted(conn *os.File) string {
	var greeting wire.Greeting
	if err := greeting.Decode(received(conn)); err != nil {
		panic(err)
	}
	return greeting.Challenge
}

func received(conn *os.File) []byte {
	b := make([]byte, wire.HeaderSize)
	_, err := io.ReadFull(conn, b)
	n, err2 := wire.BodyLength(b)
	b = append(b, make([]byte, max(n, 0))...)
	_, err3 := io.ReadFull(conn, b[wire.HeaderSize:])
	if err := errors.Join(err, err2, err3); err != nil {
		panic(err)
	}
	return b
}

// serving answers with what it was asked. An input "slow" takes long, "die" kills it.
func serving(home string) {
	s := &serve.Server{Home: home, HookClient: filepath.Join(filepath.Dir(home), "reviewer-hook"), Stale: func() bool { return os.Getenv("STALE") != "" },
		Handle: func(_ context.Context, c serve.Client, r *wire.Request, _ *serve.Pause) *wire.Answer {
			switch string(r.Input) {
			case "who":
				_ = os.WriteFile(filepath.Join(home, "who"), fmt.Appendf(nil, "own %t, maker %d", c.Own, r.Maker), 0o600) // missing, it is noticed
			case "slow":
				select {}
			case "die":
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return &wire.Answer{Exit: 2, Stdout: append([]byte("resident "), r.Input...), Stderr: []byte(strings.Join(r.Args, " "))}
		}}
	if err := s.Listen(); err != nil {
		panic(err)
	}
	_ = s.Serve(context.Background()) // until it is killed
}

// impostor answers in the place of the resident process. What it does besides:
//
//	plain    nothing
//	becomes  a child of it answers, and it becomes the installed program
//	early    it answers before it is asked, and becomes the installed program
func impostor(how, home string) {
	l, err := net.Listen("unix", serve.Socket(home))
	if err != nil {
		panic(err)
	}
	genuine := filepath.Join(filepath.Dir(home), "reviewer")
	forged := (&wire.Answer{Stdout: []byte("forged")}).Encode()
	file, err := l.(*net.UnixListener).File()
	if err != nil {
		panic(err)
	}
	if how == "becomes" {
		cmd := exec.Command(os.Args[0], "child", home+"2")
		cmd.ExtraFiles = []*os.File{file}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		panic(syscall.Exec(genuine, []string{"reviewer", "serve", home + "3"}, os.Environ()))
	}
	if how == "child" {
		if l, err = net.FileListener(os.NewFile(3, "socket")); err != nil {
			panic(err)
		}
		home = strings.TrimSuffix(home, "2")
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write((&wire.Greeting{Home: home}).Encode()) // the client notices
		if how == "early" {
			_, _ = conn.Write(forged)
			if raw, err := conn.(*net.UnixConn).File(); err == nil { // it stays open
				_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, raw.Fd(), syscall.F_SETFD, 0)
			}
			panic(syscall.Exec(genuine, []string{"reviewer", "serve", home + "3"}, os.Environ()))
		}
		var request [4096]byte
		_, _ = conn.Read(request[:])
		_, _ = conn.Write(forged)
	}
}

// installed is a folder with the programs, and a state directory in it.
func installed(t *testing.T) (home string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "r") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // of a test that is over
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reviewer", "reviewer-hook", "impostor"} {
		if err := os.WriteFile(filepath.Join(dir, name), self, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, home := range []string{"state", "state2", "state3"} {
		if err := os.MkdirAll(filepath.Join(dir, home, wire.RunDir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "state")
}

// started starts a program of the installation, and waits until something listens.
func started(t *testing.T, home, name string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(filepath.Join(filepath.Dir(home), name), args...)
	cmd.Env = append(append(os.Environ(), "PROGRAMS=1"), env...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
	})
	await.Until(t, name+" listens", func() bool {
		conn, err := net.Dial("unix", serve.Socket(home))
		return err == nil && conn.Close() == nil
	})
	return cmd
}

// ask runs the client.
func ask(t *testing.T, home, input string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(filepath.Join(filepath.Dir(home), "reviewer-hook"), "hook", "agent", "Event", "--home", home)
	cmd.Env = append(os.Environ(), "PROGRAMS=1")
	cmd.Stdin = strings.NewReader(input)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Error(err)
		return "", -1
	}
	return stdout.String(), cmd.ProcessState.ExitCode()
}

func wants(t *testing.T, home, input, want string, exit int) {
	t.Helper()
	if out, code := ask(t, home, input); out != want || code != exit {
		t.Errorf("%s: %q, exit %d; want %q and %d", input, out, code, want, exit)
	}
}

// TestResident: the client copies input and answer, whatever bytes they are.
func TestResident(t *testing.T) {
	home := installed(t)
	started(t, home, "reviewer", nil, "serve", home)
	large := strings.Repeat("0123456789abcdef", 1<<16)
	for _, input := range []string{"", "x", "\xff\x00\xfe", large} {
		wants(t, home, input, "resident "+input, 2)
	}
}

// TestImpostors: only the installed program is trusted, and what is read in vain
// is reviewed in process.
func TestImpostors(t *testing.T) {
	for _, how := range []string{"plain", "becomes"} {
		t.Run(how, func(t *testing.T) {
			home := installed(t)
			started(t, home, "impostor", nil, how, home)
			why := "the process behind the socket is not " + filepath.Join(filepath.Dir(home), "reviewer")
			wants(t, home, "x", fmt.Sprintf("in process %q because %q", "x", why), 3)
		})
	}
}

// TestWhoAsks: only what a program of the installation has written itself, after it was looked at, is its own.
func TestWhoAsks(t *testing.T) {
	for how, want := range map[string]string{"client": "own true", "plain": "own false", "early": "own false", "child": "own false"} {
		t.Run(how, func(t *testing.T) {
			home := installed(t)
			server := started(t, home, "reviewer", nil, "serve", home)
			switch how {
			case "client":
				ask(t, home, "who")
			case "plain":
				becomes(t, home, how)
			default: // it has become the client before the server looks at it
				if err := server.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				await.Until(t, "the server has stopped", func() bool { return stopped(server.Process.Pid) })
				becomes(t, home, how)
				if err := server.Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
			}
			var who []byte
			await.Until(t, "the server was asked", func() bool {
				who, _ = os.ReadFile(filepath.Join(home, "who")) // it is not there yet
				return len(who) > 0
			})
			if !strings.HasPrefix(string(who), want+",") {
				t.Errorf("%s, want %s", who, want)
			}
		})
	}
}

// stopped reports whether all threads of a process have stopped, which takes a moment after the signal.
func stopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return len(threads) > 0 && !slices.ContainsFunc(threads, func(file string) bool {
		stat, _ := os.ReadFile(file) // a thread that is gone has no state
		return !bytes.Contains(stat, []byte(") T "))
	})
}

// becomes starts a program that asks, and waits until it has ended or become another one.
func becomes(t *testing.T, home, how string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(filepath.Dir(home), "impostor"), "asks", how, home)
	cmd.Env, cmd.Stderr = append(os.Environ(), "PROGRAMS=1"), os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // what it became waits for it
		_ = cmd.Wait()
	})
	exe := fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid)
	await.Until(t, "it has become another program", func() bool {
		file, err := os.Readlink(exe)
		return how == "plain" || err == nil && filepath.Base(file) != "impostor"
	})
}

// TestMaker: the client reports which process made the socket that it reads from.
func TestMaker(t *testing.T) {
	home := installed(t)
	started(t, home, "reviewer", nil, "serve", home)
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	for want, from := range map[int]io.Reader{os.Getpid(): theirs, 0: strings.NewReader("who")} {
		if want != 0 {
			if _, err := ours.WriteString("who"); err != nil {
				t.Fatal(err)
			}
			if err := ours.Close(); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(filepath.Join(filepath.Dir(home), "reviewer-hook"), "hook", "agent", "Event", "--home", home)
		cmd.Env, cmd.Stdin = append(os.Environ(), "PROGRAMS=1"), from
		if out, _ := cmd.Output(); string(out) != "resident who" { // its exit code is that of the answer
			t.Errorf("%s", out)
		}
		who, err := os.ReadFile(filepath.Join(home, "who"))
		if err != nil || string(who) != fmt.Sprintf("own true, maker %d", want) {
			t.Errorf("%s, %v, want maker %d", who, err, want)
		}
	}
}

// TestEarlyAnswer: an answer that was written before the question is none, even if its
// writer has become the installed program.
func TestEarlyAnswer(t *testing.T) {
	home := installed(t)
	cmd := exec.Command(filepath.Join(filepath.Dir(home), "impostor"), "early", home)
	cmd.Env = append(os.Environ(), "PROGRAMS=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	await.Until(t, "the impostor listens", func() bool {
		_, err := os.Stat(serve.Socket(home))
		return err == nil
	})
	if out, code := ask(t, home, "x"); !strings.HasPrefix(out, `in process "x" because "the `) || code != 3 {
		t.Errorf("%q, exit %d", out, code)
	}
}

// TestNobody: no socket, one that nobody listens to, one of another state directory.
func TestNobody(t *testing.T) {
	home := installed(t)
	wants(t, home, "x", `in process "x" because "none"`, 3)
	server := started(t, home, "reviewer", nil, "serve", home)
	_ = server.Process.Kill()
	_ = server.Wait() // it was killed
	wants(t, home, "x", `in process "x" because "none"`, 3)
	started(t, home+"2", "reviewer", nil, "serve", home+"2")
	if err := os.Remove(serve.Socket(home)); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(serve.Socket(home+"2"), serve.Socket(home)); err != nil {
		t.Fatal(err)
	}
	wants(t, home, "x", `in process "x" because "the resident process serves another state directory"`, 3)
	started(t, home+"3", "reviewer", []string{"STALE=1"}, "serve", home+"3")
	wants(t, home+"3", "x", `in process "x" because "none"`, 3)
}

// TestKilled: a server that dies over a request leaves it to a process of its own, with
// all of the input.
func TestKilled(t *testing.T) {
	home := installed(t)
	started(t, home, "reviewer", nil, "serve", home)
	wants(t, home, "die", `in process "die" because "the resident process did not answer"`, 3)
}

// TestStopped: one that is stopped is not waited for.
func TestStopped(t *testing.T) {
	home := installed(t)
	server := started(t, home, "reviewer", nil, "serve", home)
	if err := server.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Setenv("IMPATIENT", "1")
	wants(t, home, "x", `in process "x" because "the resident process sent no greeting"`, 3)
}

// TestReplaced: a program that lies at the place of the one that serves is another one.
func TestReplaced(t *testing.T) {
	home := installed(t)
	started(t, home, "reviewer", nil, "serve", home)
	program := filepath.Join(filepath.Dir(home), "reviewer")
	if err := os.Rename(filepath.Join(filepath.Dir(home), "impostor"), program); err != nil {
		t.Fatal(err)
	}
	wants(t, home, "x", fmt.Sprintf("in process %q because %q", "x", "the process behind the socket is not "+program), 3)
}

// TestClosedOutput: a denial that nobody can read is one by its exit code.
func TestClosedOutput(t *testing.T) {
	home := installed(t)
	started(t, home, "reviewer", nil, "serve", home)
	cmd := exec.Command("/bin/sh", "-c", `exec "$0" hook agent Event --home "$1" >&-`, filepath.Join(filepath.Dir(home), "reviewer-hook"), home)
	cmd.Env = append(os.Environ(), "PROGRAMS=1")
	cmd.Stdin = strings.NewReader("x")
	_ = cmd.Run() // the exit code counts
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
}

// TestManyClients: a thousand at once each get their own answer, or review in process.
func TestManyClients(t *testing.T) {
	home := installed(t)
	started(t, home, "reviewer", nil, "serve", home)
	var all sync.WaitGroup
	running := make(chan struct{}, 200) // processes at the same time
	for i := range 1000 {
		all.Go(func() {
			running <- struct{}{}
			defer func() { <-running }()
			input := fmt.Sprint("call ", i)
			out, code := ask(t, home, input)
			resident := out == "resident "+input && code == 2
			if alone := strings.HasPrefix(out, fmt.Sprintf("in process %q", input)) && code == 3; !resident && !alone {
				t.Errorf("%s: %q, exit %d", input, out, code)
			}
		})
	}
	all.Wait()
}

// TestLongPath: a path that no socket can have is not tried.
func TestLongPath(t *testing.T) {
	home := installed(t)
	long := filepath.Join(filepath.Dir(home), strings.Repeat("x", wire.MaxSocketPath))
	cmd := exec.Command(filepath.Join(filepath.Dir(home), "reviewer-hook"), "hook", "agent", "Event", "--home", long)
	cmd.Env = append(os.Environ(), "PROGRAMS=1")
	out, _ := cmd.Output() // its exit code is checked below
	if string(out) != `in process "" because ""` || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("%s, exit %d", out, cmd.ProcessState.ExitCode())
	}
}
