//go:build e2e && unix

package e2e

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/await"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// A machine is one on which an agent's call was denied, its session stopped, or a question waits, and on which a
// program of the same user may do everything that this user can. The hook is installed with the person's key.
type machine struct {
	*testing.T
	home, state, project, program string
	uid                           int
	code                          string // of the person, who keeps it to themselves
	key                           string // its fingerprint, as the hook is given it
	id                            string // record of the denied or asked call
	digest                        string // of the question
}

const liftSession = "6f9619ff-8b86-4d01-b42d-00c04fc964ff"

var liftKey = engine.SessionKey{Harness: "claude-code", Session: liftSession}

func newMachine(t *testing.T, uid int) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "lift") // short: a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // another user has to get there
		t.Fatal(err)
	}
	m := &machine{T: t, home: filepath.Join(dir, "home"), state: filepath.Join(dir, "home", "state"), project: filepath.Join(dir, "home", "shop"),
		program: filepath.Join(dir, "home", "bin", "reviewer"), uid: uid}
	for _, d := range []string{m.project, filepath.Join(m.home, "photos"), filepath.Dir(m.program)} {
		m.must(os.MkdirAll(d, 0o755))
	}
	m.write(filepath.Join(m.home, "photos", "beach.jpg"), "a photograph")
	for from, to := range map[string]string{program: m.program, hookClient(program): hookClient(m.program)} {
		if from != "" {
			b, err := os.ReadFile(from)
			m.must(err)
			m.must(os.WriteFile(to, b, 0o755))
		}
	}
	codes := &code.Store{Log: m.log(), Cheap: true}
	m.code, err = codes.Set(context.Background(), "kim", nil)
	m.must(err)
	key, _, err := m.log().PersonKey()
	m.must(err)
	m.key = key.Fingerprint()
	m.own()
	t.Cleanup(m.endPrograms)
	return m
}

// log is the log for this process; own gives what it writes back to the user.
func (m *machine) log() *audit.Store {
	m.give(m.state, os.Geteuid())
	return &audit.Store{Dir: m.state}
}

func (m *machine) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *machine) write(path, text string) {
	m.Helper()
	m.must(os.MkdirAll(filepath.Dir(path), 0o700))
	m.must(os.WriteFile(path, []byte(text), 0o600))
	m.own()
}

// own gives all files to the user.
func (m *machine) own() { m.Helper(); m.give(m.home, m.uid) }

func (m *machine) give(dir string, uid int) {
	m.Helper()
	if m.uid == os.Geteuid() {
		return
	}
	m.must(ignoreMissing(filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // a file of a moment
		}
		return errors.Join(err, ignoreMissing(os.Lchown(path, uid, uid)))
	})))
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// endPrograms ends what runs from the machine's folder: the resident process, and what a way left behind.
func (m *machine) endPrograms() {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if program, _ := os.Readlink(link); strings.HasPrefix(program, filepath.Dir(m.home)+"/") {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			}
		}
	}
}

// command is a program of the user.
func (m *machine) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = m.project
	cmd.Env = []string{"HOME=" + m.home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "USER=kim"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if m.uid != os.Geteuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(m.uid), Gid: uint32(m.uid)}
	}
	return cmd
}

// shell runs a command of the attacker. {R} is the program, {S} its state, {ID} and {DIGEST} what is denied or asked.
func (m *machine) shell(script string) {
	m.Helper()
	cmd := m.command("sh", "-c", m.fill(script)) // its output is nobody's: what it leaves behind may keep it open
	if exit := (*exec.ExitError)(nil); !errors.As(cmd.Run(), &exit) && cmd.ProcessState == nil {
		m.Fatal("the command was not started")
	}
}

func (m *machine) fill(text string) string {
	return strings.NewReplacer("{R}", m.program, "{S}", m.state, "{ID}", m.id, "{DIGEST}", m.digest, "{SESSION}", liftSession,
		"{HOME}", m.home, "{PROJECT}", m.project).Replace(text)
}

// hook gives the installed hook an event and returns its answer.
func (m *machine) hook(resident bool, event string, more map[string]any) string {
	m.Helper()
	cmd := m.hookCommand(resident, event, more)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		m.Fatal(err)
	}
	if exit := cmd.ProcessState.ExitCode(); exit == 2 {
		return "deny: exit 2 " + string(out)
	}
	return string(out)
}

// hookAs is hook for another session.
func (m *machine) hookAs(session, event string, more map[string]any) string {
	m.Helper()
	own := map[string]any{"session_id": session}
	maps.Copy(own, more)
	return m.hook(true, event, own)
}

