package mask

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
)

// issued is a secret that its issuer made recognisable by a prefix.
type issued struct {
	kind   string
	prefix string
	chars  func(byte) bool
	min    int               // characters after the prefix
	max    int               // 0: no limit; otherwise a longer run is no such token
	start  bool              // only where no letter or digit stands before
	check  func(string) bool // of what follows the prefix; nil: no filler
}

// judged is how much of a run decides whether it is a token. It bounds the work
// on a text made of prefixes; the longest headers of tokens are shorter.
const judged = 512

// issuedTokens are formats that issuers or their clients publish, grouped by
// issuer. Of two rows with one prefix the first that fits counts.
var issuedTokens = []issued{
	{"aws_key", "AKIA", upperDigit, 16, 16, true, awsID},
	{"aws_key", "ASIA", upperDigit, 16, 16, true, awsID},
	{"aws_key", "ABIA", upperDigit, 16, 16, true, awsID},
	{"aws_key", "ACCA", upperDigit, 16, 16, true, awsID},
	{"aws_key", "A3T", upperDigit, 17, 17, true, awsID},
	{"aws_bedrock", "ABSK", Base64Char, 109, 271, true, anything},
	{"aws_bedrock", "bedrock-api-key-", Base64Char, 20, 0, false, nil},
	{"aws_session", "FwoGZXIvYXdz", Base64Char, 60, 0, true, nil},
	{"aws_session", "IQoJb3JpZ2lu", Base64Char, 60, 0, true, nil},
	{"alibaba_key", "LTAI", Alnum, 16, 26, true, nil},
	{"digitalocean_token", "dop_v1_", HexChar, 40, 0, false, nil},
	{"digitalocean_token", "doo_v1_", HexChar, 40, 0, false, nil},
	{"digitalocean_token", "dor_v1_", HexChar, 40, 0, false, nil},
	{"google_key", "AIza", TokenChar, 35, 36, false, nil},
	{"google_token", "ya29.", dotted, 20, 0, false, nil},
	{"google_token", "1//0", TokenChar, 40, 0, true, mixed},
	{"google_secret", "GOCSPX-", TokenChar, 24, 0, false, nil},
	{"yandex_key", "AQVN", TokenChar, 35, 38, true, mixed},
	{"yandex_key", "YCA", TokenChar, 36, 36, true, mixed},
	{"yandex_key", "t1.9eu", dotted, 80, 0, true, nil},
	{"yandex_key", "y0_Ag", TokenChar, 50, 0, true, nil},
	{"fly_token", "fo1_", TokenChar, 20, 0, true, nil},
	{"fly_token", "fm1r_", Base64Char, 40, 0, true, nil},
	{"fly_token", "fm1a_", Base64Char, 40, 0, true, nil},
	{"fly_token", "fm2_", Base64Char, 40, 0, true, nil},
	{"heroku_key", "HRKU-", TokenChar, 36, 0, true, nil},
	{"scalingo_token", "tk-us-", TokenChar, 40, 0, true, nil},
	{"cloudflare_key", "v1.0-", TokenChar, 160, 0, true, nil},
	{"render_key", "rnd_", Alnum, 28, 0, true, nil},
	{"xata_key", "xau_", Alnum, 36, 0, true, nil},
	{"vercel_token", "vercel_blob_rw_", TokenChar, 30, 0, true, nil},
	{"neon_key", "napi_", Alnum, 40, 0, true, nil},
	{"supabase_key", "sb_secret_", TokenChar, 30, 0, true, nil},
	{"apify_token", "apify_api_", Alnum, 36, 0, true, nil},
	{"inngest_key", "signkey-prod-", HexChar, 32, 0, true, nil},
	{"netlify_token", "nfp_", Alnum, 30, 0, true, nil},
	{"openshift_token", "sha256~", TokenChar, 43, 43, false, nil},

	{"github_token", "ghp_", Alnum, 30, 0, false, nil},
	{"github_token", "gho_", Alnum, 30, 0, false, nil},
	{"github_token", "ghu_", Alnum, 30, 0, false, nil},
	{"github_token", "ghs_", dotted, 30, 0, false, nil},
	{"github_token", "ghr_", Alnum, 30, 0, false, nil},
	{"github_token", "github_pat_", TokenChar, 22, 0, false, nil},
	{"gitlab_token", "glpat-", dotted, 29, 0, false, routable},
	{"gitlab_token", "glpat-", TokenChar, 20, 50, false, nil},
	{"gitlab_token", "glrt-", dotted, 29, 0, false, routable},
	{"gitlab_token", "glrt-", TokenChar, 20, 50, false, nil},
	{"gitlab_token", "glrtr-", dotted, 20, 0, false, nil},
	{"gitlab_token", "gldt-", TokenChar, 20, 50, false, nil},
	{"gitlab_token", "glft-", TokenChar, 20, 50, false, nil},
	{"gitlab_token", "glsoat-", TokenChar, 20, 50, false, nil},
	{"gitlab_token", "glffct-", TokenChar, 20, 50, false, nil},
	{"gitlab_token", "glwt-", TokenChar, 20, 50, false, nil},
	{"gitlab_token", "glcbt-", dotted, 100, 0, false, routable},
	{"gitlab_token", "glcbt-", TokenChar, 20, 53, false, nil},
	{"gitlab_token", "glimt-", TokenChar, 25, 25, false, nil},
	{"gitlab_token", "glptt-", TokenChar, 40, 40, false, nil},
	{"gitlab_token", "glagent-", TokenChar, 50, 0, false, nil},
	{"gitlab_token", "gloas-", TokenChar, 64, 64, false, nil},
	{"gitlab_token", "GR1348941", TokenChar, 20, 50, true, nil},
	{"bitbucket_token", "ATBB", Alnum, 28, 36, true, mixed},
	{"atlassian_token", "ATATT3", Base64Char, 50, 0, true, nil},
	{"atlassian_token", "ATCTT3", Base64Char, 50, 0, true, nil},
	{"buildkite_token", "bkua_", HexChar, 40, 0, true, nil},
	{"circleci_token", "CCIPAT_", TokenChar, 40, 0, true, nil},
	{"circleci_token", "CCIPRJ_", TokenChar, 40, 0, true, nil},
	{"sourcegraph_token", "sgp_", TokenChar, 40, 0, true, nil},
	{"sourcegraph_token", "slk_", HexChar, 64, 64, true, nil},
	{"sonar_token", "sqp_", Alnum, 40, 0, true, nil},
	{"sonar_token", "squ_", Alnum, 40, 0, true, nil},
	{"sonar_token", "sqa_", Alnum, 40, 0, true, nil},
	{"snyk_token", "snyk_uat.", dotted, 40, 0, true, nil},
	{"harness_token", "pat.", dotted, 60, 0, true, harnessForm},
	{"harness_token", "sat.", dotted, 60, 0, true, harnessForm},
	{"octopus_key", "API-", upperDigit, 26, 26, true, nil},
	{"prefect_key", "pnu_", Alnum, 36, 0, true, nil},
	{"terraform_token", "atlasv1.", TokenChar, 60, 0, false, nil},
	{"pulumi_token", "pul-", HexChar, 40, 0, true, nil},
	{"infracost_key", "ico-", Alnum, 32, 0, true, nil},

	{"npm_token", "npm_", Alnum, 30, 0, true, nil},
	{"pypi_token", "pypi-AgEIcHlwaS5vcmc", TokenChar, 70, 0, false, nil},
	{"pypi_token", "pypi-AgENdGVzdC5weXBpLm9yZw", TokenChar, 70, 0, false, nil},
	{"rubygems_token", "rubygems_", HexChar, 40, 0, false, nil},
	{"crates_token", "cio", Alnum, 32, 32, true, nil},
	{"clojars_token", "CLOJARS_", Alnum, 60, 0, true, nil},
	{"nuget_key", "oy2", Alnum, 43, 43, true, lowerDigit},
	{"docker_token", "dckr_pat_", TokenChar, 20, 0, false, nil},
	{"docker_token", "dckr_oat_", TokenChar, 20, 0, false, nil},
	{"artifactory_token", "AKC", Alnum, 10, 0, true, artifactory},
	{"artifactory_token", "AP", Alnum, 9, 0, true, artifactory},
	{"artifactory_token", "cmVmd", Alnum, 50, 0, true, nil},

	{"slack_token", "xoxb-", TokenChar, 16, 0, false, slackForm},
	{"slack_token", "xoxp-", TokenChar, 16, 0, false, slackForm},
	{"slack_token", "xoxa-", TokenChar, 8, 0, false, slackForm},
	{"slack_token", "xoxr-", TokenChar, 8, 0, false, slackForm},
	{"slack_token", "xoxs-", TokenChar, 16, 0, false, slackForm},
	{"slack_token", "xoxo-", TokenChar, 16, 0, false, slackForm},
	{"slack_token", "xoxc-", TokenChar, 16, 0, false, slackForm},
	{"slack_token", "xoxd-", Base64Char, 40, 0, false, nil},
	{"slack_token", "xoxe-", TokenChar, 20, 0, false, HasDigit},
	{"slack_token", "xoxe.xox", dotted, 20, 0, false, HasDigit},
	{"slack_token", "xapp-", TokenChar, 20, 0, false, HasDigit},
	{"slack_token", "xwfp-", TokenChar, 20, 0, false, HasDigit},
	{"slack_webhook", "hooks.slack.com/services/", Base64Char, 20, 0, false, nil},
	{"slack_webhook", "hooks.slack.com/workflows/", Base64Char, 20, 0, false, nil},
	{"slack_webhook", "hooks.slack.com/triggers/", Base64Char, 20, 0, false, nil},
	{"discord_webhook", "discord.com/api/webhooks/", Base64Char, 40, 0, false, nil},
	{"discord_webhook", "discordapp.com/api/webhooks/", Base64Char, 40, 0, false, nil},
	{"teams_webhook", "webhook.office.com/webhookb2/", func(c byte) bool { return Base64Char(c) || c == '@' }, 60, 0, false, nil},
	{"softlayer_key", "api.softlayer.com/soap/v3/", Alnum, 32, 0, false, nil},
	{"softlayer_key", "api.softlayer.com/soap/v3.1/", Alnum, 32, 0, false, nil},
	{"telegram_token", "api.telegram.org/bot", func(c byte) bool { return TokenChar(c) || c == ':' }, 30, 0, false, nil},

	{"stripe_key", "sk_live_", Alnum, 10, 0, false, nil},
	{"stripe_key", "sk_test_", Alnum, 10, 0, false, nil},
	{"stripe_key", "sk_prod_", Alnum, 10, 0, false, nil},
	{"stripe_key", "rk_live_", Alnum, 10, 0, false, nil},
	{"stripe_key", "rk_test_", Alnum, 10, 0, false, nil},
	{"stripe_key", "rk_prod_", Alnum, 10, 0, false, nil},
	{"stripe_key", "whsec_", Base64Char, 24, 0, false, nil},
	{"square_token", "sq0atp-", TokenChar, 20, 0, true, nil},
	{"square_token", "sq0csp-", TokenChar, 40, 0, true, nil},
	{"square_token", "EAAA", TokenChar, 56, 60, true, nil},
	{"shopify_token", "shpat_", HexChar, 32, 0, false, nil},
	{"shopify_token", "shpca_", HexChar, 32, 0, false, nil},
	{"shopify_token", "shppa_", HexChar, 32, 0, false, nil},
	{"shopify_token", "shpss_", HexChar, 32, 0, false, nil},
	{"shopify_token", "shpua_", HexChar, 32, 0, false, nil},
	{"lob_key", "live_", HexChar, 35, 35, true, nil},
	{"lob_key", "test_", HexChar, 35, 35, true, nil},
	{"mws_token", "amzn.mws.", TokenChar, 36, 36, true, nil},
	{"braintree_token", "access_token$production$", dollared, 40, 0, false, nil},
	{"braintree_token", "access_token$sandbox$", dollared, 40, 0, false, nil},
	{"shippo_token", "shippo_live_", HexChar, 40, 0, false, nil},
	{"shippo_token", "shippo_test_", HexChar, 40, 0, false, nil},
	{"plaid_token", "access-sandbox-", TokenChar, 36, 36, true, nil},
	{"plaid_token", "access-development-", TokenChar, 36, 36, true, nil},
	{"plaid_token", "access-production-", TokenChar, 36, 36, true, nil},
	{"flutterwave_key", "FLWSECK_TEST-", TokenChar, 12, 0, false, nil},
	{"flutterwave_key", "FLWPUBK_TEST-", TokenChar, 32, 0, false, nil},
	{"flutterwave_key", "FLWSECK-", TokenChar, 12, 0, false, nil},
	{"easypost_key", "EZAK", Alnum, 54, 54, true, nil},
	{"easypost_key", "EZTK", Alnum, 54, 54, true, nil},
	{"duffel_token", "duffel_test_", func(c byte) bool { return TokenChar(c) || c == '=' }, 40, 0, false, nil},
	{"duffel_token", "duffel_live_", func(c byte) bool { return TokenChar(c) || c == '=' }, 40, 0, false, nil},
	{"brevo_key", "xsmtpsib-", TokenChar, 64, 0, false, nil},
	{"sendinblue_key", "xkeysib-", TokenChar, 64, 0, false, nil},
	{"sendgrid_key", "SG.", func(c byte) bool { return dotted(c) || c == '=' }, 66, 66, true, nil},
	{"mailgun_key", "key-", HexChar, 32, 32, true, nil},
	{"mailgun_key", "pubkey-", HexChar, 32, 32, true, nil},
	{"resend_key", "re_", TokenChar, 32, 36, true, mixed},
	{"twilio_key", "SK", Alnum, 32, 32, true, twilioForm},
	{"twilio_key", "AC", Alnum, 32, 32, true, twilioForm},
	{"typeform_token", "tfp_", dotted, 40, 0, true, nil},
	{"facebook_token", "EAAM", Alnum, 100, 0, true, nil},
	{"facebook_token", "EAAC", Alnum, 100, 0, true, nil},
	{"twitter_token", strings.Repeat("A", 21), func(c byte) bool { return Base64Char(c) || c == '%' }, 60, 0, true, mixed},

	{"anthropic_key", "sk-ant-", TokenChar, 20, 0, false, nil},
	{"openai_key", "sk-proj-", TokenChar, 20, 0, false, openaiForm},
	{"openai_key", "sk-svcacct-", TokenChar, 20, 0, false, openaiForm},
	{"openai_key", "sk-admin-", TokenChar, 20, 0, false, openaiForm},
	{"openai_key", "sk-or-", TokenChar, 20, 0, false, nil},
	{"openai_key", "sk-", TokenChar, 20, 0, true, keyWithout},
	{"huggingface_token", "hf_", Alnum, 30, 0, true, nil},
	{"huggingface_token", "api_org_", Alnum, 30, 0, true, nil},
	{"langfuse_key", "sk-lf-", TokenChar, 36, 36, true, nil},
	{"cerebras_key", "csk-", Alnum, 40, 0, true, nil},
	{"together_key", "tgp_v1_", TokenChar, 40, 0, true, nil},
	{"jina_key", "jina_", TokenChar, 50, 0, true, mixed},
	{"firecrawl_key", "fc-", HexChar, 32, 32, true, nil},
	{"elevenlabs_key", "sk_", HexChar, 48, 48, true, nil},
	{"groq_key", "gsk_", Alnum, 40, 0, true, nil},
	{"perplexity_key", "pplx-", Alnum, 40, 0, true, nil},
	{"xai_key", "xai-", Alnum, 60, 0, true, nil},
	{"replicate_token", "r8_", Alnum, 37, 0, true, nil},
	{"tavily_key", "tvly-", TokenChar, 20, 0, true, nil},
	{"langsmith_key", "lsv2_pt_", TokenChar, 40, 0, true, nil},
	{"langsmith_key", "lsv2_sk_", TokenChar, 40, 0, true, nil},
	{"nvidia_key", "nvapi-", TokenChar, 40, 0, true, nil},
	{"pinecone_key", "pcsk_", TokenChar, 40, 0, true, nil},

	{"vault_token", "hvs.", TokenChar, 20, 0, true, nil},
	{"vault_token", "hvb.", TokenChar, 20, 0, true, nil},
	{"vault_token", "hvr.", TokenChar, 20, 0, true, nil},
	{"vault_token", "s.", Alnum, 24, 24, true, func(rest string) bool { return mixed(rest) || scrambled(rest) }},
	{"onepassword_token", "ops_eyJ", Base64Char, 60, 0, false, nil},
	{"onepassword_key", "A3-", TokenChar, 34, 40, true, upperGroups},
	{"age_key", "AGE-SECRET-KEY-1", upperDigit, 50, 0, false, nil},
	{"doppler_token", "dp.pt.", Alnum, 40, 0, true, nil},
	{"doppler_token", "dp.st.", dotted, 40, 0, true, nil},
	{"doppler_token", "dp.ct.", Alnum, 40, 0, true, nil},
	{"doppler_token", "dp.sa.", Alnum, 40, 0, true, nil},
	{"infisical_token", "st.", dotted, 60, 0, true, infisicalForm},
	{"tailscale_key", "tskey-", TokenChar, 20, 0, true, nil},
	{"defined_token", "dnkey-", Base64Char, 50, 0, true, nil},
	{"authress_key", "sc_", base64Dot, 60, 0, true, authressForm},
	{"authress_key", "ext_", base64Dot, 60, 0, true, authressForm},
	{"authress_key", "scauth_", base64Dot, 60, 0, true, authressForm},
	{"authress_key", "authress_", base64Dot, 60, 0, true, authressForm},

	{"password_hash", "$2a$", crypted, 56, 56, false, nil},
	{"password_hash", "$2b$", crypted, 56, 56, false, nil},
	{"password_hash", "$2y$", crypted, 56, 56, false, nil},
	{"password_hash", "$1$", crypted, 24, 0, false, nil},
	{"password_hash", "$5$", crypted, 44, 0, false, nil},
	{"password_hash", "$6$", crypted, 87, 0, false, nil},
	{"password_hash", "$y$", crypted, 44, 0, false, nil},
	{"password_hash", "$apr1$", crypted, 24, 0, false, nil},
	{"databricks_token", "dapi", HexChar, 32, 32, true, nil},
	{"clickhouse_key", "4b1d", Alnum, 38, 38, true, mixed},
	{"planetscale_token", "pscale_tkn_", func(c byte) bool { return dotted(c) || c == '=' }, 30, 0, false, nil},
	{"planetscale_token", "pscale_oauth_", func(c byte) bool { return dotted(c) || c == '=' }, 30, 0, false, nil},
	{"planetscale_token", "pscale_pw_", func(c byte) bool { return dotted(c) || c == '=' }, 30, 0, false, nil},
	{"supabase_key", "sbp_", HexChar, 40, 0, true, nil},
	{"supabase_key", "sb_secret_", TokenChar, 20, 0, true, nil},
	{"contentful_token", "CFPAT-", TokenChar, 40, 0, true, nil},
	{"airtable_token", "pat", dotted, 79, 79, true, airtableForm},
	{"settlemint_token", "sm_aat_", Alnum, 16, 0, true, nil},
	{"settlemint_token", "sm_pat_", Alnum, 16, 0, true, nil},
	{"settlemint_token", "sm_sat_", Alnum, 16, 0, true, nil},

	{"newrelic_key", "NRAK-", upperDigit, 20, 0, true, nil},
	{"newrelic_key", "NRII-", TokenChar, 20, 0, true, nil},
	{"newrelic_key", "NRJS-", Alnum, 19, 0, true, nil},
	{"sentry_token", "sntrys_", Base64Char, 40, 0, false, nil},
	{"sentry_token", "sntryu_", HexChar, 64, 64, false, nil},
	{"grafana_token", "glsa_", TokenChar, 32, 0, true, nil},
	{"grafana_token", "glc_eyJ", Base64Char, 32, 0, true, nil},
	{"grafana_token", "eyJrIjoi", Base64Char, 50, 0, true, nil},
	{"dynatrace_token", "dt0c01.", dotted, 60, 0, true, nil},
	{"dynatrace_token", "dt0s01.", dotted, 60, 0, true, nil},
	{"dynatrace_token", "dt0s02.", dotted, 60, 0, true, nil},
	{"dynatrace_token", "dt0s16.", dotted, 60, 0, true, nil},
	{"honeycomb_key", "hcaik_", Alnum, 40, 0, true, nil},
	{"posthog_key", "phx_", Alnum, 40, 0, true, nil},
	{"linear_key", "lin_api_", Alnum, 30, 0, false, nil},
	{"linear_key", "lin_oauth_", Alnum, 30, 0, false, nil},
	{"notion_token", "ntn_", Alnum, 40, 0, true, nil},
	{"notion_token", "secret_", Alnum, 43, 43, true, mixed},
	{"figma_token", "figd_", TokenChar, 30, 0, true, nil},
	{"frameio_token", "fio-u-", Base64Char, 60, 0, true, nil},
	{"adobe_secret", "p8e-", Alnum, 32, 0, true, nil},
	{"adafruit_key", "aio_", Alnum, 28, 28, true, nil},
	{"dropbox_token", "sl.", TokenChar, 130, 0, true, nil},
	{"postman_key", "PMAK-", TokenChar, 50, 0, true, nil},
	{"readme_key", "rdme_", Alnum, 60, 0, true, nil},
	{"hubspot_token", "pat-na1-", TokenChar, 36, 36, true, nil},
	{"hubspot_token", "pat-eu1-", TokenChar, 36, 36, true, nil},
	{"mapbox_token", "sk.eyJ", dotted, 60, 0, true, nil},
	{"intra42_secret", "s-s4t2ud-", HexChar, 64, 0, true, nil},
	{"intra42_secret", "s-s4t2af-", HexChar, 64, 0, true, nil},
	{"rapid7_token", "r7_", Alnum, 40, 0, true, nil},
	{"jwt", "eyJ", dotted, 30, 0, false, jwtForm},
	{"jwt", "ZXlK", Base64Char, 80, 0, true, wrappedJWT},
}

