package history

import (
	"crypto/ed25519"
	"encoding/hex"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// person is a key and its owner.
func person() (engine.PersonKey, ed25519.PrivateKey) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	return engine.PersonKey{Public: hex.EncodeToString(private.Public().(ed25519.PublicKey)), Salt: "00", Passes: 1, Memory: 32}, private
}

func sign(t *testing.T, r *engine.Record, k engine.PersonKey, private ed25519.PrivateKey) {
	t.Helper()
	if r.Control.Signed == nil {
		r.Control.Signed = &engine.Signature{}
	}
	r.Control.Signed.Key = k.Fingerprint()
	b, err := r.SignedBytes()
	if err != nil {
		t.Fatal(err)
	}
	r.Control.Signed.Sig = hex.EncodeToString(ed25519.Sign(private, b))
}

// Anybody can append a stop: the words that an agent reads are those of policy, or of a person who signed.
func TestWordsOfAStop(t *testing.T) {
	k, private := person()
	for name, c := range map[string]struct {
		do           string
		signed       bool
		reason, by   string
		unsignedFact bool
	}{
		"stop":         {engine.ControlStop, false, "", "", true},
		"abort":        {engine.ControlAbort, false, "", "", true},
		"signed stop":  {engine.ControlStop, true, "run x", "anna", false},
		"signed abort": {engine.ControlAbort, true, "run x", "anna", false},
	} {
		h := New()
		h.Append(&engine.Record{Kind: engine.KindOpen, N: 1, Session: "s", Chain: "c"})
		h.Append(&engine.Record{Kind: engine.KindControl, N: 2, Control: &engine.Control{Do: engine.ControlKey, Key: &k}})
		r := &engine.Record{Kind: engine.KindControl, N: 3, Control: &engine.Control{Do: c.do, Reason: "run x", By: "anna"}}
		if c.signed {
			sign(t, r, k, private)
		}
		h.Append(r)
		f := h.sessionFacts(&engine.Record{Phase: engine.PhasePre})
		if !f.Stopped || f.StopReason != c.reason || f.StopBy != c.by || f.StopUnsigned != c.unsignedFact || h.Stop.Told() != c.reason {
			t.Errorf("%s: stopped %t for %q by %q, unsigned %t", name, f.Stopped, f.StopReason, f.StopBy, f.StopUnsigned)
		}
		if h.Stop.Reason != "run x" {
			t.Errorf("%s: a person does not see the reason", name)
		}
	}
}

// A permission for one call expires in the time of the log, which a clock that is set back does not turn back.
func TestPermissionExpires(t *testing.T) {
	k, private := person()
	call := func(n, at int64) *engine.Record {
		return &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, N: n, T: at, Event: &engine.EventFacts{Tool: "Bash", CWD: "/w"},
			Action: &engine.Action{Fingerprint: "0123456789abcdef"}}
	}
	if key, ok := call(9, 0).CallKey(); !ok || key.Print != "0123456789abcdef" {
		t.Fatalf("the key of the call is %+v", key)
	}
	for name, c := range map[string]struct {
		do      string
		expires int64
		times   []int64 // of records before the call; then of the call
		allowed bool
	}{
		"in time":                       {engine.ControlAllowOnce, 2000, []int64{2000}, true},
		"too late":                      {engine.ControlAllowOnce, 2000, []int64{2001}, false},
		"the clock jumps and goes back": {engine.ControlAllowOnce, 2000, []int64{5000, 1500}, false},
		"the clock goes back":           {engine.ControlAllowOnce, 2000, []int64{1200, 100}, true},
		"never":                         {engine.ControlAllowOnce, 0, []int64{1 << 40}, true},
		"for the session":               {engine.ControlAllowSession, 0, []int64{1 << 40}, true},
	} {
		h := New()
		h.Append(&engine.Record{Kind: engine.KindOpen, N: 1, T: 1000, Session: "s", Chain: "c"})
		h.Append(&engine.Record{Kind: engine.KindControl, N: 2, T: 1000, Control: &engine.Control{Do: engine.ControlKey, Key: &k}})
		allow := &engine.Record{Kind: engine.KindControl, N: 3, T: 1000, Control: &engine.Control{Do: c.do, Print: "0123456789abcdef", CWD: "/w",
			Signed: &engine.Signature{Expires: c.expires}}}
		sign(t, allow, k, private)
		h.Append(allow)
		n := int64(4)
		for _, at := range c.times[:len(c.times)-1] {
			h.Append(&engine.Record{Kind: engine.KindNote, N: n, T: at, Note: &engine.Note{What: "x"}})
			n++
		}
		f := h.sessionFacts(call(n, c.times[len(c.times)-1]))
		if (f.Allowed != "") != c.allowed {
			t.Errorf("%s: allowed %q", name, f.Allowed)
		}
	}
}
