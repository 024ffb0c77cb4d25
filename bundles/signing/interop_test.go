package signing

import (
	"context"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// theirs makes a key of ours one of the library's.
type theirs struct{ *PrivateKey }

func (k theirs) KeyID() (string, error)   { return k.public.ID(), nil }
func (k theirs) Public() crypto.PublicKey { return k.public.key }
func (k theirs) Verify(_ context.Context, data, sig []byte) error {
	if !k.public.Verify(data, sig) {
		return dsse.ErrNoSignature
	}
	return nil
}

// The reference implementation of DSSE reads what we write, and we read what it
// writes.
func TestInterop(t *testing.T) {
	ctx := context.Background()
	a, b := newKey(t, Ed25519), newKey(t, ECDSAP256)
	doc, err := signed(t, `{"a":"é?>"}`, a, b).Encode()
	if err != nil {
		t.Fatal(err)
	}
	var e dsse.Envelope
	if err := json.Unmarshal(doc, &e); err != nil {
		t.Fatal(err)
	}
	verifier, err := dsse.NewMultiEnvelopeVerifier(2, theirs{a}, theirs{b})
	if err != nil {
		t.Fatal(err)
	}
	if accepted, err := verifier.Verify(ctx, &e); err != nil || len(accepted) != 2 {
		t.Errorf("the library accepts %d signatures: %v", len(accepted), err)
	}

	signer, err := dsse.NewEnvelopeSigner(theirs{a}, theirs{b})
	if err != nil {
		t.Fatal(err)
	}
	made, err := signer.SignPayload(ctx, PayloadType, []byte("payload"))
	if err != nil {
		t.Fatal(err)
	}
	if doc, err = json.Marshal(made); err != nil {
		t.Fatal(err)
	}
	got, err := DecodeEnvelope(doc)
	if err != nil {
		t.Fatal(err)
	}
	if made.Payload != base64.StdEncoding.EncodeToString(got.Payload) {
		t.Errorf("another payload came back: %q", got.Payload)
	}
	wantSigners(t, got, []PublicKey{a.PublicKey(), b.PublicKey()}, a.PublicKey(), b.PublicKey())
}