func dollared(c byte) bool { return Alnum(c) || c == '$' }

func base64Dot(c byte) bool { return Base64Char(c) || c == '.' }

func anything(string) bool { return true }

// awsID keeps the ids of Amazon's own documentation and blanked ones.
func awsID(rest string) bool {
	return !strings.HasSuffix(rest, "EXAMPLE") && strings.Trim(rest, "X") != "" && strings.Trim(rest, "0") != ""
}

// routable is GitLab's later form: a payload, a dot and nine characters or more.
func routable(rest string) bool {
	i := strings.IndexByte(rest, '.')
	return i >= 20 && len(rest)-i > 9 && !filler(rest)
}

// slackForm is the number of a team or a user and then, after a dash, a part
// with letters; only the oldest form has no number.
func slackForm(rest string) bool {
	number, secret, ok := strings.Cut(rest, "-")
	if !ok || strings.Trim(number, "0123456789") != "" {
		return !ok && HasDigit(rest) && mixed(rest)
	}
	if len(number) == 1 { // a version
		return HasDigit(secret) && !filler(secret)
	}
	return len(number) >= 6 && !numeric(secret) && !filler(secret)
}

// artifactory's keys have no fixed length. Filler counts too: nothing else
// begins like them and is made of letters and digits alone.
func artifactory(rest string) bool {
	if len(rest) == 0 || !mixed(rest) && !repetitive(rest[1:]) {
		return false
	}
	return true
}

