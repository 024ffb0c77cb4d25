package mask

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// harmlessFormats are values that look random and are not secrets, under names
// that say so.
var harmlessFormats = []string{
	`commit [0-9a-f]{40}`, `index [0-9a-f]{7}\.\.[0-9a-f]{7} 100644`, `[0-9a-f]{40}\trefs/heads/main`, `"id": "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`, `requestId=[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`,
	`FROM alpine@sha256:[0-9a-f]{64}`, `"integrity": "sha512-[A-Za-z0-9+/]{86}=="`, `sha256 = "[0-9a-f]{64}"`, `etag: W/"[0-9a-f]{32}"`, `github\.com/a/b v1\.2\.3 h1:[A-Za-z0-9+/]{43}=`, `checksum = "[0-9a-f]{64}"`, `md5: [0-9a-f]{32}`, `--hash=sha256:[0-9a-f]{64}`,
	`data:image/png;base64,iVBORw0KGgo[A-Za-z0-9+/]{200}`, `ssh-rsa AAAAB3NzaC1yc2E[A-Za-z0-9+/]{300}= kim@a\.example`, `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{42} kim`, `-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/]{64}\n-----END CERTIFICATE-----`, `SHA256:[A-Za-z0-9+/]{43}`, `pk_(live|test)_[A-Za-z0-9]{24}`,
	`traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-01`, `nonce="[A-Za-z0-9+/]{22}"`, `chunk-[0-9a-z]{8}\.js`, `/assets/index-[A-Za-z0-9_-]{8}\.css`, `version: \d\.\d{1,2}\.\d{1,2}-(alpha|rc)\.\d`, `20\d{6}T[01]\d{5}Z`, `arn:aws:iam::\d{12}:role/[a-z]{8}`, `ami-[0-9a-f]{17}`, `vpc-[0-9a-f]{17}`, `i-[0-9a-f]{17}`, `sg-[0-9a-f]{17}`,
	`color: #[0-9a-f]{6}`, `0x[0-9a-f]{16}`, `[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}`, `UID=[1-9]\d{3}`, `https://a\.example/docs/authentication#(tokens|api-keys|passwords)`, `max_tokens: [1-9]\d{3}`, `"tokens": [1-9]\d{4}`, `tokenizer\.model_[a-z]{6}\d`,
	`test_(password|token|secret)_(is_required|can_be_reset|expires)_[a-z]{6}\d?`, `describe\("(password|token) (reset|refresh) v\d", `, `primary_key: "[a-z]{5}_id\d"`, `cache_key = "[a-z]{6}:v\d:[a-z]{6}"`, `"keyCode": \d{2,3}`, `sortKey=[a-z]{6}\d_desc`,
}

// stand are placeholders for a secret. They stay unmasked under any name.
var stand = []string{
	`<your[-_ ](token|key|password)>`, `\$\{[A-Z]{4,8}_TOKEN\d?\}`, `\$[A-Z]{4,8}_KEY\d?`, `\$\{\{ secrets\.[A-Z]{4,8}_\d \}\}`, `\{\{ \.Values\.[a-z]{4,8}\d? \}\}`, `x{8,40}`, `X{8,40}`, `\*{6,20}`, `0{16,40}`, `\.\.\.`, `your[-_](api|secret)[-_](key|token)(-here|_here)?`, `(changeme|change_me|change-me)`,
	`example[-_](token|key|password)`, `(EXAMPLE|PLACEHOLDER|REDACTED)`, `%[A-Z]{4,8}_TOKEN%`, `process\.env\.[A-Z]{4,8}_\d`, `os\.environ\["[A-Z]{4,8}_\d"\]`, `get_(token|secret)_v\d\(\)`, `config\.[a-z]{4,8}\.token\d`, `self\._[a-z]{4,8}2`, `(string|null|None|true|false|undefined|required)`, `/run/secrets/[a-z]{4,8}2`,
	`dummy-(token|key)-\d{2}`, `fake_[a-z]{4,8}_\d{2}`, `insert-your-key-here`, `ghp_x{36}`, `AKIA[A-Z2-7]{9}EXAMPLE`, `sk-proj-x{20,48}`, `xoxb-(your|my)-token`, `glpat-x{20}`, `ghp_[a-z]{10}`, `dapi[0-9a-f]{20}`,
}

// standing are leads in which a placeholder is code or configuration, not a string.
var standing = []string{`%s_token=%s`, `%s_token: %s`, `export %s_API_KEY=%s`, `%s_TOKEN := %s`, `docker run -e %s_TOKEN=%s image`, `https://api.example/?%s_token=%s`, `tool --%s-token %s`}

func masked(text string) bool {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	m.Remember(text)
	return m.Text(text) != text
}

func TestMaskHarmlessFormats(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, format := range harmlessFormats {
		re, hit, example := classifytest.Pattern(t, format), 0, ""
		for range 5 * values {
			text := classifytest.Specimen(r, re)
			for _, place := range []string{text, "see " + text + " there", "a\n" + text + "\nb", "echo '" + text + "'"} {
				if masked(place) {
					hit, example = hit+1, place
				}
			}
		}
		if hit > values/5 {
			t.Errorf("%s: %d of %d are hit, such as %q", format, hit, 20*values, example)
		}
	}
}

func TestMaskLeavesStandIns(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, format := range stand {
		re, hit, example := classifytest.Pattern(t, format), 0, ""
		for range values {
			for _, lead := range append(quotedLeads(re), standing...) {
				if text := fill(lead, "acme", classifytest.Specimen(r, re)); masked(text) {
					hit, example = hit+1, text
				}
			}
		}
		if hit > 0 {
			t.Errorf("%s: %d are hit, such as %q", format, hit, example)
		}
	}
}

// quotedLeads are all leads except those of code without quotes.
func quotedLeads(re *syntax.Regexp) []string {
	if strings.ContainsAny(re.String(), "\"") {
		return nil
	}
	return leads
}
