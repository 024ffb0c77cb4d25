package harness

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// What an agent is said to offer at an event is what Encode sends there, and nothing
// else.
func TestChannelsAreEncoded(t *testing.T) {
	signs := map[engine.Way]string{
		engine.WayDeny: `"permissionDecision":"deny"`, engine.WayAsk: `"permissionDecision":"ask"`, engine.WayModify: `"updatedInput":`,
		engine.WayContext: `"additionalContext":`, engine.WayStop: `"continue":false`, engine.WayReplace: `"updatedToolOutput"`,
	}
	answers := map[engine.Way]engine.Answer{
		engine.WayDeny: {Effect: engine.Block, Text: "no"}, engine.WayAsk: {Effect: engine.Ask, Text: "?"},
		engine.WayModify:  {Effect: engine.Modify, Args: json.RawMessage(`{"command":"ls"}`), Text: "changed"},
		engine.WayContext: {Effect: engine.Warn, Text: "note", GoOn: true}, engine.WayStop: {Effect: engine.Block, Stop: true, Text: "stop"},
	}
	for _, h := range Harnesses() {
		for _, event := range append(h.Events, claudeCodeOthers()...) {
			for way, a := range answers {
				out, _, _ := h.Encode(event, a)
				sent := strings.Contains(string(out), signs[way]) || way == engine.WayContext && strings.Contains(string(out), `"decision":"block"`)
				if want := h.Channels.Can(way, PhaseOf(event)); sent != want {
					t.Errorf("%s, %s at %s: sent %v, stated %v: %s", h.Name, way, event, sent, want, out)
				}
			}
		}
		for _, w := range engine.Ways() {
			if ch := h.Channels.Of(w); ch.How == "" || (ch.Support == engine.SupportNone) != (len(ch.Phases) == 0) {
				t.Errorf("%s: %s is described by %+v", h.Name, w, ch)
			}
		}
		if !slices.IsSortedFunc(h.Channels, func(a, b engine.Channel) int {
			return slices.Index(engine.Ways(), a.Way) - slices.Index(engine.Ways(), b.Way)
		}) {
			t.Errorf("%s: the channels are not in the order of Ways", h.Name)
		}
	}
}
