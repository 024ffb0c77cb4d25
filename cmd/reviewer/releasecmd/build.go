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
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/here"
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

// policyBuild is what the flags of `policy build` say.
type policyBuild struct {
	archive   string
	format    string
	skipTests bool
	release   bundles.Release
}

func policyBuildCommand(a *cli.App) *cobra.Command {
	var b policyBuild
	cmd := &cobra.Command{
		Use:   "build PATH -o ARCHIVE",
		Short: "Check and test a policy, and pack it into an archive that can be signed and shipped",
		Long: "PATH is the folder of a policy or of a layer, or one of a git revision: git:REV:PATH.\n" +
			"It is checked as by `policy check` and tested as by `policy test`; where something\n" +
			"is wrong, no archive is made. The archive is an OPA bundle without tests and cases,\n" +
			"and the same files give the same bytes. What was found is written beside it, to\n" +
			"ARCHIVE" + bundles.ResultsSuffix + ", which `policy sign` reads.\n\n" +
			"The manifest has to say name, version and sequence, or flags do. Times come from\n" +
			"metadata.created of the manifest, else from $SOURCE_DATE_EPOCH; else there are none.\n\n" +
			"Exit codes: 0 built, 1 could not run, 2 something is wrong with the policy or a test failed.",
		Example: "  reviewer policy build policy -o policy-1.4.0.tar.gz\n" +
			"  reviewer policy build git:main:policy -o policy.tar.gz --version 1.5.0 --sequence 12 --revision $(git rev-parse main)",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return buildPolicy(cmd.Context(), a, args[0], &b) },
	}
	f := cmd.Flags()
	f.StringVarP(&b.archive, "output", "o", "", "write the archive to this file, and what was found beside it")
	f.StringVarP(&b.format, "format", "f", "text", "format of what is printed: text, json")
	f.BoolVar(&b.skipTests, "skip-tests", false, "run no tests; the manifest says so, for everybody to see")
	f.StringVar(&b.release.Name, "name", "", "name of the release (default: the manifest's)")
	f.StringVar(&b.release.Version, "version", "", "version of the release (default: the manifest's)")
	f.Int64Var(&b.release.Sequence, "sequence", 0, "number of the release, higher than that of any before (default: the manifest's)")
	f.StringVarP(&b.release.Revision, "revision", "r", "", "what the release was made of, such as a commit (default: the manifest's)")
	return cmd
}

// building is a policy on its way into an archive.
type building struct {
	*policyBuild
	ref     string            // as the person gave it
	files   bundles.Memory    // all of the folder, tests included
	layer   string            // which of bundles.Layers it is
	layers  []*bundles.Bundle // the policy that it is or is a layer of, base first
	bundle  *bundles.Bundle   // the one of them that is packed
	results bundles.Results
}

func buildPolicy(ctx context.Context, a *cli.App, ref string, flags *policyBuild) error {
	if err := readBuildFlags(a, flags); err != nil {
		return err
	}
	b := &building{policyBuild: flags, ref: filepath.ToSlash(ref)}
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
		fmt.Fprintf(a.Stderr, "reviewer: %s signs what was in %s before; sign the new archive\n", b.archive+envelopeSuffix, b.archive)
	}
	return printBuilt(a, b, packed)
}

// built checks, tests and packs, and writes nothing.
func built(ctx context.Context, a *cli.App, b *building) (*bundles.Packed, error) {
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
		return errors.New("say with -o what the archive is to be called, such as -o policy.tar.gz")
	case b.format != "text" && b.format != "json":
		return fmt.Errorf("unknown format %s", policycmd.UnknownOf(b.format, []string{"text", "json"}))
	case strings.HasSuffix(b.archive, bundles.ResultsSuffix):
		return fmt.Errorf("-o %s: that is the name of what is found, which is written beside the archive", b.archive)
	}
	if info, err := os.Stat(b.archive); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("-o %s: is there, and no plain file; results are written beside the archive, so give the name of a file", b.archive)
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

// CapabilitiesDigest is the SHA-256 of what `policy capabilities` prints.
func CapabilitiesDigest() (string, error) {
	h := sha256.New()
	err := term.WriteJSON(h, rego.Capabilities())
	return hex.EncodeToString(h.Sum(nil)), err
}

// readPolicy reads what is to be built.
func readPolicy(ctx context.Context, a *cli.App, b *building) error {
	var err error
	if b.files, err = buildFiles(ctx, b.ref); err != nil {
		return fmt.Errorf("policy %s: %w", b.ref, err)
	}
	if b.layer, err = bundles.ReleaseLayer(b.files); err != nil {
		return cli.Findings("policy %s: %w", b.ref, err)
	}
	return nil
}

