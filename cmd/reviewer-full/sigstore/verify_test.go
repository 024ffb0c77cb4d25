package sigstore

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/sigstore"
	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protodsse "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

const (
	identity = "release@acme.example"
	issuer   = "https://issuer.acme.example"
)

var archive = []byte("a policy, packed")

// TestMain refuses the network to everything that asks in the usual ways.
func TestMain(m *testing.M) {
	refused := errors.New("a test reaches for the network")
	http.DefaultTransport = refusing{refused}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, refused }}
	os.Exit(m.Run())
}

type refusing struct{ err error }

func (r refusing) RoundTrip(q *http.Request) (*http.Response, error) {
	fmt.Fprintln(os.Stderr, "asked for", q.URL)
	return nil, r.err
}

// world is a Sigstore of its own: authorities, a log, and the root that
// believes them.
type world struct {
	*ca.VirtualSigstore
	root []byte
}

func newWorld(t *testing.T, certificateLogs bool) world {
	t.Helper()
	v, err := ca.NewVirtualSigstore()
	if err != nil {
		t.Fatal(err)
	}
	ctlogs := map[string]*root.TransparencyLog{}
	if certificateLogs {
		ctlogs = withIDs(t, v.CTLogs())
	}
	r, err := root.NewTrustedRoot(root.TrustedRootMediaType01, v.FulcioCertificateAuthorities(), ctlogs, v.TimestampingAuthorities(), withIDs(t, v.RekorLogs()))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return world{v, doc}
}

// withIDs writes the ids of logs as a trusted root has them: as bytes.
func withIDs(t *testing.T, logs map[string]*root.TransparencyLog) map[string]*root.TransparencyLog {
	t.Helper()
	for id, log := range logs {
		raw, err := hex.DecodeString(id)
		if err != nil {
			t.Fatal(err)
		}
		log.ID = raw
	}
	return logs
}

func (w world) believed() sigstore.TrustRoot {
	return sigstore.TrustRoot{Root: w.root, Identity: identity, Issuer: issuer}
}

// message is a bundle of the signature of an archive's bytes, made and logged
// at a time.
func (w world) message(t *testing.T, archive []byte, at time.Time) *protobundle.Bundle {
	t.Helper()
	e, err := w.SignAtTime(identity, issuer, archive, at)
	if err != nil {
		t.Fatal(err)
	}
	b := w.bundle(t, e)
	content, err := e.SignatureContent()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(archive)
	b.Content = &protobundle.Bundle_MessageSignature{MessageSignature: &protocommon.MessageSignature{
		MessageDigest: &protocommon.HashOutput{Algorithm: protocommon.HashAlgorithm_SHA2_256, Digest: sum[:]},
		Signature:     content.Signature(),
	}}
	return b
}

func statement(archive []byte) []byte {
	sum := sha256.Sum256(archive)
	doc, _ := json.Marshal(map[string]any{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       []any{map[string]any{"name": "acme.tar.gz", "digest": map[string]string{"sha256": hex.EncodeToString(sum[:])}}},
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate":     map[string]any{"builder": "mine"},
	})
	return doc
}

// envelope is a bundle of a statement.
func (w world) envelope(t *testing.T, statement []byte) *protobundle.Bundle {
	t.Helper()
	e, err := w.Attest(identity, issuer, statement)
	if err != nil {
		t.Fatal(err)
	}
	b := w.bundle(t, e)
	content, err := e.SignatureContent()
	if err != nil {
		t.Fatal(err)
	}
	b.Content = &protobundle.Bundle_DsseEnvelope{DsseEnvelope: &protodsse.Envelope{
		Payload: statement, PayloadType: inToto, Signatures: []*protodsse.Signature{{Sig: content.Signature()}},
	}}
	return b
}

