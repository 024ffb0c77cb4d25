package mask

import (
	"crypto/sha256"
	"math/big"
	"strings"
	"testing"
)

// walletKey is an invented key in base58.
func walletKey(seed string) string {
	body := sha256.Sum256([]byte(seed))
	b := append([]byte{0x80}, body[:]...)
	first := sha256.Sum256(b)
	second := sha256.Sum256(first[:])
	n := new(big.Int).SetBytes(append(b, second[:4]...))
	var out []byte
	for rest := new(big.Int); n.Sign() > 0; {
		n.DivMod(n, big.NewInt(58), rest)
		out = append([]byte{base58[rest.Int64()]}, out...)
	}
	return string(out)
}

// Keys without a prefix are found by their structure.
func TestKeys(t *testing.T) {
	drawn := walletKey("a")[:43]
	wrong := []byte(walletKey("b"))
	wrong[20]++
	for text, want := range map[string]string{
		"import " + walletKey("b") + " now":                              "wallet_key",
		"import " + string(wrong) + " now":                               "",
		"import " + strings.Repeat("5", 51) + " now":                     "",
		`{"kty":"EC","crv":"P-256","d":"` + drawn + `"}`:                 "jwk_private_key",
		`{"kty": "EC", "d": "` + drawn + `"}`:                            "jwk_private_key",
		`{"kty":"EC","crv":"P-256","x":"` + drawn + `"}`:                 "",
		`{"a":1,"d":"` + drawn + `"}`:                                    "",
		`net use \\files.example\a Tr0ub4dor /user:anna`:                 "password",
		`bw unlock Tr0ub4dor`:                                            "password",
		`rclone obscure Tr0ub4dor`:                                       "password",
		`kubectl create secret generic a --from-literal=pw=Tr0ub4dor`:    "password",
		`echo Tr0ub4dor | op signin`:                                     "password",
		`kubectl create configmap a --from-literal=level=production-two`: "",
		`bw list items`: "",
	} {
		found := noFormats().Find(text)
		got := ""
		if len(found) > 0 {
			got = found[0].Kind
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
