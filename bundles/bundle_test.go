package bundles

import (
	"testing"
)

func TestDefaultLoads(t *testing.T) {
	b, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Assemble(b)
	if err != nil {
		t.Fatal(err)
	}
	store := Store{Dir: t.TempDir()}
	if err := store.Put(e); err != nil {
		t.Fatal(err)
	}
	back, err := store.Get(e.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if back.Digest != e.Digest || back.Config != e.Config {
		t.Errorf("a policy from the store has digest %s, want %s", back.Digest, e.Digest)
	}
}

func BenchmarkDefault(b *testing.B) {
	for b.Loop() {
		if _, err := Default(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAssemble(b *testing.B) {
	d, err := Default()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Assemble(d); err != nil {
			b.Fatal(err)
		}
	}
}
