package kept

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/google/go-cmp/cmp"
)

// A store remembers every policy in the order of its first use, also one that was
// removed for room or by someone, and one from before there was a history.
func TestHistoryOfPolicies(t *testing.T) {
	now := int64(1_900_000_000_000)
	store := Store{Dir: t.TempDir(), Now: func() int64 { now += 1000; return now }}
	var digests []string
	put := func(threshold string) {
		t.Helper()
		base, err := bundles.Default()
		if err != nil {
			t.Fatal(err)
		}
		user, err := bundles.FromFiles(map[string][]byte{"settings.yaml": []byte("risk: {high_threshold: " + threshold + "}\n")}, bundles.User)
		if err != nil {
			t.Fatal(err)
		}
		e, err := bundles.Assemble(base, user)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Put(e); err != nil {
			t.Fatal(err)
		}
		digests = append(digests, e.Digest)
	}
	put("0.7")
	put("0.71")
	if err := os.Remove(filepath.Join(store.Dir, historyName)); err != nil {
		t.Fatal(err)
	}
	put("0.72")
	if err := os.Remove(store.path(digests[2])); err != nil {
		t.Fatal(err)
	}
	list, err := store.History()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]Policy{}
	for _, k := range list {
		at[k.Digest] = k
	}
	if len(list) != 3 || at[digests[0]].Lost || len(at[digests[0]].Layers) > 0 || !at[digests[2]].Lost || len(at[digests[2]].Layers) != 2 {
		t.Errorf("got %+v", list)
	}
	put("0.7") // used again: it goes last
	one := at[digests[0]].Bytes
	store.Budget = 2*one + one/2
	later := time.UnixMilli(now + 2*usedEach.Milliseconds())
	if err := os.Chtimes(store.path(digests[0]), later, later); err != nil {
		t.Fatal(err)
	}
	put("0.73")
	put("0.74")
	left, err := store.Digests()
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 2 || !slices.Contains(left, digests[0]) || !slices.Contains(left, digests[5]) {
		t.Errorf("of %v %v are left; want the one that was used last, and the newest", digests, left)
	}
	if _, err := store.Get(digests[1]); !errors.Is(err, ErrNoPolicy) {
		t.Errorf("got %v", err)
	}
}

// A policy that was stored knows which layer each setting comes from, as it did before.
func TestStoredOrigins(t *testing.T) {
	e, err := bundles.Assemble(shippedBundle(t), layer(t, bundles.User, "settings.yaml", "risk: {high_threshold: 0.75}\nhosts: {known: [example.com]}"))
	if err != nil {
		t.Fatal(err)
	}
	store := Store{Dir: t.TempDir()}
	if err := store.Put(e); err != nil {
		t.Fatal(err)
	}
	again, err := store.Get(e.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(e.Sources, again.Sources); d != "" || again.Origin["hosts.known"] != bundles.User {
		t.Errorf("sources of settings (-before +after):\n%s", d)
	}
}
