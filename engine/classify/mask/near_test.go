package mask

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// nearMisses look like tokens of an issuer but are not: the length, the ending or the
// alphabet differs, or they are examples of the form.
var nearMisses = []string{
	`sk-ant-api03-[\w-]{93}AB`, `sk-ant-api03-[A-Za-z0-9]{70}AA`, `sk-ant-api03-[A-Za-z0-9]{120}AA`, `sk-ant-key03-[A-Za-z0-9]{20}`, `sk-ant-admin01-(x{40}|your-admin-key)`,
	`sgp_[0-9a-f]{38}`, `sgp_[g-z]{40}`, `sgp_[0-9a-f]{10}_[0-9a-f]{40}`, `sgp_(0{40}|(abcd){10})`,
	`xoxb-(my|your)-[a-z]{5}-token`, `xoxb-\d{4}-\d{4}-[A-Za-z0-9]{10}`, `xoxp-\d{12}-\d{12}-[0-9a-f]{12}`, `xapp-1-[A-Z0-9]{4}-\d{4}-[0-9a-f]{64}`, `xapp-1-A[A-Z0-9]{10}-\d{13}-token`, `xoxe-1-[A-Z0-9]{40}`, `xoxe\.xoxp-1-refresh-token`,
	`ntn_[a-z]{11}[A-Za-z0-9]{35}`, `ntn_\d{11}[A-Za-z0-9]{30}`, `ntn_0{46}`, `secret_[A-Za-z0-9]{20}x{23}`,
	`bedrock-api-key-[A-Za-z0-9]{40}`, `AIza[A-Za-z0-9]{30}`, `AIza[A-Za-z0-9]{40}`, `[a-z0-9]{12}AIza[A-Za-z0-9]{35}`, `[A-Za-z0-9]{20}/AIza[A-Za-z0-9]{35}`, `AIza[A-Za-z0-9]{35}\+[A-Za-z0-9]{20}`, `AIzaSyabcdefghijklmnopqrstuvwxyz0123456`, `AIza(Ab){17}A`,
	`hf_[a-z]{12}(Text|View|Model)From(Main|List)Panel`, `hf_setTheColourOfTheToolbarAndTheMenus`, `hf_[A-Za-z]{20}`, `sntryu_[0-9a-f]{50}`, `sntrys_[a-z0-9]{70}`, `task_test_[A-Za-z0-9]{24}`, `sk_test_1234567890abcdef`, `rdme_[a-z0-9]{40}`, `dop_v1_[0-9a-f]{40}`, `AGE-SECRET-KEY-1[A-Z0-9]{30}`, `shpat_[0-9a-f]{40}`, `sk-proj-x{40}`, `\d{10}\|[a-z]{12}`,
}

func TestMaskNearMisses(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, format := range nearMisses {
		re, hit, example := classifytest.Pattern(t, format), 0, ""
		for range values {
			text := classifytest.Specimen(r, re)
			for _, place := range []string{"see %s there", "%s", "a\n%s\nb"} {
				if place = strings.Replace(place, "%s", text, 1); masked(place) {
					hit, example = hit+1, place
				}
			}
		}
		if hit > values/5 {
			t.Errorf("%s: %d of %d are hit, such as %q", format, hit, 3*values, example)
		}
	}
}

// lots are the parts of random texts: code, prose, secrets and look-alikes.
func lots() []string {
	return append(append(append([]string{}, harmlessFormats...), stand...), append(append([]string{}, issuedFormats...), nearMisses...)...)
}

// TestMaskProperties: masking again changes nothing, a line without a secret
// stays as it is, and a secret of an issuer is never in the result.
func TestMaskProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	parts, issuedFrom := lots(), len(harmlessFormats)+len(stand)
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
	stain := regexp.MustCompile(`^REDACTED_[a-z0-9_]+_[0-9a-f]{8}`)
	for range 300 {
		var lines, secrets []string
		for range 1 + r.IntN(6) {
			i := r.IntN(len(parts))
			part := classifytest.Specimen(r, classifytest.Pattern(t, parts[i]))
			if i >= issuedFrom && i < issuedFrom+len(issuedFormats) {
				secrets = append(secrets, part)
			}
			lines = append(lines, fmt.Sprintf([]string{"%s", "a: %s,", "see %s there", `x = "%s"`, "  - %s"}[r.IntN(5)], part))
		}
		text := strings.Join(lines, "\n")
		got := m.Text(text)
		if again := m.Text(got); again != got {
			t.Errorf("%q -> %q -> %q", text, got, again)
		}
		for _, s := range secrets {
			if leaks(text, s) {
				t.Errorf("%q leaves %q", text, s)
			}
		}
		for i, line := range lines {
			if spans := m.Secrets(text); untouched(text, lines, i, spans) && !strings.Contains(got, line) {
				t.Errorf("%q changes without a secret in it: %q", line, got)
			}
		}
		for i := strings.Index(got, Redacted); i >= 0 && !strings.Contains(text, Redacted); i = -1 {
			if !stain.MatchString(got[i:]) {
				t.Errorf("%q -> %q", text, got)
			}
		}
	}
}

// untouched reports whether no span overlaps a line.
func untouched(text string, lines []string, n int, spans []span) bool {
	begin := 0
	for _, l := range lines[:n] {
		begin += len(l) + 1
	}
	for _, s := range spans {
		if s.Start < begin+len(lines[n]) && s.End > begin {
			return false
		}
	}
	return text[begin:begin+len(lines[n])] == lines[n]
}
