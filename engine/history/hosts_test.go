package history

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// What a person names by its full name or address is the host that commands write in other forms.
func TestNamedHost(t *testing.T) {
	s := goalState{Mentions: []string{engine.HostMentionOf("10.8.0.51"), engine.HostMentionOf("nas.home.example")}}
	for target, want := range map[string]bool{
		"10.8.0.51": true, "root@10.8.0.51": true, "http://10.8.0.51:8080/a?b": true, "NAS.home.example": true, "https://nas.home.example": true,
		"10.8.0.5": false, "10.8.0.510": false, "x.nas.home.example": false, "nas.home.example.evil.test": false,
		"https://nas.home.example@evil.test/": false, "https://evil.test/nas.home.example": false, "https://evil.test?nas.home.example": false, "": false,
	} {
		e := engine.Effect{Kind: engine.EffectNetwork, Target: target, Certainty: engine.CertaintyExact}
		if got := s.namesHost(&e); got != want {
			t.Errorf("%s: %v", target, got)
		}
		if e.Certainty = engine.CertaintyPrefix; s.namesHost(&e) {
			t.Errorf("%s: a beginning counts", target)
		}
	}
}
