package harness

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// Each agent has a sample that its own row reads as a call before it runs, and whose denial differs from
// every milder answer.
func TestSamples(t *testing.T) {
	for _, h := range Harnesses() {
		s, has := SampleOf(h.Name)
		if !has {
			t.Errorf("%s has no sample", h.Name)
			continue
		}
		e, err := h.Decode(s.Event, s.Document("s-1", "/srv/shop", "echo \"hi\""), "")
		if err != nil || e.Phase != engine.PhasePre || e.Session == "" || e.CWD != "/srv/shop" || !strings.Contains(string(e.Args), `echo \"hi\"`) {
			t.Errorf("%s: %v, %+v %s", h.Name, err, e, e.Args)
		}
		for effect, want := range map[engine.Verdict]bool{engine.Block: true, engine.Allow: false, engine.Warn: false} {
			out, _, exit := h.Encode(s.Event, engine.Answer{Effect: effect, Text: "any text", Tool: e.Tool})
			if got := s.Denies(h, out, exit); got != want {
				t.Errorf("%s: %s is a denial: %v (%s)", h.Name, effect, got, out)
			}
		}
		if s.Denies(h, nil, 0) || s.Denies(h, []byte("{"), 0) {
			t.Errorf("%s: no answer is a denial", h.Name)
		}
	}
}
