package signing

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
)

func TestJWT(t *testing.T) {
	k := newKey(t, ECDSAP256)
	token, err := JWT(context.Background(), k, map[string]any{"scope": "stable"})
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("the token has %d parts: %s", len(parts), token)
	}
	for i, want := range []string{`{"alg":"ES256","kid":"` + k.PublicKey().ID() + `","typ":"JWT"}`, `{"scope":"stable"}`} {
		if got, err := base64.RawURLEncoding.DecodeString(parts[i]); err != nil || string(got) != want {
			t.Errorf("part %d is %s (%v), want %s", i, got, err, want)
		}
	}
	sig, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(sig) != 64 {
		t.Fatalf("the signature has %d bytes (%v), want 64", len(sig), err)
	}
	if !k.PublicKey().Verify([]byte(parts[0]+"."+parts[1]), derSignature(sig)) {
		t.Error("the signature does not hold")
	}

	if _, err := JWT(context.Background(), newKey(t, Ed25519), nil); err == nil || !strings.Contains(err.Error(), "ECDSA P-256") {
		t.Errorf("with ed25519: %v", err)
	}
	if _, err := JWT(context.Background(), liar{k, newKey(t, ECDSAP256).PublicKey()}, nil); err == nil {
		t.Error("a signature of another key is put into a token")
	}
}

// Numbers that are short are filled up.
func TestSideBySide(t *testing.T) {
	raw, err := rawECDSA([]byte{0x30, 6, 2, 1, 5, 2, 1, 7})
	if err != nil || len(raw) != 64 || raw[31] != 5 || raw[63] != 7 {
		t.Errorf("%x, %v", raw, err)
	}
	if _, err := rawECDSA([]byte("no")); err == nil {
		t.Error("no signature is taken for one")
	}
}
