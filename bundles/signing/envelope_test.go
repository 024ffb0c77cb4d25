package signing

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newKey(t testing.TB, typ Type) *PrivateKey {
	t.Helper()
	k, err := Generate(typ)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// signed is an envelope over any payload with a signature of each key.
func signed(t testing.TB, payload string, keys ...*PrivateKey) *Envelope {
	t.Helper()
	e := &Envelope{Payload: []byte(payload)}
	for _, k := range keys {
		if err := e.Sign(context.Background(), k); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func ids(keys []PublicKey) (list []string) {
	for _, k := range keys {
		list = append(list, k.ID())
	}
	return list
}

func wantSigners(t *testing.T, e *Envelope, keys []PublicKey, want ...PublicKey) {
	t.Helper()
	got, err := e.Signers(keys)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ids(want), ids(got)); diff != "" {
		t.Errorf("signers (-want +got):\n%s", diff)
	}
}

// The example of DSSE's own protocol.md: PAE of "hello world", and a signature
// by its ECDSA key.
func TestPAE(t *testing.T) {
	const want = "DSSEv1 29 http://example.com/HelloWorld 11 hello world"
	pae := PAE("http://example.com/HelloWorld", []byte("hello world"))
	if string(pae) != want {
		t.Errorf("PAE is %q, want %q", pae, want)
	}
	x, _ := new(big.Int).SetString("46950820868899156662930047687818585632848591499744589407958293238635476079160", 10)
	y, _ := new(big.Int).SetString("5640078356564379163099075877009565129882514886557779369047442380624545832820", 10)
	point := append([]byte{4}, append(x.FillBytes(make([]byte, 32)), y.FillBytes(make([]byte, 32))...)...)
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	key, err := NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	// The example has the numbers r and s side by side; ours are in ASN.1.
	sig, err := base64.StdEncoding.DecodeString("A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==")
	if err != nil {
		t.Fatal(err)
	}
	der := derSignature(sig)
	if !key.Verify(pae, der) {
		t.Error("the example's signature does not hold")
	}
	if key.Verify(append(pae, '!'), der) || key.Verify(pae, sig) {
		t.Error("a signature holds over another message, or in another form")
	}
}

func derSignature(raw []byte) []byte {
	integer := func(b []byte) []byte {
		b = bytes.TrimLeft(b, "\x00")
		if b[0] >= 0x80 {
			b = append([]byte{0}, b...)
		}
		return append([]byte{2, byte(len(b))}, b...)
	}
	body := append(integer(raw[:32]), integer(raw[32:])...)
	return append([]byte{0x30, byte(len(body))}, body...)
}

// RFC 8032, section 7.1, tests 1 to 3.
func TestEd25519Vectors(t *testing.T) {
	for _, v := range [][3]string{
		{"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "", "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
		{"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72", "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
		{"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82", "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
	} {
		key, err := NewPublicKey(ed25519.PublicKey(unhex(t, v[0])))
		if err != nil {
			t.Fatal(err)
		}
		message, sig := unhex(t, v[1]), unhex(t, v[2])
		if !key.Verify(message, sig) {
			t.Errorf("the signature of %s does not hold", v[0])
		}
		for i := range sig {
			sig[i] ^= 1
			if key.Verify(message, sig) {
				t.Errorf("a signature of %s holds with another bit in byte %d", v[0], i)
			}
			sig[i] ^= 1
		}
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSigners(t *testing.T) {
	a, b, c := newKey(t, Ed25519), newKey(t, ECDSAP256), newKey(t, Ed25519)
	pa, pb, pc := a.PublicKey(), b.PublicKey(), c.PublicKey()
	e := signed(t, "payload", a, b)
	wantSigners(t, e, []PublicKey{pc, pb, pa}, pb, pa)
	wantSigners(t, e, []PublicKey{pc})
	wantSigners(t, e, nil)
	wantSigners(t, e, []PublicKey{{}}) // the zero key is nobody

	// One key under two names, in two forms, and with its signature twice, is one.
	again, err := ParsePublicKey([]byte(pa.PEM()))
	if err != nil {
		t.Fatal(err)
	}
	e = signed(t, "payload", a)
	e.Signatures = append(e.Signatures, Signature{"another name", e.Signatures[0].Sig}, Signature{"", e.Signatures[0].Sig}, Signature{pc.ID(), e.Signatures[0].Sig})
	wantSigners(t, e, []PublicKey{pa, again, pa, pc}, pa)

	// A key's id that lies hides no signature, and lends none.
	e = signed(t, "payload", a, b)
	e.Signatures[0].KeyID, e.Signatures[1].KeyID = e.Signatures[1].KeyID, e.Signatures[0].KeyID
	wantSigners(t, e, []PublicKey{pa, pb, pc}, pa, pb)
	e.Signatures[0].KeyID, e.Signatures[1].KeyID = pc.ID(), strings.Repeat("0", 64)
	wantSigners(t, e, []PublicKey{pa, pb, pc}, pa, pb)
}

// Two ECDSA signatures of one key over one payload differ, and are one signer.
func TestOneKeySignsTwice(t *testing.T) {
	k := newKey(t, ECDSAP256)
	e := signed(t, "payload", k)
	sig, err := k.key.(*ecdsa.PrivateKey).Sign(rand.Reader, sum(e.PAE()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(sig, e.Signatures[0].Sig) {
		t.Fatal("both signatures are the same")
	}
	e.Signatures = append(e.Signatures, Signature{"x", sig})
	wantSigners(t, e, []PublicKey{k.PublicKey(), k.PublicKey()}, k.PublicKey())
}

func sum(message []byte) []byte {
	b, _ := hex.DecodeString(SHA256(message))
	return b
}

func TestTampered(t *testing.T) {
	k := newKey(t, Ed25519)
	keys := []PublicKey{k.PublicKey()}
	for i := range len("payload") {
		e := signed(t, "payload", k)
		e.Payload[i] ^= 1
		wantSigners(t, e, keys)
	}
	// A signature over the payload alone, or as another type's, is none over it as ours.
	for _, message := range [][]byte{[]byte("payload"), PAE("text/plain", []byte("payload"))} {
		sig, err := k.Sign(context.Background(), message)
		if err != nil {
			t.Fatal(err)
		}
		wantSigners(t, &Envelope{Payload: []byte("payload"), Signatures: []Signature{{k.PublicKey().ID(), sig}}}, keys)
	}
	if _, err := (&Envelope{Payload: []byte("payload")}).Signers(keys); !errors.Is(err, ErrUnsigned) {
		t.Errorf("without signatures: %v, want %v", err, ErrUnsigned)
	}
	if _, err := signed(t, "payload", k).Signers(make([]PublicKey, maxKeys+1)); err == nil {
		t.Error("any number of keys is tried")
	}
}

func TestDecodeEnvelope(t *testing.T) {
	k := newKey(t, Ed25519)
	e := signed(t, `{"a":"<&>?~"}`, k)
	doc, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeEnvelope(doc)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	// The URL alphabet, another order and no spaces.
	sig := base64.URLEncoding.EncodeToString(e.Signatures[0].Sig)
	other := `{"signatures":[{"sig":"` + sig + `"}],"payload":"` + base64.URLEncoding.EncodeToString(e.Payload) + `","payloadType":"application/vnd.in-toto+json"}`
	if got, err = DecodeEnvelope([]byte(other)); err != nil {
		t.Fatal(err)
	}
	wantSigners(t, got, []PublicKey{k.PublicKey()}, k.PublicKey())
}

func TestBadEnvelopes(t *testing.T) {
	const good = `{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"keyid":"k","sig":"AAAA"}]}`
	if _, err := DecodeEnvelope([]byte(good)); err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat(`{"keyid":"k","sig":"AAAA"},`, MaxSignatures)
	for _, c := range []struct{ name, old, new, want string }{
		{"empty", good, "", "ends too soon"},
		{"cut", `"}]}`, `"}]`, "ends too soon"},
		{"a list", good, "[]", "not as expected"},
		{"null", good, "null", "is missing"},
		{"two documents", `}]}`, `}]} {}`, "more than one JSON document"},
		{"garbage behind", `}]}`, `}]}x`, "more than one JSON document"},
		{"another type", "vnd.in-toto+json", "json", `has type "application/json"; expected "application/vnd.in-toto+json"`},
		{"no type", `"payloadType":"application/vnd.in-toto+json",`, "", "missing"},
		{"unknown field", `"payload":`, `"certs":[],"payload":`, `unknown field "certs"`},
		{"other letters", `"payload":`, `"PAYLOAD":`, "not written exactly"},
		{"key twice", `"payload":`, `"payload":"bm8=","payload":`, `duplicate key "payload"`},
		{"signature's key twice", `"sig":`, `"sig":"BBBB","sig":`, `duplicate key "sig"`},
		{"cut base64", `"e30="`, `"e30"`, "payload is not valid base64"},
		{"stray bits", `"e30="`, `"e31="`, "payload is not valid base64"},
		{"line break", `"e30="`, `"e3\n0="`, "line breaks"},
		{"both alphabets", `"e30="`, `"+_-/"`, "is not valid base64"},
		{"cut signature", `"AAAA"`, `"AAA"`, "signature 1 of the envelope is not valid base64"},
		{"empty signature", `"AAAA"`, `""`, "has 0 bytes"},
		{"long signature", `"AAAA"`, `"` + strings.Repeat("AAAA", 400) + `"`, "has 1200 bytes"},
		{"too many signatures", `[{`, `[` + many + `{`, "has 17 signatures, at most 16"},
		{"no signatures field", `,"signatures":[{"keyid":"k","sig":"AAAA"}]`, "", "missing"},
		{"null signatures", `[{"keyid":"k","sig":"AAAA"}]`, "null", ""},
		{"deep", `"AAAA"`, strings.Repeat("[", 100_000), "not as expected"},
		{"too large", `"k"`, `"` + strings.Repeat("k", MaxEnvelope) + `"`, "at most 1048576"},
	} {
		doc := strings.Replace(good, c.old, c.new, 1)
		if doc == good {
			t.Fatalf("%s: nothing changed", c.name)
		}
		e, err := DecodeEnvelope([]byte(doc))
		if c.name == "null signatures" { // is an envelope that nobody signed
			if err == nil {
				_, err = e.Signers(nil)
			}
			if !errors.Is(err, ErrUnsigned) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// What was decoded is encoded to the same envelope, and every signed bit of it counts.
func FuzzDecodeEnvelope(f *testing.F) {
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"keyid":"k","sig":"AAAA"}]}`))
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"-_-_","signatures":[{"sig":"+/+/"}]} `))
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"","signatures":[]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		e, err := DecodeEnvelope(doc)
		if err != nil {
			return
		}
		again, err := e.Encode()
		if err != nil {
			t.Skip("at the bound of its size")
		}
		got, err := DecodeEnvelope(again)
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, again)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("another envelope (-want +got):\n%s", diff)
		}
	})
}
