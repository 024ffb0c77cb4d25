//go:build !windows

package notify

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The variables that make this test binary deliver instead.
const (
	spoolVar = "NOTIFY_TEST_SPOOL"
	portVar  = "NOTIFY_TEST_ADDRESS"
	diskVar  = "NOTIFY_TEST_FULL"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(spoolVar); dir != "" {
		os.Exit(asDeliverer(dir))
	}
	os.Exit(m.Run())
}

// asDeliverer delivers over a connection to the test that started it.
func asDeliverer(dir string) int {
	if os.Getenv(diskVar) != "" {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{}); err != nil {
			panic(err)
		}
	}
	d := &Deliverer{Spool: Spool{dir}, Channels: []Channel{dialing{os.Getenv(portVar)}},
		Plan: Plan{Attempts: 6, First: time.Millisecond, Factor: 1, Longest: time.Millisecond, Timeout: time.Second, Keep: time.Hour},
		When: map[string]Schedule{"tcp": {About: []string{AboutStops, AboutApprovals}}}}
	if err := d.Run(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

type dialing struct{ address string }

func (d dialing) Name() string { return "tcp" }

func (d dialing) Send(ctx context.Context, e Entry) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	ids := []string{e.ID}
	if e.Digest != nil {
		ids = nil
		for _, r := range e.Digest.Requests {
			ids = append(ids, RequestID(r.ID))
		}
	}
	fmt.Fprintln(conn, strings.Join(ids, ","))
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && answer != "yes\n" {
		err = fmt.Errorf("the answer is %q", answer)
	}
	return err
}

// receiver counts what it gets.
func receiver(t *testing.T) (address string, got func() map[string]int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var mu sync.Mutex
	counts := map[string]int{}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				id, err := bufio.NewReader(conn).ReadString('\n')
				if err != nil {
					return
				}
				mu.Lock()
				counts[strings.TrimSpace(id)]++
				mu.Unlock()
				fmt.Fprintln(conn, "yes")
			}()
		}
	}()
	return listener.Addr().String(), func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		own := map[string]int{}
		for id, n := range counts {
			own[id] = n
		}
		return own
	}
}

func start(t *testing.T, dir, address string, env ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), append(env, spoolVar+"="+dir, portVar+"="+address)...)
	return cmd
}

// Killed again and again, at any step, the process that delivers loses nothing: each
// entry is sent at least once, and no more often than there are attempts.
func TestKilledAtAnyStep(t *testing.T) {
	address, got := receiver(t)
	dir := filepath.Join(t.TempDir(), "notify")
	random := rand.New(rand.NewPCG(1, 2))
	s := Spool{dir}
	for round := range 40 {
		put(t, s, fmt.Sprint("e-", round))
		cmd := start(t, dir, address)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(30_000)) * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
	}
	if out, err := start(t, dir, address).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sent, all := got(), items(t, s)
	if len(all) != 40 || s.Waiting() {
		t.Errorf("%d entries are known; others wait: %t", len(all), s.Waiting())
	}
	more := 0
	for id, i := range all {
		to := i.Deliveries[0]
		if to.Status == Delivered && sent[id] == 0 || sent[id] > len(to.Attempts) || len(to.Attempts) > 6 {
			t.Errorf("%s was sent %d times: %+v", id, sent[id], to)
		}
		if to.Status != Delivered && sent[id] == 0 && len(to.Attempts) < 6 {
			t.Errorf("%s was given up after %d attempts", id, len(to.Attempts))
		}
		more += max(0, sent[id]-1)
	}
	t.Logf("%d of 40 entries were sent, %d of them more than once", len(sent), more)
}

// The same for requests, of which some are sent as digests.
func TestRequestsWhenKilledAtAnyStep(t *testing.T) {
	address, got := receiver(t)
	dir := filepath.Join(t.TempDir(), "notify")
	random := rand.New(rand.NewPCG(3, 4))
	s := Spool{dir}
	for round := range 20 {
		for n := range 3 {
			r := Request{ID: fmt.Sprint(round, "-", n), Action: "ls", Deadline: time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}
			if err := s.Put(Ask(r, time.Now(), "claude-code", "s1", "/srv/shop")); err != nil {
				t.Fatal(err)
			}
		}
		cmd := start(t, dir, address)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(30_000)) * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
	}
	if out, err := start(t, dir, address).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sent := map[string]int{}
	for ids, n := range got() {
		for _, id := range strings.Split(ids, ",") {
			sent[id] += n
		}
	}
	all := items(t, s)
	if len(all) != 60 || s.Waiting() {
		t.Errorf("%d requests are known; others wait: %t", len(all), s.Waiting())
	}
	for id, i := range all {
		to := i.Deliveries[0]
		if last := to.Attempts[len(to.Attempts)-1]; to.Status == Delivered && sent[id] == 0 && !last.Counted || sent[id] > len(to.Attempts) || len(to.Attempts) > 6 {
			t.Errorf("%s was sent %d times: %+v", id, sent[id], to)
		}
		if to.Status != Delivered && (to.Status != Failed || len(to.Attempts) < 6) {
			t.Errorf("%s was given up: %+v", id, to)
		}
	}
}

// On a full disk nothing is sent that could not be counted, and nothing is lost.
func TestAFullDisk(t *testing.T) {
	address, got := receiver(t)
	dir := filepath.Join(t.TempDir(), "notify")
	put(t, Spool{dir}, "a")
	for range 3 {
		if out, err := start(t, dir, address, diskVar+"=1").CombinedOutput(); err == nil || !strings.Contains(string(out), "write a notification") {
			t.Errorf("%v: %s", err, out)
		}
	}
	if n := got()["a"]; n != 0 {
		t.Errorf("it was sent %d times", n)
	}
	if out, err := start(t, dir, address).CombinedOutput(); err != nil || got()["a"] != 1 {
		t.Errorf("with space again it was sent %d times: %v: %s", got()["a"], err, out)
	}
}
