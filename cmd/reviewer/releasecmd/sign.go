package releasecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

// policySign is the flags of policy sign.
type policySign struct {
	keys       signingKeys
	channel    string
	created    string
	expires    string
	rollbackOf int64
	simulation string // file
	add, force bool
	opa        bool
	out        term.Output
	given      func(flag string) bool
}

func policySignCommand(a *cli.App) *cobra.Command {
	var s policySign
	cmd := &cobra.Command{
		Use:   "sign ARCHIVE --signing-key KEY",
		Short: "Sign a policy archive with the results of its tests and of a simulation",
		Long: "Writes ARCHIVE.dsse.json: a DSSE envelope with an in-toto statement that names the\n" +
			"archive by its SHA-256 and describes the release: name, version, sequence and test\n" +
			"results as `policy build` wrote them to ARCHIVE.results.json, channel, time, expiry,\n" +
			"and the result of `policy simulate`. The archive contains none of this.\n\n" +
			"A KEY is a file (PEM or OpenSSH, not encrypted; ed25519 or ECDSA P-256), env:NAME, or\n" +
			"'exec:PROGRAM ARG…': the program reads the data to sign from standard input and\n" +
			"prints the signature, raw or in base64; its public key is given with\n" +
			"--verification-key. ECDSA signatures are ASN.1, over the SHA-256 of the input.\n\n" +
			"If several signatures are required, each signer adds one to the same statement with --add.\n" +
			"--opa first puts OPA's own signature into the archive, for opa run; it needs an ECDSA\n" +
			"key, its scope is the channel, and it changes the archive's SHA-256.",
		Example: "  reviewer policy sign policy.tar.gz --signing-key release --expires 90d\n" +
			"  reviewer policy sign policy.tar.gz --signing-key env:SECOND_KEY --add\n" +
			"  reviewer policy sign policy.tar.gz --verification-key kms.pub \\\n" +
			"      --signing-key 'exec:kms-sign --key policy'",
		Args: cli.Needs(cli.Argument{Name: "ARCHIVE", What: "an archive that `reviewer policy build` wrote"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.given = cmd.Flags().Changed
			return sign(cmd.Context(), a, args[0], &s)
		},
	}
	s.keys.flags(cmd)
	cmd.Flags().StringVar(&s.channel, "channel", "stable", "release channel of the archive")
	cmd.Flags().StringVar(&s.created, "created", "", "time of the release (default $SOURCE_DATE_EPOCH, else now)")
	cmd.Flags().StringVar(&s.expires, "expires", "", "when the release can no longer be activated: 90d, or 2027-01-31 (default never)")
	cmd.Flags().Int64Var(&s.rollbackOf, "rollback-of", 0, "sequence of the earlier release whose policy this one restores")
	cmd.Flags().StringVar(&s.simulation, "simulation", "", "include this result of policy simulate --candidate ARCHIVE -f json")
	cmd.Flags().BoolVar(&s.add, "add", false, "add a signature to the existing ones, for the same statement")
	cmd.Flags().BoolVar(&s.force, "force", false, "replace existing signatures or an invalid envelope")
	cmd.Flags().BoolVar(&s.opa, "opa", false, "put OPA's own .signatures.json into the archive first")
	s.out.Flags(cmd, "text", "json")
	return cmd
}

// signingJob is the signing of one archive.
type signingJob struct {
	path    string
	archive []byte
	results *bundles.Results
	report  string // SHA-256 of the results as they are next to the archive

	files  bundles.Memory
	policy string // digest of the effective policy
	signer []signing.Signer
}

func sign(ctx context.Context, a *cli.App, path string, s *policySign) error {
	if s.add && (s.opa || s.force) {
		return cli.Usage("--add keeps existing signatures; --opa and --force would invalidate them")
	}
	if err := trust.CheckChannel(s.channel); err != nil {
		return cli.Usage("--channel: %w", err)
	}
	if err := s.out.Known(); err != nil {
		return err
	}
	job, err := readArchive(a, path)
	if err != nil {
		return err
	}
	if job.signer, err = signers(a, &s.keys); err != nil {
		return err
	}
	e, err := envelopeFor(ctx, a, job, s)
	if err != nil {
		return err
	}
	if err := s.warnOfTimes(a, e, time.Now()); err != nil {
		return err
	}
	for _, signer := range job.signer {
		if err := e.Sign(ctx, signer); err != nil {
			return err
		}
	}
	doc, err := e.Encode()
	if err != nil {
		return err
	}
	if err := term.WriteWhole(path+envelopeSuffix, doc); err != nil {
		return fmt.Errorf("write envelope: %w", err)
	}
	return printSigned(a, job, e, s)
}

// readArchive reads an archive and its results, and checks that they belong together.
func readArchive(a *cli.App, path string) (*signingJob, error) {
	job := &signingJob{path: path}
	var err error
	if job.archive, err = active.ReadBounded(path, trust.MaxArchive); err != nil {
		return nil, err
	}
	raw, err := active.ReadBounded(path+bundles.ResultsSuffix, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s, which has the test results, is missing; build the archive with `reviewer policy build`, and keep the "+
			"two files together", path+bundles.ResultsSuffix)
	}
	if err != nil {
		return nil, err
	}
	if job.results, err = bundles.ReadResults(bytes.NewReader(raw), job.archive); err != nil {
		return nil, fmt.Errorf("%s: %w", path+bundles.ResultsSuffix, err)
	}
	job.report = signing.SHA256(raw)
	if err := job.checkManifest(); err != nil {
		return nil, fmt.Errorf("archive %s: %w", path, err)
	}
	return job, nil
}

