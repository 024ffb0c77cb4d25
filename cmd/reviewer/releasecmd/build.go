package releasecmd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/lint"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/subprocess"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

// policyBuild is the flags of `policy build`.
type policyBuild struct {
	archive   string
	out       term.Output // of what is printed
	skipTests bool
	over      string // the policy below the layer; empty: the built-in one
	release   bundles.Release
}

func policyBuildCommand(a *cli.App) *cobra.Command {
	var b policyBuild
	cmd := &cobra.Command{
		Use:   "build PATH -o ARCHIVE",
		Short: "Check and test a policy, and build an archive to sign and ship",
		Long: "PATH is the folder of a policy or layer, or a folder of a git revision: git:REV:PATH.\n" +
			"It is checked as by `policy check` and tested as by `policy test`; if there are\n" +
			"problems, no archive is built. The archive is an OPA bundle without tests and cases;\n" +
			"the same files produce the same bytes. The results are written next to it, to\n" +
			"ARCHIVE" + bundles.ResultsSuffix + ", which `policy sign` reads. A layer that refers to rules of another is\n" +
			"built with --over, and the archive contains only the layer itself.\n\n" +
			"Name, version and sequence come from the manifest or from flags. Times come from\n" +
			"metadata.created of the manifest or, if that is absent, from $SOURCE_DATE_EPOCH; otherwise none is set.\n\n" +
			"Exit codes: 0 built, 1 could not run, 2 the policy has problems or a test failed,\n" +
			"3 usage error.",
		Example: "  reviewer policy build policy -o policy-1.4.0.tar.gz\n" +
			"  reviewer policy build git:main:policy -o policy.tar.gz --version 1.5.0 --sequence 12 --revision $(git rev-parse main)",
		Args: cli.Needs(cli.Argument{Name: "REF", What: "the folder of a policy, or git:REV:PATH"}),
		RunE: func(cmd *cobra.Command, args []string) error { return buildPolicy(cmd.Context(), a, args[0], &b) },
	}
	f := cmd.Flags()
	f.StringVarP(&b.archive, "output", "o", "", "write the archive to this file, and the results next to it")
	b.out.FormatFlag(cmd, term.Text, "json")
	cli.PolicyVar(f, &b.over, "over", "", "check and test the layer over this policy: "+active.RefForms+" (default: the built-in one)")
	f.BoolVar(&b.skipTests, "skip-tests", false, "do not run tests; the manifest records this")
	f.StringVar(&b.release.Name, "name", "", "name of the release (default: the manifest's)")
	f.StringVar(&b.release.Version, "version", "", "version of the release (default: the manifest's)")
	f.Int64Var(&b.release.Sequence, "sequence", 0, "sequence number of the release, higher than any before (default: the manifest's)")
	f.StringVarP(&b.release.Revision, "revision", "r", "", "source of the release, such as a commit (default: the manifest's)")
	return cmd
}

// build is a policy that is being built into an archive.
type build struct {
	*policyBuild
	ref     string            // as the person gave it
	files   bundles.Memory    // all of the folder, tests included
	layer   string            // which of bundles.Layers it is
	layers  []*bundles.Bundle // the policy that contains it, base first
	bundle  *bundles.Bundle   // the layer that is packed
	results bundles.Results
}

func buildPolicy(ctx context.Context, a *cli.App, ref string, flags *policyBuild) error {
	if err := readBuildFlags(a, flags); err != nil {
		return err
	}
	b := &build{policyBuild: flags, ref: filepath.ToSlash(ref)}
	packed, err := built(ctx, a, b)
	if err != nil {
		return err
	}
	b.describe(packed)
	stale := b.stale(packed)
	if err := b.write(packed); err != nil {
		return err
	}
	if stale {
		fmt.Fprintf(a.Stderr, "reviewer: %s signs the previous contents of %s; sign the new archive\n", b.archive+envelopeSuffix, b.archive)
	}
	return printBuilt(a, b, packed)
}

// built checks, tests and packs, and writes nothing.
func built(ctx context.Context, a *cli.App, b *build) (*bundles.Packed, error) {
	if err := readPolicy(ctx, a, b); err != nil {
		return nil, err
	}
	if err := checkPolicy(a, ctx, b); err != nil {
		return nil, err
	}
	if err := testBuilt(ctx, a, b); err != nil {
		return nil, err
	}
	packed, err := bundles.Pack(b.bundle, b.release)
	if err != nil {
		return nil, cli.Findings("policy %s: %w", b.ref, err)
	}
	return packed, nil
}

