// Package bundles reads policy bundles: their files and digests, how several
// layers and their settings merge into one effective policy, and the store that
// keeps policies by digest. The built-in policy is in bundles/default.
//
// Out of scope: evaluating anything (rego, cel), signatures
// (bundles/signing, bundles/trust), and the numbers and names of a policy,
// which are in the bundle's own files.
package bundles

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

//go:embed all:default
var shipped embed.FS

// The layers of a policy, in order. Base owns the package reviewer and the
// settings; the others own the package policies.<layer>.
const (
	Base         = "base"
	Organisation = "organisation"
	User         = "user"
	Project      = "project" // writable by the agent: may only tighten
)

// Layers lists the layers in their order.
func Layers() []string { return []string{Base, Organisation, User, Project} }

// Bundle is one layer's files, read and checked but not compiled.
type Bundle struct {
	Layer       string
	Manifest    Manifest
	Files       map[string][]byte // the effective files: what the digest covers
	Digest      string            // Go's dirhash h1 over Files
	Modules     map[string]string // path -> Rego source
	Data        map[string]any    // the document formed by the data.yaml files
	Rules       []Rule            // rows of rules/**.yaml and patterns/**.yaml
	Access      []AccessList      // documents of access/**.yaml
	Detectors   []Detector        // rows of detectors/**.yaml
	Definitions []Definition      // of definitions.yaml
	Rows        map[string][]byte // programs/**.yaml and others: rows, which are parsed when a call needs them
	Settings    map[string]any    // settings.yaml; never in the base layer, whose settings are its data

	shipped  bool              // embedded: compiled by the tests
	repeated map[string][]byte // of an archive: rows that it contains a second time, for OPA

	unread  []string // files that look like part of the policy but are not read
	broken  []string // ids of invalid rows; only in a bundle that Inspect has read
	checked bool     // its settings were checked before: by the tests, or when it was stored
	rowsOK  bool     // its rows were checked before, in this process

	workspaces []string       // whose settings its settings contain, those that count last at the end; see Of
	written    map[string]any // its settings without these; nil: there are none
}

// Default returns the built-in policy.
func Default() (*Bundle, error) {
	b, err := Load(DefaultFS(), Base)
	if err != nil {
		return nil, fmt.Errorf("embedded policy: %w", err)
	}
	b.checked, b.shipped = true, true
	return b, nil
}

// BuiltIn returns the manifest and the digest of the built-in policy, for
// callers that only need its identity: reading its rows takes ten times as
// long. The files are not kept.
func BuiltIn() (Manifest, string, error) {
	fsys := DefaultFS()
	var names []string
	_, err := eachFile(fsys, func(name string) { names = append(names, name) })
	content, errManifest := ReadFile(fsys, manifestFile)
	b := &Bundle{Files: map[string][]byte{manifestFile: content}}
	if err = errors.Join(err, errManifest, b.addManifest()); err != nil {
		return Manifest{}, "", fmt.Errorf("embedded policy: %w", err)
	}
	part := make([]byte, 32<<10)
	d, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
		f, err := fsys.Open(name)
		return &inParts{f, part}, err
	})
	return b.Manifest, d, err
}

// inParts is a file that is copied through a buffer which others use before and after it.
type inParts struct {
	fs.File
	part []byte
}

// WriteTo implements io.WriterTo.
func (f *inParts) WriteTo(w io.Writer) (int64, error) {
	return io.CopyBuffer(w, struct{ io.Reader }{f.File}, f.part)
}

// DefaultFS returns the files of the built-in policy, tests and cases included.
func DefaultFS() fs.FS {
	sub, err := fs.Sub(shipped, "default")
	if err != nil {
		return shipped // unreachable: the directory is embedded above
	}
	return sub
}

// maxFile limits one file of a bundle; the largest file of the built-in policy
// has a twelfth of it.
const maxFile = 1 << 20

// Load reads a bundle as a layer. Errors name the file and say what to do; all
// files are examined before it fails.
func Load(fsys fs.FS, layer string) (*Bundle, error) {
	files, unread, err := readFiles(fsys)
	if err != nil {
		return nil, err
	}
	b, err := FromFiles(files, layer)
	if err != nil {
		return nil, err
	}
	b.unread = unread
	return b, nil
}

// FromFiles makes a bundle from files in memory.
func FromFiles(files map[string][]byte, layer string) (*Bundle, error) {
	b, err := fromFiles(files, layer)
	if err != nil {
		return nil, err
	}
	b.Digest, err = digest(b.Files)
	return b, err
}

