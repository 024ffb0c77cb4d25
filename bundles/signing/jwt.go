package signing

import (
	"context"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
)

// JWT signs claims as a compact JSON web token, which is what OPA's own signature of a
// bundle is. Nothing here reads one: this program trusts Envelopes. OPA does not
// support ed25519, so the key is ECDSA.
func JWT(ctx context.Context, s Signer, claims any) (string, error) {
	key := s.PublicKey()
	if key.Type() != ECDSAP256 {
		return "", fmt.Errorf("OPA does not accept %s keys; sign with an ECDSA P-256 key too (reviewer policy keygen --type %s)",
			key.Type(), ECDSAP256)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	head := fmt.Sprintf(`{"alg":"ES256","kid":%q,"typ":"JWT"}`, key.ID())
	message := part([]byte(head)) + "." + part(payload)
	sig, err := s.Sign(ctx, []byte(message))
	if err != nil {
		return "", fmt.Errorf("sign with key %s: %w", key.ShortID(), err)
	}
	if !key.Verify([]byte(message), sig) {
		return "", fmt.Errorf("the signature made with key %s is invalid; does the public key belong to it?", key.ShortID())
	}
	raw, err := rawECDSA(sig)
	return message + "." + part(raw), err
}

func part(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// rawECDSA writes an ECDSA signature as web tokens have it: both numbers in 32
// bytes each.
func rawECDSA(der []byte) ([]byte, error) {
	var n struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &n); err != nil {
		return nil, fmt.Errorf("read ECDSA signature: %w", err)
	}
	raw := make([]byte, 64)
	n.R.FillBytes(raw[:32])
	n.S.FillBytes(raw[32:])
	return raw, nil
}
