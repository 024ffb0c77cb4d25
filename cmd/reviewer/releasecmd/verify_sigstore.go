package releasecmd

import (
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/bundles/sigstore"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/spf13/pflag"
)

// sigstoreFlags say which Sigstore bundle vouches for an archive, and whom it has
// to show.
type sigstoreFlags struct {
	bundle   string
	root     string
	identity string
	issuer   string
}

func (s *sigstoreFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&s.bundle, "sigstore", "", "believe this Sigstore bundle instead of the trust file; nothing is asked of the network")
	f.StringVar(&s.root, "trusted-root", "", "trusted_root.json with the authorities and logs that are believed")
	f.StringVar(&s.identity, "certificate-identity", "", "who has to have signed: an address or a URI, exactly")
	f.StringVar(&s.issuer, "certificate-oidc-issuer", "", "URL of who has to have vouched for the identity, exactly")
}

// known refuses flags that leave open whom to believe.
func (s *sigstoreFlags) known(keys []string, threshold int) error {
	named := s.identity != "" || s.issuer != ""
	switch {
	case s.bundle == "" && (named || s.root != ""):
		return errors.New("--trusted-root, --certificate-identity and --certificate-oidc-issuer are for --sigstore BUNDLE; give that, too")
	case s.bundle == "":
		return nil
	case len(keys) == 0 && (s.root == "" || s.identity == "" || s.issuer == ""):
		return errors.New("--sigstore needs to know whom to believe: --trusted-root FILE, --certificate-identity ID and " +
			"--certificate-oidc-issuer URL; or --verification-key FILE for a bundle that a key signed")
	case len(keys) > 0 && named:
		return errors.New("a Sigstore bundle is signed by a key or by an identity; give --verification-key, or --certificate-identity " +
			"and --certificate-oidc-issuer")
	case len(keys) > 1 || threshold != 1:
		return errors.New("a Sigstore bundle has one signature; give one --verification-key, and no --threshold")
	case !sigstore.Built:
		return sigstore.ErrNotBuilt
	}
	return nil
}

// vouchedFor checks an archive for which a Sigstore bundle has to vouch.
func (s *sigstoreFlags) vouchedFor(in trust.Candidate, keys []string) (trust.Verdict, error) {
	b, name, err := s.believed(keys)
	if err != nil {
		return trust.Verdict{}, err
	}
	doc, err := here.ReadBounded(s.bundle, sigstore.MaxBundle)
	if err != nil {
		return trust.Verdict{}, err
	}
	signed, err := sigstore.Verify(in.Archive, doc, b)
	if errors.Is(err, sigstore.ErrRoot) {
		return trust.Verdict{}, fmt.Errorf("--trusted-root %s: %w", s.root, err)
	}
	v := trust.CheckVouched(in, func() (trust.Vouched, error) {
		if signed.By != "" {
			name = signed.By
		}
		return trust.Vouched{Signer: trust.Signer{Key: name, ID: signed.KeyID}, At: signed.At, Statement: signed.Statement}, s.refusal(err)
	})
	if s.root == "" && !v.Refused() {
		v.Warnings = append(v.Warnings, "nothing says when it was signed, since there is no --trusted-root with a log")
	}
	return v, nil
}

// believed reads whom to believe. A key is named by its file.
func (s *sigstoreFlags) believed(keys []string) (b sigstore.Believed, name string, err error) {
	b = sigstore.Believed{Identity: s.identity, Issuer: s.issuer}
	if s.root != "" {
		if b.Root, err = here.ReadBounded(s.root, sigstore.MaxRoot); err != nil {
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

// refusal gives what is wrong with a bundle a code.
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
	return &trust.Refusal{Code: code, Err: fmt.Errorf("%s does not show that the archive was signed by whom it should be: %w", s.bundle, err)}
}
