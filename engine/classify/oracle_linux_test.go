package classify

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// oracleTally counts earlier releases of a suite.
type oracleTally struct {
	cases, seen, opaque, late, missing int
}

// TestOracle runs the suites in a sandbox: what is executed there must have
// been predicted. Every twelfth case is run; all with
// REVIEWER_EVERY=1 (`make fidelity`).
func TestOracle(t *testing.T) {
	box := newOracleBox(t)
	for _, suite := range []struct {
		name  string
		least float64 // share of the cases in which something was to be seen
	}{{"evasions", 0.7}, {"traps", 0.3}} {
		t.Run(suite.name, func(t *testing.T) {
			list := suiteCases(t, suite.name)
			list = sweep.Nth(list, sweep.Some(12, 1))
			sweep.Count(t, "cases run in the sandbox").Add(int64(len(list)))
			tally := box.check(t, list)
			t.Logf("%d cases: something to predict in %d, not understood %d, ended %d, missing %d", tally.cases, tally.seen, tally.opaque, tally.late, tally.missing)
			if share := float64(tally.seen) / float64(tally.cases); share < suite.least {
				t.Errorf("something was to be seen in %.2f of the cases, want %.2f", share, suite.least)
			}
		})
	}
}

// check runs cases side by side.
func (b oracleBox) check(t *testing.T, list []suiteCase) (tally oracleTally) {
	world := oracleWorld(t)
	jobs := make(chan suiteCase)
	var mu sync.Mutex
	var group sync.WaitGroup
	for range runtime.NumCPU() + 1 {
		group.Go(func() {
			for c := range jobs {
				seen, err := b.run(c.src)
				mu.Lock()
				if err != nil {
					t.Errorf("%s %s: %v", c.class, c.src, err)
				} else {
					tally.add(t, world, c, seen)
				}
				mu.Unlock()
			}
		})
	}
	for _, c := range list {
		jobs <- c
	}
	close(jobs)
	group.Wait()
	return tally
}

func (o *oracleTally) add(t *testing.T, world place.World, c suiteCase, seen oracleSeen) {
	action := oracleAction(t, world, c)
	o.cases++
	if len(seen.Changes)+len(seen.Calls) > 0 {
		o.seen++
	}
	if seen.Late {
		o.late++
	}
	if notUnderstood(action) {
		o.opaque++
		return
	}
	if missing := unforeseen(action, seen); len(missing) > 0 {
		o.missing++
		t.Errorf("%s %s\nran, but was not predicted:\n  %s\npredicted:\n%s", c.class, c.src, strings.Join(missing, "\n  "), renderEffects(action.Effects))
	}
}

// oracleAction classifies a case as a call in the sandbox.
func oracleAction(t *testing.T, world place.World, c suiteCase) *engine.Action {
	args, err := json.Marshal(map[string]string{"command": c.src})
	if err != nil {
		t.Fatal(err)
	}
	return classifyCall(t, world, "/srv/shop", "/srv/shop", "Bash", string(args)).Action
}

// notUnderstood reports whether the classifier says that it does not know what
// would be done: then all is predicted.
func notUnderstood(a *engine.Action) bool {
	return slices.ContainsFunc(a.Opaque, func(o engine.Opaque) bool { return o.Reason != "target" })
}

// unforeseen lists what was done and not predicted.
func unforeseen(a *engine.Action, seen oracleSeen) []string {
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(seen.Changes)) {
		how := seen.Changes[name]
		if !slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return foresees(e, name, how) }) {
			missing = append(missing, name+" was "+how)
		}
	}
	for _, c := range seen.Calls {
		if !called(a.Commands, c) {
			missing = append(missing, fmt.Sprintf("%s %q was called", c.Name, c.Args))
		}
	}
	return missing
}

