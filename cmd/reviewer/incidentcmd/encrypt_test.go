package incidentcmd

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// Only the recipients read what is encrypted, and a failing report leaves nothing that
// looks whole.
func TestEncrypted(t *testing.T) {
	own, err := age.GenerateX25519Identity()
	other, err2 := age.GenerateX25519Identity()
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	var b bytes.Buffer
	write := func(w io.Writer) error { _, err := io.WriteString(w, "what happened"); return err }
	if err := encrypted(&b, []age.Recipient{own.Recipient()}, write); err != nil || bytes.Contains(b.Bytes(), []byte("happened")) {
		t.Fatalf("%v, %s", err, b.Bytes())
	}
	r, err := age.Decrypt(armor.NewReader(bytes.NewReader(b.Bytes())), own)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); err != nil || string(text) != "what happened" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := age.Decrypt(armor.NewReader(bytes.NewReader(b.Bytes())), other); err == nil {
		t.Error("somebody else can read it")
	}
	broken := errors.New("no policy")
	b.Reset()
	if err := encrypted(&b, []age.Recipient{own.Recipient()}, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a report that fails: %v", err)
	}
	if _, err := age.Decrypt(armor.NewReader(bytes.NewReader(b.Bytes())), own); err == nil {
		t.Error("what is not whole can be read")
	}
}
