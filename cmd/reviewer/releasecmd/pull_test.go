package releasecmd

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/ship"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// sealedBy seals an archive and signs it.
func sealedBy(t *testing.T, archive []byte, key ed25519.PrivateKey) []byte {
	t.Helper()
	e, err := signing.Seal(signing.SubjectOf("x.tar.gz", archive), signing.Release{
		Name: "acme/agents", Version: "1.0.0", Channel: "stable", Sequence: 1, Policy: "h1:x", Created: signing.TimeOf(time.Now()),
		Requires: map[string]int{}, Capabilities: signing.SHA256(nil), SkippedTests: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Add(signing.Signature{Sig: ed25519.Sign(key, e.PAE())}); err != nil {
		t.Fatal(err)
	}
	doc, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func newKey(t *testing.T) (ed25519.PrivateKey, signing.PublicKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	k, err := signing.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return private, k
}

// What is offered is looked at before anything is fetched: the signatures, and
// that they are for the archive that would come.
func TestMayFetch(t *testing.T) {
	private, public := newKey(t)
	stranger, _ := newKey(t)
	trusted, err := trust.OfKeys([]signing.PublicKey{public}, 1)
	if err != nil {
		t.Fatal(err)
	}
	archive := []byte("an archive")
	good := ship.Offer{Name: "x.tar.gz", SHA256: signing.SHA256(archive), Envelope: sealedBy(t, archive, private)}
	for name, test := range map[string]struct {
		change func(*ship.Offer)
		want   trust.Code
	}{
		"good":             {func(*ship.Offer) {}, ""},
		"digest not known": {func(o *ship.Offer) { o.SHA256 = "" }, ""},
		"no envelope":      {func(o *ship.Offer) { o.Envelope = nil }, trust.Unsigned},
		"no JSON":          {func(o *ship.Offer) { o.Envelope = []byte("{") }, trust.Unsigned},
		"another's key":    {func(o *ship.Offer) { o.Envelope = sealedBy(t, archive, stranger) }, trust.Threshold},
		"another archive":  {func(o *ship.Offer) { o.SHA256 = signing.SHA256([]byte("other")) }, trust.Digest},
		"of an empty file": {func(o *ship.Offer) { o.Envelope = sealedBy(t, nil, private) }, trust.Digest},
		"changed statement": {func(o *ship.Offer) {
			o.Envelope = bytes.Replace(o.Envelope, []byte(`"payload": "e`), []byte(`"payload": "f`), 1)
		}, trust.Threshold},
	} {
		c := &importCheck{trust: trusted, now: trust.Candidate{Now: time.Now().UnixMilli()}}
		o := good
		test.change(&o)
		err := c.mayFetch(o)
		if c.verdict.Code != test.want || (err == nil) != (test.want == "") || c.verdict.Refused() != (err != nil) {
			t.Errorf("%s: %q (%v), want %q", name, c.verdict.Code, err, test.want)
		}
	}
	if err := (&importCheck{now: trust.Candidate{Now: time.Now().UnixMilli()}}).mayFetch(ship.Offer{}); err != nil {
		t.Errorf("without a trust file: %v", err)
	}
}

// The password is read to its end of line, and comes with a name only.
func TestShipOptions(t *testing.T) {
	for _, test := range []struct {
		in   connection
		text string
		want string // the password, or a part of the error
	}{
		{connection{username: "kim", password: true, timeout: 1}, "pass\r\n", "pass"},
		{connection{username: "kim", password: true, timeout: 1}, " pass word", " pass word"},
		{connection{timeout: 1}, "not read", ""},
		{connection{username: "kim", password: true, timeout: 1}, "\n", "standard input contains no password"},
		{connection{username: "kim", password: true, timeout: 1}, strings.Repeat("x", maxPassword+1), "too long"},
		{connection{username: "kim", timeout: 1}, "", "must be given together"},
		{connection{password: true, timeout: 1}, "", "must be given together"},
		{connection{}, "", "--timeout 0s: expected a time"},
	} {
		o, err := shipOptions((&cli.App{Streams: term.Streams{Stdin: strings.NewReader(test.text)}}), test.in)
		got := o.Password
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%+v: %q, want %q", test.in, got, test.want)
		}
	}
	if err := errors.Join((&pulling{to: "x"}).known(), (&pulling{activate: true}).known()); err != nil {
		t.Error(err)
	}
}
