package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/rego"
)

// verifying is what is asked of policy verify.
type verifying struct {
	keys      []string
	threshold int
	sigstore  sigstoreFlags
	against   string
	in        trust.Candidate
	noCompile bool
	out       output
}

func (a *app) policyVerifyCommand() *cobra.Command {
	var v verifying
	cmd := &cobra.Command{
		Use:   "verify ARCHIVE",
		Short: "Check whether a policy bundle is signed as the trust file says, and whether it could be activated",
		Long: "The signatures lie beside the archive, in ARCHIVE.dsse.json. Checked are, in this order: size,\n" +
			"trust file, signatures, digest, channel and name, sequence, expiry, engine, contents, and whether it\n" +
			"compiles; nothing in the archive is read before its digest was found to be signed. What is refused has\n" +
			"one of the codes trust, unsigned, threshold, digest, scope, rollback, expired, engine, unpack, compile.\n\n" +
			"The trust file is " + trust.FileName + " in the state directory, or the organisation's, which lies in\n" +
			filepath.Dir(organisationDir()) + " and wins. Without one the answer is 'unsigned': who made the\n" +
			"bundle is not known. --verification-key puts keys in its place for this once; so does --sigstore a\n" +
			"Sigstore bundle, of which the certificate, the log and the timestamps are checked against FILE alone.",
		Example: "  reviewer policy verify acme-1.4.0.tar.gz\n" +
			"  reviewer policy verify acme-1.4.0.tar.gz --verification-key release.pub\n" +
			"  reviewer policy verify acme-1.4.0.tar.gz --against active\n" +
			"  reviewer policy verify acme-1.4.0.tar.gz --sigstore acme.sigstore.json --trusted-root trusted_root.json \\\n" +
			"    --certificate-identity release@acme.example --certificate-oidc-issuer https://issuer.example",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.verify(cmd.Context(), &v, args[0]) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&v.keys, "verification-key", nil, "trust this public key instead of the trust file; may be repeated")
	f.IntVar(&v.threshold, "threshold", 1, "how many of these keys have to have signed")
	v.sigstore.flags(f)
	f.StringVar(&v.in.Name, "name", "", "refuse a release of another policy")
	f.StringVar(&v.in.Channel, "channel", "", "refuse a release of another channel")
	f.StringVar(&v.against, "against", "", "also show what differs from this policy in what it means: "+refForms)
	f.BoolVar(&v.noCompile, "no-compile", false, "stop before the policy is compiled")
	v.out.flags(cmd, "text", "json")
	return cmd
}

func (a *app) verify(ctx context.Context, v *verifying, path string) error {
	if err := errors.Join(v.out.known(), v.sigstore.known(v.keys, v.threshold)); err != nil {
		return err
	}
	if v.noCompile && v.against != "" {
		return errors.New("--against compares what policies mean, and --no-compile does not look at that; leave one of them out")
	}
	doc, effective, err := a.verdict(ctx, v, path)
	if err != nil {
		return err
	}
	if v.against != "" && effective != nil {
		if err := a.compare(ctx, v, doc, effective); err != nil {
			return err
		}
	}
	err = v.out.write(a, func(w io.Writer) error { return a.showVerdict(w, v, doc, path) })
	if err == nil && doc.Refused() {
		return findings("%s is refused [%s]", path, doc.Code)
	}
	return err
}

// verdict checks an archive, and returns the policy that it makes where it was
// compiled and not refused.
func (a *app) verdict(ctx context.Context, v *verifying, path string) (*trust.Verdict, *bundles.Effective, error) {
	in, err := a.candidate(v, path)
	if err != nil {
		return nil, nil, err
	}
	var e *bundles.Effective
	if !v.noCompile {
		in.Compile = func(files bundles.Memory) (digest string, err error) {
			e, digest, err = compiledBundle(ctx, files)
			return digest, err
		}
	}
	doc, err := a.checked(v, in)
	if err != nil {
		return nil, nil, err
	}
	if doc.Refused() {
		e = nil
	}
	return &doc, e, nil
}

