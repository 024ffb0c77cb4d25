package harness

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// signsOf returns what shows in an agent's answers that a way was taken. Most agents read Claude
// Code's document.
func signsOf(agent string) map[engine.Way][]string {
	signs := map[engine.Way][]string{
		engine.WayDeny: {`"permissionDecision":"deny"`}, engine.WayAsk: {`"permissionDecision":"ask"`}, engine.WayModify: {`"updatedInput":`},
		engine.WayContext: {`"additionalContext":`, `"decision":"block"`}, engine.WayStop: {`"continue":false`},
		engine.WayReplace: {`"updatedToolOutput"`},
	}
	maps.Copy(signs, ownSigns[agent])
	return signs
}

// ownSigns are those of agents whose documents differ.
var ownSigns = map[string]map[engine.Way][]string{
	Cline: {engine.WayDeny: {`"cancel":true,"errorMessage":"no"`}, engine.WayModify: {`"overrideInput":`},
		engine.WayContext: {`"contextModification":"note"`}, engine.WayStop: {`"cancel":true,"errorMessage":"stop"`}},
	Cursor: {engine.WayDeny: {`"permission":"deny"`}, engine.WayAsk: {`"permission":"ask"`}, engine.WayModify: {`"updated_input":`},
		engine.WayContext: {`"additional_context":`, `"followup_message":`}},
	Kimi: {engine.WayContext: {"note"}}, // on standard error
	Gemini: {engine.WayDeny: {`"decision":"deny"`}, engine.WayAsk: {`"decision":"ask"`}, engine.WayModify: {`"tool_input":`},
		engine.WayContext: {`"additionalContext":`, `"decision":"deny"`}},
	Copilot: {engine.WayModify: {`"modifiedArgs":`}, engine.WayReplace: {`"modifiedResult":`}},
}

// otherEvents returns events of an agent for which reviewer is not installed.
func otherEvents(agent string) []string {
	if agent == ClaudeCode {
		return claudeCodeOthers()
	}
	return []string{permissionRequest, "Notification", "SomethingNew"}
}

// What an agent is said to offer at an event is what Encode sends there, and nothing
// else.
func TestChannelsAreEncoded(t *testing.T) {
	answers := map[engine.Way]engine.Answer{
		engine.WayDeny: {Effect: engine.Block, Text: "no"}, engine.WayAsk: {Effect: engine.Ask, Text: "?"},
		engine.WayModify:  {Effect: engine.Modify, Args: json.RawMessage(`{"command":"ls"}`), Text: "changed"},
		engine.WayContext: {Effect: engine.Warn, Text: "note", GoOn: true}, engine.WayStop: {Effect: engine.Block, Stop: true, Text: "stop"},
	}
	for _, h := range Harnesses() {
		signs := signsOf(h.Name)
		for _, event := range append(h.Events, otherEvents(h.Name)...) {
			for way, a := range answers {
				out, stderr, _ := h.Encode(event, a)
				sent := slices.ContainsFunc(signs[way], func(sign string) bool { return strings.Contains(string(out)+stderr, sign) })
				if want := h.Channels.Can(way, h.Phase(event)); sent != want {
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
