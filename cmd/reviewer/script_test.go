package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/caller"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/agent-reviewer/reviewer/engine/serve/client"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
	"github.com/agent-reviewer/reviewer/engine/sweep"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the tests start this binary as the programs of the scripts.
func TestMain(m *testing.M) {
	programs := map[string]func(){"reviewer": main, "claude": asClient, "reviewer-hook": asHookClient, "impostor": asImpostor, "fake-qwen": asQwen}
	maps.Copy(programs, systemPrograms())
	maps.Copy(programs, escapes())
	if program := programs[strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")]; program != nil {
		program()
		os.Exit(0)
	}
	code, err := runAll(m, programs)
	if err != nil {
		panic(err)
	}
	os.Exit(code)
}

// asHookClient is the small client of the resident process.
func asHookClient() { os.Exit(client.Main(os.Args[1:])) }

// asImpostor is a program that has bound the socket of the resident process, and allows
// everything: `impostor HOME`.
func asImpostor() {
	home := os.Args[1]
	path := serve.Socket(home)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		panic(err)
	}
	_ = os.Remove(path) // of the process whose place it takes
	l, err := net.Listen("unix", path)
	if err != nil {
		panic(err)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write((&wire.Greeting{Home: home}).Encode())
		_, _ = conn.Write((&wire.Answer{Stdout: []byte("allowed by an impostor")}).Encode())
	}
}

// scripts is where the command line is specified: one file per topic, to be
// read as a manual. Besides the commands of testscript they use those of
// scriptCommands, among them reviewer, which runs the program in the process of the tests;
// where it must be a process of its own, a script has `exec reviewer`. Every script has a state directory of its own in
// $REVIEWER_HOME, a home directory $HOME with the folders photos and music, and a project in $WORK/shop. $WORK is
// filled in where a *.json or *.jsonl file names it.
const scripts = "../../testdata/script"

func TestScript(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(atStart.repository, "testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	testscript.Run(t, testscript.Params{
		Files:              forSystem(t, files),
		Setup:              setUp,
		Condition:          condition,
		Cmds:               scriptCommands(),
		RequireUniqueNames: true,
		WorkdirRoot:        workdirRoot(t),
	})
}

// nth is every n-th of a list.
func nth[T any](list []T, n int) []T {
	return sweep.Nth(list, n)
}

func setUp(e *testscript.Env) error {
	if err := claim(e); err != nil {
		return err
	}
	for _, dir := range []string{"shop", "home/photos", "home/music"} {
		if err := os.MkdirAll(filepath.Join(e.WorkDir, dir), 0o755); err != nil {
			return err
		}
	}
	e.Vars = append(e.Vars,
		"HOME="+filepath.Join(e.WorkDir, "home"), "REVIEWER_HOME="+filepath.Join(e.WorkDir, "state"),
		"PATH="+atStart.path, "BIN="+atStart.programs, "TESTDATA="+filepath.Join(atStart.repository, "testdata"),
		"DEFAULT_POLICY="+filepath.Join(atStart.repository, "bundles", "default"), "REVIEWER_NO_RESIDENT=1",
	)
	e.Values[clientOf{}] = new(*lastingClient)
	return errors.Join(fillIn(e.WorkDir), setCode(e))
}

// setCode makes an approval code where a file of a script names it as $CODE, which is what a person types
// at a terminal.
func setCode(e *testscript.Env) error {
	names, err := filepath.Glob(filepath.Join(e.WorkDir, "*"))
	var code string
	for _, name := range names {
		b, readErr := os.ReadFile(name)
		if readErr != nil || !bytes.Contains(b, []byte("$CODE\n")) { // or a folder
			continue
		}
		if code == "" {
			if code, err = newCode(filepath.Join(e.WorkDir, "state")); err != nil {
				return err
			}
			e.Values[codeKey{}] = code
		}
		if err := os.WriteFile(name, bytes.ReplaceAll(b, []byte("$CODE"), []byte(code)), 0o600); err != nil {
			return err
		}
	}
	return err
}

