package mask

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

const uuidFormat = `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`

// productFormats are secrets that are recognised by a product in the name next to
// them, and, in the second list, the same values without such a name.
var productFormats = []string{
	`sonar\.login=[0-9a-f]{40}`, `sonarLogin = "[0-9a-f]{40}"`, `<sonar\.login>[0-9a-f]{40}</sonar\.login>`, `-Dsonar\.login=[0-9a-f]{40}`,
	`SUMO_ACCESS_ID=su[A-Za-z0-9]{11}7`, `sumologicAccessId: "su[A-Za-z0-9]{11}7"`, `sumo_access_id = 'su[A-Za-z0-9]{11}7'`,
	`BUNDLE_ENTERPRISE__CONTRIBSYS__COM: [0-9a-f]{8}:[0-9a-f]{8}`, `bundle config enterprise\.contribsys\.com [0-9a-f]{8}:[0-9a-f]{8}`,
	`sourcegraph [0-9a-f]{40}`, `sourcegraph: [0-9a-f]{40}`, `heroku_key = "` + uuidFormat + `"`, `HEROKU_KEY=` + uuidFormat, `snyk_key: ` + uuidFormat, `hubspotKey = '` + uuidFormat + `'`,
	`Authorization: Api-Token [A-Za-z0-9]{21}`, `"Authorization": "Api-Token [A-Za-z0-9_-]{32}7"`, `1[0-9]{15}\|[A-Za-z0-9_-]{27}`, `access_token=1[0-9]{14}%7C[A-Za-z0-9]{30}`,
	`sk-proj-[A-Za-z0-9_-]{64}`, `OPENAI=sk-proj-[A-Za-z0-9_-]{120}`, `sk-svcacct-[A-Za-z0-9]{80}`,
	`eyJhbGciOiJIUzI1N\.eyJzdWIiOiIxMjM0NTY3ODkwIn0\.[A-Za-z0-9_-]{43}`, `eyJqcXgiOm51bGx9eyJ\.eyJzdWIiOiIxMjM0NTY3ODkwIn0\.[A-Za-z0-9_-]{43}`,
}

var productLikes = []string{
	`sonar\.projectVersion=[0-9a-f]{40}`, `sonar [0-9a-f]{40}`, `sumoVersion: su[A-Za-z0-9]{12}`, `https://github\.com/sourcegraph/jobs/commit/[0-9a-f]{40}`,
	`sourcegraph/jobs@[0-9a-f]{40}`, `heroku_app_id = "` + uuidFormat + `"`, `snykProject: ` + uuidFormat, `\[hubspot\] request ` + uuidFormat, `gems\.contribsys\.com is at [0-9a-f]{8}`,
	`\| 1[0-9]{5} \| [a-z]{12} \|`, `1[0-9]{15}\|[a-z]{8}\|[a-z]{8}`, `eyJub3QganNvbg\.eyJub3QganNvbg\.[A-Za-z]{43}`, `Api-Token is required for this`,
}

func TestMaskProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	count := func(format string) (hit int, example string) {
		re := classifytest.Pattern(t, format)
		for range values {
			text := classifytest.Specimen(r, re)
			m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
			if strings.Contains(m.Text("see\n"+text+"\nthere"), Redacted) {
				hit++
			} else {
				example = text
			}
		}
		return hit, example
	}
	for _, format := range productFormats {
		if hit, example := count(format); hit < values {
			t.Errorf("%s: %d of %d are found, not %q", format, hit, values, example)
		}
	}
	for _, format := range productLikes {
		if hit, _ := count(format); hit > values/10 {
			t.Errorf("%s: %d of %d are masked", format, hit, values)
		}
	}
}