// checkManifest compares the results with the archive itself: they are next to it,
// where anyone can write.
func (j *signingJob) checkManifest() error {
	archive, err := bundles.OpenArchive(bytes.NewReader(j.archive))
	if err != nil {
		return err
	}
	layers, err := active.LayersIn(archive.Memory)
	if err != nil {
		return err
	}
	e, err := bundles.Assemble(layers...)
	if err != nil {
		return err
	}
	j.files, j.policy = archive.Memory, e.Digest
	own, r := layers[len(layers)-1], j.results
	m := own.Manifest.Metadata
	for _, c := range []struct {
		what             string
		results, archive any
	}{
		{"digest", r.Policy, own.Digest}, {"layer", r.Layer, own.Layer},
		{"name", r.Name, m.Name}, {"version", r.Version, m.Version}, {"sequence", r.Sequence, m.Sequence},
		{"revision", r.Revision, own.Manifest.Revision}, {"capabilities", r.Capabilities, m.Capabilities}, {"tests_skipped", r.Skipped, m.TestsSkipped},
	} {
		if c.results != c.archive {
			return fmt.Errorf("its manifest and %s do not match: %s is %v in the manifest and %v in the results; build the archive again",
				filepath.Base(j.path)+bundles.ResultsSuffix, c.what, c.archive, c.results)
		}
	}
	if !maps.Equal(r.Requires, m.Requires) {
		return fmt.Errorf("its manifest requires %v, and its results say %v; build the archive again", m.Requires, r.Requires)
	}
	return own.CheckRepeated()
}

// envelopeFor returns the envelope that is to be signed: the existing one, or a new
// one.
func envelopeFor(ctx context.Context, a *cli.App, job *signingJob, s *policySign) (*signing.Envelope, error) {
	release, err := releaseOf(a, job, s)
	if err != nil {
		return nil, err
	}
	there, err := readEnvelope(job.path + envelopeSuffix)
	switch {
	case s.add && err != nil:
		return nil, fmt.Errorf("--add: %w", err)
	case s.add:
		return there, s.sameStatement(there, job, release)
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !s.force:
		return nil, fmt.Errorf("%w; --force replaces it", err)
	case there != nil:
		if err := replaces(a, there, job, s); err != nil {
			return nil, err
		}
	}
	if s.opa {
		if err := job.signForOPA(ctx, release); err != nil {
			return nil, fmt.Errorf("--opa: %w", err)
		}
		if release.Tests != nil {
			release.Tests.Report = job.report
		}
	}
	return signing.Seal(signing.SubjectOf(filepath.Base(job.path), job.archive), release)
}