// twilioForm is hexadecimal, or filler in its place.
func twilioForm(rest string) bool {
	return strings.Trim(rest, "0123456789abcdef") == "" || strings.Trim(rest, "x") == ""
}

func lowerDigit(rest string) bool { return rest == Lower(rest) && HasDigit(rest) && !identifier(rest) }

// keyWithout is a key of OpenAI and of those who copied its prefix: without
// mixed characters it is a name that begins with sk-.
func keyWithout(rest string) bool {
	for _, own := range []string{"proj-", "svcacct-", "admin-"} {
		if strings.HasPrefix(rest, own) {
			return false // judged by its own row
		}
	}
	return mixed(rest) || strings.Trim(rest, "0123456789abcdef") == ""
}

// openaiForm has a mark in its middle; what was cut before it has none.
func openaiForm(rest string) bool {
	return !filler(rest) && (len(rest) < 40 || strings.Contains(rest, "T3BlbkFJ"))
}

// upperGroups are the groups of a 1Password key.
func upperGroups(rest string) bool {
	return strings.Count(rest, "-") >= 4 && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == "" && HasDigit(rest)
}

func harnessForm(rest string) bool {
	parts := strings.Split(rest, ".")
	return len(parts) == 3 && len(parts[0]) == 22 && len(parts[1]) == 24 && len(parts[2]) == 20
}

