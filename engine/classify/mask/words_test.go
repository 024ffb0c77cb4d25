package mask

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// TestNameLike: names in code are distinguished from random characters.
func TestNameLike(t *testing.T) {
	for _, s := range []string{"Float64Array", "cfg.OAuth2Token", "*ed25519.PrivateKey", "readLedgerEntriesOfShop", "HMAC_WITH_SHA256",
		"BigUint64Array", "x509.ParseECPrivateKey", "base64.b64encode", "certs/server-ed25519-key.pem", "kms_v1.CryptoKeyVersion"} {
		if !nameLike(s) {
			t.Errorf("%s is not a name", s)
		}
	}
	r := rand.New(rand.NewPCG(11, 12))
	for _, alphabet := range []string{classifytest.LowerLetters, classifytest.HexDigits, classifytest.LowerLetters + classifytest.Numerals,
		classifytest.LowerLetters + classifytest.UpperLetters + classifytest.Numerals, classifytest.UpperLetters + classifytest.Numerals} {
		for _, n := range []int{16, 20, 24, 32, 40} {
			const tries = 4000
			taken := 0
			for range tries {
				if nameLike(classifytest.Made(r.Uint64(), n, alphabet)) {
					taken++
				}
			}
			if taken*100 > tries {
				t.Errorf("%d of %d made of %d characters of %s are taken for names", taken, tries, n, alphabet)
			}
		}
	}
}

// TestMaskLeavesCode: a name in code that is assigned to a variable for a secret is
// not masked.
func TestMaskLeavesCode(t *testing.T) {
	for _, text := range []string{
		"interface Wallet {\n  privateKey: Uint8Array;\n  publicKey: Uint8Array;\n}", "function open(secretKey: Uint8Array, nonce: Uint8Array) {",
		"  encryptionKey: Int32Array\n  token?: Base64String\n", "struct { token: Option<Sha256Token>, secret: Box<[u8; 32]> }",
		"password: Utf8String,\n", "pub secret_key: x25519_dalek::StaticSecret,", "def connect(self, token: Oauth2Token) -> None:",
		"connect(password=cfg.smtp2Password, host=h)", "client.login(user, password=settings.Login2Word)", "token = ctx.Auth2Token",
		"rows, err := s.loadAllLedgerEntries2024(shop)", "if s.RetryBackoffMaxSeconds > 0 {", "return s.renderCheckoutSummary24(cart)",
		"the private key is *ed25519.PrivateKey, not an RSA key", "token.Kind = SelfClosingTagToken", "tokens := ShopTokenKindUint8",
		`accessToken: "shop-token-2"`, `clientId: "checkout-client-id-7"`, `privateKeyFile: "./certs/server-ed25519-key.pem"`,
		`secretRef: "projects/shop/secrets/read-pat/versions/1"`, "credentialsId: '3f0c1f6e-58a4-4c0e-9d1b-7f3a2b6c8d90'",
		"withCredentials([string(credentialsId: '3f0c1f6e-58a4-4c0e-9d1b-7f3a2b6c8d90', variable: 'T')]) {",
		"SSH_AUTH_SOCK=/tmp/ssh-Q7uRk2LmZ9pW/agent.20417; export SSH_AUTH_SOCK;", "// Manages the APIGatewayV2 of the shop",
		`cmd.Env = append(cmd.Env, "PWD="+cfg.Dir2)`, `os.environ["X"] = "TOKEN=" + cfg.make(2)`, `tokenURL: "http://auth.example:8000/site/oauth2/access_token"`,
		"	Items map[string]int `protobuf_key:\"bytes,1,opt,name=key,proto3\"`", `HMACWithSHA256 = "HMAC_WITH_SHA256"`, `"encryptionKey": "encryptionKey2"`,
		`{token: "abc123xyz"}`, `sort_token: "col-4a"`, `tool render --pwd "D:/work/shop2"`, "pwd: osc7/osc51", `git_author_test.go-14-	"GIT_EDITOR_TIME=1",`, "authKeyBytes: BigUint64Array", "hmac = crypto.createHmacSha256(body)", "sharedSecret: ArrayBuffer | Uint8Array = new Uint8Array(32),",
	} {
		if got := text; masked(text) {
			m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
			t.Errorf("%q -> %q", got, m.Text(text))
		}
	}
}

// TestMaskStill: secrets in the same places are masked.
func TestMaskStill(t *testing.T) {
	alnum := classifytest.LowerLetters + classifytest.UpperLetters + classifytest.Numerals
	for i, form := range []string{
		"  privateKey: %s,\n", "token = %s", "token: %s\n", "TOKEN=%s", `apiKey: "%s",`, "connect(token=%s, host=h)", `secret := "%s"`,
		"password: %s\n", "the token is %s", "  encryptionKey: '%s';", "s.%s", "client.login(user, password='%s')",
	} {
		secret := classifytest.Made(uint64(900+i), 24, alnum)
		m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
		if text := strings.Replace(form, "%s", secret, 1); strings.Contains(m.Text(text), secret) {
			t.Errorf("%q stays", text)
		}
	}
	for _, text := range []string{"password: TopSecret1\n", "DB_PASSWORD=correctHorse7", `api_key: "W8Ih3Psw"`, "SHOP_TOKEN=k4rq9vw2zl", `"TOKEN='k4Rq9vW2zL8mT5xY'"`, `export PASSWORD="kR7#tq9Lz"`, `webhook_token: "https://hooks.shop.net/k4Rq9vW2zL8mT5xYb7"`, "DB_PWD=k4/Rq-9vW2z", `git_author_password: "kR7-tq9Lz2"`, `password = "BlueFish8Pond"`, "//reg.example/:_password=TopSecret1",
		"mount -o username=kim,password=Winter2024,vers=3 //nas/share /mnt", "Server=db;Uid=kim;Pwd=Winter2024;", "{user: kim, password: Winter2024}",
		"JWT_SECRET=SuperWinter2024", `secret: "SuperWinter2024"`, "VAULT_SECRET_ID=3f0c1f6e-58a4-4c0e-9d1b-7f3a2b6c8d90"} {
		if !masked(text) {
			t.Errorf("%q stays", text)
		}
	}
}