func readEnvelope(path string) (*signing.Envelope, error) {
	doc, err := active.ReadBounded(path, signing.MaxEnvelope)
	if err != nil {
		return nil, err
	}
	e, err := signing.DecodeEnvelope(doc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

// replaces refuses to discard the signatures of others for this archive. Those for
// another archive are no longer of use.
func replaces(a *cli.App, there *signing.Envelope, job *signingJob, s *policySign) error {
	subject, _, err := signing.Open[signing.Release](there)
	switch {
	case s.force:
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w; --force replaces it", job.path+envelopeSuffix, err)
	case subject.SHA256 != signing.SHA256(job.archive):
		fmt.Fprintf(a.Stderr, "reviewer: %s was for another archive and was replaced\n", cli.Masked(job.path+envelopeSuffix))
		return nil
	}
	var own []signing.PublicKey
	for _, signer := range job.signer {
		own = append(own, signer.PublicKey())
	}
	for _, one := range there.Signatures {
		signed, err := (&signing.Envelope{Payload: there.Payload, Signatures: []signing.Signature{one}}).Signers(own)
		if err != nil || len(signed) == 0 {
			return fmt.Errorf("%s has signatures by others (%.16s…); add yours with --add, or start again with --force",
				job.path+envelopeSuffix, one.KeyID)
		}
	}
	return nil
}

// sameStatement refuses to sign a statement that differs from the flags. Values
// without a flag are those of the statement.
func (s *policySign) sameStatement(e *signing.Envelope, job *signingJob, want signing.Release) error {
	subject, is, err := signing.Open[signing.Release](e)
	if err != nil {
		return fmt.Errorf("--add: %s: %w", job.path+envelopeSuffix, err)
	}
	if subject.SHA256 != signing.SHA256(job.archive) {
		return fmt.Errorf("--add: %s is for another archive; sign without --add", job.path+envelopeSuffix)
	}
	if !s.given("created") {
		want.Created = is.Created
	}
	if !s.given("expires") {
		want.Expires = is.Expires
	} else if want.Expires, err = expiry(s.expires, want.Created); err != nil {
		return err
	}
	if !s.given("channel") {
		want.Channel = is.Channel
	}
	if !s.given("rollback-of") {
		want.RollbackOf = is.RollbackOf
	}
	if s.simulation == "" {
		want.Simulation = is.Simulation
	}
	if what := differing(is, want); len(what) > 0 {
		return fmt.Errorf("--add: the statement in %s differs from the requested one: %s; an envelope has one statement",
			job.path+envelopeSuffix, strings.Join(what, ", "))
	}
	return nil
}

// differing names the fields in which two statements differ.
func differing(a, b signing.Release) (fields []string) {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		if !reflect.DeepEqual(va.Field(i).Interface(), vb.Field(i).Interface()) {
			name, _, _ := strings.Cut(va.Type().Field(i).Tag.Get("json"), ",")
			fields = append(fields, name)
		}
	}
	return fields
}

// releaseOf returns the statement's description of the archive.
func releaseOf(a *cli.App, job *signingJob, s *policySign) (signing.Release, error) {
	found := job.results
	r := signing.Release{
		Name: found.Name, Version: found.Version, Channel: s.channel, Sequence: found.Sequence, Revision: found.Revision,
		Policy: found.Policy, RollbackOf: s.rollbackOf, Requires: found.Requires, Capabilities: found.Capabilities, SkippedTests: found.Skipped,
		Ignored: found.Ignored,
	}
	if !found.Skipped {
		r.Tests = testsOf(found, job.report)
	}
	var err error
	if r.Created, err = createdAt(a, s.created); err != nil {
		return r, err
	}
	if r.Expires, err = expiry(s.expires, r.Created); err != nil {
		return r, err
	}
	if s.simulation != "" {
		if r.Simulation, err = simulationOf(s.simulation, job.policy); err != nil {
			return r, fmt.Errorf("--simulation %s: %w", s.simulation, err)
		}
	}
	if err := r.Check(); err != nil {
		return r, fmt.Errorf("invalid statement: %w", err)
	}
	return r, nil
}

func testsOf(found *bundles.Results, report string) *signing.Tests {
	t := &signing.Tests{
		Passed: found.Tests.Passed, Failed: found.Tests.Failed, Todo: found.Tests.Todo, Left: found.Tests.Left,
		Coverage: map[string]signing.Coverage{}, Report: report,
	}
	for _, c := range found.Coverage {
		t.Coverage[c.Kind] = signing.Coverage{Covered: c.Covered, Total: c.Total}
	}
	return t
}

// createdAt is the time of the release.
func createdAt(a *cli.App, text string) (signing.Time, error) {
	epoch, err := sourceDate(a)
	switch {
	case text != "":
		return dateOf("--created", text)
	case err != nil:
		return 0, err
	case epoch != "":
		return dateOf("SOURCE_DATE_EPOCH", epoch)
	}
	return signing.TimeOf(time.Now()), nil
}

// expiry reads a duration from created on, or a date; 0 if none is given.
func expiry(text string, created signing.Time) (signing.Time, error) {
	if text == "" {
		return 0, nil
	}
	at := signing.Time(0)
	var err error
	if span, ok := cli.TimeSpan(text); ok {
		at = created + signing.Time(span.Milliseconds()/1000*1000)
	} else if at, err = dateOf("--expires", text); err != nil {
		return 0, fmt.Errorf("%w, or a time such as 90d from now", err)
	}
	if at <= created {
		return 0, fmt.Errorf("--expires %s: not after the time of the release, %s", text, created)
	}
	return at, nil
}

// dateOf reads a date or a time; in UTC if it has no zone, so that it is the same
// everywhere.
func dateOf(what, text string) (signing.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= 1970 {
			return signing.TimeOf(t), nil
		}
	}
	return 0, cli.Usage("%s %s: expected a date such as 2027-01-31 or 2027-01-31T15:04:05Z", what, text)
}