func infisicalForm(rest string) bool { return strings.Count(rest, ".") >= 2 && mixed(rest) }

func authressForm(rest string) bool {
	parts := strings.Split(rest, ".")
	return len(parts) == 4 && strings.HasPrefix(parts[2], "acc") && len(parts[3]) >= 30
}

func airtableForm(rest string) bool {
	return rest[14] == '.' && strings.Trim(rest[15:], "0123456789abcdef") == ""
}

// jwtForm has a header that is JSON: other text begins with eyJ too.
func jwtForm(rest string) bool {
	head, body, ok := strings.Cut(rest, ".")
	if !ok || body == "" || strings.Count(body, ".") > 3 {
		return false
	}
	b, err := base64.RawURLEncoding.DecodeString("eyJ" + head)
	return err == nil && json.Valid(b)
}

// payload says that what begins at i is the second part of something that looks
// like a JWT and has a whole header, which was judged. Without its header, as
// where a text was cut, it is judged by itself.
func payload(s string, i int) bool {
	if i == 0 || s[i-1] != '.' {
		return false
	}
	begin := i - 1
	for begin > 0 && i-begin < judged && TokenChar(s[begin-1]) {
		begin--
	}
	return strings.HasPrefix(s[begin:], "eyJ")
}

// wrappedJWT is a JWT in base64 once more.
func wrappedJWT(rest string) bool {
	b, err := base64.RawStdEncoding.DecodeString("ZXlK" + rest[:len(rest)&^3][:min(len(rest)&^3, 256)])
	return err == nil && strings.HasPrefix(string(b), "eyJ") && !filler(rest)
}

