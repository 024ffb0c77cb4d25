package releasecmd

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/subprocess"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/spf13/cobra"
)

// signingKeys are the keys that a command signs with, as its flags name them.
type signingKeys struct {
	private []string // --signing-key
	public  []string // --verification-key, of those that a program signs with
}

// keyForms lists where a signing key can be.
const keyForms = "FILE, env:NAME, or 'exec:PROGRAM ARG…'"

func (k *signingKeys) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&k.private, "signing-key", nil, "a private key: "+keyForms+"; may be repeated")
	cmd.Flags().StringArrayVar(&k.public, "verification-key", nil, "public keys for the exec: signing keys, in the same order")
}

// signers opens the keys. Programs of exec: are only started to sign.
func signers(a *cli.App, k *signingKeys) ([]signing.Signer, error) {
	if len(k.private) == 0 {
		return nil, cli.Usage("no signing key given: use --signing-key " + keyForms + " (reviewer policy keygen creates a key)")
	}
	public := k.public
	var signers []signing.Signer
	for _, source := range k.private {
		command, external := strings.CutPrefix(source, "exec:")
		if !external {
			key, err := privateKey(a, source)
			if err != nil {
				return nil, err
			}
			signers = append(signers, key)
			continue
		}
		if len(public) == 0 {
			return nil, cli.Usage("--signing-key exec:… needs the public key that belongs to it: --verification-key FILE")
		}
		s, err := externalSigner(a, command, public[0])
		if err != nil {
			return nil, err
		}
		signers, public = append(signers, s), public[1:]
	}
	if len(public) > 0 {
		return nil, cli.Usage("--verification-key %s has no matching --signing-key exec:…; other keys contain their public half", public[0])
	}
	return signers, nil
}

// privateKey reads a key from a file or from the environment. Errors name the place,
// and do not quote the key.
func privateKey(a *cli.App, source string) (*signing.PrivateKey, error) {
	text, err := keyText(a, source)
	if err != nil {
		return nil, fmt.Errorf("--signing-key %s: %w", source, err)
	}
	key, err := signing.ParsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("--signing-key %s: %w", source, err)
	}
	if path, ok := keyFile(source); ok {
		warnOpenKey(a, path)
	}
	return key, nil
}

// keyFile returns the file that a source of a key names; ok is false for a variable.
func keyFile(source string) (path string, ok bool) {
	return strings.TrimPrefix(source, "file://"), !strings.HasPrefix(source, "env:")
}

func keyText(a *cli.App, source string) ([]byte, error) {
	if path, ok := keyFile(source); ok {
		return readKeyFile(path)
	}
	text := a.Env(strings.TrimPrefix(strings.TrimPrefix(source, "env:"), "//"))
	if text == "" {
		return nil, errors.New("this variable is not set, or empty")
	}
	// CI secrets are often stored as one line.
	if line, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text)); err == nil && bytes.Contains(line, []byte("-----BEGIN")) {
		return line, nil
	}
	return []byte(text), nil
}

// warnOpenKey warns of a private key that others on this machine can read, and gives the
// command that changes it. A pipe is left alone: it can be opened only once.
func warnOpenKey(a *cli.App, path string) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		return // reading the key says why
	}
	defer f.Close()
	if command, err := osfile.ReadByOthers(f); err == nil && command != "" {
		fmt.Fprintf(a.Stderr, "reviewer: %s can be read by others on this machine; run %s\n", cli.Masked(path), cli.Masked(command))
	}
}

// readKeyFile reads a key, which is short.
func readKeyFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, signing.MaxKey+1))
}

// publicKey reads a public key from a file.
func publicKey(path string) (signing.PublicKey, error) {
	text, err := readKeyFile(path)
	if err != nil {
		return signing.PublicKey{}, fmt.Errorf("--verification-key %s: %w", path, err)
	}
	key, err := signing.ParsePublicKey(text)
	if err != nil {
		return signing.PublicKey{}, fmt.Errorf("--verification-key %s: %w", path, err)
	}
	return key, nil
}

// external is a program that has the key: in a KMS, an HSM, or behind a passphrase.
type external struct {
	argv   []string
	key    signing.PublicKey
	stderr io.Writer
}

// Bounds of an external program.
const (
	maxSignerTime   = 2 * time.Minute // a person may have to touch a token
	maxSignerOutput = 64 << 10        // bytes
)

func externalSigner(a *cli.App, command, public string) (*external, error) {
	argv := strings.Fields(command)
	if len(argv) == 0 {
		return nil, cli.Usage("--signing-key exec: names no program; expected 'exec:PROGRAM ARG…'")
	}
	key, err := publicKey(public)
	return &external{argv, key, a.Stderr}, err
}

// PublicKey implements signing.Signer.
func (e *external) PublicKey() signing.PublicKey { return e.key }

// Sign implements signing.Signer. The program reads the message from standard input,
// prints the signature, and may ask questions on the terminal. No shell is used.
func (e *external) Sign(ctx context.Context, message []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, maxSignerTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.argv[0], e.argv[1:]...)
	out := &outputLimit{subprocess.Bounded{Left: maxSignerOutput}, cancel}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(message), out, e.stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case out.Over:
		return nil, fmt.Errorf("%s printed more than %d bytes; a signature has fewer than a thousand", e.argv[0], maxSignerOutput)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s took too long or was interrupted: %w", e.argv[0], ctx.Err())
	case err != nil:
		return nil, fmt.Errorf("%s failed: %w", e.argv[0], err)
	}
	return signing.ReadSignature(e.key, message, out.Bytes())
}

// outputLimit ends a program that writes more than the limit, which would otherwise
// block.
type outputLimit struct {
	subprocess.Bounded
	stop context.CancelFunc
}

// Write implements io.Writer.
func (s *outputLimit) Write(p []byte) (int, error) {
	n, err := s.Bounded.Write(p)
	if s.Over {
		s.stop()
	}
	return n, err
}
