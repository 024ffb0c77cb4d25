package mask

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
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

// approvalCode makes a code from its ten random characters.
func approvalCode(random string) string {
	whole := random + engine.CodeCheck(random)
	return whole[:4] + "-" + whole[4:8] + "-" + whole[8:]
}

func TestApprovalCodes(t *testing.T) {
	m := &Masker{Mac: func(b []byte) string { return engine.HexSum(b) }}
	code := approvalCode("7K2MQ9XVTB")
	bare, low := strings.ReplaceAll(code, "-", ""), strings.ToLower(code)
	for _, written := range []string{code, low, bare, strings.ToLower(bare), strings.ReplaceAll(code, "-", " "), approvalCode("ABCDEFGHJK"),
		approvalCode("1234567890"), strings.NewReplacer("0", "O", "1", "l").Replace(approvalCode("10K2MQ9XVT"))} {
		for _, text := range []string{"the code is %, use it", "%", "export C=%;", `{"code":"%"}`, "a\n%\nb", "https://h/?c=%&d", "(%)", "x/%"} {
			whole := strings.ReplaceAll(text, "%", written)
			if got := m.Text(whole); strings.Contains(got, written) {
				t.Errorf("%s is not masked: %s", whole, got)
			} else if m.Text(got) != got {
				t.Errorf("%s: masked again it is %s", whole, m.Text(got))
			}
		}
	}
	for _, text := range []string{code[:13] + "A" + "x", "7" + bare, bare + "7", code + "-1234", "1234-" + code, code + "_a", code[1:],
		"make-this-work", "123e4567-e89b-12d3-a456-426614174000", strings.ToUpper(bare[:6]) + strings.ToLower(bare[6:]), hexCode(t)} {
		if got := m.Text(text); got != text {
			t.Errorf("%s is masked: %s", text, got)
		}
	}
}

// hexCode is a short hash with the check characters of a code.
func hexCode(t *testing.T) string {
	t.Helper()
	for i := range 1 << 20 {
		random := fmt.Sprintf("%010X", 0xab12cd34e0+i)
		if hash := random + engine.CodeCheck(random); strings.Trim(hash, "0123456789ABCDEF") == "" {
			return strings.ToLower(hash)
		}
	}
	t.Fatal("no such hash")
	return ""
}
