package bundles

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agent-reviewer/reviewer/engine"
	"golang.org/x/mod/semver"
)

// manifestFile is the name of the file that describes a bundle.
const manifestFile = ".manifest"

// Manifest is the content of .manifest, in OPA's form.
type Manifest struct {
	Revision string `json:"revision"` // source of the files, such as a commit; policy build fills it in
	// The one root of the layer: reviewer (base), policies/organisation, policies/user or
	// policies/project.
	Roots    []string         `json:"roots"`
	Rego     int              `json:"rego_version"` // version of Rego, always 1
	Metadata ManifestMetadata `json:"metadata"`     // who made the bundle, and what it needs
}

// ManifestMetadata is the part of the manifest that OPA keeps but does not use.
type ManifestMetadata struct {
	Name     string         `json:"name"`              // name of the bundle: lower-case words joined by . _ - /
	Version  string         `json:"version"`           // semantic version of the release
	Sequence int64          `json:"sequence"`          // number that rises with each release, for rollback protection
	Requires map[string]int `json:"requires"`          // minimum versions that the policy needs: engine
	Created  string         `json:"created,omitempty"` // time of the release, RFC 3339 in UTC

	// Code of a warning of policy check, and its severity here: off, warning or error.
	Lint map[string]string `json:"lint,omitempty"`

	// Only in the manifest of an archive.
	Capabilities string `json:"capabilities,omitempty"`  // SHA-256 of the Rego capabilities that the policy was checked with; written by policy build
	TestsSkipped bool   `json:"tests_skipped,omitempty"` // no test ran before the bundle was packed; written by policy build
	// Manifest as the author wrote it, which the digest covers; written by policy build.
	Written string `json:"written,omitempty"`
}

// Built reports whether the bundle was read from an archive that Pack made.
func (m *Manifest) Built() bool { return m.Metadata.Written != "" }

// released returns a manifest completed for an archive.
func (m Manifest) released(r Release, written []byte) Manifest {
	m.Rego = 1
	m.Revision = cmp.Or(r.Revision, m.Revision)
	d := &m.Metadata
	d.Name, d.Version, d.Sequence = cmp.Or(r.Name, d.Name), cmp.Or(r.Version, d.Version), cmp.Or(r.Sequence, d.Sequence)
	d.Created = cmp.Or(d.Created, r.Created)
	d.Capabilities, d.TestsSkipped, d.Written = r.Capabilities, r.TestsSkipped, string(written)
	d.Requires = maps.Clone(d.Requires)
	if d.Requires == nil {
		d.Requires = map[string]int{}
	}
	d.Requires["engine"] = cmp.Or(d.Requires["engine"], r.Engine)
	return m
}

// releaseName is the form of a name, which is also part of a registry reference.
var releaseName = engine.Regexp(`^[a-z0-9]+([._-][a-z0-9]+)*(/[a-z0-9]+([._-][a-z0-9]+)*)*$`)

// IsReleaseName reports whether a bundle of this name can be released.
func IsReleaseName(name string) bool {
	return len(name) <= maxReleaseName && releaseName().MatchString(name)
}

// Limits of a release's name and revision.
const (
	maxReleaseName = 128 // bytes
	maxRevision    = 256 // bytes
)

// releasable reports everything that a manifest lacks for a release.
func (m *Manifest) releasable() error {
	d, at := m.Metadata, inFile(manifestFile)
	var errs []error
	if !IsReleaseName(d.Name) {
		errs = append(errs, at.wrong("metadata.name is %q; expected a name such as acme/agents: "+
			"lower-case letters and digits, with . _ - / between them", d.Name))
	}
	if !IsVersion(d.Version) {
		errs = append(errs,
			at.wrong("metadata.version is %q; expected a version such as 1.4.0 (semver.org), in the manifest or by --version",
				d.Version))
	}
	if d.Sequence < 1 || d.Sequence > maxWhole {
		errs = append(errs, at.wrong("metadata.sequence is %d; expected a number of at least 1 that increases with each release, "+
			"in the manifest or by --sequence", d.Sequence))
	}
	if len(m.Revision) > maxRevision || strings.ContainsFunc(m.Revision, unicode.IsControl) {
		errs = append(errs, at.wrong("revision has %d bytes or control characters; expected one line of at most %d bytes",
			len(m.Revision),
			maxRevision))
	}
	if t, err := time.Parse(time.RFC3339, d.Created); d.Created != "" &&
		(err != nil || !strings.HasSuffix(d.Created, "Z") || t.Year() < 1970) {
		errs = append(errs, at.wrong("metadata.created is %q; expected a time in UTC such as 2026-11-22T08:00:00Z", d.Created))
	}
	return errors.Join(errs...)
}