// signForOPA puts OPA's own signature into the archive. OPA checks the scope with
// --scope, so it accepts no archive of another channel.
func (j *signingJob) signForOPA(ctx context.Context, r signing.Release) error {
	i := slices.IndexFunc(j.signer, func(s signing.Signer) bool { return s.PublicKey().Type() == signing.ECDSAP256 })
	hashes, err := rego.FileHashes(j.files)
	if err != nil {
		return err
	}
	token, err := signing.JWT(ctx, j.signer[max(i, 0)], map[string]any{
		"files": hashes, "scope": r.Channel, "iat": int64(r.Created) / 1000, "name": r.Name, "version": r.Version, "sequence": r.Sequence,
	})
	if err != nil {
		return err
	}
	doc, err := json.Marshal(map[string]any{"signatures": []string{token}})
	if err != nil {
		return err
	}
	signed, err := bundles.WithSignatures(j.archive, doc)
	if err != nil {
		return err
	}
	return j.replaceArchive(signed)
}

// replaceArchive writes another archive of the same policy, and its results.
func (j *signingJob) replaceArchive(archive []byte) error {
	results := *j.results
	results.Archive = bundles.NewArchiveSum(archive)
	raw, err := results.Encode()
	if err != nil {
		return err
	}
	if err := term.WriteBoth(term.PlacedFile{Path: j.path + bundles.ResultsSuffix, Content: raw},
		term.PlacedFile{Path: j.path, Content: archive}); err != nil {
		return err
	}
	j.archive, j.results, j.report = archive, &results, signing.SHA256(raw)
	return nil
}
