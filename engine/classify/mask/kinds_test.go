package mask

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// issuedFormats are the formats of recognisable tokens, as their issuers publish them.
// The tests generate values from them.
var issuedFormats = []string{
	`(AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}`, `ABSK[A-Za-z0-9+/]{109,130}=`, `LTAI[a-zA-Z0-9]{20}`, `do[por]_v1_[0-9a-f]{64}`, `AIza[\w-]{35}`, `GOCSPX-[A-Za-z0-9]{28}`, `ya29\.[\w-]{60,120}`,
	`fo1_[\w-]{43}`, `(fm1[ar]|fm2)_[A-Za-z0-9+/]{100}={0,2}`, `HRKU-AA[\w-]{58}`, `v1\.0-[0-9a-f]{24}-[0-9a-f]{146}`, `rnd_[A-Za-z0-9]{28}`, `nfp_[A-Za-z0-9]{36}`, `sha256~[\w-]{43}`,
	`gh[pousr]_[A-Za-z0-9]{36}`, `github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`, `gl(pat|rt|dt|ft|soat|wt|ffct)-[A-Za-z0-9]{20}`, `glpat-[A-Za-z0-9]{27}\.[0-9a-z]{2}[0-9a-z]{7}`, `glrt-t\d_[A-Za-z0-9]{27}\.[0-9a-z]{2}\.[0-9a-z]{9}`,
	`glcbt-[0-9a-f]{1,5}_[A-Za-z0-9]{20}`, `glimt-[A-Za-z0-9]{25}`, `glptt-[0-9a-f]{40}`, `glagent-[A-Za-z0-9]{50}`, `gloas-[A-Za-z0-9]{64}`, `GR1348941[A-Za-z0-9]{20}`, `_gitlab_session=[0-9a-f]{32}`,
	`ATATT3[A-Za-z0-9_=-]{186}`, `ATBB[A-Za-z0-9]{32}`, `bkua_[0-9a-f]{40}`, `sgp_(local|[0-9a-f]{16})_[0-9a-f]{40}`, `sgp_[0-9a-f]{40}`, `slk_[0-9a-f]{64}`, `sq[pua]_[0-9a-f]{40}`, `API-[A-Z0-9]{26}`,
	`(pat|sat)\.[A-Za-z0-9]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}`, `pnu_[a-z0-9]{36}`, `[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}`, `pul-[0-9a-f]{40}`, `ico-[A-Za-z0-9]{32}`, `npm_[A-Za-z0-9]{36}`, `pypi-AgEIcHlwaS5vcmc[\w-]{80,120}`,
	`rubygems_[0-9a-f]{48}`, `cio[A-Za-z0-9]{32}`, `CLOJARS_[a-z0-9]{60}`, `oy2[a-z0-9]{43}`, `dckr_(pat|oat)_[\w-]{27}`, `AKCp[A-Za-z0-9]{69}`, `cmVmdGtu[A-Za-z0-9]{56}`, `xoxb-[1-9]\d{10,12}-[1-9]\d{10,12}-[A-Za-z0-9]{24}`, `xoxp-[1-9]\d{10,12}-[1-9]\d{10,12}-[1-9]\d{10,12}-[0-9a-f]{32}`,
	`xoxe\.xox[bp]-1-[A-Z0-9]{163}`, `xoxe-1-[A-Z0-9]{146}`, `xapp-1-A[A-Z0-9]{10}-[1-9]\d{12}-[0-9a-f]{64}`, `xox[ar]-2-[1-9]\d{11}-[0-9a-f]{32}`, `https://hooks\.slack\.com/services/T[A-Z0-9]{8}/B[A-Z0-9]{10}/[A-Za-z0-9]{24}`,
	`https://discord\.com/api/webhooks/[1-9]\d{17}/[\w-]{68}`, `https://acme\.webhook\.office\.com/webhookb2/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}@[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
	`[sr]k_(live|test|prod)_[A-Za-z0-9]{24,99}`, `whsec_[A-Za-z0-9+/]{32}`, `sq0atp-[\w-]{22}`, `sq0csp-[\w-]{43}`, `EAAA[\w-]{60}`, `shp(at|ca|pa|ss)_[0-9a-fA-F]{32}`, `shippo_(live|test)_[0-9a-f]{40}`, `access-(sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
	`FLWSECK_TEST-[0-9a-h]{32}-X`, `FLWPUBK_TEST-[0-9a-h]{32}-X`, `EZ[AT]K[A-Za-z0-9]{54}`, `duffel_(test|live)_[\w=-]{43}`, `xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}`, `SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`, `key-[0-9a-f]{32}`, `SK[0-9a-f]{32}`, `tfp_[\w-]{44}_[\w-]{14}`,
	`[0-9a-f]{32}-us[1-9]\d?`, `EAAM[A-Za-z0-9]{120,200}`, `sk-ant-(api|admin)0\d-[\w-]{93}AA`, `sk-(proj|svcacct|admin)-[\w-]{74}T3BlbkFJ[\w-]{74}`, `sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}`, `hf_[A-Za-z]{34}`, `api_org_[A-Za-z]{34}`, `gsk_[A-Za-z0-9]{52}`, `pplx-[A-Za-z0-9]{48}`, `xai-[A-Za-z0-9]{80}`, `r8_[A-Za-z0-9]{37}`, `nvapi-[\w-]{64}`,
	`hv[sb]\.[\w-]{90,120}`, `s\.[A-Za-z0-9]{24}`, `ops_eyJ[A-Za-z0-9+/]{250,300}={0,3}`, `A3-[A-Z0-9]{6}-([A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`, `AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}`, `dp\.(pt|ct|sa)\.[A-Za-z0-9]{43}`, `dp\.st\.dev\.[A-Za-z0-9]{43}`, `tskey-(auth|api)-k[A-Za-z0-9]{10}CNTRL-[A-Za-z0-9]{32}`,
	`dapi[0-9a-f]{32}(-\d)?`, `pscale_(tkn|oauth|pw)_[\w=.-]{32,64}`, `p8e-[a-z0-9]{32}`, `aio_[A-Za-z0-9]{28}`, `sl\.[\w-]{138}`, `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`, `rdme_[a-z0-9]{70}`, `pat-(na1|eu1)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, `s-s4t2(ud|af)-[0-9a-f]{64}`, `NR(AK|II)-[A-Z0-9]{27}`, `NRII-[\w-]{32}`, `NRJS-[0-9a-f]{19}`,
	`sntrys_eyJpYXQiO[A-Za-z0-9+/]{80}_[A-Za-z0-9+/]{43}`, `sntryu_[0-9a-f]{64}`, `glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}`, `glc_eyJ[A-Za-z0-9+/]{60,100}={0,2}`, `dt0c01\.[A-Z2-7]{24}\.[A-Z2-7]{64}`, `hcaik_[a-z0-9]{58}`, `phx_[A-Za-z0-9]{43}`, `lin_(api|oauth)_[A-Za-z0-9]{40}`, `ntn_[1-9]\d{10}[A-Za-z0-9]{35}`, `secret_[A-Za-z0-9]{43}`, `figd_[\w-]{40}`, `fio-u-[\w=-]{64}`, `[1-9]\d{8,9}:AA[\w-]{33}`,
	`[A-Za-z0-9]{3}8Q~[A-Za-z0-9_.~-]{31,34}`, `M[A-Za-z0-9]{25}\.G[\w-]{5}\.[\w-]{38}`, `[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk`, `sc_[a-z0-9]{10}\.[a-z0-9]{4}\.acc[_-][a-z0-9-]{10}\.[A-Za-z0-9+/_=-]{60}`, `dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}`, `CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}`, `4b1d[A-Za-z0-9]{38}`, `sm_(aat|pat|sat)_[A-Za-z0-9]{16}`,
	`y0_Ag[\w-]{54}`, `t1\.9eu[\w-]{20,40}\.[\w-]{86}`, `AQVN[\w-]{36}`, `YCA[\w-]{36}`, `tk-us-[\w-]{48}`, `CFPAT-[\w-]{43}`, `sbp_[0-9a-f]{40}`, `re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}`, `lsv2_pt_[0-9a-f]{32}_[0-9a-f]{10}`, `pcsk_[A-Za-z0-9]{5}_[A-Za-z0-9]{62}`, `fc-[0-9a-f]{32}`, `tvly-dev-[A-Za-z0-9]{32}`, `live_[0-9a-f]{35}`, `test_[0-9a-f]{35}`,
	`xau_[A-Za-z0-9]{40}`, `amzn\.mws\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, `access_token\$production\$[0-9a-z]{16}\$[0-9a-f]{32}`, `napi_[a-z0-9]{64}`, `sb_secret_[\w-]{31}`, `apify_api_[A-Za-z0-9]{36}`, `signkey-prod-[0-9a-f]{64}`, `sk-lf-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, `csk-[a-z0-9]{48}`, `tgp_v1_[\w-]{43}`, `jina_[0-9a-f]{32}[\w-]{28}`, `ABSK[A-Za-z0-9+/]{128}`, `ATCTT3xFfG[\w=-]{160,186}`, `xwfp-[A-Za-z0-9-]{40}`, `vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{30}`, `sk_[0-9a-f]{48}`, `shpua_[0-9a-f]{32}`, `eyJrIjoi[A-Za-z0-9+/]{70,100}={0,2}`,
}

// namedFormats are secrets without a prefix: they are recognised by the name next to
// them, here the name of a service and its word for the secret.
var namedFormats = []struct{ service, format string }{
	{"adobe", `[0-9a-f]{32}`}, {"airtable", `[a-z0-9]{17}`}, {"algolia", `[a-z0-9]{32}`}, {"asana", `[0-9]{16}`}, {"asana", `[a-z0-9]{32}`}, {"atlassian", `[a-z0-9]{24}`}, {"bitbucket", `[a-z0-9]{32}`}, {"bitbucket", `[a-z0-9=_-]{64}`},
	{"bittrex", `[a-z0-9]{32}`}, {"ciscoMeraki", `[0-9a-f]{40}`}, {"cloudflare", `[a-z0-9_-]{40}`}, {"cloudflareGlobal", `[0-9a-f]{37}`}, {"codecov", `[a-z0-9]{32}`}, {"cohere", `[a-zA-Z0-9]{40}`}, {"coinbase", `[a-z0-9_-]{64}`}, {"confluent", `[a-z0-9]{16}`}, {"confluent", `[a-z0-9]{64}`},
	{"contentful", `[a-z0-9=_-]{43}`}, {"datadog", `[a-z0-9]{40}`}, {"discord", `[0-9]{18}`}, {"discord", `[a-z0-9=_-]{32}`}, {"droneci", `[a-z0-9]{32}`}, {"dropbox", `[a-z0-9]{15}`}, {"dropbox", `[a-z0-9]{11}(AAAAAAAAAA)[a-z0-9_=-]{43}`}, {"etsy", `[a-z0-9]{24}`}, {"facebook", `[0-9a-f]{32}`}, {"facebook", `[0-9]{15,16}`},
	{"fastly", `[a-z0-9=_-]{32}`}, {"finicity", `[0-9a-f]{32}`}, {"finicity", `[a-z0-9]{20}`}, {"finnhub", `[a-z0-9]{20}`}, {"flickr", `[a-z0-9]{32}`}, {"freshbooks", `[a-z0-9]{64}`}, {"gitter", `[a-z0-9_-]{40}`}, {"heroku", `[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}`}, {"hubspot", `[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}`},
	{"intercom", `[a-z0-9=_-]{60}`}, {"jfrog", `[a-z0-9]{73}`}, {"jfrog", `[a-z0-9]{64}`}, {"kraken", `[a-z0-9/=_+-]{80,90}`}, {"kucoin", `[0-9a-f]{24}`}, {"kucoin", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`}, {"launchdarkly", `[a-z0-9=_-]{40}`}, {"linear", `[0-9a-f]{32}`}, {"linkedin", `[a-z0-9]{14}`}, {"linkedin", `[a-zA-Z0-9]{16}`},
	{"lob", `(live|test)_[0-9a-f]{35}`}, {"lob", `(test|live)_pub_[0-9a-f]{31}`}, {"looker", `[a-z0-9]{20}`}, {"looker", `[a-z0-9]{24}`}, {"mailgun", `[0-9a-h]{32}-[0-9a-h]{8}-[0-9a-h]{8}`}, {"mapbox", `pk\.[a-z0-9]{60}\.[a-z0-9]{22}`}, {"mattermost", `[a-z0-9]{26}`}, {"messagebird", `[a-z0-9]{25}`}, {"netlify", `[a-z0-9=_-]{40,46}`}, {"newRelic", `[a-z0-9]{64}`},
	{"nytimes", `[a-z0-9=_-]{32}`}, {"okta", `00[\w=-]{40}`}, {"plaid", `[a-z0-9]{24}`}, {"plaid", `[a-z0-9]{30}`}, {"privateai", `[a-z0-9]{32}`}, {"rapidapi", `[a-z0-9_-]{50}`}, {"sendbird", `[0-9a-f]{40}`}, {"sentry", `[0-9a-f]{64}`}, {"sidekiq", `[0-9a-f]{8}:[0-9a-f]{8}`}, {"snyk", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`}, {"squarespace", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`},
	{"sumologic", `su[a-zA-Z0-9]{12}`}, {"sumologic", `[a-z0-9]{64}`}, {"travisci", `[a-z0-9]{22}`}, {"trello", `[a-zA-Z0-9]{32}`}, {"twitch", `[a-z0-9]{30}`}, {"twitter", `[0-9]{15,25}-[a-zA-Z0-9]{20,40}`}, {"twitter", `[a-z0-9]{25}`}, {"twitter", `[a-z0-9]{45}`}, {"twitter", `[a-z0-9]{50}`}, {"zendesk", `[a-z0-9]{40}`}, {"freemius", `sk_[\w!@^*-]{29}`}, {"beamer", `b_[a-z0-9=_-]{44}`}, {"kubernetes", `[A-Za-z0-9+/]{40}==`}, {"azure_storage", `[A-Za-z0-9+/]{86}==`},
	{"ibm_cloud_iam", `[A-Za-z0-9_-]{44}`}, {"cos_hmac", `[0-9a-f]{48}`}, {"softlayer", `[a-z0-9]{64}`}, {"cloudant", `[0-9a-f]{64}`}, {"cloudant", `[a-z]{24}`}, {"weatherstack", `[0-9a-f]{32}`}, {"twilio", `[0-9a-f]{32}`}, {"mongo", `[A-Za-z0-9]{16}`}, {"huawei", `[A-Z0-9]{20}`}, {"tencent", `AKID[A-Za-z0-9]{32}`}, {"gitee", `[0-9a-f]{32}`}, {"grafana", `[A-Za-z0-9+/]{68}==`},
}