func (m *machine) hookCommand(resident bool, event string, more map[string]any) *exec.Cmd {
	m.Helper()
	input := map[string]any{"hook_event_name": event, "session_id": liftSession, "cwd": m.project, "transcript_path": filepath.Join(m.home, "transcript.jsonl"),
		"permission_mode": "default"}
	maps.Copy(input, more)
	raw, err := json.Marshal(input)
	m.must(err)
	name := m.program
	if resident {
		name = hookClient(m.program)
	}
	cmd := m.command(name, "hook", "claude-code", event, "--home", m.state, "--key", m.key)
	cmd.SysProcAttr.Setsid = false // hooks run in the client's session of processes, and calls in one of their own
	if !resident {
		cmd.Env = append(cmd.Env, "REVIEWER_NO_RESIDENT=1")
	}
	cmd.Stdin = bytes.NewReader(raw)
	return cmd
}

var calls int

// call is a Bash call before it runs.
func (m *machine) call(command string) map[string]any {
	calls++
	return map[string]any{"tool_name": "Bash", "tool_use_id": fmt.Sprintf("call%d", calls), "tool_input": map[string]any{"command": command}}
}

func denied(answer string) bool { return strings.Contains(answer, "deny") }

const (
	deletion = "rm -rf ~/photos"
	harmless = "ls"
)

// start opens the session.
func (m *machine) start() {
	m.Helper()
	m.hook(true, "SessionStart", map[string]any{"source": "startup"})
	await.Until(m.T, "the resident process listens", func() bool {
		if _, err := os.Stat(filepath.Join(m.state, "run", "hook.sock")); err == nil {
			return true
		}
		m.hook(true, "PreToolUse", m.call(harmless)) // each hook starts it, if it is not there
		return false
	})
	m.hook(true, "UserPromptSubmit", map[string]any{"prompt": "Look at the shop, please."})
	if answer := m.hook(true, "PreToolUse", m.call(harmless)); denied(answer) {
		m.Fatalf("a harmless call is denied: %s", answer)
	}
}

// deny has a call denied.
func (m *machine) deny() {
	m.Helper()
	m.start()
	if answer := m.hook(true, "PreToolUse", m.call(deletion)); !denied(answer) {
		m.Fatalf("the call is not denied: %s", answer)
	}
	m.id = m.newest(func(r *engine.Record) bool { return r.Kind == engine.KindPre }).ID()
}

// ask has a question wait for a person. answer returns the answer to the agent after nobody answered in time.
func (m *machine) ask() (answer func() string, end func()) {
	m.Helper()
	m.write(filepath.Join(m.state, "policy", "rules", "shop", "release.yaml"), releaseRule)
	m.write(filepath.Join(m.state, "policy", "settings.yaml"), "approvals: {queue: always, wait_seconds: 10}\n")
	own, err := cli.MachineAt(m.state).Acceptance()
	m.must(err)
	m.must(own.Accept(context.Background(), m.log(), "kim", m.person()))
	m.own()
	m.start()
	cmd := m.hookCommand(true, "PreToolUse", m.call("touch first"))
	var out strings.Builder
	cmd.Stdout = &out
	m.must(cmd.Start())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // what it printed counts
	var q struct{ ID, Digest string }
	await.Until(m.T, "a question waits", func() bool {
		files, _ := filepath.Glob(filepath.Join(m.state, "approvals", "*.json"))
		if len(files) != 1 {
			return false
		}
		raw, err := os.ReadFile(files[0])
		return err == nil && json.Unmarshal(raw, &q) == nil
	})
	m.id, m.digest = q.ID, q.Digest
	return func() string { <-ended; return out.String() }, func() { _ = cmd.Process.Kill() }
}

// stop has the session stopped by a person.
func (m *machine) stop() {
	m.Helper()
	m.deny()
	m.must(m.log().Control(context.Background(), liftKey, engine.Control{Do: engine.ControlStop, Reason: "enough", By: "kim"}, nil))
	m.own()
	if answer := m.hook(true, "PreToolUse", m.call(harmless)); !denied(answer) {
		m.Fatalf("the session is not stopped: %s", answer)
	}
}

// newest returns the newest record of the session for which ok holds.
func (m *machine) newest(ok func(*engine.Record) bool) *engine.Record {
	m.Helper()
	var found *engine.Record
	for r, err := range (&audit.Store{Dir: m.state}).Records(liftKey, 0) {
		m.must(err)
		if ok(r) {
			found = r
		}
	}
	if found == nil {
		m.Fatal("the record was not found")
	}
	return found
}

