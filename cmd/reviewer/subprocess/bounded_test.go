package subprocess

import (
	"io"
	"strings"
	"testing"
)

// The bound holds however a program's output is copied: io.Copy prefers ReadFrom
// where a writer has it.
func TestBounded(t *testing.T) {
	b := &Bounded{Left: 10}
	if _, err := io.Copy(b, io.LimitReader(strings.NewReader(strings.Repeat("x", 100)), 100)); err == nil {
		t.Error("copying beyond the bound is not an error")
	}
	if b.String() != strings.Repeat("x", 10) || len(b.Bytes()) != 10 || !b.Over {
		t.Errorf("kept %q, over %t", b.String(), b.Over)
	}
	b = &Bounded{Left: 10}
	if _, err := io.Copy(b, strings.NewReader("0123456789")); err != nil || b.Over {
		t.Errorf("what keeps within the bound: over %t, %v", b.Over, err)
	}
}