func readBuildFlags(a *cli.App, b *policyBuild) error {
	switch {
	case b.archive == "":
		return cli.Usage("no output file given; name the archive with -o, such as -o policy.tar.gz")
	case strings.HasSuffix(b.archive, bundles.ResultsSuffix):
		return cli.Usage("-o %s: this name is used for the results, which are written next to the archive", b.archive)
	}
	if info, err := os.Stat(b.archive); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("-o %s: exists and is not a regular file; results are written next to the archive, so give the name of a file",
			b.archive)
	}
	b.release.TestsSkipped = b.skipTests
	b.release.Engine = engine.Version
	var err error
	if b.release.Created, err = sourceDate(a); err != nil {
		return err
	}
	b.release.Capabilities, err = CapabilitiesDigest()
	return err
}

// sourceDate is the time that $SOURCE_DATE_EPOCH gives (reproducible-builds.org).
func sourceDate(a *cli.App) (string, error) {
	text := a.Env("SOURCE_DATE_EPOCH")
	if text == "" {
		return "", nil
	}
	const year9999 = 253402300799
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > year9999 {
		return "", fmt.Errorf("SOURCE_DATE_EPOCH is %q; expected seconds since 1970", text)
	}
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339), nil
}

// CapabilitiesDigest is the SHA-256 of the output of `policy capabilities`.
func CapabilitiesDigest() (string, error) {
	h := sha256.New()
	err := term.WriteJSON(h, rego.Capabilities())
	return hex.EncodeToString(h.Sum(nil)), err
}

// readPolicy reads the policy to build.
func readPolicy(ctx context.Context, a *cli.App, b *build) error {
	var err error
	if b.files, err = buildFiles(ctx, b.ref); err != nil {
		return fmt.Errorf("policy %s: %w", b.ref, err)
	}
	if b.layer, err = bundles.ReleaseLayer(b.files); err != nil {
		return cli.Findings("policy %s: %w", b.ref, err)
	}
	return nil
}

// checkPolicy is `policy check`. Warnings that depend on the date use the date of the
// release, so that the same files always give the same result.
func checkPolicy(a *cli.App, ctx context.Context, b *build) error {
	own := lint.Layer{Name: b.layer, Files: b.files, At: b.ref, Given: true}
	under, err := policycmd.Under(ctx, a, b.over, own)
	if err != nil {
		return fmt.Errorf("--over: %w", err)
	}
	found := lint.Policy(b.day(), policycmd.OverBase(append(under, own))...)
	// Fields of the manifest are checked below, all at once and together with the
	// flags.
	found.Problems = slices.DeleteFunc(found.Problems, func(p report.Problem) bool { return p.Code == "manifest.field" })
	r := &report.Report{Command: "policy check", Problems: found.Problems, Ignored: found.Ignored}
	for _, i := range found.Ignored {
		if b.results.Ignored == nil {
			b.results.Ignored = map[string]int{}
		}
		b.results.Ignored[i.Code]++
	}
	totals := r.Totals()
	if b.results.Warnings = totals.Warnings; totals.Errors > 0 {
		return errors.Join(printReport(a, r), cli.Findings("policy %s: %s; no archive was built", b.ref,
			term.Counted(totals.Errors, "problem", "problems")))
	}
	layers, err := active.LayersIn(b.files)
	if err != nil {
		return cli.Findings("policy %s: %w", b.ref, err)
	}
	if b.over != "" {
		e, err := a.PolicyRef(ctx, b.over)
		if err != nil {
			return fmt.Errorf("--over: %w", err)
		}
		if layers, err = active.Below(layers, e.Layers); err != nil {
			return fmt.Errorf("--over %s: policy %s: %w", b.over, b.ref, err)
		}
	}
	b.layers, b.bundle = layers, layers[len(layers)-1]
	if _, err := b.bundle.Released(b.release); err != nil {
		return cli.Findings("policy %s: %w", b.ref, err)
	}
	return nil
}