// chainFile returns the newest file of the session's log, or of the ledger.
func (m *machine) chainFile(ledger bool) string {
	m.Helper()
	pattern := filepath.Join(m.state, "sessions", "*", "0*.jsonl")
	if ledger {
		pattern = filepath.Join(m.state, "ledger", "0*.jsonl")
	}
	list, err := filepath.Glob(pattern)
	m.must(err)
	if len(list) == 0 {
		m.Fatal("there is no log")
	}
	return list[len(list)-1]
}

// lines returns the lines of a log with their ends.
func (m *machine) lines(ledger bool) []string {
	m.Helper()
	b, err := os.ReadFile(m.chainFile(ledger))
	m.must(err)
	return strings.SplitAfter(strings.TrimSuffix(string(b), "\n"), "\n")
}

// add appends a record to a log, with the right number and hash.
func (m *machine) add(ledger bool, r *engine.Record) {
	m.Helper()
	list := m.lines(ledger)
	last := strings.TrimSuffix(list[len(list)-1], "\n") + "\n"
	before, err := engine.DecodeLine([]byte(last))
	m.must(err)
	if r.Session == "" {
		r.Session, r.Harness = before.Session, before.Harness
	}
	if r.Kind == "" {
		r.Kind = engine.KindControl
	}
	r.V, r.Prev, r.N, r.Chain, r.T = engine.FormatVersion, engine.LineHash([]byte(last)), before.N+1, before.Chain, max(before.T, r.T)
	line, err := engine.EncodeLine(r)
	m.must(err)
	f, err := os.OpenFile(m.chainFile(ledger), os.O_APPEND|os.O_WRONLY, 0)
	m.must(err)
	_, err = f.Write(line)
	m.must(errors.Join(err, f.Close()))
}

// choose appends a choice, as a person who allows the denied call or resumes the session would have it.
func (m *machine) choose(c engine.Control) { m.Helper(); m.add(false, &engine.Record{Control: &c}) }

// choice fills in what a choice needs to be about the call.
func (m *machine) choice(do string) engine.Control {
	m.Helper()
	c := engine.Control{Do: do, By: "kim"}
	if strings.HasPrefix(do, "allow") {
		r := m.newest(func(r *engine.Record) bool { return r.ID() == m.id })
		key, _ := r.CallKey()
		c.Record, c.Print, c.CWD = r.ID(), key.Print, key.CWD
	}
	if do == engine.ControlScope {
		c.Path = "~/photos"
	}
	return c
}

// cut keeps the first n lines of a log; a negative n removes as many at its end.
func (m *machine) cut(ledger bool, n int) {
	m.Helper()
	list := m.lines(ledger)
	if n < 0 {
		n += len(list)
	}
	m.must(os.WriteFile(m.chainFile(ledger), []byte(strings.Join(list[:n], "")), 0o600))
	m.must(ignoreMissing(os.Remove(filepath.Join(filepath.Dir(m.chainFile(ledger)), "snapshot.json"))))
}

// other makes a state of the attacker's own, with their own code, and returns its log and their key.
func (m *machine) other() (*audit.Store, *code.Key) {
	m.Helper()
	return m.otherIn(filepath.Join(m.home, "other"))
}

func (m *machine) otherIn(dir string) (*audit.Store, *code.Key) {
	m.Helper()
	log := &audit.Store{Dir: dir}
	codes := &code.Store{Log: log, Cheap: true}
	secret, err := codes.Set(context.Background(), "eve", nil)
	m.must(err)
	key, err := codes.Unlock(context.Background(), secret)
	m.must(err)
	return log, key
}

// person signs as the person does, at their own terminal.
func (m *machine) person() *code.Key {
	m.Helper()
	key, err := (&code.Store{Log: m.log(), Cheap: true}).Unlock(context.Background(), m.code)
	m.must(err)
	return key
}

// sign appends a choice at the end of the session's log that is signed with a key under a fingerprint.
func (m *machine) sign(c engine.Control, key *code.Key, fingerprint string) {
	m.Helper()
	list := m.lines(false)
	last := strings.TrimSuffix(list[len(list)-1], "\n") + "\n"
	before, err := engine.DecodeLine([]byte(last))
	m.must(err)
	c.Signed = &engine.Signature{Key: fingerprint}
	r := &engine.Record{V: engine.FormatVersion, Prev: engine.LineHash([]byte(last)), N: before.N + 1, Kind: engine.KindControl, T: before.T,
		Chain: before.Chain, Session: before.Session, Harness: before.Harness, Control: &c}
	b, err := r.SignedBytes()
	m.must(err)
	c.Signed.Sig = hex.EncodeToString(key.Sign(b))
	m.choose(c)
}