func newCode(home string) (string, error) {
	codes := &code.Store{Log: &audit.Store{Dir: home, Env: cli.Environment()}, Cheap: true}
	return codes.Set(context.Background(), "kim", nil)
}

// fillIn puts the work directory's path into the JSON files of a script.
func fillIn(work string) error {
	inJSON := bytes.ReplaceAll([]byte(work), []byte(`\`), []byte(`\\`)) // on Windows
	return filepath.WalkDir(work, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".json" && filepath.Ext(name) != ".jsonl" {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, bytes.ReplaceAll(b, []byte("$WORK"), inJSON), 0o644)
	})
}

// condition knows [root], [mount]: a disk can be mounted, [network]: a network of its
// own can be set up, [links]: the system makes
// symbolic links (wine reports that it did, and makes none), and [person]: no agent started these tests, so that what only a
// person may do can be done.
func condition(name string) (bool, error) {
	here.Lock()
	defer here.Unlock()
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "mount":
		return canMount(), nil
	case "links":
		return canLink(), nil
	case "isolation":
		return len(sandbox.Probe().Missing()) == 0, nil
	case "network":
		return exec.Command("unshare", "-rn", "ip", "link", "set", "lo", "up").Run() == nil, nil
	case "person":
		var agents []string
		for _, h := range harness.Harnesses() {
			agents = append(agents, h.Programs...)
		}
		facts, err := caller.Read(os.Getpid(), nil)
		if err != nil {
			return false, err
		}
		facts.Agents = agents
		return facts.Person(caller.Command{What: "a test", Terminal: true}) == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

func canLink() bool {
	dir, err := os.MkdirTemp("", "link")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", name); err != nil {
		return false
	}
	to, err := os.Readlink(name)
	return err == nil && to == "nowhere"
}

func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"reviewer": reviewerHere,
		"claude":   claude,
		"exits":    exits,
		"valid":    valid,
		"agent":    agent,
		"capture":  capture,
		"json":     jsonValue,
		"replace":  replace,
		"flip":     flip,
		"rechain":  rechain,
		"generate": generate,
		"within":   within,
		"kept":     changeKept,
		"private":  onlyOwner,
		"disk":     disk,
		"fill":     fill,
		"readonly": readOnly,
		"registry": registry, "collector": collector,
		"wait-for": waitFor,

		"questions": questionsWait,
		"seen":      seenCode,
		"took":      took,
		"accept":    acceptOwn,
	}
}

// seen FILE is the resident process that tries a text, a minute after an agent could see it.
func seenCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: seen FILE")
	}
	codes := &code.Store{Log: &audit.Store{Dir: ts.Getenv("REVIEWER_HOME"), Env: cli.Environment()}}
	seen, err := codes.Expose(context.Background(), strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	if !seen {
		ts.Fatalf("this is not the code")
	}
}

// wait-for SOCKET waits until a process listens.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: wait-for SOCKET")
	}
	for range 600 {
		conn, err := net.Dial("unix", ts.MkAbs(args[0]))
		if err == nil {
			ts.Check(conn.Close())
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("nobody listens at %s", args[0])
}

// exits CODE PROGRAM [ARG…] runs a program that ends with this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG…]")
	}
	code := 0
	if args[1] == "reviewer" {
		code = runReviewer(ts, args[2:])
	} else {
		code = runProgram(ts, args[1], args[2:])
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// agent SESSION COMMAND is Claude Code that wants to run a shell command, up to
// the hook's answer: exit code 0, or with ! in front 2, a denial. CALL is set
// to the call's id.
func agent(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] agent SESSION COMMAND")
	}
	n, _ := strconv.Atoi(ts.Getenv("CALLS"))
	n++
	ts.Setenv("CALLS", strconv.Itoa(n))
	ts.Setenv("CALL", "call-"+strconv.Itoa(n))
	doc, err := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "session_id": args[0], "tool_use_id": ts.Getenv("CALL"),
		"cwd": ts.Getenv("WORK") + "/shop", "tool_name": "Bash", "tool_input": map[string]string{"command": args[1]},
	})
	ts.Check(err)
	file := ts.Getenv("WORK") + "/call.json"
	ts.Check(os.WriteFile(file, doc, 0o644))
	hook, code, want := []string{"hook", "claude-code", "PreToolUse"}, 0, 0
	if ownProcess(ts, hook) {
		code = runProgram(ts, "sh", []string{"-c", `exec reviewer hook claude-code PreToolUse <"$0"`, file})
	} else {
		code = runHere(ts, string(doc), hook)
	}
	if neg {
		want = 2
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// capture NAME REGEXP sets a variable to what the expression's first group
// matches in the standard output before.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEXP")
	}
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	m := re.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) < 2 {
		ts.Fatalf("no match for %s", args[1])
	}
	ts.Setenv(args[0], m[1])
}

// json FILE PATH VALUE holds that a JSON document has a value at a path such as
// totals.decisions.block or actions.0.rules; len is a list's length. Of JSON
// lines the first step is the line, from 0. With ! in front: another value.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: [!] json FILE PATH VALUE")
	}
	got, err := lookUp([]byte(ts.ReadFile(args[0])), args[1])
	ts.Check(err)
	if (got == args[2] || filepath.ToSlash(got) == args[2]) == neg { // paths are native in JSON
		ts.Fatalf("%s is %s", args[1], got)
	}
}

func lookUp(raw []byte, path string) (string, error) {
	var docs []any
	for d := json.NewDecoder(bytes.NewReader(raw)); d.More(); {
		var v any
		if err := d.Decode(&v); err != nil {
			return "", fmt.Errorf("read JSON: %w", err)
		}
		docs = append(docs, v)
	}
	var at any = docs
	if len(docs) == 1 {
		at = docs[0]
	}
	for _, key := range strings.Split(path, ".") {
		var err error
		if at, err = step(at, key); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	if s, ok := at.(string); ok {
		return s, nil
	}
	b, err := json.Marshal(at)
	return string(b), err
}

func step(at any, key string) (any, error) {
	switch v := at.(type) {
	case map[string]any:
		if inner, ok := v[key]; ok {
			return inner, nil
		}
	case []any:
		i, err := strconv.Atoi(key)
		if key == "len" {
			return float64(len(v)), nil
		}
		if err == nil && i < len(v) {
			return v[i], nil
		}
	}
	return nil, fmt.Errorf("there is no %q", key)
}

// replace OLD NEW FILE changes a string wherever it is in a file.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace OLD NEW FILE")
	}
	old := ts.ReadFile(args[2])
	if !strings.Contains(old, args[0]) {
		ts.Fatalf("%q is not in %s", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.ReplaceAll(old, args[0], args[1])), 0o644))
}

// flip FILE LINE changes one bit of a digit in the middle of a line, which leaves the line
// valid JSON; a shell pattern may name the file.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE LINE")
	}
	file := glob(ts, args[0])
	lines := strings.SplitAfter(ts.ReadFile(file), "\n")
	n, err := strconv.Atoi(args[1])
	if err != nil || n < 1 || n >= len(lines) {
		ts.Fatalf("%s has no line %s", file, args[1])
	}
	b := []byte(lines[n-1])
	at := len(b) / 2
	b[at+max(0, bytes.IndexAny(b[at:], "23456789"))] ^= 1
	lines[n-1] = string(b)
	ts.Check(os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600))
}

// rechain FILE OLD NEW changes a string at its first place in a chain's file, and
// every hash after it so that the chain is consistent again.
func rechain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: rechain FILE OLD NEW")
	}
	file := glob(ts, args[0])
	lines := strings.SplitAfter(strings.Replace(ts.ReadFile(file), args[1], args[2], 1), "\n")
	for i := 1; i < len(lines)-1; i++ {
		sum := sha256.Sum256([]byte(lines[i-1]))
		at := len(`{"v":1,"prev":"`)
		lines[i] = lines[i][:at] + hex.EncodeToString(sum[:]) + lines[i][at+64:]
	}
	changed := strings.Join(lines, "")
	if changed == ts.ReadFile(file) {
		ts.Fatalf("%q is not in %s", args[1], file)
	}
	ts.Check(os.WriteFile(file, []byte(changed), 0o600))
}

func glob(ts *testscript.TestScript, pattern string) string {
	files, err := filepath.Glob(ts.MkAbs(pattern))
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("%s names %d files", pattern, len(files))
	}
	return files[0]
}

// generate KIND FILE writes an input that is too long or too ugly for a script.
func generate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: generate KIND FILE")
	}
	const begin = `{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"c","cwd":"/srv","tool_name":"Write","tool_input":{"file_path":"/srv/a","content":`
	kinds := map[string]string{
		"10MB":    begin + `"` + strings.Repeat("0123456789 abcde", 10<<16) + `"}}`,
		"20MB":    begin + `"` + strings.Repeat("0123456789 abcde", 20<<16) + `"}}`,
		"binary":  "\x7fELF\x02\x01\x01\x00\x00\xff\xfe\x00 \x80\x81",
		"nested":  begin + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}}",
		"latin1":  begin + "\"caf\xe9\"}}",
		"nul":     begin + "\"a\x00b\"}}",
		"newline": "\n \n",
	}
	doc, ok := kinds[args[0]]
	if !ok {
		ts.Fatalf("unknown kind %q", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(doc), 0o644))
}

