package classify

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite what the cases expect")

// nowhere is a world of which only names are known.
func nowhere() place.World {
	return place.World{Home: "/home/kim", Guard: []string{"/home/kim/.reviewer", "/usr/local/bin/reviewer"}}
}

func classifyCall(t testing.TB, w place.World, workspace, cwd, tool, args string) engine.Facts {
	t.Helper()
	c := &Classifier{World: w, MAC: classifytest.MAC, Rows: classifytest.Rows()}
	f, err := c.Classify(context.Background(), engine.Event{
		Harness: "claude-code", Phase: engine.PhasePre, Tool: tool, Args: json.RawMessage(args), CWD: cwd,
	}, workspace)
	if err != nil {
		t.Fatalf("Classify(%s %s): %v", tool, args, err)
	}
	return f
}

// TestTools reads the cases of testdata/tools: a line that begins with > is a
// call, the lines below it are what the classifier says about it, up to an empty
// line. Lines that begin with # are for people.
func TestTools(t *testing.T) {
	files, err := filepath.Glob("testdata/tools/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in testdata/tools: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runCases(t, file) })
	}
}

func runCases(t *testing.T, file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimRight(string(raw), "\n"), "\n\n")
	for i, block := range blocks {
		lines := strings.Split(block, "\n")
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "> ") })
		if at < 0 {
			continue
		}
		tool, args, _ := strings.Cut(strings.TrimPrefix(lines[at], "> "), " ")
		got := render(classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", tool, args))
		if want := strings.Join(lines[at+1:], "\n"); got != want && !*update {
			t.Errorf("%s\n%s", lines[at], cmp.Diff(want, got))
		}
		blocks[i] = strings.Join(append(lines[:at+1:at+1], got), "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(blocks, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// render writes facts as a case does.
func render(f engine.Facts) string {
	a := f.Action
	out := []string{a.Name + " " + a.Resource, "types " + join3(a.Types) + " intent " + string(a.Intent)}
	for _, c := range a.Commands {
		out = append(out, "command "+strings.Join(slices.Concat(c.Wrappers, []string{c.Name}, c.Sub, c.Flags, c.Operands), " "))
	}
	for _, e := range a.Effects {
		out = append(out, renderEffect(e))
	}
	if len(a.Hosts) > 0 {
		out = append(out, "hosts "+strings.Join(a.Hosts, " "))
	}
	if len(a.Signals) > 0 {
		out = append(out, "signals "+join3(a.Signals))
	}
	for _, o := range a.Opaque {
		out = append(out, strings.TrimSpace("opaque "+o.Reason+" "+strings.ReplaceAll(o.Where, "\n", " ")))
	}
	for _, k := range slices.Sorted(maps.Keys(a.Contents)) {
		out = append(out, fmt.Sprintf("content %s %d bytes %d lines %s", k, a.Contents[k].Bytes, a.Contents[k].Lines, strings.Join(slices.Sorted(maps.Keys(a.Contents[k].Secrets)), " ")))
	}
	for _, c := range f.Cut {
		out = append(out, fmt.Sprintf("cut %s %d", c.Field, c.Bytes))
	}
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return strings.Join(out, "\n")
}

func renderEffect(e engine.Effect) string {
	target := e.Short
	if target == "" {
		target = e.Target
	}
	if target == "" {
		target = "?"
	}
	parts := []string{"effect", string(e.Kind), e.Verb, target}
	if e.Certainty != engine.CertaintyExact {
		parts = append(parts, string(e.Certainty))
	}
	parts = append(parts, string(e.Location), string(e.Class))
	for name, on := range map[string]bool{"recursive": e.Recursive, "forced": e.Forced, "privileged": e.Privileged, "egress": e.Egress, "loopback": e.Loopback, "persistence": e.Persistence} {
		if on {
			parts = append(parts, name)
		}
	}
	slices.Sort(parts[5:])
	if e.Mode != "" {
		parts = append(parts, "mode="+e.Mode)
	}
	if e.Guard != "" {
		parts = append(parts, "guard="+e.Guard)
	}
	if e.Repository {
		parts = append(parts, "repository")
	}
	parts = append(parts, string(e.Reversibility))
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

func join3[S ~string](list []S) string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = string(s)
	}
	return strings.Join(texts, " ")
}

func TestPhases(t *testing.T) {
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	for _, phase := range engine.Phases() {
		f, err := c.Classify(context.Background(), engine.Event{
			Name: "Event", Phase: engine.Phase(phase), Tool: "Read", Args: json.RawMessage(`{"file_path":"/srv/shop/a"}`), CWD: "/srv/shop", Prompt: "two\nlines",
			Result: &engine.Result{DurationMS: 7, Output: json.RawMessage(`{"stdout":"a\nb\n","exit":0}`)},
		}, "/srv/shop")
		if err != nil {
			t.Fatalf("%s: %v", phase, err)
		}
		call := phase == string(engine.PhasePre) || phase == string(engine.PhasePost) || phase == string(engine.PhaseRequest)
		if got := f.Action != nil; got != call {
			t.Errorf("%s: has an action: %v, want %v", phase, got, call)
		}
		if got, want := f.Event.Prompt != nil, phase == string(engine.PhasePrompt); got != want {
			t.Errorf("%s: has prompt facts: %v, want %v", phase, got, want)
		}
		if got, want := f.Event.Result != nil, phase == string(engine.PhasePost); got != want {
			t.Errorf("%s: has result facts: %v, want %v", phase, got, want)
		}
		if f.Event.Prompt != nil && (f.Event.Prompt.Bytes != 9 || f.Event.Prompt.Lines != 2) {
			t.Errorf("prompt facts: %+v", f.Event.Prompt)
		}
		if r := f.Event.Result; r != nil && (r.Outcome != engine.OutcomeRan || r.MS != 7 || r.Content.Lines != 2 || r.Content.Bytes != 4) {
			t.Errorf("result facts: %+v %+v", r, r.Content)
		}
	}
}

func TestPostHasTheActionOfPre(t *testing.T) {
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	e := engine.Event{Phase: engine.PhasePre, Tool: "Bash", Args: json.RawMessage(`{"command":"rm -rf build"}`), CWD: "/srv/shop"}
	pre, err := c.Classify(context.Background(), e, "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	e.Phase, e.Result = engine.PhasePost, &engine.Result{Failed: true, Error: "Exit code 1\nrm: cannot remove 'build': Permission denied"}
	post, err := c.Classify(context.Background(), e, "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(pre.Action, post.Action); d != "" {
		t.Errorf("action after the call differs:\n%s", d)
	}
	if got, want := post.Event.Result.Class, "exit code: rm: cannot remove …: Permission denied"; got != want {
		t.Errorf("class %q, want %q", got, want)
	}
	if pre.Args == "" || pre.Args != post.Args {
		t.Errorf("MAC of arguments: %q before, %q after", pre.Args, post.Args)
	}
}

func TestArgumentsMAC(t *testing.T) {
	a := classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", "Read", `{"file_path":"/a","limit":3}`)
	b := classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", "Read", `{ "limit":3, "file_path":"\u002fa" }`)
	other := classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", "Read", `{"file_path":"/a","limit":4}`)
	if a.Args != b.Args || a.Action.Fingerprint != b.Action.Fingerprint {
		t.Error("the same arguments in another spelling have another MAC or fingerprint")
	}
	if a.Args == other.Args || a.Action.Fingerprint == other.Action.Fingerprint {
		t.Error("other arguments have the same MAC or fingerprint")
	}
	if len(a.Action.Fingerprint) != 16 {
		t.Errorf("fingerprint %q has not 16 digits", a.Action.Fingerprint)
	}
}

func TestRefused(t *testing.T) {
	for name, args := range map[string]string{
		"duplicate key": `{"file_path":"/a","file_path":"/b"}`,
		"no UTF-8":      "{\"file_path\":\"\xff\"}",
		"cut":           `{"file_path":"/a"`,
		"two documents": `{} {}`,
	} {
		c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
		if _, err := c.Classify(context.Background(), engine.Event{Phase: engine.PhasePre, Tool: "Read", Args: json.RawMessage(args)}, ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := (&Classifier{}).Classify(context.Background(), engine.Event{}, ""); err == nil {
		t.Error("no MAC: no error")
	}
}

func TestNotAnObject(t *testing.T) {
	for _, args := range []string{`[]`, `"rm"`, `7`, `null`} {
		a := classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", "Bash", args).Action
		if !slices.Contains(a.Types, engine.TypeUnknown) || len(a.Opaque) == 0 {
			t.Errorf("arguments %s: types %v, opaque %v", args, a.Types, a.Opaque)
		}
	}
}
