//go:build bench && unix

package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
)

// verifyBundle compares checking the built-in policy, packed and signed, up to
// where it would be compiled, with hashing and unpacking it, which nobody can
// save.
func verifyBundle(t *testing.T) (time.Duration, time.Duration) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	made, err := bundles.Pack(base, bundles.Release{Name: "acme/agents", Engine: 1, Capabilities: signing.SHA256(nil), TestsSkipped: true})
	if err != nil {
		t.Fatal(err)
	}
	key, err := signing.Generate(signing.Ed25519)
	if err != nil {
		t.Fatal(err)
	}
	m := made.Manifest.Metadata
	now := time.Now()
	e, err := signing.Seal(signing.SubjectOf("acme.tar.gz", made.Bytes), signing.Release{
		Name: m.Name, Version: m.Version, Channel: "stable", Sequence: m.Sequence, Policy: base.Digest, Created: signing.TimeOf(now),
		Requires: m.Requires, Capabilities: m.Capabilities, SkippedTests: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Sign(context.Background(), key); err != nil {
		t.Fatal(err)
	}
	envelope, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	believed, err := trust.OfKeys([]signing.PublicKey{key.PublicKey()}, 1)
	if err != nil {
		t.Fatal(err)
	}
	in := trust.Candidate{File: "acme.tar.gz", Archive: made.Bytes, Envelope: envelope, Now: now.UnixMilli()}
	return turns(50, func() {
		if v := believed.Check(in); v.Refused() {
			t.Fatal(v.Reason)
		}
	}, func() {
		signing.SHA256(made.Bytes)
		if _, err := bundles.OpenArchive(bytes.NewReader(made.Bytes)); err != nil {
			t.Fatal(err)
		}
	})
}
