package place

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// The port of a request decides whether it is for reviewer's HTTP API.
func TestAsksGuard(t *testing.T) {
	begins := abstract.Value{Sure: abstract.Prefix}
	for _, c := range []struct {
		verb, target string
		sure         abstract.Value
		want         string
	}{
		{target: "http://localhost:7777/x", want: "is"}, {target: "http://localhost:9470/x", want: "is"}, {target: "http://localhost:3000/7777"},
		{target: "http://127.0.0.1:7777", want: "is"}, {target: "http://127.1:7777/", want: "is"}, {target: "http://0x7f000001:7777/", want: "is"},
		{target: "http://2130706433:7777/", want: "is"}, {target: "http://[::1]:7777/", want: "is"}, {target: "http://[::ffff:127.0.0.1]:7777/", want: "is"},
		{target: "http://LOCALHOST.:07777?x", want: "is"}, {target: "http://0:7777/", want: "is"}, {target: "http://a:b@localhost:7777#x", want: "is"},
		{target: "http://0.0.0.0:7777", want: "is"}, {target: "localhost:7777", want: "is"}, {target: "localhost:7777/v1", want: "is"}, {target: "[::1]:7777", want: "is"},
		{target: "ws://localhost:7777/", want: "is"}, {target: "http://localhost/v1/approvals"}, {target: "https://localhost"}, {target: "localhost/v1"},
		{target: "localhost:3000"}, {target: "http://localhost:@3000:7777/"}, {target: "http://example.com:7777/"}, {target: "example.com:7777"},
		{target: "localhost", want: "may"}, {target: "127.0.0.1", want: "may"}, {target: "::1", want: "may"}, {target: "0:0:0:0:0:0:0:1", want: "may"},
		{target: "localhost:x", want: "may"}, {target: "example.com"}, {target: "10.0.0.1"},
		{target: "http://localhost:", sure: begins, want: "may"}, {target: "http://localhost:77", sure: begins, want: "may"},
		{target: "http://localhost", sure: begins, want: "may"}, {target: "http://localhost:3000/x", sure: begins}, {target: "http://localhost:7777/x", sure: begins, want: "is"},
		{target: "http://example.com:", sure: begins}, {target: "http://", sure: begins},
		{verb: "listen", target: "7777", want: "is"}, {verb: "listen", target: "3000"}, {verb: "listen", target: "0.0.0.0", want: "may"},
		{verb: "listen", target: "127.0.0.1:7777", want: "is"}, {target: "7777"},
		{target: "/srv/rs/run/hook.sock", want: "is"}, {target: "/run/app.sock"},
	} {
		w := World{Home: "/home/kim", Guard: []string{"/srv/rs"}, Ports: []int{7777}}
		if c.verb == "" {
			c.verb = "fetch"
		}
		e := NewResolver(w, "/srv/shop", classifytest.Rows()).Effect(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: c.verb,
			Target: abstract.Value{Text: c.target, Sure: c.sure.Sure}})
		if e.Guard != c.want {
			t.Errorf("%s %s: %q, want %q", c.verb, c.target, e.Guard, c.want)
		}
	}
}

// A request whose port is not known goes to the API if the call names its port.
func TestSettlePorts(t *testing.T) {
	r := NewResolver(World{Ports: []int{7777}}, "", classifytest.Rows())
	for args, want := range map[string]string{`{"command":"nc localhost 7777"}`: "is", `{"port":9470}`: "is", "17777": "", "77770": "", "": "", "a7777b": "is", "GET /V1/approvals": "is",
		"99999999999999999999 7777": "is"} {
		effects := []engine.Effect{{Guard: GuardMay}, {Guard: ""}}
		if r.SettlePorts(effects, args); effects[0].Guard != want || effects[1].Guard != "" {
			t.Errorf("%s: %q and %q, want %q", args, effects[0].Guard, effects[1].Guard, want)
		}
	}
}