// bundle puts what shows who signed into a bundle.
func (w world) bundle(t *testing.T, e *ca.TestEntity) *protobundle.Bundle {
	t.Helper()
	content, err := e.VerificationContent()
	if err != nil {
		t.Fatal(err)
	}
	m := &protobundle.VerificationMaterial{
		Content:                   &protobundle.VerificationMaterial_Certificate{Certificate: &protocommon.X509Certificate{RawBytes: content.Certificate().Raw}},
		TimestampVerificationData: &protobundle.TimestampVerificationData{},
	}
	stamps, err := e.Timestamps()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stamps {
		m.TimestampVerificationData.Rfc3161Timestamps = append(m.TimestampVerificationData.Rfc3161Timestamps, &protocommon.RFC3161SignedTimestamp{SignedTimestamp: s})
	}
	entries, err := e.TlogEntries()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		m.TlogEntries = append(m.TlogEntries, w.included(t, entry.TransparencyLogEntry()))
	}
	return &protobundle.Bundle{MediaType: "application/vnd.dev.sigstore.bundle.v0.3+json", VerificationMaterial: m}
}

// included adds what the log answers: its promise, and the proof that the entry
// is in it.
func (w world) included(t *testing.T, e *protorekor.TransparencyLogEntry) *protorekor.TransparencyLogEntry {
	t.Helper()
	var body struct{ Kind, APIVersion string }
	if err := json.Unmarshal(e.CanonicalizedBody, &body); err != nil {
		t.Fatal(err)
	}
	e.KindVersion = &protorekor.KindVersion{Kind: body.Kind, Version: body.APIVersion}
	promise, err := w.RekorSignPayload(tlog.RekorPayload{
		Body: base64.StdEncoding.EncodeToString(e.CanonicalizedBody), IntegratedTime: e.IntegratedTime, LogIndex: e.LogIndex, LogID: hex.EncodeToString(e.LogId.KeyId),
	})
	if err != nil {
		t.Fatal(err)
	}
	e.InclusionPromise = &protorekor.InclusionPromise{SignedEntryTimestamp: promise}
	p, err := w.GetInclusionProof(e.CanonicalizedBody)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := hex.DecodeString(*p.RootHash)
	if err != nil {
		t.Fatal(err)
	}
	e.InclusionProof = &protorekor.InclusionProof{LogIndex: *p.LogIndex, TreeSize: *p.TreeSize, RootHash: hash, Checkpoint: &protorekor.Checkpoint{Envelope: *p.Checkpoint}}
	return e
}

