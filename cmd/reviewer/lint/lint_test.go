package lint

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// now is the moment of all tests: the second of March, 2026.
const now = 1772442000000

// wrong is a policy with something wrong in it, and the first line that is said.
type wrong struct {
	name string
	file string // the one file of a user's layer; base/x: of a copy of the built-in policy
	text string
	want string
}

// checked checks a layer of some files over the built-in policy.
func checked(layer string, files map[string]string) []report.Problem {
	own := fstest.MapFS{}
	for name, text := range files {
		own[name] = &fstest.MapFile{Data: []byte(text)}
	}
	if layer == bundles.Base {
		return Policy(now, Layer{Name: layer, Files: over(own, bundles.DefaultFS()), Given: true}).Problems
	}
	base := Layer{Name: bundles.Base, Files: withoutCases(), At: "default"}
	return Policy(now, base, Layer{Name: layer, Files: own, Given: true}).Problems
}

// withoutCases is the built-in policy without its cases, which are of no matter
// to a layer over it and take longer to read than all the rest.
var withoutCases = sync.OnceValue(func() fs.FS {
	all, _ := over(nil, bundles.DefaultFS()).(fstest.MapFS)
	maps.DeleteFunc(all, func(name string, _ *fstest.MapFile) bool { return strings.HasPrefix(name, "cases/") })
	return all
})

// over is the files of a policy, some of them changed.
func over(changed fstest.MapFS, below fs.FS) fs.FS {
	all := fstest.MapFS{}
	err := fs.WalkDir(below, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(below, name)
		all[name] = &fstest.MapFile{Data: raw}
		return err
	})
	if err != nil {
		return below // unreachable: it is embedded
	}
	maps.Copy(all, changed)
	return all
}

// line is a problem as one line.
func line(p report.Problem) string { return fmt.Sprintf("%s: %s", p.Place, p.Text()) }

// first is the first error, else the first warning.
func first(list []report.Problem) string {
	for _, p := range list {
		if p.Severity == report.SeverityError {
			return line(p)
		}
	}
	for _, p := range list {
		return "warning " + line(p)
	}
	return ""
}

// begins reports whether a message begins as one that ends in … does: what follows is
// a list that grows with the built-in policy.
func begins(got, want string) bool {
	head, open := strings.CutSuffix(want, "…")
	return open && len(got) > len(head) && strings.HasPrefix(got, head)
}

// Every sixth mistake is made; each with REVIEWER_EVERY=1 (`make fidelity`).
func TestWrong(t *testing.T) {
	count := sweep.Count(t, "mistakes")
	for _, table := range [][]wrong{wrongRego, wrongCEL, wrongDefinitions, wrongRows, wrongCases} {
		for i, w := range table {
			if !sweep.Has(i, 6) {
				continue
			}
			count.Add(1)
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				layer, file := bundles.User, w.file
				if rest, isBase := strings.CutPrefix(file, "base/"); isBase {
					layer, file = bundles.Base, rest
				}
				list := slices.DeleteFunc(checked(layer, map[string]string{file: w.text}), func(p report.Problem) bool {
					return strings.HasPrefix(p.File, "default/") || layer == bundles.Base && p.File != file
				})
				if got := first(list); got != w.want && !begins(got, w.want) {
					t.Errorf("%s: got:\n%s\nwant:\n%s", w.name, got, w.want)
				}
			})
		}
	}
}

// Nothing is wrong with the built-in policy, and nothing worth a look.
func TestShipped(t *testing.T) {
	r := Policy(now, Layer{Name: bundles.Base, Files: bundles.DefaultFS(), Given: true})
	for _, p := range r.Problems {
		t.Errorf("%s: %s", p.Severity, line(p))
	}
	if r.Rules < 20 {
		t.Errorf("%d rules were looked at", r.Rules)
	}
}

// A check that is repeated in a process finds the same, and a change of one layer's file is seen
// although everything else was checked before.
func TestRepeatedCheck(t *testing.T) {
	for _, files := range []map[string]string{
		{"a.rego": "package policies.user\n\nx := inputt.tool\n"},
		{"a.rego": "package policies.user\n\nx := input.tool\n", "a_test.rego": "package policies.user_test\n\ntest_x if inputt.tool == 1\n"},
		{"programs/quay.yaml": "quay:\n  flagz: [--berth value]\n"},
	} {
		once := checked(bundles.User, files)
		if len(once) == 0 {
			t.Errorf("no problem in %q", files)
		}
		if again := checked(bundles.User, files); !slices.Equal(again, once) {
			t.Errorf("%q: the second check found %v, the first %v", files, again, once)
		}
		for name, text := range files {
			files[name] = strings.NewReplacer("inputt", "input", "flagz", "flags", "user_test", "user").Replace(text)
		}
		if right := checked(bundles.User, files); slices.EqualFunc(right, once, func(a, b report.Problem) bool { return a.Message == b.Message }) {
			t.Errorf("%q: still %v", files, right)
		}
	}
}
