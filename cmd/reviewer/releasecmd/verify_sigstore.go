package releasecmd

import (
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/sigstore"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/pflag"
)

// sigstoreFlags name the Sigstore bundle for an archive, and the expected signer.
type sigstoreFlags struct {
	library  sigstore.Verify // nil: not built
	bundle   string
	root     string
	identity string
	issuer   string
}

func (s *sigstoreFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&s.bundle, "sigstore", "", "verify this Sigstore bundle instead of using the trust file; no network access")
	f.StringVar(&s.root, "trusted-root", "", "trusted_root.json with the trusted authorities and logs")
	f.StringVar(&s.identity, "certificate-identity", "", "exact identity of the signer: an e-mail address or a URI")
	f.StringVar(&s.issuer, "certificate-oidc-issuer", "", "exact URL of the identity's OIDC issuer")
}

// known refuses flags that do not name a trusted signer.
func (s *sigstoreFlags) known(keys []string, threshold int) error {
	named := s.identity != "" || s.issuer != ""
	switch {
	case s.bundle == "" && (named || s.root != ""):
		return cli.Usage("--trusted-root, --certificate-identity and --certificate-oidc-issuer need --sigstore BUNDLE")
	case s.bundle == "":
		return nil
	case len(keys) == 0 && (s.root == "" || s.identity == "" || s.issuer == ""):
		return cli.Usage("--sigstore needs a trusted signer: --trusted-root FILE, --certificate-identity ID and " +
			"--certificate-oidc-issuer URL; or --verification-key FILE for a bundle that a key signed")
	case len(keys) > 0 && named:
		return cli.Usage("a Sigstore bundle is signed by a key or by an identity; give --verification-key, or --certificate-identity " +
			"and --certificate-oidc-issuer")
	case len(keys) > 1 || threshold != 1:
		return cli.Usage("a Sigstore bundle has one signature; give one --verification-key, and no --threshold")
	case s.library == nil:
		return sigstore.ErrNotBuilt
	}
	return nil
}

// verify checks an archive that must be signed by a Sigstore bundle.
func (s *sigstoreFlags) verify(in trust.Candidate, keys []string) (trust.Verdict, error) {
	b, name, err := s.trustedRoot(keys)
	if err != nil {
		return trust.Verdict{}, err
	}
	doc, err := active.ReadBounded(s.bundle, sigstore.MaxBundle)
	if err != nil {
		return trust.Verdict{}, err
	}
	signed, err := s.library(in.Archive, doc, b)
	if errors.Is(err, sigstore.ErrRoot) {
		return trust.Verdict{}, fmt.Errorf("--trusted-root %s: %w", s.root, err)
	}
	v := trust.CheckExternal(in, func() (trust.ExternalSignature, error) {
		if signed.By != "" {
			name = signed.By
		}
		signer := trust.Signer{Key: name, ID: signed.KeyID}
		return trust.ExternalSignature{Signer: signer, At: signed.At, Statement: signed.Statement}, s.refusal(err)
	})
	if s.root == "" && !v.Refused() {
		v.Warnings = append(v.Warnings, "the time of signing is unknown without a --trusted-root that has a log")
	}
	return v, nil
}

// trustedRoot reads the trusted signers. A key is named by its file.
func (s *sigstoreFlags) trustedRoot(keys []string) (b sigstore.TrustRoot, name string, err error) {
	b = sigstore.TrustRoot{Identity: s.identity, Issuer: s.issuer}
	if s.root != "" {
		if b.Root, err = active.ReadBounded(s.root, sigstore.MaxRoot); err != nil {
			return b, "", fmt.Errorf("--trusted-root: %w", err)
		}
	}
	if len(keys) == 0 {
		return b, "", nil
	}
	key, err := publicKey(keys[0])
	if err != nil {
		return b, "", err
	}
	b.Key = key.PEM()
	return b, keys[0], nil
}

// refusal converts an error about a bundle to a refusal with a code.
func (s *sigstoreFlags) refusal(err error) error {
	if err == nil {
		return nil
	}
	code := trust.Threshold
	switch {
	case errors.Is(err, sigstore.ErrMalformed):
		code = trust.Unsigned
	case errors.Is(err, sigstore.ErrOther):
		code = trust.Digest
	}
	return &trust.Refusal{Code: code, Err: fmt.Errorf("%s does not prove that the expected signer signed the archive: %w", s.bundle, err)}
}