func encoded(t *testing.T, b *protobundle.Bundle) []byte {
	t.Helper()
	doc, err := protojson.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestHolds(t *testing.T) {
	w := newWorld(t, false)
	now := time.Now()
	noStamps := w.message(t, archive, now.Add(5*time.Minute))
	noStamps.VerificationMaterial.TimestampVerificationData = nil
	about := statement(archive)
	for name, test := range map[string]struct {
		b         *protobundle.Bundle
		statement []byte
		after     time.Duration // when the first authority that confirms a time saw it
	}{
		"bytes":                           {w.message(t, archive, now.Add(5*time.Minute)), nil, 0},
		"bytes, with the log's time only": {noStamps, nil, 5 * time.Minute},
		"statement":                       {w.envelope(t, about), about, 0},
	} {
		got, err := Verify(archive, encoded(t, test.b), w.believed())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		cert, err := x509.ParseCertificate(test.b.VerificationMaterial.GetCertificate().RawBytes)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
		if got.By != identity+" of "+issuer || got.KeyID != hex.EncodeToString(sum[:]) || !bytes.Equal(got.Statement, test.statement) {
			t.Errorf("%s: got %+v", name, got)
		}
		// Signatures have times in seconds.
		if at := time.UnixMilli(got.At).Add(-test.after); at.Before(now.Add(-time.Second)) || at.After(time.Now().Add(time.Second)) {
			t.Errorf("%s: signed at %s, want %s after %s", name, time.UnixMilli(got.At), test.after, now)
		}
	}
}

// Each is refused, and with the one thing changed back it would hold.
func TestRefused(t *testing.T) {
	w, other := newWorld(t, false), newWorld(t, false)
	soon := time.Now().Add(5 * time.Minute)
	for _, test := range []struct {
		name    string
		change  func(*protobundle.Bundle, *sigstore.TrustRoot)
		archive []byte
		is      error
		says    string
	}{
		{name: "another identity", change: func(_ *protobundle.Bundle, b *sigstore.TrustRoot) { b.Identity = "mallory@acme.example" }, says: "mallory"},
		{name: "the beginning of an identity", change: func(_ *protobundle.Bundle, b *sigstore.TrustRoot) { b.Identity = "release@acme" }, says: "SAN"},
		{name: "an identity that matches as a pattern", change: func(_ *protobundle.Bundle, b *sigstore.TrustRoot) { b.Identity = ".*" }, says: "SAN"},
		{name: "no identity", change: func(_ *protobundle.Bundle, b *sigstore.TrustRoot) { b.Identity = "" }, says: "must be subject"},
		{name: "another issuer", change: func(_ *protobundle.Bundle, b *sigstore.TrustRoot) { b.Issuer = "https://issuer.mallory.example" }, says: "issuer"},
		{name: "no issuer", change: func(_ *protobundle.Bundle, b *sigstore.TrustRoot) { b.Issuer = "" }, says: "Issuer"},
		{name: "another archive", archive: []byte("a policy, paCked"), is: sigstore.ErrOther},
		{name: "another trusted root", change: func(_ *protobundle.Bundle, b *sigstore.TrustRoot) { b.Root = other.root }, says: "log"},
		{name: "no trusted root", change: func(_ *protobundle.Bundle, b *sigstore.TrustRoot) { b.Root = nil }, is: sigstore.ErrRoot},
		{name: "a trusted root that cannot be read", change: func(_ *protobundle.Bundle, b *sigstore.TrustRoot) { b.Root = []byte("{}") }, is: sigstore.ErrRoot},
		{name: "a trusted root that is too big", change: func(_ *protobundle.Bundle, b *sigstore.TrustRoot) { b.Root = padded(b.Root, sigstore.MaxRoot) }, is: sigstore.ErrRoot},
		{name: "no log entry", change: func(b *protobundle.Bundle, _ *sigstore.TrustRoot) { b.VerificationMaterial.TlogEntries = nil }, says: "log"},
		{name: "no proof that it is in the log", change: func(b *protobundle.Bundle, _ *sigstore.TrustRoot) { entry(b).InclusionProof = nil }, says: "inclusion proof"},
		{name: "one entry of the log twice", change: func(b *protobundle.Bundle, _ *sigstore.TrustRoot) {
			b.VerificationMaterial.TlogEntries = append(b.VerificationMaterial.TlogEntries, entry(b))
		}, says: "duplicate"},
		{name: "an older form", change: func(b *protobundle.Bundle, _ *sigstore.TrustRoot) {
			b.MediaType = "application/vnd.dev.sigstore.bundle+json;version=0.2"
		}, is: sigstore.ErrMalformed},
		{name: "a newer form", change: func(b *protobundle.Bundle, _ *sigstore.TrustRoot) {
			b.MediaType = "application/vnd.dev.sigstore.bundle.v0.4+json"
		}, is: sigstore.ErrMalformed},
		{name: "no certificate", change: func(b *protobundle.Bundle, _ *sigstore.TrustRoot) { b.VerificationMaterial.Content = nil }, is: sigstore.ErrMalformed},
		{name: "a key in place of the certificate", change: func(b *protobundle.Bundle, _ *sigstore.TrustRoot) {
			b.VerificationMaterial.Content = &protobundle.VerificationMaterial_PublicKey{PublicKey: &protocommon.PublicKeyIdentifier{Hint: "mine"}}
		}, says: "certificate"},
		{name: "the certificate of another world", change: func(b *protobundle.Bundle, _ *sigstore.TrustRoot) {
			b.VerificationMaterial.Content = other.message(t, archive, soon).VerificationMaterial.Content
		}, says: "certificate"},
		{name: "the log's time after the certificate", change: func(b *protobundle.Bundle, _ *sigstore.TrustRoot) {
			*b = *w.message(t, archive, time.Now().Add(30*time.Minute))
		}, says: "certificate"},
		{name: "nobody's time", change: func(b *protobundle.Bundle, _ *sigstore.TrustRoot) {
			b.VerificationMaterial.TimestampVerificationData, entry(b).InclusionPromise = nil, nil
		}, says: "timestamp"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, believed, of := w.message(t, archive, soon), w.believed(), archive
			if test.change != nil {
				test.change(b, &believed)
			}
			if test.archive != nil {
				of = test.archive
			}
			got, err := Verify(of, encoded(t, b), believed)
			if err == nil || got.By != "" || !strings.Contains(err.Error(), test.says) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %+v, %v; want an error with %q, %v", got, err, test.says, test.is)
			}
		})
	}
}