// fromFiles makes a bundle from the readable files.
func fromFiles(files map[string][]byte, layer string) (*Bundle, error) {
	b := &Bundle{Layer: layer, Files: files, Modules: map[string]string{}, Data: map[string]any{}, Rows: map[string][]byte{}}
	errs := []error{b.addManifest(), b.addSettings(), b.addPrompts()}
	rules := parseRules(b.Files)
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		errs = append(errs, b.add(name, b.Files[name], rules))
	}
	return b, errors.Join(append(errs, b.checkManifest(), b.checkRuleIDs())...)
}

// counts reports whether a file is part of the effective policy: tests, cases
// and signatures are not, and neither is what no policy reads, such as a
// README.
func counts(name string) bool {
	switch {
	case name == manifestFile:
		return true
	case strings.HasSuffix(name, "_test.rego"), strings.HasPrefix(name, "cases/"):
		return false
	}
	switch path.Ext(name) {
	case ".rego", ".yaml", ".yml", ".json":
		return !strings.HasPrefix(path.Base(name), ".")
	}
	return false
}

// FilesThatCount returns the files of a layer's folder that its digest covers, even
// invalid ones.
func FilesThatCount(fsys fs.FS) (map[string][]byte, error) {
	files, _, err := readFiles(fsys)
	return files, err
}

// readFiles returns the files that count, as far as they can be read, and the names of
// files that might be mistaken for such.
func readFiles(fsys fs.FS) (files map[string][]byte, unread []string, err error) {
	files = map[string][]byte{}
	var wrong []error
	unread, err = eachFile(fsys, func(name string) {
		if content, err := ReadFile(fsys, name); err != nil {
			wrong = append(wrong, err)
		} else {
			files[name] = content
		}
	})
	if err = errors.Join(append(wrong, err)...); err != nil {
		return files, unread, fmt.Errorf("read policy: %w", err)
	}
	return files, unread, nil
}

// eachFile calls read for each file that counts, and returns the names of files that might be
// mistaken for such.
func eachFile(fsys fs.FS, read func(name string)) (unread []string, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Type()&fs.ModeSymlink != 0 && leadsToDir(fsys, name):
			return inFile(name).as("file.unreadable").wrong("is a link to a folder, which is not read; replace it with the folder")
		case d.IsDir() && (name == "cases" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case !counts(name):
			if mistakable(name) {
				unread = append(unread, name)
			}
			return nil
		}
		read(name)
		return nil
	})
	return unread, err
}

func leadsToDir(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

// mistakable reports whether a file is in a folder in which all other files are read.
func mistakable(name string) bool {
	dir, _, below := strings.Cut(name, "/")
	return below && (dir == "rules" || dir == "patterns" || dir == "access" || dir == "detectors") &&
		path.Ext(name) != ".md" && !strings.HasSuffix(name, "_test.rego")
}

// ReadFile reads a file of a policy, or a test of it. An empty file is an
// error: it may be the rest of an interrupted write, and rules would be lost
// with it. Only settings may be empty: then the defaults apply. Every error names the file.
func ReadFile(fsys fs.FS, name string) ([]byte, error) {
	b, err := readBounded(fsys, name)
	if err == nil && len(bytes.TrimSpace(b)) == 0 && FileKind(name) != SettingsFile {
		return nil, inFile(name).as("file.unreadable").wrong("the file is empty; add content or delete it")
	}
	return b, err
}

// readBounded reads a regular file that is not too large.
func readBounded(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return nil, unreadable(name, err)
	case !info.Mode().IsRegular():
		return nil, inFile(name).as("file.unreadable").wrong("is not a regular file; replace it with a text file")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer f.Close()
	most := sizeLimit(name)
	content := bytes.NewBuffer(make([]byte, 0, min(info.Size(), most)+bytes.MinRead))
	_, err = content.ReadFrom(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, inFile(name).as("file.unreadable").wrong("%w", err)
	case int64(content.Len()) > most:
		return nil, inFile(name).as("file.unreadable").wrong("is larger than %d bytes; split it", most)
	}
	return content.Bytes(), nil
}

// unreadable reports why a file cannot be read, without the name of the system call.
func unreadable(name string, err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	return inFile(name).as("file.unreadable").wrong("cannot be read: %w", err)
}

func digest(files map[string][]byte) (string, error) {
	return dirhash.Hash1(slices.Collect(maps.Keys(files)), func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files[name])), nil
	})
}