// crypted are the characters of crypt's parts and what joins them.
func crypted(c byte) bool {
	return dotted(c) && c != '-' && c != '_' || c == '/' || c == '$' || c == '='
}

// filler says that people made a value up to show where one goes: it has hardly
// any different characters, or a long run of one.
func filler(s string) bool {
	if repetitive(s) || strings.Contains(s, "EXAMPLE") {
		return true
	}
	for i, n := 1, 1; i < len(s); i++ {
		if s[i] != s[i-1] {
			n = 1
			continue
		}
		if n++; n >= 9 && strings.IndexByte("xX0*#.-_", s[i]) >= 0 {
			return true
		}
	}
	return false
}

var tokensByPair = sync.OnceValue(func() *byPair[issued] {
	var p byPair[issued]
	for _, k := range issuedTokens {
		p.add(k.prefix, k)
	}
	return &p
})

// kinds are the kinds of all rules: what a replacement may be named after.
var kinds = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, k := range []string{"private_key", "url_user", "url_password", "bearer", "basic_auth", "digest", "cookie", "aws_secret",
		"discord_token", "password", "registry_login", "kubernetes_secret"} {
		all[k] = true
	}
	for k := range personal {
		all[k] = true
	}
	for _, k := range issuedTokens {
		all[k.kind] = true
	}
	for _, k := range shapes {
		all[k.kind] = true
	}
	for _, k := range Keywords {
		all[k.kind] = true
	}
	return all
})