func entry(b *protobundle.Bundle) *protorekor.TransparencyLogEntry {
	return b.VerificationMaterial.TlogEntries[0]
}

// padded makes a document too big without changing what it says.
func padded(doc []byte, most int) []byte {
	return append(bytes.Clone(doc), bytes.Repeat([]byte(" "), most+1-len(doc))...)
}

func TestBundleTooBig(t *testing.T) {
	w := newWorld(t, false)
	doc := padded(encoded(t, w.message(t, archive, time.Now().Add(5*time.Minute))), sigstore.MaxBundle)
	if _, err := Verify(archive, doc, w.believed()); !errors.Is(err, sigstore.ErrMalformed) {
		t.Errorf("%d bytes: %v", len(doc), err)
	}
	if _, err := Verify(archive, doc[:sigstore.MaxBundle], w.believed()); err != nil {
		t.Errorf("%d bytes: %v", sigstore.MaxBundle, err)
	}
}

// A root with certificate logs wants the certificate to be in one.
func TestCertificateLog(t *testing.T) {
	w := newWorld(t, true)
	_, err := Verify(archive, encoded(t, w.message(t, archive, time.Now().Add(5*time.Minute))), w.believed())
	if err == nil || !strings.Contains(err.Error(), "signed certificate timestamp") {
		t.Errorf("a certificate that is in no log: %v", err)
	}
}

// One byte of each thing that is signed, and of each that shows it.
func TestTampered(t *testing.T) {
	w := newWorld(t, false)
	message, envelope := w.message(t, archive, time.Now().Add(5*time.Minute)), w.envelope(t, statement(archive))
	for name, bytesOf := range map[string]func(*protobundle.Bundle) []byte{
		"certificate": func(b *protobundle.Bundle) []byte { return b.VerificationMaterial.GetCertificate().RawBytes },
		"entry":       func(b *protobundle.Bundle) []byte { return entry(b).CanonicalizedBody },
		"promise":     func(b *protobundle.Bundle) []byte { return entry(b).InclusionPromise.SignedEntryTimestamp },
		"root hash":   func(b *protobundle.Bundle) []byte { return entry(b).InclusionProof.RootHash },
		"log":         func(b *protobundle.Bundle) []byte { return entry(b).LogId.KeyId },
		"digest":      func(b *protobundle.Bundle) []byte { return b.GetMessageSignature().GetMessageDigest().GetDigest() },
		"signature":   func(b *protobundle.Bundle) []byte { return b.GetMessageSignature().GetSignature() },
		"payload":     func(b *protobundle.Bundle) []byte { return b.GetDsseEnvelope().GetPayload() },
		"signature of the payload": func(b *protobundle.Bundle) []byte {
			if e := b.GetDsseEnvelope(); e != nil {
				return e.Signatures[0].Sig
			}
			return nil
		},
	} {
		for _, good := range []*protobundle.Bundle{message, envelope} {
			n := len(bytesOf(good))
			for _, i := range []int{0, n / 3, n / 2, n - 1} {
				if n == 0 {
					continue
				}
				b := proto.Clone(good).(*protobundle.Bundle)
				// A promise alone is not missed if another time replaces it.
				b.VerificationMaterial.TimestampVerificationData = nil
				bytesOf(b)[i] ^= 1
				if got, err := Verify(archive, encoded(t, b), w.believed()); err == nil {
					t.Errorf("byte %d of %d of the %s is another, and it holds: %+v", i, n, name, got)
				}
			}
		}
	}
}