// The kinds of files in a policy.
const (
	ManifestFile  = "manifest"
	RegoFile      = "rego"
	SettingsFile  = "settings"
	DataFile      = "data"
	RulesFile     = "rules" // and patterns
	AccessFile    = "access"
	DetectorsFile = "detectors"
	Definitions   = "definitions"
	RowsFile      = "rows" // what programs do, what paths are
)

// FileKind returns the kind of a file, which follows from its name; empty: it is not part of a
// policy.
func FileKind(name string) string {
	base := path.Base(name)
	switch {
	case name == manifestFile:
		return ManifestFile
	case path.Ext(name) == ".rego":
		return RegoFile
	case name == "settings.yaml":
		return SettingsFile
	case base == "data.yaml" || base == "data.json":
		return DataFile
	case strings.HasPrefix(name, "rules/"), strings.HasPrefix(name, "patterns/"):
		return RulesFile
	case strings.HasPrefix(name, "access/"):
		return AccessFile
	case strings.HasPrefix(name, "detectors/"):
		return DetectorsFile
	case name == definitionsFile:
		return Definitions
	case slices.ContainsFunc(rows.Folders(), func(folder string) bool { return strings.HasPrefix(name, folder) }):
		return RowsFile
	}
	return ""
}

// add adds one file according to its name.
func (b *Bundle) add(name string, content []byte, rules map[string]*parsedRules) error {
	switch FileKind(name) {
	case ManifestFile, SettingsFile:
		return nil // were read first
	case RegoFile:
		b.Modules[name] = string(content)
		return b.addRules(rules[name])
	case DataFile:
		return b.addData(name, content)
	case RulesFile:
		return b.addRules(rules[name])
	case AccessFile:
		lists, err := ParseAccess(name, content)
		b.Access = append(b.Access, lists...)
		return err
	case DetectorsFile:
		rows, err := ParseDetectors(name, content)
		b.Detectors = append(b.Detectors, rows...)
		return err
	case Definitions:
		return b.addDefinitions(name, content)
	case RowsFile:
		b.Rows[name] = content
		return nil
	}
	if name == b.prompts() {
		return nil // was read with the settings
	}
	return inFile(name).as("file.unused").wrong("nothing reads this file; policy is in "+
		"*.rego, data.yaml, settings.yaml, definitions.yaml, and in YAML files under rules/, "+
		"patterns/, access/, detectors/ and, for rows, %s", strings.Join(rows.Folders(), ", "))
}

func (b *Bundle) addRules(r *parsedRules) error {
	if r == nil {
		return nil
	}
	b.Rules, b.broken = append(b.Rules, r.rows...), append(b.broken, r.broken...)
	return r.err
}

// parsedRules are the rows of a file.
type parsedRules struct {
	rows   []Rule
	broken []string
	err    error
}

// parseRules parses the files with rows, all at the same time: a hook waits for it.
func parseRules(files map[string][]byte) map[string]*parsedRules {
	rules := map[string]*parsedRules{}
	var all sync.WaitGroup
	for name, content := range files {
		if kind := FileKind(name); kind != RulesFile && (kind != RegoFile || !strings.HasPrefix(name, "rules/")) {
			continue
		}
		r := &parsedRules{}
		rules[name] = r
		all.Go(func() { r.rows, r.broken, r.err = parseConditions(name, content) })
	}
	all.Wait()
	return rules
}

// addManifest reads the manifest, which determines how other files are interpreted.
func (b *Bundle) addManifest() error {
	content, there := b.Files[manifestFile]
	if !there {
		return nil
	}
	var err error
	if b.Manifest, err = decodeManifest(content); err != nil || !b.Manifest.Built() {
		return err
	}
	return b.unpacked()
}

// addData puts a data file at the path of its directory, as OPA does.
func (b *Bundle) addData(name string, content []byte) error {
	p, known := parsedBefore(name, content)
	doc := p.Data
	if !known {
		var err error
		if doc, err = decodeYAML(name, content); err != nil {
			return err
		}
	}
	at := b.Data
	if dir := path.Dir(name); dir != "." {
		for _, key := range strings.Split(dir, "/") {
			next, ok := at[key].(map[string]any)
			if _, taken := at[key]; taken && !ok {
				return inFile(name).wrong("%q is also set by another data file, where its value is not an object", key)
			}
			if !ok {
				next = map[string]any{}
				at[key] = next
			}
			at = next
		}
	}
	for k, v := range doc {
		if _, twice := at[k]; twice {
			return inFile(name).wrong("%q is also set by another data file", k)
		}
		at[k] = v
	}
	return nil
}