// maxWhole is the largest whole number that every reader of JSON reads exactly.
const maxWhole = 1<<53 - 1

// IsVersion reports whether a string is a whole semantic version, such as
// 1.4.0-rc.1.
func IsVersion(v string) bool {
	full := "v" + v
	return semver.IsValid(full) && semver.Canonical(full)+semver.Build(full) == full
}

// created returns the time of a release's files; the epoch if the manifest has none.
func (m *Manifest) created() time.Time {
	t, err := time.Parse(time.RFC3339, m.Metadata.Created)
	if err != nil {
		return time.Unix(0, 0)
	}
	return t
}

// unpacked removes the parts of a built bundle that only an archive has: it restores
// the written manifest and drops files that are only for OPA.
func (b *Bundle) unpacked() error {
	written := []byte(b.Manifest.Metadata.Written)
	m, err := decodeManifest(written)
	if err != nil {
		return fmt.Errorf("metadata.written: %w", err)
	}
	if what := b.Manifest.differs(m); what != "" {
		return inFile(manifestFile).wrong("%s differs from that of the manifest that was written (metadata.written): build the archive again",
			what)
	}
	b.Files = maps.Clone(b.Files)
	b.Files[manifestFile] = written
	b.repeated = map[string][]byte{}
	for _, name := range b.derivedNames() {
		if content, there := b.Files[name]; there {
			b.repeated[name] = content
			delete(b.Files, name)
		}
	}
	return nil
}

// differs reports the fields of a built manifest that a release must not change.
func (m *Manifest) differs(written Manifest) string {
	switch w := written.Metadata; {
	case written.Built() || w.Capabilities != "" || w.TestsSkipped:
		return "what only an archive's manifest has"
	case written.Roots != nil && !slices.Equal(m.Roots, written.Roots):
		return "roots"
	case written.Rego != 0 && m.Rego != written.Rego:
		return "rego_version"
	case w.Created != "" && m.Metadata.Created != w.Created:
		return "metadata.created"
	default:
		for what, need := range w.Requires {
			if m.Metadata.Requires[what] != need {
				return "metadata.requires." + what
			}
		}
	}
	return ""
}

// ReleaseLayer is LayerOf for files that are to be released: they need a manifest.
func ReleaseLayer(fsys fs.FS) (string, error) {
	if _, err := fs.Stat(fsys, manifestFile); err != nil {
		return "", noManifest((&Bundle{Layer: Organisation}).Root(), ", or the root reviewer for a policy by itself")
	}
	return LayerOf(fsys)
}

// noManifest describes the minimal manifest of a release.
func noManifest(root, or string) error {
	return inFile(manifestFile).wrong(`is missing; write one such as {"roots": [%q], "rego_version": 1, `+
		`"metadata": {"name": "acme/agents", "version": "1.0.0", "sequence": 1}}%s`, root, or)
}

// The severities that a manifest can give to the warnings of `policy check` with a
// code.
const (
	LintOff     = "off" // not reported, but counted
	LintWarning = "warning"
	LintError   = "error"
)

// LintSeverities lists them.
func LintSeverities() []string { return []string{LintOff, LintWarning, LintError} }

// ManifestPlace returns the offset of a key in the manifest; 0: not found.
func (b *Bundle) ManifestPlace(key string) (line, col int) {
	raw := b.Files[manifestFile]
	quoted, err := json.Marshal(key)
	if err != nil {
		return 0, 0
	}
	at := bytes.Index(raw, quoted)
	if at < 0 {
		return 0, 0
	}
	before := raw[:at]
	return bytes.Count(before, []byte("\n")) + 1, at - bytes.LastIndexByte(before, '\n')
}

func (b *Bundle) manifestSpot(key string) position {
	at := inFile(manifestFile).as("manifest.field")
	at.line, at.col = b.ManifestPlace(key)
	return at
}

func decodeManifest(content []byte) (Manifest, error) {
	var m Manifest
	_, err := engine.Canonical(content)
	if !json.Valid(content) && (offsetOf(err) == 0 || jsonHint(content[offsetOf(err)-1:]) == "") {
		err = json.Unmarshal(content, &m) // with the line of the mistake
	}
	if err != nil {
		return m, notManifest(content, err)
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, notManifest(content, err)
	}
	return m, nil
}