func TestStatements(t *testing.T) {
	w := newWorld(t, false)
	two := strings.Replace(string(statement(archive)), `"subject":[`, `"subject":[{"name":"other","digest":{"sha256":"00"}},`, 1)
	for name, test := range map[string]struct {
		statement string
		is        error
	}{
		"another archive": {string(statement([]byte("other"))), sigstore.ErrOther},
		"two archives":    {two, sigstore.ErrMalformed},
		"no archive":      {`{"_type":"https://in-toto.io/Statement/v1","predicateType":"https://slsa.dev/provenance/v1","predicate":{}}`, sigstore.ErrMalformed},
		"no digest":       {`{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"x"}],"predicateType":"https://slsa.dev/provenance/v1","predicate":{}}`, sigstore.ErrOther},
		"no statement":    {`[]`, sigstore.ErrMalformed},
	} {
		if _, err := Verify(archive, encoded(t, w.envelope(t, []byte(test.statement))), w.believed()); !errors.Is(err, test.is) {
			t.Errorf("%s: got %v, want %v", name, err, test.is)
		}
	}
	b := w.envelope(t, statement(archive))
	b.GetDsseEnvelope().PayloadType = "text/plain"
	if _, err := Verify(archive, encoded(t, b), w.believed()); !errors.Is(err, sigstore.ErrMalformed) {
		t.Errorf("a payload of another type: %v", err)
	}
}

// keyed is a bundle that a key signed, and the key.
func keyed(t testing.TB, archive []byte) (*protobundle.Bundle, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(archive)
	sig, err := key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return &protobundle.Bundle{
		MediaType:            "application/vnd.dev.sigstore.bundle.v0.3+json",
		VerificationMaterial: &protobundle.VerificationMaterial{Content: &protobundle.VerificationMaterial_PublicKey{PublicKey: &protocommon.PublicKeyIdentifier{Hint: "mine"}}},
		Content: &protobundle.Bundle_MessageSignature{MessageSignature: &protocommon.MessageSignature{
			MessageDigest: &protocommon.HashOutput{Algorithm: protocommon.HashAlgorithm_SHA2_256, Digest: sum[:]}, Signature: sig,
		}},
	}, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func TestKey(t *testing.T) {
	w := newWorld(t, false)
	b, key := keyed(t, archive)
	_, other := keyed(t, archive)
	doc := encoded(t, b)
	if got, err := Verify(archive, doc, sigstore.TrustRoot{Key: key}); err != nil || got.By != "" || len(got.KeyID) != 64 || got.At != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	certified := encoded(t, w.message(t, archive, time.Now().Add(5*time.Minute)))
	for name, test := range map[string]struct {
		archive, doc []byte
		b            sigstore.TrustRoot
	}{
		"another key":                  {archive, doc, sigstore.TrustRoot{Key: other}},
		"another archive":              {[]byte("other"), doc, sigstore.TrustRoot{Key: key}},
		"no key":                       {archive, doc, sigstore.TrustRoot{Key: "x"}},
		"a root, and no log entry":     {archive, doc, sigstore.TrustRoot{Key: key, Root: w.root}},
		"a certificate":                {archive, certified, sigstore.TrustRoot{Key: key, Root: w.root}},
		"a certificate without a root": {archive, certified, sigstore.TrustRoot{Key: key}},
	} {
		if got, err := Verify(test.archive, test.doc, test.b); err == nil {
			t.Errorf("%s: it holds: %+v", name, got)
		}
	}
}

// FuzzVerify: whatever the bundle is, it does not end the program, and what
// nobody signed does not hold.
func FuzzVerify(f *testing.F) {
	b, key := keyed(f, archive)
	doc, err := protojson.Marshal(b)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(doc)
	f.Add([]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"certificate":{},"tlogEntries":[{}]},"dsseEnvelope":{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[{}]}}`))
	f.Add([]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"publicKey":{}},"messageSignature":{}}`))
	other := []byte("what nobody signed")
	f.Fuzz(func(t *testing.T, doc []byte) {
		if got, err := Verify(other, doc, sigstore.TrustRoot{Key: key}); err == nil {
			t.Errorf("it holds: %+v", got)
		}
	})
}
