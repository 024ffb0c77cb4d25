//go:build !sigstore

package sigstore

import (
	"errors"
	"testing"
)

func TestWithout(t *testing.T) {
	if s, err := Verify(nil, nil, TrustRoot{}); Built || !errors.Is(err, ErrNotBuilt) || s.KeyID != "" {
		t.Errorf("got %+v, %v", s, err)
	}
}