// checkPolicy is `policy check`. What warns by the day is asked of the day of the
// release, or the same files would be found otherwise tomorrow.
func checkPolicy(a *cli.App, _ context.Context, b *building) error {
	own := lint.Layer{Name: b.layer, Files: b.files, At: b.ref, Given: true}
	found := lint.Policy(b.day(), policycmd.OverBase([]lint.Layer{own})...)
	r := &report.Report{Command: "policy check", Problems: found.Problems}
	totals := r.Totals()
	if b.results.Warnings = totals.Warnings; totals.Errors > 0 {
		return errors.Join(tellReport(a, r), cli.Findings("policy %s: %s wrong; no archive was made", b.ref,
			term.Counted(totals.Errors, "thing is", "things are")))
	}
	layers, err := here.LayersIn(b.files)
	if err != nil {
		return cli.Findings("policy %s: %w", b.ref, err)
	}
	b.layers, b.bundle = layers, layers[len(layers)-1]
	if _, err := b.bundle.Released(b.release); err != nil {
		return cli.Findings("policy %s: %w", b.ref, err)
	}
	return nil
}

// day is the time of the release, in Unix milliseconds; 0: it has none.
func (b *building) day() int64 {
	var m bundles.Manifest
	if err := json.Unmarshal(b.files[".manifest"], &m); err != nil {
		return 0 // which is said with the other mistakes
	}
	t, err := time.Parse(time.RFC3339, cmp.Or(m.Metadata.Created, b.release.Created))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// testBuilt is `policy test --coverage`.
func testBuilt(ctx context.Context, a *cli.App, b *building) error {
	if b.results.Skipped = b.skipTests; b.skipTests {
		fmt.Fprintln(a.Stderr, "reviewer: no test was run, and the archive's manifest says so")
		return nil
	}
	subject, err := trial.Load(b.files, b.ref, b.layer, b.layers...)
	if err != nil {
		return cli.Findings("policy %s: read tests:\n%w", b.ref, err)
	}
	r, err := trial.Run(ctx, subject, trial.Options{Env: cli.Environment(), Coverage: true, Timeout: time.Minute, Done: policycmd.Progress(a)})
	if err != nil {
		return cli.Findings("policy %s: %w", b.ref, err)
	}
	r.Command = "policy test"
	b.tested(r)
	switch n := b.results.Tests; {
	case r.Failed():
		return errors.Join(tellReport(a, r), cli.Findings("policy %s: %d of %s failed; no archive was made", b.ref, n.Failed,
			term.Counted(n.Passed+n.Failed+n.Todo+n.Left, "test", "tests")))
	case n.Passed == 0:
		return cli.Findings("policy %s: no test passed, since there is none: write a case (reviewer policy new case), or build with "+
			"--skip-tests, which the manifest tells everybody", b.ref)
	}
	return nil
}

// tested takes from a report what results keep.
func (b *building) tested(r *report.Report) {
	n := r.Totals()
	b.results.Tests = bundles.TestCounts{Passed: n.Pass, Failed: n.Fail + n.Error, Todo: n.Todo, Left: n.Skip}
	if r.Coverage == nil {
		return
	}
	for _, k := range r.Coverage.Kinds {
		b.results.Coverage = append(b.results.Coverage, bundles.CoverageOfKind{Kind: k.Name, Covered: k.Covered, Total: k.Total})
	}
}

// tellReport says on standard error what keeps an archive from being made.
func tellReport(a *cli.App, r *report.Report) error {
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
		return nil, errors.New("there is no such folder; expected a folder or git:REV:PATH")
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errors.New("is no folder; an archive is built of the folder of a policy, or of git:REV:PATH")
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

// describe fills in what the archive says of itself.
func (b *building) describe(p *bundles.Packed) {
	m, r := p.Manifest.Metadata, &b.results
	r.V, r.Archive, r.Policy, r.Layer = bundles.ResultsVersion, p.Sum, b.bundle.Digest, b.layer
	r.Name, r.Version, r.Sequence = m.Name, m.Version, m.Sequence
	r.Revision, r.Created, r.Requires, r.Capabilities = p.Manifest.Revision, m.Created, m.Requires, m.Capabilities
	r.Built = cli.Environment()
	if r.Coverage == nil {
		r.Coverage = []bundles.CoverageOfKind{}
	}
}

// stale says that an envelope lies beside, which is of other bytes.
func (b *building) stale(p *bundles.Packed) bool {
	if !here.Exists(b.archive + envelopeSuffix) {
		return false
	}
	before, err := os.ReadFile(b.archive)
	return err != nil || !bytes.Equal(before, p.Bytes)
}

// write puts the archive and its results in their places: both, or none.
func (b *building) write(p *bundles.Packed) error {
	results, err := b.results.Encode()
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return term.WriteBoth(term.PlacedFile{Path: b.archive + bundles.ResultsSuffix, Content: results},
		term.PlacedFile{Path: b.archive, Content: p.Bytes})
}

func printBuilt(a *cli.App, b *building, p *bundles.Packed) error {
	if b.format == "json" {
		return term.WriteJSON(a.Stdout, b.results)
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
	fmt.Fprintf(w, "  results  %s\n", b.archive+bundles.ResultsSuffix)
	_, err := a.Stdout.Write(w.Bytes())
	return err
}
