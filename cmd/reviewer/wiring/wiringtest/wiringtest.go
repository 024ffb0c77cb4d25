// Package wiringtest compiles the built-in policy, edited or with layers over it, for the tests of
// several packages.
//
// Out of scope: anything that ships. Only tests import it.
package wiringtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/rego"
)

// A Layer is the files of a layer.
type Layer struct {
	Name  string
	Files fstest.MapFS
}

// LayerOf makes a layer of names of files and their contents.
func LayerOf(name string, files ...string) Layer {
	l := Layer{name, fstest.MapFS{}}
	for i := 0; i < len(files); i += 2 {
		l.Files[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return l
}

// Effective is the built-in policy with layers over it.
func Effective(t testing.TB, layers ...Layer) *bundles.Effective {
	t.Helper()
	base, err := bundles.Default()
	list := []*bundles.Bundle{base}
	for _, l := range layers {
		b, lerr := bundles.Load(l.Files, l.Name)
		list, err = append(list, b), errors.Join(err, lerr)
	}
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(list...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Edited is the built-in policy with a string of one of its files replaced.
func Edited(t testing.TB, file, was, becomes string) *bundles.Effective {
	t.Helper()
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	files := maps.Clone(base.Files)
	files[file] = []byte(strings.Replace(string(files[file]), was, becomes, 1))
	if bytes.Equal(files[file], base.Files[file]) {
		t.Fatalf("%s does not say %q any more", file, was)
	}
	b, err := bundles.FromFiles(files, bundles.Base)
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(b)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// PolicyOf compiles the built-in policy with layers over it.
func PolicyOf(t testing.TB, layers ...Layer) *review.Policy {
	t.Helper()
	e := Effective(t, layers...)
	compile := rego.Compile
	if e.AllBuiltIn() {
		compile = Reopened
	}
	p, err := wiring.CompileWith(context.Background(), e, compile)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shippedModules is the Rego that ships, compiled once for all tests.
var shippedModules = sync.OnceValues(func() (*rego.Host, error) {
	base, err := bundles.Default()
	if err != nil {
		return nil, err
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		return nil, err
	}
	return rego.CompileKnown(context.Background(), e.Modules(), e.Data)
})

// Reopened is the Rego that ships with other data.
func Reopened(ctx context.Context, _ map[string]string, data map[string]any) (*rego.Host, error) {
	host, err := shippedModules()
	if err != nil {
		return nil, err
	}
	return host.Reopen(ctx, data)
}

// Shell is a call of a shell in /srv/shop, on a machine about which nothing is known.
func Shell(command string) engine.Event {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return engine.Event{} // unreachable: the map holds strings
	}
	return engine.Event{Harness: "claude-code", Phase: engine.PhasePre, Call: command, Tool: "Bash", Args: args, CWD: "/srv/shop"}
}

// Pick draws a word.
func Pick(g *rand.Rand, words ...string) string { return words[g.IntN(len(words))] }
