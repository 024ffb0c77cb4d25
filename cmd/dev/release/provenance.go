package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/signing"
)

// provenance describes how the files were made, in the form of SLSA 1.0. It names no
// machine, so that building the commit again gives the same statement.
type provenance struct {
	Build struct {
		Type     string            `json:"buildType"`
		External map[string]string `json:"externalParameters"`
		Internal map[string]string `json:"internalParameters"`
		From     []resource        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	Run struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
		Metadata map[string]string `json:"metadata,omitempty"`
	} `json:"runDetails"`
}

type resource struct {
	URI    string            `json:"uri"`
	Digest map[string]string `json:"digest"`
}

// PredicateType implements signing.Predicate.
func (provenance) PredicateType() string { return "https://slsa.dev/provenance/v1" }

// Check implements signing.Predicate.
func (p provenance) Check() error {
	if len(p.Build.From) != 1 || p.Build.From[0].Digest["gitCommit"] == "" || p.Build.External["version"] == "" {
		return errors.New("the provenance lacks a commit or a version")
	}
	return nil
}

func (r *release) provenance(goVersion string) provenance {
	var p provenance
	names := make([]string, len(r.targets))
	for i, t := range r.targets {
		names[i] = t.String()
	}
	p.Build.Type = website + "/blob/main/docs/releasing.md"
	p.Build.External = map[string]string{"version": r.version, "targets": strings.Join(names, ",")}
	p.Build.Internal = map[string]string{"go": goVersion, "flags": strings.Join(r.buildFlags(), " "),
		"SOURCE_DATE_EPOCH": fmt.Sprint(r.time.Unix()), "uncommittedChanges": fmt.Sprint(r.modified)}
	p.Build.From = []resource{{"git+" + website, map[string]string{"gitCommit": r.commit}}}
	p.Run.Builder.ID = website + "/tree/main/cmd/dev/release"
	p.Run.Metadata = map[string]string{"startedOn": r.time.Format(time.RFC3339)}
	return p
}

const (
	sumsName      = "SHA256SUMS"
	sumsSignature = sumsName + ".sig"
)

// statementName is the file of the provenance: an envelope if it is signed.
func (r *release) statementName(signed bool) string {
	if signed {
		return "reviewer_" + r.version + ".intoto.dsse.json"
	}
	return "reviewer_" + r.version + ".intoto.json"
}

// attest writes the provenance of all files, their checksums, and the signatures over both.
func (r *release) attest(ctx context.Context, d *folder, goVersion string, key signing.Signer) error {
	statement, err := r.statement(ctx, slices.Clone(d.files), goVersion, key)
	if err != nil {
		return err
	}
	if err := d.add(r.statementName(key != nil), statement); err != nil {
		return err
	}
	sums := checksums(d.files)
	if err := d.add(sumsName, sums); err != nil || key == nil {
		return err
	}
	sig, err := key.Sign(ctx, sums)
	if err != nil {
		return err
	}
	return d.add(sumsSignature, sig)
}

func (r *release) statement(ctx context.Context, files []signing.Subject, goVersion string, key signing.Signer) ([]byte, error) {
	e, err := signing.SealAll(files, r.provenance(goVersion))
	if err != nil {
		return nil, err
	}
	if key == nil {
		return append(e.Payload, '\n'), nil
	}
	if err := e.Sign(ctx, key); err != nil {
		return nil, err
	}
	return e.Encode()
}

// checksums lists files as sha256sum -c reads them.
func checksums(files []signing.Subject) []byte {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b signing.Subject) int { return strings.Compare(a.Name, b.Name) })
	var b bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&b, "%s  %s\n", f.SHA256, f.Name)
	}
	return b.Bytes()
}

// verifyFolder checks the signature of a folder's checksums, every file against them,
// and that the provenance is signed with the same key and is of the same files.
func verifyFolder(dir, publicKey string, w io.Writer) error {
	text, err := os.ReadFile(publicKey)
	if err != nil {
		return err
	}
	key, err := signing.ParsePublicKey(text)
	if err != nil {
		return fmt.Errorf("%s: %w", publicKey, err)
	}
	sums, err := signedSums(dir, key)
	if err != nil {
		return err
	}
	files, err := verifySums(dir, sums)
	if err != nil {
		return err
	}
	if err := verifyStatement(dir, files, key); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "verified; files: %d, key: %s\n", len(files), key.ShortID())
	return err
}

func signedSums(dir string, key signing.PublicKey) ([]byte, error) {
	sums, err := os.ReadFile(filepath.Join(dir, sumsName))
	if err != nil {
		return nil, err
	}
	sig, err := os.ReadFile(filepath.Join(dir, sumsSignature))
	if err != nil {
		return nil, fmt.Errorf("the release is not signed: %w", err)
	}
	if !key.Verify(sums, sig) {
		return nil, fmt.Errorf("%s is invalid: %s was changed, or signed with another key", sumsSignature, sumsName)
	}
	return sums, nil
}

// verifySums compares the files of a folder with the list, in both directions.
func verifySums(dir string, sums []byte) ([]signing.Subject, error) {
	listed := map[string]bool{sumsName: true, sumsSignature: true}
	var files []signing.Subject
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s has a line that is not a sum and a name: %.100q", sumsName, line)
		}
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if signing.SHA256(content) != sum {
			return nil, fmt.Errorf("%s is not the released file: its SHA-256 differs", name)
		}
		listed[name] = true
		files = append(files, signing.Subject{Name: name, SHA256: sum})
	}
	return files, onlyListed(dir, listed)
}

func onlyListed(dir string, listed map[string]bool) error {
	return filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil && !listed[filepath.ToSlash(name)] {
			return fmt.Errorf("%s is not in %s: it is not part of the release", filepath.ToSlash(name), sumsName)
		}
		return err
	})
}

const statementSuffix = ".intoto.dsse.json"

// verifyStatement checks the provenance, which covers all files except itself.
func verifyStatement(dir string, files []signing.Subject, key signing.PublicKey) error {
	i := slices.IndexFunc(files, func(f signing.Subject) bool { return strings.HasSuffix(f.Name, statementSuffix) })
	if i < 0 {
		return errors.New("the release has no signed provenance (a file *" + statementSuffix + ")")
	}
	doc, err := os.ReadFile(filepath.Join(dir, files[i].Name))
	if err != nil {
		return err
	}
	e, err := signing.DecodeEnvelope(doc)
	if err != nil {
		return err
	}
	if signers, err := e.Signers([]signing.PublicKey{key}); err != nil || len(signers) == 0 {
		return errors.Join(fmt.Errorf("%s is not signed with this key", files[i].Name), err)
	}
	about, _, err := signing.OpenAll[provenance](e)
	if err != nil {
		return err
	}
	for _, f := range slices.Delete(slices.Clone(files), i, i+1) {
		if !slices.Contains(about, f) {
			return fmt.Errorf("the provenance does not mention %s", f.Name)
		}
	}
	return nil
}
