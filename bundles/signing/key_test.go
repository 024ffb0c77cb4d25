package signing

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// Every type of key in every form comes back as itself.
func TestKeyForms(t *testing.T) {
	for _, typ := range Types() {
		k := newKey(t, Type(typ))
		for _, form := range Forms() {
			private, public, err := k.Marshal(Form(form), "kim@example.com")
			if err != nil {
				t.Fatalf("%s %s: %v", typ, form, err)
			}
			gotPrivate, err := ParsePrivateKey(private)
			if err != nil {
				t.Fatalf("%s %s: %v", typ, form, err)
			}
			gotPublic, err := ParsePublicKey(public)
			if err != nil {
				t.Fatalf("%s %s: %v", typ, form, err)
			}
			if gotPrivate.PublicKey().ID() != k.PublicKey().ID() || gotPublic.ID() != k.PublicKey().ID() || gotPublic.Type() != Type(typ) {
				t.Errorf("%s %s: another key came back", typ, form)
			}
			e := signed(t, "payload", gotPrivate)
			wantSigners(t, e, []PublicKey{gotPublic}, gotPublic)
		}
	}
}

// ECDSA keys as openssl writes them: SEC 1, with the curve's name in front.
func TestSEC1(t *testing.T) {
	k := newKey(t, ECDSAP256)
	der, err := x509.MarshalECPrivateKey(k.key.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7}})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})...)
	got, err := ParsePrivateKey(text)
	if err != nil || got.PublicKey().ID() != k.PublicKey().ID() {
		t.Errorf("read %v", err)
	}
}

// The same message has the same signature, so that signing twice changes no file.
func TestSignaturesRepeat(t *testing.T) {
	for _, typ := range Types() {
		k := newKey(t, Type(typ))
		first, err := k.Sign(context.Background(), []byte("message"))
		if err != nil {
			t.Fatal(err)
		}
		second, err := k.Sign(context.Background(), []byte("message"))
		if err != nil || string(first) != string(second) {
			t.Errorf("%s: two signatures of one message differ (%v)", typ, err)
		}
		e := signed(t, "payload", k, k)
		if len(e.Signatures) != 1 {
			t.Errorf("%s: one key has %d signatures", typ, len(e.Signatures))
		}
	}
}

func pkix(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func pkcs8(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// sshLine is a public key of OpenSSH with any parts.
func sshLine(kind string, parts ...[]byte) string {
	var b []byte
	for _, p := range append([][]byte{[]byte(kind)}, parts...) {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
	}
	return kind + " " + base64.StdEncoding.EncodeToString(b)
}

func TestRefusedKeys(t *testing.T) {
	k := newKey(t, Ed25519)
	private, public, err := k.Marshal(FormOpenSSH, "")
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(k.key, "", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	pub := k.PublicKey().key.(ed25519.PublicKey)
	legacy := "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END EC PRIVATE KEY-----\n"
	for _, c := range []struct{ name, text, public, private string }{
		{"nothing", "", "this is not a public key", "this is not a private key"},
		{"garbage", "hello", "this is not a public key", "this is not a private key"},
		{"a shared secret", strings.Repeat("ab", 32), "this is not a public key", "a shared secret will not do"},
		{"RSA", pkix(t, &rsaKey.PublicKey), "RSA, which is not accepted", "public key"},
		{"RSA, private", pkcs8(t, rsaKey), "private key", "RSA, which is not accepted"},
		{"RSA, PKCS 1", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)})), "private key", `"RSA PRIVATE KEY"; expected`},
		{"P-384", pkix(t, &p384.PublicKey), "ECDSA on P-384; expected P-256", "public key"},
		{"P-384, private", pkcs8(t, p384), "private key", "ECDSA on P-384; expected P-256"},
		{"DSA", "-----BEGIN DSA PRIVATE KEY-----\nAAAA\n-----END DSA PRIVATE KEY-----\n", "private key", `"DSA PRIVATE KEY"; expected`},
		{"encrypted", string(pem.EncodeToMemory(locked)), "private key", "ssh-keygen -p"},
		{"encrypted, PKCS 8", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", "private key", "ssh-keygen -p"},
		{"encrypted, PEM's own", legacy, "private key", "ssh-keygen -p"},
		{"a certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", `"CERTIFICATE"; expected PUBLIC KEY`, `"CERTIFICATE"; expected`},
		{"two keys", k.PublicKey().PEM() + newKey(t, Ed25519).PublicKey().PEM(), "more than one PEM block", "more than one PEM block"},
		{"two lines", string(public) + string(public), "more than one line", "not a private key"},
		{"options", "restrict " + string(public), "options", "not a private key"},
		{"cut PEM", string(private[:100]), "damaged or truncated", "damaged or truncated"},
		{"cut line", string(public[:40]), "this is not a public key", "not a private key"},
		{"the other half", string(private), "this is a private key", ""},
		{"the other half, too", string(public), "", "this is a public key"},
		{"security token", sshLine("sk-ssh-ed25519@openssh.com", pub, []byte("ssh:")), "security token", "not a private key"},
		{"small order", sshLine("ssh-ed25519", make([]byte, 32)), "small order", "not a private key"},
		{"too long", strings.Repeat("x", MaxKey+1), "at most 65536", "at most 65536"},
	} {
		if _, err := ParsePublicKey([]byte(c.text)); c.public != "" && (err == nil || !strings.Contains(err.Error(), c.public)) {
			t.Errorf("%s: public: error %v, want %q", c.name, err, c.public)
		}
		if _, err := ParsePrivateKey([]byte(c.text)); c.private != "" && (err == nil || !strings.Contains(err.Error(), c.private)) {
			t.Errorf("%s: private: error %v, want %q", c.name, err, c.private)
		}
	}
}

