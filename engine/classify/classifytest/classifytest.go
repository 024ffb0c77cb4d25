package classifytest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// MAC is a keyed digest for Classifier.MAC.
func MAC(b []byte) string {
	h := hmac.New(sha256.New, []byte("a key for tests"))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// Secrets are assembled here, so that this file contains none.
var (
	GitHubToken = "ghp_" + "a7B2kQ9mZx3LpV6tRw1Yc8NdHs5GfJ4uEo0i"
	AwsKey      = "AKIA" + "QX3ZP7LM2WTN5RSV"
	SlackToken  = "xoxb-" + "2149850147-8812312912-Kq3vXn8TzPw1"
	Password    = "Tr0ub4dor-and-3"
	KeyBlock    = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA7", 8) + "\n-----END RSA " + "PRIVATE KEY-----"
	JsonToken   = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

// Program is the path of reviewer in the tests.
const Program = "/opt/our tools/reviewer"