// day is the time of the release, in Unix milliseconds; 0: it has none.
func (b *build) day() int64 {
	var m bundles.Manifest
	if err := json.Unmarshal(b.files[".manifest"], &m); err != nil {
		return 0 // which is reported with the other errors
	}
	t, err := time.Parse(time.RFC3339, cmp.Or(m.Metadata.Created, b.release.Created))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// testBuilt is `policy test --coverage`.
func testBuilt(ctx context.Context, a *cli.App, b *build) error {
	if b.results.Skipped = b.skipTests; b.skipTests {
		fmt.Fprintln(a.Stderr, "reviewer: no tests were run; the archive's manifest records this")
		return nil
	}
	subject, err := trial.Load(b.files, b.ref, b.layer, b.layers...)
	if err != nil {
		return cli.Findings("policy %s: read tests:\n%w", b.ref, err)
	}
	r, err := trial.Run(ctx, subject, trial.Options{Env: cli.Environment(), Coverage: true, Timeout: time.Minute,
		Done: policycmd.Progress(a)})
	if err != nil {
		return cli.Findings("policy %s: %w", b.ref, err)
	}
	r.Command = "policy test"
	b.tested(r)
	switch n := b.results.Tests; {
	case r.Failed():
		return errors.Join(printReport(a, r), cli.Findings("policy %s: %d of %s failed; no archive was built", b.ref, n.Failed,
			term.Counted(n.Passed+n.Failed+n.Todo+n.Left, "test", "tests")))
	case n.Passed == 0:
		return cli.Findings("policy %s: there are no tests: write a case (reviewer policy new case), or build with "+
			"--skip-tests, which the manifest records", b.ref)
	}
	return nil
}

// tested extracts the results from a report.
func (b *build) tested(r *report.Report) {
	n := r.Totals()
	b.results.Tests = bundles.TestCounts{Passed: n.Pass, Failed: n.Fail + n.Error, Todo: n.Todo, Left: n.Skip}
	if r.Coverage == nil {
		return
	}
	for _, k := range r.Coverage.Kinds {
		b.results.Coverage = append(b.results.Coverage, bundles.CoverageOfKind{Kind: k.Name, Covered: k.Covered, Total: k.Total})
	}
}

// printReport prints on standard error why no archive is built.
func printReport(a *cli.App, r *report.Report) error {
	o := a.ReportOptions(&term.Output{}, false)
	o.Color, o.Times = false, false
	for i, p := range r.Problems {
		r.Problems[i].Message, r.Problems[i].Found = cli.Masked(p.Message), cli.Masked(p.Found)
	}
	return report.Write(a.Stderr, report.Formats()[0], r, o)
}

// buildFiles reads the folder that a reference names, once.
func buildFiles(ctx context.Context, ref string) (bundles.Memory, error) {
	if tree, ok := strings.CutPrefix(ref, "git:"); ok {
		files, err := subprocess.GitTree(ctx, tree)
		if err != nil {
			return nil, err
		}
		return bundles.Snapshot(files)
	}
	info, err := os.Stat(ref)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("no such folder; expected a folder or git:REV:PATH")
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errors.New("is not a folder; expected a policy folder, or git:REV:PATH")
	}
	root, err := os.OpenRoot(ref) // no link leads out of it
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return bundles.Snapshot(root.FS())
}

// envelopeSuffix is what the name of an archive's envelope ends with.
const envelopeSuffix = ".dsse.json"

// describe fills in the archive's description of itself.
func (b *build) describe(p *bundles.Packed) {
	m, r := p.Manifest.Metadata, &b.results
	r.V, r.Archive, r.Policy, r.Layer = bundles.ResultsVersion, p.Sum, b.bundle.Digest, b.layer
	r.Name, r.Version, r.Sequence = m.Name, m.Version, m.Sequence
	r.Revision, r.Created, r.Requires, r.Capabilities = p.Manifest.Revision, m.Created, m.Requires, m.Capabilities
	r.Built = cli.Environment()
	if r.Coverage == nil {
		r.Coverage = []bundles.CoverageOfKind{}
	}
}

// stale reports whether there is an envelope for other bytes next to the archive.
func (b *build) stale(p *bundles.Packed) bool {
	if !active.Exists(b.archive + envelopeSuffix) {
		return false
	}
	before, err := os.ReadFile(b.archive)
	return err != nil || !bytes.Equal(before, p.Bytes)
}

// write writes the archive and its results: both, or neither.
func (b *build) write(p *bundles.Packed) error {
	results, err := b.results.Encode()
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return term.WriteBoth(term.PlacedFile{Path: b.archive + bundles.ResultsSuffix, Content: results},
		term.PlacedFile{Path: b.archive, Content: p.Bytes})
}

func printBuilt(a *cli.App, b *build, p *bundles.Packed) error {
	if b.out.Format == "json" {
		return b.out.Write(a.Stdout, func(w io.Writer) error { return term.WriteDocument(w, b.results) })
	}
	r := b.results
	w := &bytes.Buffer{}
	fmt.Fprintf(w, "%s: %s %s, sequence %d, %s layer\n", b.archive, r.Name, r.Version, r.Sequence, r.Layer)
	fmt.Fprintf(w, "  policy   %s\n", r.Policy)
	fmt.Fprintf(w, "  archive  sha256:%s, %s, %d bytes\n", r.Archive.SHA256, term.Counted(p.Files, "file", "files"), r.Archive.Size)
	fmt.Fprintf(w, "  tests    %s\n", r.TestsText())
	for _, k := range r.Coverage {
		fmt.Fprintf(w, "           %s %d of %d\n", term.Pad(k.Kind, 14), k.Covered, k.Total)
	}
	if r.Warnings > 0 {
		fmt.Fprintf(w, "  check    %s: `reviewer policy check` lists them\n", term.Counted(r.Warnings, "warning", "warnings"))
	}
	if n := r.IgnoredCount(); n > 0 {
		fmt.Fprintf(w, "  ignored  %s of `reviewer policy check`; the statement will list them\n", term.Counted(n, "warning", "warnings"))
	}
	fmt.Fprintf(w, "  results  %s\n", b.archive+bundles.ResultsSuffix)
	_, err := a.Stdout.Write(w.Bytes())
	return err
}
