package classify

import (
	"context"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// A process that a call of the client started is the session's own, by its number on this machine only.
func TestProcessStartedByCall(t *testing.T) {
	for command, own := range map[string]bool{
		"kill 4711":                             true,
		"ps -o pid,cmd -p 4711 && kill -9 4711": true,
		"sudo kill 4711":                        true,
		"kill 4712":                             false,
		"kill -- -4711":                         false,
		"kill $(cat server.pid)":                false,
		"pkill 4711":                            false,
		"ssh build.example kill 4711":           false,
		"docker exec web kill 4711":             false,
		"kill 1":                                false,
	} {
		c := &Classifier{MAC: classifytest.MAC, Rows: classifytest.Rows(), World: place.World{Home: "/home/anna",
			Started: func(pid int) bool { return pid == 4711 || pid == 1 }}}
		e := engine.Event{Phase: engine.PhasePre, Tool: "Bash", Args: []byte(`{"command":"` + command + `"}`), CWD: "/srv/shop"}
		f, err := c.Classify(context.Background(), e, "/srv/shop")
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(f.Action.Effects, func(e engine.Effect) bool { return e.Verb == "kill" && e.Own }); got != own {
			t.Errorf("%s: %v, want %v", command, got, own)
		}
	}
}
