package signing

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// parseSSHPublic reads a line such as ssh-ed25519 AAAA… comment.
func parseSSHPublic(text []byte) (PublicKey, error) {
	line, rest, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	if len(bytes.TrimSpace(rest)) > 0 {
		return PublicKey{}, errors.New("there is more than one line; expected one public key")
	}
	key, _, options, _, err := ssh.ParseAuthorizedKey(line)
	switch {
	case err != nil:
		return PublicKey{}, errors.New("this is not a public key: expected PEM (-----BEGIN PUBLIC KEY-----), or a line such as ssh-ed25519 AAAA…")
	case len(options) > 0:
		return PublicKey{}, fmt.Errorf("the line begins with options (%.60q); expected the key alone: ssh-ed25519 AAAA…", options[0])
	}
	return sshPublic(key)
}

func sshPublic(key ssh.PublicKey) (PublicKey, error) {
	switch t := key.Type(); {
	case strings.Contains(t, "cert"):
		return PublicKey{}, fmt.Errorf("this is a certificate (%s); give the key itself", t)
	case strings.HasPrefix(t, "sk-"):
		return PublicKey{}, fmt.Errorf("this is a key on a security token (%s), "+
			"whose signatures cover more than the message and are not accepted; use an ed25519 key, or one that a program signs with (exec:)", t)
	//lint:ignore SA1019 it is named in order to be refused
	case t == ssh.InsecureKeyAlgoDSA:
		return PublicKey{}, errors.New("the key is DSA, which is too weak; create one with reviewer policy keygen, or ssh-keygen -t ed25519")
	}
	inner, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return PublicKey{}, fmt.Errorf("the key is a %s; expected ed25519 or ECDSA on P-256", key.Type())
	}
	return NewPublicKey(inner.CryptoPublicKey())
}

// parseSSHPrivate reads a block OPENSSH PRIVATE KEY.
func parseSSHPrivate(block *pem.Block) (any, error) {
	key, err := ssh.ParseRawPrivateKey(pem.EncodeToMemory(block))
	if missing := (*ssh.PassphraseMissingError)(nil); errors.As(err, &missing) {
		return nil, errEncrypted
	}
	if err != nil {
		return nil, unreadable("private key", err)
	}
	if k, ok := key.(*ed25519.PrivateKey); ok { // by its address, unlike elsewhere
		return *k, nil
	}
	return key, nil
}

// marshalSSH writes both halves of a key as ssh-keygen does.
func (k *PrivateKey) marshalSSH(comment string) (private, public []byte, err error) {
	block, err := ssh.MarshalPrivateKey(crypto.PrivateKey(k.key), comment)
	if err != nil {
		return nil, nil, err
	}
	line, err := ssh.NewPublicKey(k.public.key)
	if err != nil {
		return nil, nil, err
	}
	public = bytes.TrimSuffix(ssh.MarshalAuthorizedKey(line), []byte("\n"))
	if comment != "" {
		public = append(append(public, ' '), comment...)
	}
	return pem.EncodeToMemory(block), append(public, '\n'), nil
}