// within TEXT DIR holds that a file under a folder has a string, in its contents
// or its name; with ! in front, that none has.
func within(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] within TEXT DIR")
	}
	files, found := 0, ""
	ts.Check(filepath.WalkDir(ts.MkAbs(args[1]), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(name)
		if bytes.Contains(b, []byte(args[0])) || strings.Contains(filepath.Base(name), args[0]) {
			found = name
		}
		return err
	}))
	switch {
	case files == 0:
		ts.Fatalf("no file in %s", args[1])
	case neg && found != "":
		ts.Fatalf("%s has %q", found, args[0])
	case !neg && found == "":
		ts.Fatalf("none of %d files has %q", files, args[0])
	}
}

// private DIR holds that nobody but the owner can reach a folder or what is in it.
func onlyOwner(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: private DIR")
	}
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if runtime.GOOS == "windows" {
			return openForOthers(name)
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = fmt.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	}))
}

// openForOthers is an error where others have rights on a file of Windows.
func openForOthers(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return osfile.Private(f, 0o077)
}

// kept OLD NEW STORE changes a string in a file of the one policy that is kept in
// a store, which holds the files' contents in base64.
func changeKept(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: kept OLD NEW STORE")
	}
	file := glob(ts, args[2]+"/*.json")
	whole := ts.ReadFile(file)
	var doc struct {
		Layers []struct {
			Files map[string][]byte `json:"files"`
		} `json:"layers"`
	}
	ts.Check(json.Unmarshal([]byte(whole), &doc))
	changes := 0
	for _, layer := range doc.Layers {
		for _, content := range layer.Files {
			changed := bytes.Replace(content, []byte(args[0]), []byte(args[1]), 1)
			if !bytes.Equal(content, changed) {
				whole = strings.Replace(whole, base64.StdEncoding.EncodeToString(content), base64.StdEncoding.EncodeToString(changed), 1)
				changes++
			}
		}
	}
	if changes != 1 {
		ts.Fatalf("%q is in %d files of the policy", args[0], changes)
	}
	ts.Check(os.WriteFile(file, []byte(whole), 0o600))
}