// Under a key of small order one signature, the point 1 and the number 0, holds
// for many messages: every encoding of such a key is refused.
func TestSmallOrder(t *testing.T) {
	forged := make([]byte, ed25519.SignatureSize)
	forged[0] = 1
	for _, y := range smallOrder {
		for _, sign := range []byte{0, 0x80} {
			key := ed25519.PublicKey(unhex(t, y))
			key[31] |= sign
			holds := 0
			for i := range 256 {
				if ed25519.Verify(key, []byte{byte(i)}, forged) {
					holds++
				}
			}
			if _, err := NewPublicKey(key); err == nil {
				t.Errorf("%x is taken", key)
			}
			// x = 0 has no sign: for some readers such an encoding is not a point.
			if holds == 0 && sign == 0 {
				t.Errorf("%x is not a key of small order", key)
			}
		}
	}
	if _, err := NewPublicKey(ed25519.PublicKey("short")); err == nil {
		t.Error("a key of 5 bytes is taken")
	}
}

// A file whose halves are of two keys is refused: signing with it would tell the
// private one.
func TestHalves(t *testing.T) {
	a, b := newKey(t, Ed25519).key.(ed25519.PrivateKey), newKey(t, Ed25519).key.(ed25519.PrivateKey)
	mixed := ed25519.PrivateKey(append(a.Seed(), b[32:]...))
	if _, err := NewPrivateKey(mixed); err == nil {
		t.Error("a key of two halves is taken")
	}
	block, err := ssh.MarshalPrivateKey(mixed, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParsePrivateKey(pem.EncodeToMemory(block)); err == nil || !strings.Contains(err.Error(), "do not match") {
		t.Errorf("read from a file: %v", err)
	}
}

func TestReadSignature(t *testing.T) {
	message := []byte("message")
	for _, typ := range Types() {
		k := newKey(t, Type(typ))
		sig, err := k.Sign(context.Background(), message)
		if err != nil {
			t.Fatal(err)
		}
		text := base64.StdEncoding.EncodeToString(sig)
		for _, printed := range []string{string(sig), text, text + "\n", text[:30] + "\n" + text[30:] + "\r\n", base64.RawURLEncoding.EncodeToString(sig)} {
			got, err := ReadSignature(k.PublicKey(), message, []byte(printed))
			if err != nil || string(got) != string(sig) {
				t.Errorf("%s: of %q: %v", typ, printed, err)
			}
		}
		for _, printed := range []string{"", "error: no token", string(sig[1:]), text[:40]} {
			if _, err := ReadSignature(k.PublicKey(), message, []byte(printed)); err == nil {
				t.Errorf("%s: %q is taken for a signature", typ, printed)
			}
		}
	}
}

// liar is a signer that returns another's signature.
type liar struct {
	*PrivateKey
	key PublicKey
}

func (l liar) PublicKey() PublicKey { return l.key }

func TestSignersAreChecked(t *testing.T) {
	e := &Envelope{Payload: []byte("payload")}
	err := e.Sign(context.Background(), liar{newKey(t, Ed25519), newKey(t, Ed25519).PublicKey()})
	if err == nil || len(e.Signatures) != 0 {
		t.Errorf("a signature of another key is kept (%v)", err)
	}
}

func FuzzParseKey(f *testing.F) {
	k := newKey(f, Ed25519)
	for _, form := range Forms() {
		private, public, err := k.Marshal(Form(form), "")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(private)
		f.Add(public)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := ParsePublicKey(text); err == nil {
			again, err := ParsePublicKey([]byte(p.PEM()))
			if err != nil || again.ID() != p.ID() {
				t.Errorf("another key came back: %v", err)
			}
		}
		if k, err := ParsePrivateKey(text); err == nil {
			e := signed(t, "payload", k)
			wantSigners(t, e, []PublicKey{k.PublicKey()}, k.PublicKey())
		}
	})
}