// foresees reports whether an effect says that a path changes in this way.
func foresees(e engine.Effect, name, how string) bool {
	loses := e.Kind == engine.EffectFileDelete || e.Verb == "move" || e.Verb == "rename"
	writes := e.Kind == engine.EffectFileWrite
	switch {
	case how == "deleted" && !loses, !loses && !writes:
		return false
	case e.Certainty == engine.CertaintyUnknown:
		return true
	case e.Certainty == engine.CertaintyPrefix:
		return strings.HasPrefix(name, strings.TrimSuffix(e.Target, "/"))
	case how == "created" && strings.HasPrefix(e.Target, name+"/"):
		return true // a directory made on the way
	}
	deep := e.Recursive || writes
	if e.Certainty == engine.CertaintyGlob {
		return patternCovers(strings.Split(unshort(e.Short), "/"), strings.Split(name, "/"), deep)
	}
	return e.Target == name || deep && strings.HasPrefix(name, strings.TrimSuffix(e.Target, "/")+"/")
}

// unshort is the path of which a Short is the short form.
func unshort(short string) string {
	if rest, ok := strings.CutPrefix(short, "~/"); ok {
		return "/home/ana/" + rest
	}
	if rest, ok := strings.CutPrefix(short, "./"); ok {
		return "/srv/shop/" + rest
	}
	return short
}

// patternCovers matches a path component by component; ** is any number of
// them, and deep takes in what is below.
func patternCovers(pattern, name []string, deep bool) bool {
	if len(pattern) == 0 {
		return len(name) == 0 || deep
	}
	if pattern[0] == "**" {
		return patternCovers(pattern[1:], name, deep) || len(name) > 0 && patternCovers(pattern, name[1:], deep)
	}
	if len(name) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], name[0])
	return (ok || err != nil) && patternCovers(pattern[1:], name[1:], deep)
}

// called reports whether commands hold the one that a stub saw: its name, and
// its operands, as far as they were known; those that make up another command
// may stand with that one.
func called(list []engine.Command, c oracleCall) bool {
	var words []string
	found := false
	for _, p := range list {
		if slices.Contains(p.Wrappers, c.Name) {
			return true
		}
		found = found || p.Name == strings.TrimSuffix(c.Name, ".exe") // names are without it
		words = slices.Concat(words, []string{p.Name}, p.Sub, p.Flags, p.Operands)
	}
	all := strings.Join(words, "\n")
	return found && (strings.Contains(all, "?") || !slices.ContainsFunc(c.Args, func(a string) bool { return !strings.Contains(a, "\n") && !holdsWords(all, a) }))
}

// holdsWords reports whether a string contains the words of an argument that are not
// options.
func holdsWords(text, argument string) bool {
	return !slices.ContainsFunc(strings.Fields(argument), func(w string) bool {
		return !strings.HasPrefix(w, "-") && !strings.Contains(text, w)
	})
}

// oracleWorld is the sandbox as the classifier may look at it beforehand.
func oracleWorld(t *testing.T) place.World {
	root := t.TempDir()
	if err := layTree(root); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string {
		if strings.HasPrefix(name, "/usr/") || strings.HasPrefix(name, "/bin") || strings.HasPrefix(name, "/proc") {
			return name
		}
		return root + name
	}
	local := place.LocalWorld("/home/ana", "", nil)
	return place.World{
		Home:     "/home/ana",
		Lstat:    func(name string) (fs.FileInfo, error) { return os.Lstat(at(name)) },
		Readlink: func(name string) (string, error) { return os.Readlink(at(name)) },
		ReadDir:  func(name string, limit int) ([]fs.DirEntry, error) { return local.ReadDir(at(name), limit) },
		ReadFile: func(name string, limit int64) ([]byte, error) { return local.ReadFile(at(name), limit) },
	}
}

// The oracle sees what it is there to see.
func TestOracleComplains(t *testing.T) {
	seen, err := newOracleBox(t).run("rm -r /opt/x/sub; chmod 600 a; echo b > new; curl -s https://a.example")
	if err != nil {
		t.Fatal(err)
	}
	got := unforeseen(&engine.Action{}, seen)
	want := []string{
		"/opt/x/sub was deleted", "/opt/x/sub/two was deleted", "/srv/shop/a was changed", "/srv/shop/new was created",
		`curl ["-s" "https://a.example"] was called`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("of an action without effects the oracle says\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}