// leads are forms of assignment: configuration files, programs, the shell, headers. N
// is the name in the style of the language.
var leads = []string{
	`%sToken="%s"`, `%s_token=%s`, "{\n    \"%s_token\": \"%s\"\n}", `%s_token: %s`, `%s_api_key: '%s'`, `%s_secret: "%s"`, "%sSecret: |\n  %s\n", "%s_token: >-\n  %s\n", `var %sToken = "%s"`, `var %sToken string = "%s"`, "%sToken := `%s`", `String %sToken = "%s";`, `string %sApiKey = @"%s";`,
	`config.put("%sToken", "%s");`, `$%sToken .= "%s"`, `%sSecret = '%s'`, `  "%s_api_key" => "%s"`, `<%sToken>%s</%sToken>`, "<%sToken>\n    %s\n</%sToken>", `%s_TOKEN := %s`, `%s_TOKEN ::= %s`, `%s_TOKEN :::= %s`, `%s_TOKEN ?= %s`, `%s_TOKEN += %s`, `%s_TOKEN = "%s"`, `export %s_API_KEY='%s'`, `set %s_TOKEN=%s`, `setx %s_TOKEN "%s"`, `$env:%s_TOKEN = "%s"`,
	`ENV %s_TOKEN %s`, `%s_secret => '%s'`, `https://api.example/?%s_token=%s&page=2`, `curl -H "X-%s-Token: %s" https://api.example/`, `tool --%s-token %s run`, `tool --%s-api-key="%s"`, `{\"%s_token\":\"%s\"}`, `os.environ["%s_TOKEN"] = "%s"`, `os.Setenv("%s_TOKEN", "%s")`, `<add key="%sToken" value="%s" />`, `- name: %s_TOKEN` + "\n  value: %s", `%s.token=%s`, `%s:token:%s`, `docker run -e %s_TOKEN=%s image`,
}