// checked asks whoever is believed. What keeps the trust file from being
// believed is a refusal, too.
func (a *app) checked(v *verifying, in trust.Candidate) (trust.Verdict, error) {
	if v.sigstore.bundle != "" {
		return v.sigstore.vouchedFor(in, v.keys)
	}
	t, file, err := a.trustFor(v, &in)
	if refusal := (*trust.Refusal)(nil); errors.As(err, &refusal) {
		return trust.Verdict{File: in.File, SHA256: signing.SHA256(in.Archive), Code: refusal.Code, Reason: err.Error(),
			Signers: []trust.Signer{}, Asked: []trust.Asked{}, Warnings: []string{}}, nil
	}
	if err != nil {
		return trust.Verdict{}, err
	}
	doc := t.Check(in)
	doc.TrustFile = file
	return doc, nil
}

// candidate reads an archive and what lies beside it.
func (a *app) candidate(v *verifying, path string) (trust.Candidate, error) {
	in := v.in
	read := activating{}
	if err := read.read(path); err != nil {
		return in, err
	}
	in.File, in.Archive, in.Envelope, in.Now = read.file, read.archive, read.envelope, time.Now().UnixMilli()
	return in, nil
}

// trustFor finds who is believed, in which file that is written, and what was
// seen before.
func (a *app) trustFor(v *verifying, in *trust.Candidate) (*trust.Trust, string, error) {
	if len(v.keys) > 0 {
		t, err := trustOfKeys(v)
		return t, "", err
	}
	if v.threshold != 1 {
		return nil, "", errors.New("--threshold is for --verification-key; the thresholds of a trust file are in it")
	}
	log, err := a.openStore()
	if err != nil {
		return nil, "", err
	}
	t, word, err := trustInForce(log)
	if err != nil {
		return nil, "", err
	}
	in.Latest = word.latest
	in.Highest = func(name, channel string) (trust.Highest, error) {
		seen, err := policyDepot(log.Dir).Seen()
		h := seen.Of(name, channel)
		return trust.Highest{Sequence: h.Sequence, SHA256: h.Archive}, err
	}
	if t.none() {
		return nil, "", nil
	}
	return t.Trust, t.path, nil
}

func trustOfKeys(v *verifying) (*trust.Trust, error) {
	var keys []signing.PublicKey
	for _, path := range v.keys {
		k, err := publicKey(path)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	t, err := trust.OfKeys(keys, v.threshold)
	if err != nil {
		return nil, fmt.Errorf("--threshold %d: %w", v.threshold, err)
	}
	return t, nil
}

// compiledBundle compiles a bundle, over the base that ships where it is a layer,
// and returns the policy and the digest of the bundle itself.
func compiledBundle(ctx context.Context, files fs.FS) (*bundles.Effective, string, error) {
	layers, err := layersIn(files)
	if err != nil {
		return nil, "", err
	}
	own := layers[len(layers)-1]
	if err := own.CheckRepeated(); err != nil {
		return nil, "", err
	}
	e, err := bundles.Assemble(layers...)
	if err != nil {
		return nil, "", err
	}
	return e, own.Digest, check(ctx, e)
}

// compare adds what differs from another policy, and says where what was
// simulated is not that.
func (a *app) compare(ctx context.Context, v *verifying, doc *trust.Verdict, e *bundles.Effective) error {
	before, err := a.policyRef(ctx, v.against)
	if err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	c, err := diff.Policies(before, e, rego.Differences)
	if err != nil {
		return err
	}
	doc.Changes = &c
	s := doc.Release.Simulation
	switch {
	case s == nil:
	case s.Baseline != before.Digest:
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("the attested simulation compared with the policy %.20s, and %s is %.20s", s.Baseline, v.against, before.Digest))
	case c.Loosens() && s.Loosened == 0:
		doc.Warnings = append(doc.Warnings, "a change loosens, and the attested simulation met no decision that it loosened: the sessions that were replayed did not reach it")
	}
	return nil
}
