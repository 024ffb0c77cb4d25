package sigstore

import (
	"crypto/x509"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/sigstore"
)

var update = flag.Bool("update", false, "sign the examples again")

// examples is what scripts verify. The archive and the statement there are those
// of `reviewer policy build` and `policy sign`; a Sigstore that ended with the
// test signed them. They hold forever, since no clock is read.
const examples = "../../../testdata/sigstore"

func example(t *testing.T, name string) []byte {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func writeExamples(t *testing.T) {
	t.Helper()
	w := newWorld(t, false)
	archive := example(t, "acme.tar.gz")
	byKey, key := keyed(t, archive)
	for name, doc := range map[string][]byte{
		"trusted_root.json":         w.root,
		"acme.sigstore.json":        encoded(t, w.message(t, archive, time.Now().Add(time.Second))),
		"acme.signed-release.json":  encoded(t, w.envelope(t, example(t, "acme.statement.json"))),
		"acme.signed-by-key.json":   encoded(t, byKey),
		"acme.pub":                  []byte(key),
		"trusted_root.another.json": newWorld(t, false).root,
	} {
		if err := os.WriteFile(filepath.Join(examples, name), doc, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExamples(t *testing.T) {
	if *update {
		writeExamples(t)
	}
	archive := example(t, "acme.tar.gz")
	for name, b := range map[string]sigstore.TrustRoot{
		"acme.sigstore.json":       {Root: example(t, "trusted_root.json"), Identity: identity, Issuer: issuer},
		"acme.signed-release.json": {Root: example(t, "trusted_root.json"), Identity: identity, Issuer: issuer},
		"acme.signed-by-key.json":  {Key: string(example(t, "acme.pub"))},
	} {
		doc := example(t, name)
		signed, err := Verify(archive, doc, b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		parsed, err := parse(doc)
		if err != nil {
			t.Fatal(err)
		}
		if b.Key != "" {
			continue
		}
		cert, err := x509.ParseCertificate(parsed.GetVerificationMaterial().GetCertificate().GetRawBytes())
		if err != nil || signed.At < cert.NotBefore.UnixMilli() || signed.At > cert.NotAfter.UnixMilli() {
			t.Errorf("%s: signed at %d (%v), outside its certificate's time", name, signed.At, err)
		}
	}
}
