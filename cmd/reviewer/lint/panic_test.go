package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// knowing is a layer with a file of each kind, those of rows about programs, tools,
// places, tokens and words included.
func knowing() map[string]string {
	files := small()
	maps.Copy(files, map[string]string{
		"programs/quay.yaml": "quay:\n  flags: [--berth value, --force]\n  subcommands:\n    sink: {do: [{delete: rest}]}\n" +
			"  examples: [{run: quay sink a, effects: [file_delete delete ./a]}]\n",
		"tools/quay.yaml": "mcp__quay__sink:\n  action: code.exec\n  resource: path\n  args: [path delete required, note text]\n" +
			"  examples: [{args: {path: a}, effects: [file_delete delete ./a]}]\n",
		"places/quay.yaml":        "- {place: ~/.quay, as: credentials, examples: [~/.quay/key]}\n",
		"tokens/quay.yaml":        "- {token: quay, pattern: 'quay_[a-z]{20}', examples: [quay_abcdefghijklmnopqrst]}\n",
		"words/quay.yaml":         "verbs: {sink: delete}\n",
		"patterns/mine/q.yaml":    "- {id: mine.q, title: Q, severity: low, match: {phases: [pre]}, measure: history.windows.recent.failed, threshold: 2}\n",
		"cases/mine/stories.yaml": "name: b\nevents:\n  - prompt: tidy up\n  - {Bash: ls, result: ok, expect: {decision: allow, rules: [mine]}}\n",
	})
	return files
}

// spoiled is what a line becomes when something is wrong with it.
func spoiled(line string) []string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	key, value, pair := strings.Cut(line, ": ")
	list := []string{"", line + "\n" + line, indent + "- " + line[len(indent):], indent + "\t" + line[len(indent):]}
	if !pair {
		return append(list, strings.TrimSuffix(line, ":")+"x:", line+" {}")
	}
	list = append(list, key+"x: "+value, key+": ["+value+"]", key+": {x: "+value+"}")
	for _, v := range []string{"", "null", "-1", "[]", "{}", "[null]", "{null: null}", "&a [*a]", "1e999", `"\xff"`} {
		list = append(list, key+": "+v)
	}
	return list
}

// unharmed reports what a panic of the check says; empty: it ended.
func unharmed(base fstest.MapFS, files map[string]string) (panicked string) {
	defer func() {
		if r := recover(); r != nil {
			panicked = fmt.Sprint(r)
		}
	}()
	Policy(now, Layer{Name: bundles.Base, Files: base, At: "base"}, Layer{Name: bundles.User, Files: layerFS(files), At: "own", Given: true})
	return ""
}

func layerFS(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// However a line of a policy is spoiled, the check ends and reports it. Each file is
// checked with every seventh of its spoiled forms; REVIEWER_EVERY=1 takes all.
func TestNoPanic(t *testing.T) {
	base, count := bare(t), 0
	checked := sweep.Count(t, "spoiled lines")
	for _, name := range slices.Sorted(maps.Keys(knowing())) {
		lines := strings.Split(knowing()[name], "\n")
		for i, line := range lines {
			for _, bad := range spoiled(line) {
				if count++; !sweep.Has(count, 7) {
					continue
				}
				checked.Add(1)
				files := knowing()
				text := strings.Join(slices.Replace(slices.Clone(lines), i, i+1, bad), "\n")
				files[name] = text
				if why := unharmed(base, files); why != "" {
					t.Errorf("%s, line %d as %q: panic: %s", name, i+1, bad, why)
				}
			}
		}
	}
}

// FuzzPolicy looks for a file whose check panics.
func FuzzPolicy(f *testing.F) {
	for name, text := range knowing() {
		f.Add(name, text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		files := knowing()
		if files[name] == "" {
			t.Skip("not a file of a policy")
		}
		files[name] = text
		if why := unharmed(bare(t), files); why != "" {
			t.Error(why)
		}
	})
}

// Two problems of one place and one string, as two wrong keys of one row may have: the
// second is left out, and nothing else is lost or becomes nil.
func TestSameProblemTwice(t *testing.T) {
	p := &policy{layers: map[string]Layer{bundles.User: {Name: bundles.User, Files: layerFS(small()), Given: true}}}
	for _, line := range []int{3, 3, 9} {
		p.add(&engine.Problem{File: "user/rules/a.yaml", Line: line, Code: "row.key", Message: "unknown key"})
	}
	p.effective, _ = bundles.AssembleAll(&bundles.Bundle{Layer: bundles.Base})
	p.foldConsequences()
	p.ignoreFindings()
	if got := len(p.reported()); got != 2 {
		t.Errorf("%d problems, want 2", got)
	}
}
