package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

var shippedPolicy = sync.OnceValues(func() (*review.Policy, error) {
	base, err := bundles.Default()
	if err != nil {
		return nil, err
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		return nil, err
	}
	return wiring.Compile(context.Background(), e)
})

// watched is a machine on which secrets are planted, and where nothing of them
// may show.
type watched struct {
	machine
	*garden
	app      *cli.App
	stdin    bytes.Reader
	out, err bytes.Buffer
	store    *audit.Store
	review   *act.Reviewer
	claude   harness.Harness
	calls    int
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{machine: newMachine(t), garden: newGarden(), claude: harness.Harnesses()[0]}
	env := map[string]string{
		"HOME": filepath.Join(w.dir, "home"), "TMPDIR": filepath.Join(w.dir, "tmp"), "REVIEWER_HOME": filepath.Join(w.dir, "state"),
	}
	w.app = &cli.App{Streams: term.Streams{Stdin: &w.stdin, Stdout: &w.out, Stderr: &w.err, Env: func(name string) string { return env[name] }}}
	if err := os.Mkdir(filepath.Join(w.dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	// A key of its own would make each run another one.
	if err := os.WriteFile(filepath.Join(w.dir, "state", "key"), bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.store, err = w.app.OpenStore(); err != nil {
		t.Fatal(err)
	}
	if w.review, err = reviewer(t.Context(), w.app, onDisk(), w.store); err != nil {
		t.Fatal(err)
	}
	w.review.Policy = func(string) (*review.Policy, error) { return shippedPolicy() }
	return w
}

// hook is the hook of an event, with the policy compiled once for all of them,
// up to what the client would read.
func (w *watched) hook(where, event string, doc map[string]any) {
	w.t.Helper()
	raw, err := json.Marshal(doc)
	if err != nil {
		w.t.Fatal(err)
	}
	w.input(where, event, raw)
}

// input gives a hook its input, readable or not.
func (w *watched) input(where, event string, raw []byte) {
	w.t.Helper()
	w.digests(where+", the hook's input", string(raw))
	r := respond(w.t.Context(), w.app, w.claude, event, raw, w.store, func() (*act.Reviewer, error) { return w.review, nil })
	w.clean(where+": standard output", withoutInput(r.stdout))
	w.clean(where+": standard error", []byte(r.stderr))
}

// withoutInput takes out of an answer the call that the client sent, in the
// form in which it is to run: it holds what the client needs to run it, and
// goes to nobody else.
func withoutInput(stdout []byte) []byte {
	var doc, specific map[string]json.RawMessage
	if json.Unmarshal(stdout, &doc) != nil || json.Unmarshal(doc["hookSpecificOutput"], &specific) != nil {
		return stdout
	}
	return bytes.Replace(stdout, specific["updatedInput"], nil, 1)
}

// clean fails where something of a secret shows.
func (w *watched) clean(what string, text []byte) {
	w.t.Helper()
	for _, l := range w.find(text) {
		w.t.Errorf("%s shows the secret of %s: …%q…", what, l.where, l.near)
	}
}

// searchFiles looks at every file under a folder and at its name; at all but
// what people wrote there themselves.
func (w *watched) searchFiles(dir string, but ...string) {
	w.t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if slices.ContainsFunc(but, func(own string) bool { return strings.HasPrefix(rel+"/", own) }) {
			return nil
		}
		w.clean("the name "+rel, []byte(rel))
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(name)
		w.clean(rel, b)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// private fails where others than its owner can reach a file.
func (w *watched) private(dir string) {
	w.t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			w.t.Errorf("%s has mode %s: others can reach it", name, info.Mode())
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *watched) state() string { return filepath.Join(w.dir, "state") }

// document is what a client sends about a tool call.
func (w *watched) document(session, tool string, args map[string]any) map[string]any {
	w.calls++
	return map[string]any{
		"session_id": session, "tool_use_id": fmt.Sprintf("call-%d", w.calls), "cwd": filepath.Join(w.dir, "shop"),
		"tool_name": tool, "tool_input": args,
	}
}

// moreFields are arguments that no table lists: those that a tool's own code
// reads, those of a newer client, and what lies deeper.
func moreFields() map[string]func(secret string) map[string]any {
	one := func(name string) func(string) map[string]any {
		return func(secret string) map[string]any { return map[string]any{name: secret} }
	}
	return map[string]func(string) map[string]any{
		"pattern": one("pattern"), "glob": one("glob"), "path": one("path"), "query": one("query"), "description": one("description"),
		"field of a newer client": one("notes"),
		"list":                    func(s string) map[string]any { return map[string]any{"list": []any{"a", s, 7}} },
		"deep": func(s string) map[string]any {
			return map[string]any{"deep": map[string]any{"er": []any{map[string]any{"est": s}}}}
		},
		"socket": func(s string) map[string]any { return map[string]any{"ws": map[string]any{"url": s}} },
		"edits": func(s string) map[string]any {
			return map[string]any{"edits": []any{map[string]any{"old_string": s, "new_string": "b"}}}
		},
		"environment": func(s string) map[string]any { return map[string]any{"env": map[string]any{"SETTING": s}} },
		"key":         func(s string) map[string]any { return map[string]any{s: "on"} },
		"deep key": func(s string) map[string]any {
			return map[string]any{"headers": []any{map[string]any{s: map[string]any{s: 1}}}}
		},
	}
}

// toolNames are the tools of the table, one that is in no table, and those of
// servers by what their names say that they do.
func toolNames() map[string][]string {
	base, err := bundles.Default()
	if err != nil {
		panic(err)
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		panic(err)
	}
	tools := classify.Tools(classify.NewRows(e.RowLayers()))
	for _, name := range []string{"Telepathy", "mcp__stock__get_count", "mcp__stock__write_note", "mcp__mail__send", "mcp__db__query", "mcp__box__run_command", "mcp__box__delete_file"} {
		tools[name] = []string{"path", "url", "command", "sql", "code", "message", "args"}
	}
	return tools
}

// filledIn is a call of a tool in which nothing is missing.
func filledIn(fields []string) map[string]any {
	args := map[string]any{}
	for _, name := range fields {
		args[name] = "notes.txt"
	}
	return args
}

// eachField calls with for each field of each tool, with arguments that contain a
// secret there: of some kinds, and over all fields of all kinds. Every fifth field
// has its turn; each with REVIEWER_EVERY=1 (`make fidelity`).
func (w *watched) eachField(kinds int, with func(where, tool string, args map[string]any)) {
	tools, more, all, n := toolNames(), moreFields(), secretKinds(), 0
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		for _, field := range nth(append(tools[tool], slices.Sorted(maps.Keys(more))...), sweep.Some(5, 1)) {
			for range kinds {
				n++
				where := tool + " " + field
				secret, args := w.plant(where, all[n%len(all)]), filledIn(tools[tool])
				if put, ok := more[field]; ok {
					maps.Copy(args, put(secret))
				} else {
					args[field] = secret
				}
				with(where, tool, args)
			}
		}
	}
}

func TestNoSecretOfACallShows(t *testing.T) {
	w := newWatched(t)
	w.eachField(sweep.Some(1, 2), func(where, tool string, args map[string]any) {
		w.hook(where, "PreToolUse", w.document(tool, tool, args))
	})
	w.searchFiles(w.state())
}

// After a call: what it was, its result, and how it failed.
func TestNoSecretOfAResultShows(t *testing.T) {
	w := newWatched(t)
	w.eachField(1, func(where, tool string, args map[string]any) {
		w.hook(where, "PostToolUse", w.document(tool, tool, args))
	})
	kinds := secretKinds()
	for i, tool := range slices.Sorted(maps.Keys(toolNames())) {
		for j := range sweep.Some(1, 3) {
			k := kinds[(3*i+j)%len(kinds)]
			secret := w.plant(tool+" result", k)
			for shape, response := range map[string]any{
				"text": secret, "lines": "ok\n" + secret + "\n", "object": map[string]any{"stdout": secret, "stderr": "x " + secret},
				"list": []any{map[string]any{"type": "text", "text": secret}}, "key": map[string]any{secret: secret}, "number": 7,
			} {
				doc := w.document(tool, tool, map[string]any{"command": "ls"})
				doc["tool_response"] = response
				w.hook(tool+" result as "+shape, "PostToolUse", doc)
			}
			for _, text := range []string{secret, "Exit code 1\n" + secret, "fatal: " + secret + ": not found", "cannot open '" + secret + "'"} {
				doc := w.document(tool, tool, map[string]any{"command": "ls"})
				doc["error"] = text
				w.hook(tool+" error", "PostToolUseFailure", doc)
			}
		}
	}
	w.searchFiles(w.state())
}

// hookInputs are what a client has sent, one of each kind.
const hookInputs = "../../testdata/hooks/claude-code"

// Whatever an event says: every value and every key of what a client has sent.
func TestNoSecretOfAnEventShows(t *testing.T) {
	w := newWatched(t)
	files, err := filepath.Glob(filepath.Join(hookInputs, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no inputs in %s: %v", hookInputs, err)
	}
	kinds := secretKinds()
	for i, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		event, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "-")
		for j := range sweep.Some(1, 3) {
			for place, doc := range w.planted(filepath.Base(file), raw, kinds[(i+5*j)%len(kinds)]) {
				w.input(place, event, doc)
			}
		}
	}
	w.searchFiles(w.state())
}

// planted yields a document with a secret in the place of each text and each
// key, one at a time.
func (w *watched) planted(name string, raw []byte, k secretKind) func(func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		for n := 0; ; n++ {
			var doc any
			if err := json.Unmarshal(raw, &doc); err != nil {
				w.t.Fatal(err)
			}
			place, left := name, n
			if !w.replaceNth(&doc, &place, &left, k) {
				return
			}
			b, err := json.Marshal(doc)
			if err != nil || !yield(place, b) {
				return
			}
		}
	}
}

// replaceNth puts a secret in the place of the n-th text or key of a document;
// place then names it.
func (w *watched) replaceNth(v *any, place *string, n *int, k secretKind) bool {
	here := *place
	switch was := (*v).(type) {
	case string:
		if *n--; *n < 0 {
			*v = w.plant(here, k)
			return true
		}
	case []any:
		for i := range was {
			if *place = fmt.Sprintf("%s[%d]", here, i); w.replaceNth(&was[i], place, n, k) {
				return true
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(was)) {
			*place = here + "." + key
			if *n--; *n < 0 {
				*place += " (key)"
				was[w.plant(*place, k)] = was[key]
				delete(was, key)
				return true
			}
			value := was[key]
			if w.replaceNth(&value, place, n, k) {
				was[key] = value
				return true
			}
		}
	}
	return false
}