// notManifest reports where a manifest is not JSON.
func notManifest(content []byte, err error) error {
	at := inFile(manifestFile).as("manifest.syntax")
	var e *json.SyntaxError
	if errors.As(err, &e) {
		before := content[:min(max(0, int(e.Offset)-1), len(content))]
		at.line, at.col = bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n')
	}
	if hint := jsonHint(content[min(len(content), max(0, int(offsetOf(err))-1)):]); hint != "" && offsetOf(err) > 0 {
		return at.wrong("%s", hint)
	}
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		if typed.Field == "" {
			at.line, at.col = 1, 1
			return at.wrong("expected an object such as {\"roots\": [\"policies/organisation\"]}, got %s", typed.Value)
		}
		b := Bundle{Files: map[string][]byte{manifestFile: content}}
		at.line, at.col = b.ManifestPlace(typed.Field[strings.LastIndexByte(typed.Field, '.')+1:])
		return at.wrong("%s: expected %s, got %s", typed.Field, jsonKind(typed.Type), typed.Value)
	}
	if bytes.HasPrefix(content, []byte("\ufeff")) {
		return at.wrong("starts with a byte order mark, which JSON does not allow; save it without")
	}
	if key, unknown := strings.CutPrefix(err.Error(), `json: unknown field "`); unknown {
		b := Bundle{Files: map[string][]byte{manifestFile: content}}
		key = strings.TrimSuffix(key, `"`)
		at.line, at.col = b.ManifestPlace(key)
		if slices.ContainsFunc(engine.JSONFields(reflect.TypeFor[ManifestMetadata]()), func(f engine.JSONField) bool { return f.Name == key }) {
			return at.wrong("unknown key %q; it belongs under metadata, as in \"metadata\": {%q: …}", key, key)
		}
		var known []string
		for _, t := range []reflect.Type{reflect.TypeFor[Manifest](), reflect.TypeFor[ManifestMetadata]()} {
			for _, f := range engine.JSONFields(t) {
				known = append(known, f.Name)
			}
		}
		return at.wrong("unknown key %s", engine.Suggest(key, known))
	}
	if twice, found := strings.CutPrefix(err.Error(), `duplicate key "`); found {
		key := strings.TrimSuffix(twice, `"`)
		if i := bytes.LastIndex(content, []byte(`"`+key+`"`)); i >= 0 {
			at.line, at.col = bytes.Count(content[:i], []byte("\n"))+1, i-bytes.LastIndexByte(content[:i], '\n')
		}
	}
	return at.wrong("%w", err)
}

// jsonHint returns a hint for the commonest mistakes in JSON; empty for others.
func jsonHint(rest []byte) string {
	comma, closed := bytes.CutPrefix(rest, []byte(","))
	comma = bytes.TrimSpace(comma)
	switch {
	case bytes.HasPrefix(rest, []byte("/")) || bytes.HasPrefix(rest, []byte("#")):
		return "JSON has no comments; remove this one"
	case closed && (bytes.HasPrefix(comma, []byte("}")) || bytes.HasPrefix(comma, []byte("]"))):
		return "there is a comma before the end; remove it, or add what is missing"
	}
	return ""
}

// offsetOf returns where a syntax error of JSON is; 0 for any other error.
func offsetOf(err error) int64 {
	var e *json.SyntaxError
	if errors.As(err, &e) {
		return e.Offset
	}
	return 0
}

// jsonKind describes the JSON kind of a Go type.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list such as [\"a\"]"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "a number, without quotes"
	case reflect.Bool:
		return "true or false"
	}
	return "a quoted string"
}

// LayerOf returns the layer of a folder, from the root in its manifest; without a
// manifest it is the user layer.
func LayerOf(fsys fs.FS) (string, error) {
	raw, err := fs.ReadFile(fsys, manifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return User, nil
	}
	if err != nil {
		return "", fmt.Errorf("read .manifest: %w", err)
	}
	m, err := decodeManifest(raw)
	if err != nil {
		return "", err
	}
	for _, layer := range Layers() {
		b := Bundle{Layer: layer}
		if slices.Equal(m.Roots, []string{b.Root()}) {
			return layer, nil
		}
	}
	at := (&Bundle{Files: map[string][]byte{manifestFile: raw}}).manifestSpot("roots").as("manifest.root")
	if m.Roots == nil {
		return "", at.wrong(`roots are missing; add "roots": ["policies/organisation"], or another of reviewer, policies/user, policies/project`)
	}
	return "", at.wrong("roots are %q; expected one of reviewer, policies/organisation, policies/user, policies/project", m.Roots)
}
