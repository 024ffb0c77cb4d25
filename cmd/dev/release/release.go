package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/signing"
	"golang.org/x/mod/semver"
)

const (
	module  = "github.com/agent-reviewer/reviewer"
	website = "https://" + module
	summary = "Policy for coding agents: reviews each tool call before and after it runs"
)

// details are the lines that package managers show below the summary.
func details() []string {
	return []string{
		"It parses each shell command, file write and fetch of a coding agent before it",
		"runs, evaluates policy as code (Rego and CEL), and answers allow, warn, modify,",
		"ask or block. Every decision is written to a hash-chained log.",
	}
}

// program is one that is shipped.
type program struct{ name, pkg string }

// programs lists the programs in an archive and a package of a target. The client of
// the resident process is for systems that have one, or will.
func programs(t target) []program {
	list := []program{{"reviewer", "./cmd/reviewer"}}
	if t.os != "windows" {
		list = append(list, program{"reviewer-hook", "./cmd/reviewer-hook"})
	}
	return list
}

// target is a system to build for, in Go's names.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

func allTargets() []target {
	var all []target
	for _, system := range []string{"darwin", "linux", "windows"} {
		all = append(all, target{system, "amd64"}, target{system, "arm64"})
	}
	return all
}

// exe is the name of a program's file.
func (t target) exe(name string) string {
	if t.os == "windows" {
		return name + ".exe"
	}
	return name
}

// release is one version for all its targets.
type release struct {
	root     string    // of the checkout
	version  string    // without v
	time     time.Time // of the commit: the time of every file
	commit   string
	modified bool // has changes that are not in the commit
	targets  []target

	// Compiles a target; tests replace it.
	build  func(context.Context, target) (build, error)
	common func(context.Context) (common, error)
}

func newRelease(ctx context.Context, o options) (*release, error) {
	if !semver.IsValid(o.version) || semver.Canonical(o.version) != o.version {
		return nil, fmt.Errorf("-version is %q; expected three numbers such as v1.2.0 or v1.2.0-rc.1", o.version)
	}
	targets, err := parseTargets(o.targets)
	if err != nil {
		return nil, err
	}
	r := &release{version: strings.TrimPrefix(o.version, "v"), targets: targets}
	r.build, r.common = r.compile, r.commonFiles
	if err := r.readCommit(ctx); err != nil {
		return nil, err
	}
	if r.modified && !o.uncommitted {
		return nil, errors.New("there are uncommitted changes: commit them, or give -uncommitted -unsigned for a trial")
	}
	if !o.unsigned {
		if err := checkMeasured(r.root); err != nil {
			return nil, err
		}
	}
	for _, name := range preparedFiles() {
		if _, err := os.Stat(filepath.Join(r.root, name)); err != nil {
			return nil, fmt.Errorf("%w; run `make prepared` first: without this file, programs start slowly", err)
		}
	}
	return r, nil
}

// preparedFiles are part of the programs, but not of the repository.
func preparedFiles() []string {
	const wiring = "cmd/reviewer/wiring/prepared/"
	return []string{"bundles/prepared/parsed.bin", wiring + "precompiled.bin", wiring + "conditions.bin"}
}

func parseTargets(text string) ([]target, error) {
	all := allTargets()
	if text == "" {
		return all, nil
	}
	var chosen []target
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(all, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-targets names %q; expected some of %v", name, all)
		}
		if !slices.Contains(chosen, all[i]) {
			chosen = append(chosen, all[i])
		}
	}
	slices.SortFunc(chosen, func(a, b target) int { return strings.Compare(a.String(), b.String()) })
	return chosen, nil
}

// readCommit asks git for the root, the commit and its time.
func (r *release) readCommit(ctx context.Context) error {
	root, err := output(ctx, ".", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("a release must be built in a git checkout: %w", err)
	}
	r.root = filepath.FromSlash(root)
	if r.commit, err = output(ctx, r.root, nil, "git", "rev-parse", "HEAD"); err != nil {
		return err
	}
	changes, err := output(ctx, r.root, nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	r.modified = changes != ""
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		if seconds, err = output(ctx, r.root, nil, "git", "log", "-1", "--format=%ct"); err != nil {
			return err
		}
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("SOURCE_DATE_EPOCH is %q; expected seconds since 1970", seconds)
	}
	r.time = time.Unix(n, 0).UTC()
	return nil
}

// write makes the files of each target, and then the checksums of all files and their
// signature.
func (r *release) write(ctx context.Context, out string, key signing.Signer, w io.Writer) error {
	if err := emptyFolder(out); err != nil {
		return err
	}
	d := &folder{path: out, log: w}
	common, err := r.common(ctx)
	if err != nil {
		return err
	}
	var built []build
	for _, t := range r.targets {
		b, err := r.build(ctx, t)
		if err != nil {
			return err
		}
		b.common = common
		if err := r.writeTarget(d, &b); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		built = append(built, b)
	}
	if err := errors.Join(r.writeHomebrew(d), r.writeNPM(d, built), r.writeImage(d, built)); err != nil {
		return err
	}
	return r.attest(ctx, d, built[0].info.GoVersion, key)
}

// writeTarget writes the files that belong to one target alone.
func (r *release) writeTarget(d *folder, b *build) error {
	archive, err := r.archive(b)
	if err != nil {
		return err
	}
	sbom, err := r.sbom(b)
	if err != nil {
		return err
	}
	if err := errors.Join(d.add(r.archiveName(b.target), archive), d.add(r.name(b.target)+".cdx.json", sbom)); err != nil {
		return err
	}
	if b.os != "linux" {
		return nil
	}
	deb, err := r.deb(b)
	if err != nil {
		return err
	}
	rpm, err := r.rpm(b)
	if err != nil {
		return err
	}
	return errors.Join(d.add(r.name(b.target)+".deb", deb), d.add(r.name(b.target)+".rpm", rpm))
}

// name returns the beginning of the names of a target's files.
func (r *release) name(t target) string {
	return fmt.Sprintf("reviewer_%s_%s_%s", r.version, t.os, t.arch)
}

// folder is the output folder of a release.
type folder struct {
	path  string
	log   io.Writer
	files []signing.Subject // in the order in which they were added
}

func (d *folder) add(name string, content []byte) error {
	path := filepath.Join(d.path, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return err
	}
	s := signing.Subject{Name: name, SHA256: signing.SHA256(content)}
	d.files = append(d.files, s)
	_, err := fmt.Fprintf(d.log, "%s  %s\n", s.SHA256, s.Name)
	return err
}

// sha256 is the digest of a file that was added.
func (d *folder) sha256(name string) (string, bool) {
	i := slices.IndexFunc(d.files, func(s signing.Subject) bool { return s.Name == name })
	if i < 0 {
		return "", false
	}
	return d.files[i].SHA256, true
}
