package prompt

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// Prompts, each with the machines that it names by a word, and after "not" words that are none. Those after the empty line were
// written before the reader and kept apart.
const machinePrompts = `
plan: zigbee2mqtt from the pi to the nas. copy its data over | pi nas
relance les 3 jobs de réflexion sur meso | meso
restart the web server on bastion2 | bastion2
schau mal auf dem nas nach was da läuft | nas
o worker no homelab-1 morreu, reinicia | homelab-1
lance ça depuis la passerelle, pas sur atlas | passerelle
pull the logs from web3 and look for the 502s | web3
copy the model onto my jetson | jetson
kijk op de hue-box even of het draait | hue-box
fix the bug in the parser | not parser
move the button to the left | not left
go back to the old layout | not old
deploy to production | not production
run it from the root of the repo | not root
change the color from red to blue | not blue

the build box is dead, run it on ci-runner-7 instead | ci-runner-7
mach das update auf meinem pi | pi
installe le paquet sur le cluster-b | cluster-b
apaga os logs velhos no servidor-casa | servidor-casa
fammi vedere i container sul nas | nas
ssh into the gpu02 and kill my training there | gpu02
stay on the main branch | not main branch
convert it to json | not json
`

func TestMachines(t *testing.T) {
	set := classifytest.Rows()
	m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(set, nil)}
	kept, right := 0, 0
	dev := true
	for line := range strings.SplitSeq(strings.Trim(machinePrompts, "\n"), "\n") {
		prompt, words, ok := strings.Cut(line, " | ")
		if !ok {
			dev = false
			continue
		}
		goal := GoalOf(set, m, prompt, goalMarker(), "", nil)
		want := true
		if rest, found := strings.CutPrefix(words, "not "); found {
			words, want = rest, false
		}
		for word := range strings.FieldsSeq(words) {
			got := slices.Contains(goal.Mentions, engine.HostMentionOf(word))
			switch {
			case dev && got != want:
				t.Errorf("%s: %s is named: %v", prompt, word, got)
			case !dev:
				if kept++; got == want {
					right++
				}
			}
		}
	}
	if t.Logf("kept apart: %d of %d", right, kept); right < kept-2 {
		t.Errorf("of those kept apart only %d of %d are read", right, kept)
	}
}