func appendTokens(found []span, s string) []span {
	prefixes := tokensByPair()
	for i := 0; i+1 < len(s); i++ {
		for _, k := range prefixes.at(s, i) {
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
	if strings.IndexByte(k.prefix, '/') > 4 {
		return len(k.prefix)
	}
	return 0
}

func (k issued) match(s string, i int) (end int, ok bool) {
	if !strings.HasPrefix(s[i:], k.prefix) || k.start && !opens(s, i) || k.kind == "jwt" && payload(s, i) {
		return 0, false
	}
	begin := i + len(k.prefix)
	end = Run(s, begin, min(len(s), begin+judged), k.chars)
	if end == begin+judged && k.max == 0 && k.plausible(s[begin:end]) {
		end = Run(s, end, len(s), k.chars)
	}
	for end > begin && (s[end-1] == '.' || s[end-1] == '-') && end-begin > k.min { // punctuation of the sentence around it
		end--
	}
	n := end - begin
	if n < k.min || k.max > 0 && (n > k.max || end < len(s) && Alnum(s[end])) {
		return 0, false
	}
	if len(k.prefix) == 2 && k.max == 0 && inBase64(s, i, end) {
		return 0, false // chance made the prefix
	}
	return end, k.plausible(s[begin:end])
}

// exclusive are prefixes that nobody but their issuers use.
var exclusive = []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "dapi", "npm_",
	"dop_v1_", "sk-proj-", "sk-ant-"}

// unissued says that a value begins like the tokens of an issuer and is none:
// it is too short, or has characters that they never have, as examples do.
func unissued(v string) bool {
	for _, prefix := range exclusive {
		if strings.HasPrefix(v, prefix) {
			return len(appendTokens(nil, v)) == 0
		}
	}
	return false
}

// inBase64 says that signs of base64 join s[i:end] to the letters around it.
func inBase64(s string, i, end int) bool {
	return i >= 2 && strings.IndexByte("+/", s[i-1]) >= 0 && Alnum(s[i-2]) || end+1 < len(s) && strings.IndexByte("+/", s[end]) >= 0 &&
		Alnum(s[end+1])
}

// opens says that a word begins at i. Letters may stand before it that belong
// to an escape, \n or %3D.
func opens(s string, i int) bool {
	if i == 0 || !Alnum(s[i-1]) && s[i-1] != '_' {
		return i < 2 || s[i-1] != '+' || !Alnum(s[i-2]) // the middle of base64
	}
	if i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0 {
		return true
	}
	return i >= 3 && s[i-3] == '%' && HexChar(s[i-2]) && HexChar(s[i-1])
}

// plausible keeps words and examples apart from tokens.
func (k issued) plausible(rest string) bool {
	if k.check != nil {
		return k.check(rest)
	}
	return !filler(rest)
}
