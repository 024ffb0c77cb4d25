package rego

import (
	"context"
	"strings"
	"testing"
)

// A built-in that panics fails the test that calls it, by name, and the others
// go on: OPA runs them where the program cannot catch it.
func TestBuiltinPanics(t *testing.T) {
	s, err := CompileTests(nil, map[string]string{"user/a_test.rego": `package policies.user.a_test

test_panics if bits.lsh(1, 4611686018427387904) > 0

test_each[n] if {
	some n in [4611686018427387904]
	bits.lsh(1, n) > 0
}

test_passes if bits.lsh(1, 4) == 16
`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Run(context.Background(), TestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		panics := !strings.HasSuffix(r.Name, "test_passes")
		if panics != (r.Err != nil) || panics && !strings.Contains(r.Err.Error(), "bits.lsh panicked: ") {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
	}
	if len(list) != 3 {
		t.Errorf("%d results, want 3", len(list))
	}
}
