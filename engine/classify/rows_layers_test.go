package classify

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// someRow writes a row as the user's or the project's layer may have one.
func someRow(random *rand.Rand) string {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	selector := func() string {
		return pick("operands", "rest", "operand 0", "last", "-o --output", "=x", "program", "unknown")
	}
	step := func() string {
		switch random.IntN(9) {
		case 0:
			return fmt.Sprintf("{delete: %s, recursive: %s}", selector(), pick("true", "-r"))
		case 1:
			return fmt.Sprintf("{end: %s, object: %s, recursive: --all}", pick("delete", "purge", "disable"), pick("tenant", "$0"))
		case 2:
			return fmt.Sprintf("{signal: %s}", pick("credential_adjacent", "publish", "privilege_elevation"))
		case 3:
			return fmt.Sprintf("{%s: %s}", pick("read", "write", "fetch", "send", "listen"), selector())
		case 4:
			return fmt.Sprintf("{run: %s}", selector())
		case 5:
			return fmt.Sprintf("{code: %s, language: %s}", selector(), pick("shell", "python"))
		case 7:
			return fmt.Sprintf("{meant: %s, recursive: usual, confirmed: usual}", pick("service", "program", "operand 0"))
		case 6:
			return fmt.Sprintf("{%s: %s, on: %s, reversible: %s}", pick("network", "system", "process"), pick("send", "set"), selector(), pick("R4", "R5"))
		}
		return fmt.Sprintf("{as: %s}", pick("ls", "git", "true", "rm"))
	}
	var parts []string
	for _, key := range []string{"cases", "notes"} {
		parts = append(parts, fmt.Sprintf("%s: [{%sdo: [%s, %s]}]", key, pick("", "sub: x|y*, ", "option: -f, ", "operands: 1+, ", "means: end read change option, "), step(), step()))
	}
	parts = append(parts, pick("values: -c -f", "values: -r -x --all", "code: -c", "runs: 0", "script: 0", "grammar: first long", "wraps: {skip: 1}",
		"wraps: {values: -c, joined: true}", "hops: [{kind: vm, operands: 1, joined: true}]", "hops: [{kind: ssh, sub: run|exec, remote: true}]",
		"service: x", "daemon: -H, endpoint: -u, optional: run", "subcommands: {run: {runs: 0}, \"*\": {values: -f}}", "dangerous: true"))
	return "{" + strings.Join(parts, ", ") + "}"
}

// TestAddedRowsOnlyAdd: whatever a row of the user's or the project's layer says,
// no fact of the call goes away.
func TestAddedRowsOnlyAdd(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 16))
	base := classifytest.Layers()
	for i, src := range sampleOfCommands(t, 12) {
		before := factsUnder(t, rows.New(base), src)
		var added strings.Builder
		for _, name := range namesIn(before.Action) {
			fmt.Fprintf(&added, "%q: %s\n", name, someRow(random))
		}
		layer := rows.Layer{Name: []string{"user", "project"}[i%2], Adds: true, Files: map[string][]byte{"programs/a.yaml": []byte(added.String())}}
		after := factsUnder(t, rows.New(append(slices.Clone(base), layer)), src)
		if lost := lostFacts(before, after); len(lost) > 0 {
			t.Errorf("%s\nwith the rows\n%slost %s", src, added.String(), strings.Join(lost, "\n     "))
		}
	}
}

// TestAddedRowsOfWrappers: a row counts too of a program that runs another one.
func TestAddedRowsOfWrappers(t *testing.T) {
	row := rows.Layer{Name: "user", Adds: true, Files: map[string][]byte{"programs/a.yaml": []byte("sudo: {cases: [{do: [{end: delete, object: tenant}]}]}")}}
	facts := factsUnder(t, rows.New(append(slices.Clone(classifytest.Layers()), row)), "sudo rm -rf /opt/x")
	var verbs []string
	for _, e := range facts.Action.Effects {
		verbs = append(verbs, string(e.Kind)+" "+e.Verb+" "+e.Object)
	}
	if !slices.Contains(verbs, "file_delete delete ") || !slices.Contains(verbs, "network delete tenant") {
		t.Errorf("effects: %q", verbs)
	}
}

// TestConvertedRowsOnlyAdd: what is known from facts of others takes nothing
// away from what is seen without it.
func TestConvertedRowsOnlyAdd(t *testing.T) {
	own := classifytest.Layers()
	for i := range own {
		files := maps.Clone(own[i].Files)
		maps.DeleteFunc(files, func(name string, _ []byte) bool { return strings.HasPrefix(name, rows.ConvertedFolder) })
		own[i].Files = files
	}
	without, with := rows.New(own), rows.New(classifytest.Layers())
	random := rand.New(rand.NewPCG(2, 16))
	names := with.Names(true)
	for _, name := range names {
		if k, ok, _ := with.Program(name); !ok || !k.Converted || random.IntN(4) > 0 {
			continue
		}
		for _, args := range []string{"-f ~/.ssh/id_rsa volumes delete web", "-c 'rm -rf /srv/shop' x", "run --force deploy-key.pem --all", "exec rm -rf ~"} {
			before, after := factsUnder(t, without, name+" "+args), factsUnder(t, with, name+" "+args)
			if lost := lostFacts(before, after); len(lost) > 0 {
				t.Errorf("%s %s\nlost %s", name, args, strings.Join(lost, "\n     "))
			}
		}
	}
}

func factsUnder(t *testing.T, set *rows.Set, src string) engine.Facts {
	t.Helper()
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: set}
	args, err := json.Marshal(map[string]string{"command": src})
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Classify(context.Background(), engine.Event{Phase: engine.PhasePre, Tool: "Bash", Args: args, CWD: "/srv/shop"}, "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sampleOfCommands is every n-th command of the cases.
func sampleOfCommands(t *testing.T, n int) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/shell/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var all []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range strings.Split(string(data), "\n\n") {
			if _, src, _ := splitShellCase(block); src != "" && i%n == 0 {
				all = append(all, src)
			}
		}
	}
	return all
}

func namesIn(a *engine.Action) []string {
	var names []string
	for _, c := range a.Commands {
		if ok := c.Name != "" && !strings.ContainsFunc(c.Name, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"\/*`, r) }); ok {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// lostFacts lists the facts that were known before and are not any more. What was
// cut for lack of space is not compared.
func lostFacts(before, after engine.Facts) []string {
	if len(before.Cut)+len(after.Cut) > 0 {
		return nil
	}
	var lost []string
	a, b := before.Action, after.Action
	for _, typ := range a.Types {
		if !slices.Contains(b.Types, typ) && typ != engine.TypeFileRead {
			lost = append(lost, "type "+string(typ))
		}
	}
	for _, s := range a.Signals {
		if !slices.Contains(b.Signals, s) {
			lost = append(lost, "signal "+string(s))
		}
	}
	for _, o := range a.Opaque {
		if !slices.Contains(b.Opaque, o) {
			lost = append(lost, "opaque "+o.Reason+" "+o.Where)
		}
	}
	for _, e := range a.Effects {
		e.Command = 0
		same := func(other engine.Effect) bool { other.Command = 0; return other == e }
		if !slices.ContainsFunc(b.Effects, same) {
			lost = append(lost, fmt.Sprintf("effect %+v", e))
		}
	}
	return lost
}
