package tree

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/await"
)

// The kernel's form of addresses is read as it is.
func TestRemote(t *testing.T) {
	for text, want := range map[string]string{
		"0100007F:0050": "127.0.0.1:80", "2201A8C0:01BB": "192.168.1.34:443",
		"B80D0120000000000000000001000000:01BB": "[2001:db8::1]:443",
		"0000000000000000FFFF00000100007F:0016": "127.0.0.1:22",
	} {
		if got, ok := remote(text); !ok || got.String() != want {
			t.Errorf("%s: %s, %t, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", ":", "01:02", "zz00007F:0050", "0100007F:zz", "0100007F:10000"} {
		if got, ok := remote(text); ok {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// A tree that is watched has the processes that descend from its first one, also those whose parents end later, and
// none of others.
func TestWatch(t *testing.T) {
	cmd := exec.Command("sh", "-c", `sh -c 'sleep 1000 & sleep 1000 & wait' & read line; kill $!; sleep 1000 & wait`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	w, err := Watch(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	runs := func(want ...string) {
		t.Helper()
		var got []string
		if !await.Holds(func() bool {
			got = nil
			for _, p := range w.Processes() {
				got = append(got, p.Command)
			}
			slices.Sort(got)
			return slices.Equal(got, want)
		}) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	runs("sh", "sh", "sleep", "sleep")
	// The kernel counts in ticks since the machine started.
	if began := w.Began(); began.Before(before.Add(-time.Second)) || began.After(time.Now().Add(time.Second)) || !w.Runs() {
		t.Errorf("began at %s, started at %s, runs %t", began, before, w.Runs())
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	runs("sh", "sleep", "sleep", "sleep") // the shell in between has ended, its children have not, and a new one runs
	if u := w.Usage(); u.Processes != 4 || u.Memory == 0 {
		t.Errorf("%+v", u)
	}
	if left := w.Kill(10 * time.Second); len(left) > 0 || w.Runs() {
		t.Errorf("%+v", left)
	}
	<-ended
}

// What cannot be watched is an error: no process, this one, and those that it is one of.
func TestWatchRefused(t *testing.T) {
	for _, pid := range []int{0, 1, 999999999, os.Getpid(), os.Getppid()} {
		if _, err := Watch(pid); err == nil {
			t.Errorf("%d is watched", pid)
		}
	}
}

// The processes of the system are listed with their parents, and with the time of their start.
func TestList(t *testing.T) {
	before := time.Now()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()         //nolint:errcheck // it is killed
	defer cmd.Process.Kill() //nolint:errcheck // it may have ended
	for _, p := range List() {
		if p.Pid != cmd.Process.Pid {
			continue
		}
		// The kernel counts in hundredths of a second.
		if p.Parent != os.Getpid() || p.Started.Before(before.Add(-50*time.Millisecond)) || p.Started.After(time.Now().Add(50*time.Millisecond)) {
			t.Errorf("%+v, started after %s", p, before)
		}
		return
	}
	t.Error("a child process is not listed")
}
