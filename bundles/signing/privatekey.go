package signing

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// Form is the file format of a key.
type Form string

// The forms of keys.
const (
	FormPEM     Form = "pem"     // PKCS #8, and PKIX for the public key
	FormOpenSSH Form = "openssh" // as ssh-keygen writes them
)

// Forms lists the forms of keys, the usual one first.
func Forms() []string { return []string{string(FormPEM), string(FormOpenSSH)} }

// errEncrypted explains what to do with a key that needs a passphrase: asking for it
// would need a terminal, which a build does not have.
var errEncrypted = errors.New("the key is encrypted; sign with a copy without a passphrase (ssh-keygen -p -f COPY, " +
	"or openssl pkey -in KEY -out COPY), or let a program that asks for it sign: --signing-key 'exec:PROGRAM ARG…'")

// ParsePrivateKey reads one private key: PEM (PKCS #8, or SEC 1 for ECDSA) or OpenSSH's format,
// both only unencrypted. No error quotes the key.
func ParsePrivateKey(text []byte) (*PrivateKey, error) {
	switch {
	case len(text) > MaxKey:
		return nil, fmt.Errorf("the key has %d bytes, at most %d", len(text), MaxKey)
	case !bytes.Contains(text, []byte("-----BEGIN")):
		return nil, notPrivate(text)
	}
	block, err := onlyBlock(text)
	if err != nil {
		return nil, err
	}
	key, err := privateOf(block)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("the key is a %T, which cannot sign; expected ed25519 or ECDSA on P-256", key)
	}
	return NewPrivateKey(signer)
}

// notPrivate explains why a string is not a private key.
func notPrivate(text []byte) error {
	if _, err := parseSSHPublic(text); err == nil {
		return errors.New("this is a public key; signing needs the private one, the file without .pub")
	}
	return errors.New("this is not a private key: expected PEM that starts with -----BEGIN, " +
		"as made by reviewer policy keygen or ssh-keygen -t ed25519 (a shared secret will not do: anyone who can check with it can also sign)")
}

// privateOf returns the key of a PEM block.
func privateOf(block *pem.Block) (any, error) {
	if strings.HasPrefix(block.Headers["Proc-Type"], "4,ENCRYPTED") {
		return nil, errEncrypted
	}
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "OPENSSH PRIVATE KEY":
		return parseSSHPrivate(block)
	case "ENCRYPTED PRIVATE KEY":
		return nil, errEncrypted
	case "PUBLIC KEY":
		return nil, errors.New("this is a public key; signing needs the private one, the file without .pub")
	default: // RSA, DSA and others
		return nil, fmt.Errorf("the PEM block is %.60q; expected PRIVATE KEY, EC PRIVATE KEY or OPENSSH PRIVATE KEY, "+
			"of ed25519 or ECDSA on P-256", block.Type)
	}
	if err != nil {
		return nil, unreadable("private key", err)
	}
	return key, nil
}

// Marshal returns the contents of both key files. The comment names the owner; only
// OpenSSH has a field for it.
func (k *PrivateKey) Marshal(form Form, comment string) (private, public []byte, err error) {
	switch form {
	case FormPEM:
		der, err := x509.MarshalPKCS8PrivateKey(k.key)
		return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), []byte(k.public.PEM()), err
	case FormOpenSSH:
		return k.marshalSSH(comment)
	}
	return nil, nil, fmt.Errorf("unknown form of key %.60q; expected one of %s", form, strings.Join(Forms(), ", "))
}