// values is the number of values that are generated for each format.
const values = 20

// places are texts around a recognisable token.
var places = []string{"%s", "see %s there", "(%s)", "'%s'", "`%s`", "a: %s,", "x=%s;", `{"a":"b\n%s\nc"}`, "https://a.example/?q=%s&r=1", "git clone https://x:%s@a.example/b", "echo %s >> f", "<a>%s</a>", "%s\n%s", "//registry.example/:_authToken=%s", "a=%3D%s&b"}

func TestMaskIssuedFormats(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, format := range issuedFormats {
		re, missed := classifytest.Pattern(t, format), 0
		example := ""
		for range values {
			secret := classifytest.Specimen(r, re)
			for _, place := range places {
				text := strings.ReplaceAll(place, "%s", secret)
				if leaks(text, secret) {
					missed, example = missed+1, text
				}
			}
		}
		if missed > 0 {
			t.Errorf("%s: %d of %d leak, such as %q", format, missed, values*len(places), example)
		}
	}
}

// TestMaskNamedFormats lets through what could as well be a word: random letters
// without a digit, at most in one of eight values of a format, and one of 20 of a lead.
func TestMaskNamedFormats(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	by := map[string]int{}
	for _, f := range namedFormats {
		re, missed, example := classifytest.Pattern(t, f.format), 0, ""
		for _, lead := range leads {
			for range values {
				secret := classifytest.Specimen(r, re)
				if text := fill(lead, f.service, secret); leaks(text, secret) {
					missed, example = missed+1, text
					by[lead]++
				}
			}
		}
		if missed > len(leads)*values/8 {
			t.Errorf("%s %s: %d of %d leak, such as %q", f.service, f.format, missed, len(leads)*values, example)
		}
	}
	for lead, n := range by {
		if n > len(namedFormats)*values/20 {
			t.Errorf("%s: %d of %d leak", lead, n, len(namedFormats)*values)
		}
	}
}

// fill puts a name and a value into a lead; of a third place the name again.
func fill(lead, name, value string) string {
	if strings.Count(lead, "%s") == 3 {
		return fmt.Sprintf(lead, name, value, name)
	}
	return fmt.Sprintf(lead, name, value)
}

// leaks reports whether a string contains a secret after masking, or changes when it is
// masked again.
func leaks(text, secret string) bool {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	m.Remember(text)
	got := m.Text(text)
	return strings.Contains(got, secret) || m.Text(got) != got
}