// byPerson records a choice that the person signed, and returns it as it is in the log.
func (m *machine) byPerson(c engine.Control) engine.Control {
	m.Helper()
	m.must(m.log().Control(context.Background(), liftKey, c, m.person()))
	m.own()
	return *m.newest(func(r *engine.Record) bool { return r.Control != nil && r.Control.Do == c.Do }).Control
}

// allowedOnce has the person allow the denied call once, and the agent make it.
func (m *machine) allowedOnce() engine.Control {
	m.Helper()
	c := m.byPerson(m.choice(engine.ControlAllowOnce))
	if answer := m.hook(true, "PreToolUse", m.call(deletion)); denied(answer) {
		m.Fatalf("the person allowed the call, and it is denied: %s", answer)
	}
	return c
}

// keyframe appends a keyframe to the session's log or the ledger, of the state that it has after a change.
func (m *machine) keyframe(ledger bool, change func(*history.State)) {
	m.Helper()
	h := history.New()
	for _, line := range m.lines(ledger) {
		r, err := engine.DecodeLine([]byte(strings.TrimSuffix(line, "\n") + "\n"))
		m.must(err)
		h.Append(r)
	}
	change(h)
	raw, err := h.Encode()
	m.must(err)
	m.add(ledger, &engine.Record{Kind: engine.KindKeyframe, State: raw})
}

// snapshot changes the state in a session's snapshot, whose MAC a program of the same user can make.
func (m *machine) snapshot(change func(*history.State)) {
	m.Helper()
	for i := range 20 { // one is kept every 16 records
		m.hook(true, "PreToolUse", map[string]any{"tool_name": "Read", "tool_use_id": fmt.Sprintf("read%d", i), "tool_input": map[string]any{"file_path": "README.md"}})
	}
	path := filepath.Join(filepath.Dir(m.chainFile(false)), "snapshot.json")
	b, err := os.ReadFile(path)
	m.must(err)
	const body = `","snapshot":`
	at := bytes.Index(b, []byte(body)) + len(body)
	var snap struct {
		End   json.RawMessage `json:"end"`
		State *history.State  `json:"state"`
	}
	m.must(json.Unmarshal(bytes.TrimSuffix(b[at:], []byte("}\n")), &snap))
	change(snap.State)
	raw, err := json.Marshal(snap)
	m.must(err)
	sum, err := m.log().MAC()
	m.must(err)
	m.must(os.WriteFile(path, []byte(`{"mac":"`+sum(raw)+body+string(raw)+"}\n"), 0o600))
}

// permit is a change of a state after which the denied call is allowed.
func (m *machine) permit(do string) func(*history.State) {
	c := m.choice(do)
	return func(h *history.State) {
		h.Lenient = true
		h.Append(&engine.Record{Kind: engine.KindControl, N: h.N, T: h.T, Control: &c})
		h.Lenient = false
	}
}

// copyTree copies a folder in the place of another.
func (m *machine) copyTree(from, to string) {
	m.Helper()
	m.must(os.RemoveAll(to))
	m.must(filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(path, from)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case !d.Type().IsRegular():
			return nil // the socket
		}
		b, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(target, b, 0o600))
	}))
	m.own()
}

// wantHeld expects that a call is denied, by the resident process and by a hook without it.
func (m *machine) wantHeld(command string, lasting bool) {
	m.Helper()
	for _, resident := range []bool{true, false} {
		if lasting && !resident {
			continue
		}
		if answer := m.hook(resident, "PreToolUse", m.call(command)); !denied(answer) {
			m.Errorf("resident %t: %s may run: %s", resident, command, answer)
		}
	}
}

// users are those as whom the ways are tried: an ordinary one, and root if this process may become both.
func users() map[string]int {
	if own := os.Geteuid(); own != 0 {
		return map[string]int{"user": own}
	}
	return map[string]int{"root": 0, "user": 65534}
}

// A way is how an agent tries to lift what holds it.
type way struct {
	name    string
	try     func(m *machine)
	lasting bool // only a process that lasts can notice it
}

// lifted tries ways on a machine of its own each.
func lifted(t *testing.T, prepare func(*machine), command string, ways []way) {
	t.Helper()
	if hookClient(program) == "" {
		t.Skip("the resident process and the client of its hooks exist on Linux only")
	}
	for who, uid := range users() {
		for _, w := range ways {
			t.Run(who+"/"+w.name, func(t *testing.T) {
				t.Parallel()
				m := newMachine(t, uid)
				prepare(m)
				w.try(m)
				m.own()
				m.wantHeld(command, w.lasting)
			})
		}
	}
}
