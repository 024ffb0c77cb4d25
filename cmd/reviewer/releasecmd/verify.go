package releasecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/rego"
)

// verifying is the flags of policy verify.
type verifying struct {
	keys      []string
	threshold int
	sigstore  sigstoreFlags
	against   string
	in        trust.Candidate
	noCompile bool
	out       term.Output
}

func policyVerifyCommand(a *cli.App) *cobra.Command {
	v := verifying{sigstore: sigstoreFlags{library: a.Sigstore}}
	cmd := &cobra.Command{
		Use:   "verify ARCHIVE",
		Short: "Verify the signatures of a policy bundle, and check whether it could be activated",
		Long: "The signatures are next to the archive, in ARCHIVE.dsse.json. Checks run in this order: size, trust\n" +
			"file, signatures, digest, channel and name, sequence, expiry, engine, contents, and compiling;\n" +
			"nothing in the archive is read before its digest is known to be signed. A refused bundle has one\n" +
			"of the codes " + strings.Join(trust.Codes(), ", ") + ".\n" +
			"Only policy activate and pull refuse with held: the bundle was rolled back on this machine.\n\n" +
			"The trust file is " + trust.FileName + " in the state directory, or the organisation's in\n" +
			filepath.Dir(active.OrganisationDir()) + ", which takes precedence. Without one the result is 'unsigned': the origin of\n" +
			"the bundle is unknown. --verification-key replaces it with keys for this run, --sigstore with a\n" +
			"Sigstore bundle, whose certificate, log and timestamps are checked only against --trusted-root.",
		Example: "  reviewer policy verify acme-1.4.0.tar.gz\n" +
			"  reviewer policy verify acme-1.4.0.tar.gz --verification-key release.pub\n" +
			"  reviewer policy verify acme-1.4.0.tar.gz --against active\n" +
			"  reviewer policy verify acme-1.4.0.tar.gz --sigstore acme.sigstore.json --trusted-root trusted_root.json \\\n" +
			"    --certificate-identity release@acme.example --certificate-oidc-issuer https://issuer.example",
		Args: cli.Needs(cli.Argument{Name: "ARCHIVE", What: "an archive that `reviewer policy build` or `pull` wrote"}),
		RunE: func(cmd *cobra.Command, args []string) error { return verify(cmd.Context(), a, &v, args[0]) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&v.keys, "verification-key", nil, "trust this public key instead of the trust file; may be repeated")
	f.IntVar(&v.threshold, "threshold", 1, "how many of these keys must have signed")
	v.sigstore.flags(f)
	f.StringVar(&v.in.Name, "name", "", "refuse a release of another policy")
	f.StringVar(&v.in.Channel, "channel", "", "refuse a release on another channel; default: the setting releases.channel")
	cli.PolicyVar(f, &v.against, "against", "", "also compare its meaning with this policy: "+active.RefForms)
	f.BoolVar(&v.noCompile, "no-compile", false, "stop before the policy is compiled")
	v.out.Flags(cmd, "text", "json")
	return cmd
}

func verify(ctx context.Context, a *cli.App, v *verifying, path string) error {
	if err := errors.Join(v.out.Known(), v.sigstore.known(v.keys, v.threshold)); err != nil {
		return err
	}
	if v.noCompile && v.against != "" {
		return cli.Usage("--against compares the meaning of policies, which --no-compile skips; leave one of them out")
	}
	doc, effective, err := verdict(ctx, a, v, path)
	if err != nil {
		return err
	}
	if v.against != "" && effective != nil {
		if err := compare(ctx, a, v, doc, effective); err != nil {
			return err
		}
	}
	err = v.out.Write(a.Stdout, func(w io.Writer) error { return showVerdict(a, w, v, doc, path) })
	if err == nil && doc.Refused() {
		return cli.Findings("%s is refused [%s]", path, doc.Code)
	}
	return err
}

// verdict checks an archive, and returns the resulting policy if it was compiled and
// not refused.
func verdict(ctx context.Context, a *cli.App, v *verifying, path string) (*trust.Verdict, *bundles.Effective, error) {
	in, err := candidate(a, v, path)
	if err != nil {
		return nil, nil, err
	}
	var e *bundles.Effective
	if !v.noCompile {
		in.Compile = func(files bundles.Memory) (digest string, err error) {
			e, digest, err = CompiledBundle(ctx, files)
			return digest, err
		}
	}
	doc, err := checked(a, v, in)
	if err != nil {
		return nil, nil, err
	}
	if doc.Refused() {
		e = nil
	}
	return &doc, e, nil
}

// checked verifies against the trusted keys. An invalid trust file is a refusal as
// well.
func checked(a *cli.App, v *verifying, in trust.Candidate) (trust.Verdict, error) {
	if v.sigstore.bundle != "" {
		return v.sigstore.verify(in, v.keys)
	}
	t, file, err := trustFor(a, v, &in)
	if refusal := (*trust.Refusal)(nil); errors.As(err, &refusal) {
		return trust.Verdict{File: in.File, SHA256: signing.SHA256(in.Archive), Code: refusal.Code, Reason: err.Error(),
			Signers: []trust.Signer{}, Asked: []trust.RequiredRole{}, Warnings: []string{}}, nil
	}
	if err != nil {
		return trust.Verdict{}, err
	}
	doc := t.Check(in)
	doc.TrustFile = file
	return doc, nil
}

// candidate reads an archive and the files next to it.
func candidate(a *cli.App, v *verifying, path string) (trust.Candidate, error) {
	in := v.in
	read := active.Request{}
	if err := read.Read(path); err != nil {
		return in, err
	}
	in.File, in.Path, in.Archive, in.Envelope = read.File, read.Path, read.Archive, read.Envelope
	in.Now = time.Now().UnixMilli()
	return in, nil
}

// trustFor finds the trusted keys, the file that names them, and the sequences seen
// before.
func trustFor(a *cli.App, v *verifying, in *trust.Candidate) (*trust.Trust, string, error) {
	if len(v.keys) > 0 {
		t, err := trustOfKeys(v)
		return t, "", err
	}
	if v.threshold != 1 {
		return nil, "", cli.Usage("--threshold needs --verification-key; a trust file has its own thresholds")
	}
	log, err := a.OpenStore()
	if err != nil {
		return nil, "", err
	}
	t, word, err := active.TrustInForce(log)
	if err != nil {
		return nil, "", err
	}
	if in.Channel, err = cli.MachineAt(log.Dir).Channel(in.Channel); err != nil {
		return nil, "", err
	}
	in.Latest = word.Latest
	in.Highest = func(name, channel string) (trust.Highest, error) {
		seen, err := active.Releases(log.Dir).Seen()
		h := seen.Of(name, channel)
		return trust.Highest{Sequence: h.Sequence, SHA256: h.Archive}, err
	}
	switch {
	case !t.None():
	case in.Channel != "":
		return nil, "", active.NoChannels("the release", in.Channel)
	default:
		return nil, "", nil
	}
	return t.Trust, t.Path, nil
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
		return nil, cli.Usage("--threshold %d: %w", v.threshold, err)
	}
	return t, nil
}

// CompiledBundle compiles a bundle, over the built-in base where it is a layer,
// and returns the policy and the digest of the bundle itself.
func CompiledBundle(ctx context.Context, files fs.FS) (*bundles.Effective, string, error) {
	layers, err := active.LayersIn(files)
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
	return e, own.Digest, wiring.Check(ctx, e)
}

// compare adds the differences from another policy, and notes if the simulated policy
// is a different one.
func compare(ctx context.Context, a *cli.App, v *verifying, doc *trust.Verdict, e *bundles.Effective) error {
	before, err := a.PolicyRef(ctx, v.against)
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
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("the attested simulation used the policy %.20s, but %s is %.20s",
			s.Baseline, v.against, before.Digest))
	case c.Loosens() && s.Loosened == 0:
		doc.Warnings = append(doc.Warnings,
			"a change loosens the policy, but no decision in the attested simulation was loosened: the replayed sessions do not cover it")
	}
	return nil
}
