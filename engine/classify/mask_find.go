package classify

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// span is a secret inside of a text.
type span struct {
	start, end int
	kind       string
}

// kindMasked marks a secret that was replaced before.
const kindMasked = "masked"

// findSecrets returns the secrets of a text in order, without overlaps.
//
// It is written by hand and not with regular expressions, because a hook is a
// new process for each call: nothing is compiled, and a text is read once for
// tokens and once for each word that announces a secret.
func findSecrets(s string) []span {
	var found []span
	found = appendTokens(found, s)
	found = appendKeyBlocks(found, s)
	found = appendUserInfo(found, s)
	found = appendAssignments(found, s)
	found = appendHeaders(found, s)
	found = appendOptions(found, s)
	return settle(found)
}

// settle sorts spans and drops those that overlap an earlier or longer one.
// What was masked before always stays as it is.
func settle(found []span) []span {
	if len(found) < 2 {
		return found
	}
	slices.SortStableFunc(found, func(a, b span) int {
		if c := cmp.Compare(a.start, b.start); c != 0 {
			return c
		}
		return cmp.Compare(b.end, a.end)
	})
	out := found[:1]
	for _, s := range found[1:] {
		last := &out[len(out)-1]
		switch {
		case s.start >= last.end:
			out = append(out, s)
		case s.end > last.end:
			last.end = s.end // one secret that two rules saw in part
		}
	}
	return out
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// tokenChar are the characters of tokens, keys and identifiers.
func tokenChar(c byte) bool { return alnum(c) || c == '_' || c == '-' }

func base64Char(c byte) bool { return tokenChar(c) || c == '+' || c == '/' || c == '=' }

func dotted(c byte) bool { return tokenChar(c) || c == '.' }

func hexChar(c byte) bool {
	return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func upperDigit(c byte) bool { return digit(c) || c >= 'A' && c <= 'Z' }

// issued is a secret that its issuer made recognisable by a prefix.
type issued struct {
	kind   string
	prefix string
	chars  func(byte) bool
	min    int  // characters after the prefix
	max    int  // 0: no limit; otherwise a longer run is no such token
	start  bool // only where no letter or digit stands before
}

// issuedTokens are public formats of issuers' documentation.
var issuedTokens = []issued{
	{"masked", redacted, tokenChar, 8, 0, false},
	{"aws_key", "AKIA", upperDigit, 16, 16, true},
	{"aws_key", "ASIA", upperDigit, 16, 16, true},
	{"aws_key", "ABIA", upperDigit, 16, 16, true},
	{"aws_key", "ACCA", upperDigit, 16, 16, true},
	{"aws_bedrock", "ABSK", base64Char, 100, 0, true},
	{"aws_bedrock", "bedrock-api-key-", base64Char, 20, 0, false},
	{"github_token", "ghp_", alnum, 30, 0, false},
	{"github_token", "gho_", alnum, 30, 0, false},
	{"github_token", "ghu_", alnum, 30, 0, false},
	{"github_token", "ghs_", dotted, 30, 0, false},
	{"github_token", "ghr_", alnum, 30, 0, false},
	{"github_token", "github_pat_", tokenChar, 22, 0, false},
	{"gitlab_token", "glpat-", dotted, 20, 0, false},
	{"gitlab_token", "gldt-", tokenChar, 20, 0, false},
	{"gitlab_token", "glrt-", dotted, 20, 0, false},
	{"gitlab_token", "glcbt-", tokenChar, 20, 0, false},
	{"gitlab_token", "glptt-", tokenChar, 20, 0, false},
	{"gitlab_token", "glft-", tokenChar, 20, 0, false},
	{"gitlab_token", "glimt-", tokenChar, 20, 0, false},
	{"gitlab_token", "glagent-", tokenChar, 20, 0, false},
	{"gitlab_token", "gloas-", tokenChar, 20, 0, false},
	{"gitlab_token", "glsoat-", tokenChar, 20, 0, false},
	{"gitlab_token", "glffct-", tokenChar, 20, 0, false},
	{"gitlab_token", "GR1348941", tokenChar, 20, 0, true},
	{"slack_token", "xoxb-", tokenChar, 10, 0, false},
	{"slack_token", "xoxp-", tokenChar, 10, 0, false},
	{"slack_token", "xoxa-", tokenChar, 10, 0, false},
	{"slack_token", "xoxr-", tokenChar, 10, 0, false},
	{"slack_token", "xoxs-", tokenChar, 10, 0, false},
	{"slack_token", "xoxo-", tokenChar, 10, 0, false},
	{"slack_token", "xoxe-", tokenChar, 20, 0, false},
	{"slack_token", "xoxe.xox", dotted, 20, 0, false},
	{"slack_token", "xapp-", tokenChar, 20, 0, false},
	{"slack_token", "xwfp-", tokenChar, 20, 0, false},
	{"slack_webhook", "hooks.slack.com/services/", base64Char, 20, 0, false},
	{"slack_webhook", "hooks.slack.com/workflows/", base64Char, 20, 0, false},
	{"slack_webhook", "hooks.slack.com/triggers/", base64Char, 20, 0, false},
	{"discord_webhook", "discord.com/api/webhooks/", base64Char, 40, 0, false},
	{"discord_webhook", "discordapp.com/api/webhooks/", base64Char, 40, 0, false},
	{"stripe_key", "sk_live_", alnum, 10, 0, false},
	{"stripe_key", "sk_test_", alnum, 10, 0, false},
	{"stripe_key", "sk_prod_", alnum, 10, 0, false},
	{"stripe_key", "rk_live_", alnum, 10, 0, false},
	{"stripe_key", "rk_test_", alnum, 10, 0, false},
	{"stripe_key", "rk_prod_", alnum, 10, 0, false},
	{"stripe_key", "whsec_", base64Char, 24, 0, false},
	{"anthropic_key", "sk-ant-", tokenChar, 20, 0, false},
	{"openai_key", "sk-proj-", tokenChar, 20, 0, false},
	{"openai_key", "sk-svcacct-", tokenChar, 20, 0, false},
	{"openai_key", "sk-admin-", tokenChar, 20, 0, false},
	{"openai_key", "sk-or-", tokenChar, 20, 0, false},
	{"openai_key", "sk-", tokenChar, 20, 0, true},
	{"google_key", "AIza", tokenChar, 35, 36, false},
	{"google_token", "ya29.", dotted, 20, 0, false},
	{"google_secret", "GOCSPX-", tokenChar, 24, 0, false},
	{"npm_token", "npm_", alnum, 30, 0, true},
	{"pypi_token", "pypi-", tokenChar, 40, 0, true},
	{"rubygems_token", "rubygems_", hexChar, 40, 0, false},
	{"crates_token", "cio", alnum, 32, 32, true},
	{"digitalocean_token", "dop_v1_", hexChar, 40, 0, false},
	{"digitalocean_token", "doo_v1_", hexChar, 40, 0, false},
	{"digitalocean_token", "dor_v1_", hexChar, 40, 0, false},
	{"shopify_token", "shpat_", hexChar, 32, 0, false},
	{"shopify_token", "shpca_", hexChar, 32, 0, false},
	{"shopify_token", "shppa_", hexChar, 32, 0, false},
	{"shopify_token", "shpss_", hexChar, 32, 0, false},
	{"sendgrid_key", "SG.", dotted, 50, 0, true},
	{"sendinblue_key", "xkeysib-", tokenChar, 64, 0, false},
	{"mailgun_key", "key-", hexChar, 32, 32, true},
	{"mailgun_key", "pubkey-", hexChar, 32, 32, true},
	{"huggingface_token", "hf_", alnum, 30, 0, true},
	{"huggingface_token", "api_org_", alnum, 30, 0, true},
	{"vault_token", "hvs.", tokenChar, 20, 0, true},
	{"vault_token", "hvb.", tokenChar, 20, 0, true},
	{"vault_token", "hvr.", tokenChar, 20, 0, true},
	{"databricks_token", "dapi", hexChar, 32, 0, true},
	{"easypost_key", "EZAK", alnum, 54, 0, true},
	{"easypost_key", "EZTK", alnum, 54, 0, true},
	{"fly_token", "fo1_", tokenChar, 20, 0, true},
	{"fly_token", "fm1r_", base64Char, 40, 0, true},
	{"fly_token", "fm1a_", base64Char, 40, 0, true},
	{"fly_token", "fm2_", base64Char, 40, 0, true},
	{"doppler_token", "dp.pt.", alnum, 40, 0, true},
	{"doppler_token", "dp.st.", dotted, 40, 0, true},
	{"linear_key", "lin_api_", alnum, 30, 0, false},
	{"linear_key", "lin_oauth_", alnum, 30, 0, false},
	{"netlify_token", "nfp_", alnum, 30, 0, true},
	{"postman_key", "PMAK-", tokenChar, 50, 0, true},
	{"pulumi_token", "pul-", hexChar, 40, 0, true},
	{"readme_key", "rdme_", alnum, 60, 0, true},
	{"sentry_token", "sntrys_", base64Char, 40, 0, false},
	{"sentry_token", "sntryu_", hexChar, 60, 0, false},
	{"scalingo_token", "tk-us-", tokenChar, 40, 0, true},
	{"planetscale_token", "pscale_tkn_", dotted, 30, 0, false},
	{"planetscale_token", "pscale_oauth_", dotted, 30, 0, false},
	{"planetscale_token", "pscale_pw_", dotted, 30, 0, false},
	{"onepassword_token", "ops_eyJ", base64Char, 60, 0, false},
	{"newrelic_key", "NRAK-", upperDigit, 20, 0, true},
	{"newrelic_key", "NRII-", tokenChar, 20, 0, true},
	{"square_token", "sq0atp-", tokenChar, 20, 0, true},
	{"square_token", "sq0csp-", tokenChar, 40, 0, true},
	{"square_token", "EAAA", tokenChar, 56, 60, true},
	{"facebook_token", "EAAM", alnum, 100, 0, true},
	{"facebook_token", "EAAC", alnum, 100, 0, true},
	{"flutterwave_key", "FLWSECK_TEST-", tokenChar, 12, 0, false},
	{"flutterwave_key", "FLWSECK-", tokenChar, 12, 0, false},
	{"duffel_token", "duffel_test_", tokenChar, 40, 0, false},
	{"duffel_token", "duffel_live_", tokenChar, 40, 0, false},
	{"contentful_token", "CFPAT-", tokenChar, 40, 0, true},
	{"age_key", "AGE-SECRET-KEY-1", upperDigit, 50, 0, false},
	{"grafana_token", "glsa_", tokenChar, 32, 0, true},
	{"grafana_token", "glc_eyJ", base64Char, 32, 0, true},
	{"figma_token", "figd_", tokenChar, 30, 0, true},
	{"artifactory_token", "AKCp", alnum, 60, 0, true},
	{"artifactory_token", "cmVmd", alnum, 50, 0, true},
	{"atlassian_token", "ATATT3", base64Char, 50, 0, true},
	{"atlassian_token", "ATCTT3", base64Char, 50, 0, true},
	{"octopus_key", "API-", upperDigit, 26, 26, true},
	{"buildkite_token", "bkua_", hexChar, 40, 0, true},
	{"clojars_token", "CLOJARS_", alnum, 60, 0, true},
	{"dynatrace_token", "dt0c01.", dotted, 60, 0, true},
	{"groq_key", "gsk_", alnum, 40, 0, true},
	{"perplexity_key", "pplx-", alnum, 40, 0, true},
	{"xai_key", "xai-", alnum, 60, 0, true},
	{"replicate_token", "r8_", alnum, 37, 0, true},
	{"tavily_key", "tvly-", tokenChar, 20, 0, true},
	{"alibaba_key", "LTAI", alnum, 16, 26, true},
	{"twilio_key", "SK", hexChar, 32, 32, true},
	{"twilio_key", "AC", hexChar, 32, 32, true},
	{"sonar_token", "sqp_", hexChar, 40, 0, true},
	{"sonar_token", "squ_", hexChar, 40, 0, true},
	{"terraform_token", "atlasv1.", tokenChar, 60, 0, false},
	{"supabase_key", "sbp_", hexChar, 40, 0, true},
	{"jwt", "eyJ", dotted, 30, 0, false},
}

// tokensByFirst indexes the table by the first byte of the prefix.
var tokensByFirst = sync.OnceValue(func() *[256][]issued {
	var t [256][]issued
	for _, k := range issuedTokens {
		t[k.prefix[0]] = append(t[k.prefix[0]], k)
	}
	return &t
})

func appendTokens(found []span, s string) []span {
	index := tokensByFirst()
	for i := 0; i < len(s); i++ {
		for _, k := range index[s[i]] {
			if end, ok := k.match(s, i); ok {
				found = append(found, span{i + k.open(), end, k.kind})
				i = end - 1
				break
			}
		}
	}
	return appendShapes(found, s)
}

// open is where the secret begins: of a webhook the host is left.
func (k issued) open() int {
	if strings.HasSuffix(k.prefix, "/") {
		return len(k.prefix)
	}
	return 0
}

func (k issued) match(s string, i int) (end int, ok bool) {
	if !strings.HasPrefix(s[i:], k.prefix) || k.start && i > 0 && (alnum(s[i-1]) || s[i-1] == '_') {
		return 0, false
	}
	begin := i + len(k.prefix)
	end = run(s, begin, min(len(s), begin+judged), k.chars)
	if end == begin+judged && k.plausible(s[begin:end]) {
		end = run(s, end, len(s), k.chars)
	}
	for end > begin && (s[end-1] == '.' || s[end-1] == '-') { // punctuation of the sentence around it
		end--
	}
	n := end - begin
	if n < k.min || k.max > 0 && (n > k.max || end < len(s) && alnum(s[end])) {
		return 0, false
	}
	return end, k.plausible(s[begin:end])
}

// judged is how much of a run decides whether it is a token. It bounds the work
// on a text made of prefixes; the longest headers of tokens are shorter.
const judged = 512

// run returns where the run of chars that begins at i ends, at most limit.
func run(s string, i, limit int, chars func(byte) bool) int {
	for i < limit && chars(s[i]) {
		i++
	}
	return i
}

// plausible keeps words and examples apart from tokens.
func (k issued) plausible(rest string) bool {
	switch k.kind {
	case kindMasked:
		return true
	case "jwt":
		return strings.Count(rest, ".") >= 1 && strings.Count(rest, ".") <= 4
	case "openai_key":
		return k.prefix != "sk-" || mixed(rest)
	}
	return !repetitive(rest)
}

// mixed says that a text has a digit and letters of both cases.
func mixed(s string) bool {
	var d, u, l bool
	for i := 0; i < len(s); i++ {
		d = d || digit(s[i])
		u = u || s[i] >= 'A' && s[i] <= 'Z'
		l = l || s[i] >= 'a' && s[i] <= 'z'
	}
	return d && u && l
}

// repetitive says that a text has at most three different characters, as
// examples have: xxxxxxxxxxxx, 0000000.
func repetitive(s string) bool {
	seen := ""
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(seen, s[i]) < 0 {
			if seen += s[i : i+1]; len(seen) > 3 {
				return false
			}
		}
	}
	return true
}

// appendShapes finds tokens that have no prefix but a form: Telegram
// (digits:A…), Discord and Azure AD (a mark inside).
func appendShapes(found []span, s string) []span {
	found = appendAround(found, s, ":A", "telegram_token", digit, 8, 10, tokenChar, 33, 34)
	found = appendAround(found, s, "Q~", "azure_secret", dotted, 4, 4, func(c byte) bool { return dotted(c) || c == '~' }, 31, 34)
	found = appendAround(found, s, "-us", "mailchimp_key", hexChar, 32, 32, digit, 1, 2)
	return appendDiscord(found, s)
}

// appendAround finds a mark with runs of given lengths before and after it.
func appendAround(found []span, s, mark, kind string, before func(byte) bool, bmin, bmax int, after func(byte) bool, amin, amax int) []span {
	for from := 0; ; {
		i := strings.Index(s[from:], mark)
		if i < 0 {
			return found
		}
		i += from
		from = i + len(mark)
		start, end := i, from
		for start > 0 && i-start < bmax && before(s[start-1]) {
			start--
		}
		for end < len(s) && end-from <= amax && after(s[end]) {
			end++
		}
		if n := end - from; i-start >= bmin && n >= amin && n <= amax {
			found = append(found, span{start, end, kind})
		}
	}
}

// appendDiscord finds bot tokens: 24 to 28 characters, 6, and 27 to 38, with dots between.
func appendDiscord(found []span, s string) []span {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '.')
		if i < 0 {
			return found
		}
		i += from
		from = i + 1
		if i+7 >= len(s) || s[i+7] != '.' || i < 23 {
			continue
		}
		start, end := i, run(s, i+8, min(len(s), i+8+39), tokenChar)
		for start > 0 && i-start <= 28 && tokenChar(s[start-1]) {
			start--
		}
		if a, c := i-start, end-(i+8); a >= 23 && a <= 28 && c >= 27 && c <= 38 && mixed(s[start:end]) {
			found = append(found, span{start, end, "discord_token"})
			from = end
		}
	}
}
