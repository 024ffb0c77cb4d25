package kept

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/google/go-cmp/cmp"
)

// layer loads a bundle of name, content, name, content, …
func layer(t *testing.T, name string, files ...string) *bundles.Bundle {
	t.Helper()
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	b, err := bundles.Load(m, name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func shippedBundle(t *testing.T) *bundles.Bundle {
	t.Helper()
	b, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStore(t *testing.T) {
	user := layer(t, bundles.User, "settings.yaml", "resources: {max_file_operations: 7}", "a.rego", "package policies.user\n")
	for _, layers := range [][]*bundles.Bundle{{shippedBundle(t)}, {shippedBundle(t), user}} {
		e, err := bundles.Assemble(layers...)
		if err != nil {
			t.Fatal(err)
		}
		store := Store{Dir: filepath.Join(t.TempDir(), "policies")}
		for range 2 { // the second time it is there
			if err := store.Put(e); err != nil {
				t.Fatal(err)
			}
		}
		back, err := store.Get(e.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if back.Digest != e.Digest || back.Config != e.Config {
			t.Errorf("a policy from the store has digest %s, want %s", back.Digest, e.Digest)
		}
		if d := cmp.Diff(bundles.Normal(e.Data), bundles.Normal(back.Data)); d != "" {
			t.Error(d)
		}
		entries, err := os.ReadDir(store.Dir)
		if err != nil || len(entries) != 2 {
			t.Errorf("the store holds %v (%v), want one policy and its history", entries, err)
		}
	}
}

func TestStoreNoticesChanges(t *testing.T) {
	e, err := bundles.Assemble(shippedBundle(t), layer(t, bundles.User, "settings.yaml", "resources: {max_file_operations: 7}"))
	if err != nil {
		t.Fatal(err)
	}
	store := Store{Dir: t.TempDir()}
	if err := store.Put(e); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(store.Dir, e.Digest+".json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*stored)
		want   string
	}{
		"a setting": {func(s *stored) { s.Layers[1].Files["settings.yaml"] = []byte("resources: {max_file_operations: 8}") }, "was tampered with in the store"},
		"a comment": {func(s *stored) {
			s.Layers[1].Files["settings.yaml"] = append(s.Layers[1].Files["settings.yaml"], " #"...)
		}, "was tampered with in the store"},
		"a rule less":     {func(s *stored) { delete(s.Layers[0].Files, "rules/guard/guard.yaml") }, "was tampered with in the store"},
		"merged settings": {func(s *stored) { s.Settings["grant"] = true }, "was tampered with in the store"},
		"a layer less":    {func(s *stored) { s.Layers = s.Layers[:1] }, "was tampered with in the store"},
		"another layer":   {func(s *stored) { s.Layers[1].Layer = bundles.Project }, "was tampered with in the store"},
		"a broken file":   {func(s *stored) { s.Layers[1].Files["settings.yaml"] = []byte("[") }, "settings.yaml"},
		"no layers":       {func(s *stored) { s.Layers = nil }, "the first layer of a policy must be base"},
	} {
		var doc stored
		if err := json.Unmarshal(good, &doc); err != nil {
			t.Fatal(err)
		}
		test.change(&doc)
		bad, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = store.Get(e.Digest)
		if err == nil || !strings.Contains(err.Error(), "policy "+e.Digest[:12]) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v, want %q in it", name, err, test.want)
		}
	}
	if err := os.WriteFile(path, good[:len(good)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = store.Get(e.Digest)
	if err == nil || !strings.Contains(err.Error(), "read policy "+e.Digest[:12]) {
		t.Errorf("cut off: error is %v", err)
	}
	_, err = store.Get(strings.Repeat("0", 64))
	if !errors.Is(err, ErrNoPolicy) {
		t.Errorf("a policy that is not there: %v", err)
	}
	if _, err = store.Get("../" + e.Digest); err == nil {
		t.Error("a policy was read under another name")
	}
}

// A policy is kept longer than a version of reviewer: the result of its settings
// is read again also where the schema has changed since.
func TestStoreOutlivesSchemas(t *testing.T) {
	older := layer(t, bundles.Base, "data.yaml", "reviewer:\n  grant: false\n  enforcement: enforce\n  forgotten: [1, 2]\n  windows: {w: {last: 3}}\n")
	user := layer(t, bundles.User, "settings.yaml", "gone: true")
	if _, err := bundles.Assemble(older); err == nil {
		t.Fatal("a setting that the schema does not have was accepted")
	}
	settings := map[string]any{"grant": false, "enforcement": "warn", "forgotten": []any{1.0}, "windows": map[string]any{"w": map[string]any{"last": 3.0}}}
	store := Store{Dir: t.TempDir()}
	for name, make := range map[string]func() (*bundles.Effective, error){
		"one layer": func() (*bundles.Effective, error) { return bundles.Reassemble([]*bundles.Bundle{older}, nil) },
		"two layers": func() (*bundles.Effective, error) {
			return bundles.Reassemble([]*bundles.Bundle{older, user}, maps.Clone(settings))
		},
	} {
		e, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Put(e); err != nil {
			t.Fatal(err)
		}
		back, err := store.Get(e.Digest)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !cmp.Equal(bundles.Normal(e.Data), bundles.Normal(back.Data)) || !cmp.Equal(e.View, back.View) {
			t.Errorf("%s: the policy came back as another one: %s", name, cmp.Diff(bundles.Normal(e.Data), bundles.Normal(back.Data)))
		}
	}
}