// Root is the data path below which a layer's packages and data must be.
func (b *Bundle) Root() string {
	if b.Layer == Base {
		return "reviewer"
	}
	return "policies/" + b.Layer
}

func (b *Bundle) checkManifest() error {
	m := &b.Manifest
	if m.Roots == nil {
		m.Roots = []string{b.Root()}
	}
	if m.Metadata.Name == "" {
		m.Metadata.Name = b.Layer
	}
	if !slices.Equal(m.Roots, []string{b.Root()}) {
		return b.manifestSpot("roots").as("manifest.root").wrong("roots are %q; a bundle of the %s layer has the single root %q",
			m.Roots, b.Layer, b.Root())
	}
	if m.Rego > 1 {
		return b.manifestSpot("rego_version").wrong("rego_version is %d; this reviewer reads version 1", m.Rego)
	}
	for what, need := range m.Metadata.Requires {
		if what != "engine" {
			return b.manifestSpot(what).as("manifest.requires").wrong(
				"the policy requires %s %d, but this reviewer only knows the requirement engine: update reviewer", what, need)
		}
		if need > engine.Version {
			return b.manifestSpot("engine").as("manifest.requires").wrong(
				"the policy requires engine %d; this reviewer has %d: update reviewer", need, engine.Version)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(m.Metadata.Lint)) {
		if s := m.Metadata.Lint[code]; !slices.Contains(LintSeverities(), s) {
			return b.manifestSpot(code).wrong("metadata.lint.%s: unknown word %s", code, engine.Suggest(s, LintSeverities()))
		}
	}
	return b.checkData()
}

// settingHint explains where settings belong, for a key of data that is a setting.
func settingHint(key string) string {
	if known, err := SettingsSchema(); err == nil && known.Properties[key] != nil {
		return "; it is a setting: write it in settings.yaml"
	}
	return ""
}

// checkData keeps a layer's data under its own root.
func (b *Bundle) checkData() error {
	for k, v := range b.Data {
		first, rest, nested := strings.Cut(b.Root(), "/")
		if k != first {
			return inFile(b.dataFile(k)).as("data.root").wrong("data: %q is outside the root %q of the %s layer%s", k,
				b.Root(), b.Layer, settingHint(k))
		}
		if m, ok := v.(map[string]any); nested && (!ok || len(m) != 1 || m[rest] == nil) {
			return inFile(b.dataFile(k)).as("data.root").wrong("data: %q contains more than the root %q of the %s layer", k,
				b.Root(), b.Layer)
		}
	}
	for _, made := range [][2]string{
		{CatalogueKey, "rules/**.yaml; write its rows there"},
		{AccessKey, "access/**.yaml; write the lists there"},
		{DetectorsKey, "detectors/**.yaml; write the rows there"},
	} {
		if _, taken := b.OwnData()[made[0]]; taken {
			return inFile(b.dataFile(made[0])).as("data.root").wrong("data: %q is made of %s", b.Root()+"/"+made[0], made[1])
		}
	}
	return nil
}

// dataFile returns the file that defines data under a key: by its folder, else the one
// at the top.
func (b *Bundle) dataFile(key string) string {
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		base := path.Base(name)
		if (base == "data.yaml" || base == "data.json") && (path.Dir(name) == "." || slices.Contains(strings.Split(name, "/"),
			key)) {
			return name
		}
	}
	return "data.yaml"
}

func (b *Bundle) checkRuleIDs() error {
	seen := map[string]Rule{}
	var errs []error
	for _, r := range b.Rules {
		if first, twice := seen[r.ID]; !twice {
			seen[r.ID] = r
		} else if first.file != r.file { // otherwise reported where the file was read
			errs = append(errs, r.at("id").as("row.id").wrong("rule %q is already in %s; give this one another id", r.ID,
				first.Place("id", 0)))
		}
	}
	return errors.Join(errs...)
}

// MarkChecked marks a bundle as already checked by this program, together with its
// layers: its settings against the schema, its Rego by compiling it. Neither is
// repeated, which saves a hook most of the work. A false claim makes a policy
// that may fail at each call, and then denies it.
func (b *Bundle) MarkChecked() { b.checked, b.shipped = true, true }
