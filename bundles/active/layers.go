// Package active determines the active policy on this machine: it finds the
// layers of a workspace, in folders and among the activated bundles, reads the
// active trust file, resolves references to policies, and activates or rolls
// back bundles.
//
// Out of scope: commands and their output, decisions, and compiling a
// policy. The caller provides a compiler, git, and whether a person is present.
package active

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// Machine describes where a machine keeps its policies, and the program that reads them.
type Machine struct {
	Home string // the state directory

	// Program identifies the program that reads them: one program may reject what another has
	// accepted. It is called only if a bundle was activated.
	Program func() string

	Now func() int64 // Unix milliseconds; called only to say what to do about an invalid trust file, and when a policy is stored

	Log *audit.Store // whose ledger has what the person accepted; nil: that of Home
}

// Layers are the sources of the active policy of a workspace: activated
// bundles, folders, and the built-in policy.
type Layers struct {
	machine      Machine
	workspace    string
	organisation string // folder of the organisation's policy, whether or not it exists
	Releases     *releases.Store
	Active       *releases.Active
	trust        func() (Trust, error) // asked for only where it matters

	checked     map[string]error // release -> why trusted keys did not sign it
	lost        map[string]error // layer -> why what is active there cannot be determined
	disbelieved []string         // what the store has and nobody signed
}

// Releases returns the store of activated bundles.
func Releases(home string) *releases.Store { return releases.Open(filepath.Join(home, "bundles")) }

// Layers returns the sources of a workspace's policy.
func (m Machine) Layers(workspace string) (*Layers, error) {
	d := Releases(m.Home)
	active, err := d.Active()
	if err != nil {
		return nil, fmt.Errorf("activated policies: %w (in %s)", err, d.Dir)
	}
	h := m.layersWith(workspace, active)
	return h, h.believe()
}

func (m Machine) layersWith(workspace string, active *releases.Active) *Layers {
	return &Layers{machine: m, workspace: workspace, organisation: OrganisationDir(), Releases: Releases(m.Home), Active: active,
		trust: sync.OnceValues(m.believedTrust), checked: map[string]error{}, lost: map[string]error{}}
}

// Dir returns the folder of a layer; empty if it has none.
func (h *Layers) Dir(layer string) string {
	if layer == bundles.Organisation {
		return h.organisation
	}
	return LayerDir(layer, h.machine.Home, h.workspace)
}

// Source is the source of a layer.
type Source struct {
	Layer      string
	Files      fs.FS
	At         string               // a folder or an archive, for messages
	Activation *releases.Activation // nil: it is a folder, or the built-in policy
	program    func() string        // that reads it
	entitled   func() error         // an error unless it may define kinds of intervention; nil: merging refuses them
}

// Sources lists the sources of the layers, in their order.
func (h *Layers) Sources() ([]*Source, error) {
	var list []*Source
	for _, layer := range bundles.Layers() {
		s, err := h.Source(layer)
		if err != nil {
			return nil, err
		}
		if s != nil {
			list = append(list, s)
		}
	}
	return list, nil
}

// Source returns the source of one layer; nil: there is none. A layer that is both a folder and an
// activated bundle is an error: one of the two would have no effect, without any sign of which.
func (h *Layers) Source(layer string) (*Source, error) {
	dir := h.Dir(layer)
	files, err := filesOfLayer(layer, dir)
	if err != nil {
		return nil, err
	}
	if err := h.lost[layer]; err != nil {
		return nil, fmt.Errorf("%s policy: %w", layer, err)
	}
	now, bundle := h.Active.Layers[layer]
	bundle = bundle && !now.None()
	switch {
	case bundle && files != nil:
		return nil, fmt.Errorf("the %s layer is the folder %s and the activated bundle %s: remove the folder, "+
			"or run `reviewer policy rollback --layer %s --to none --reason TEXT`", layer, dir, now.Release, layer)
	case bundle:
		return h.bundle(now)
	case files != nil && layer == bundles.Organisation:
		return &Source{Layer: layer, Files: files, At: dir, entitled: func() error { return noFolderMay(dir) }}, h.mayBeFolder(dir)
	case files != nil:
		return &Source{Layer: layer, Files: files, At: placeOf(files, dir)}, nil
	case layer == bundles.Base:
		return &Source{Layer: layer, Files: bundles.DefaultFS(), At: ShippedPlace}, nil
	}
	return nil, nil
}

// ShippedPlace is the place of the embedded policy in messages.
const ShippedPlace = "(the built-in policy)"

// mayBeFolder refuses the organisation's folder where there is a trust file:
// nobody signed what is in it.
func (h *Layers) mayBeFolder(dir string) error {
	t, err := h.trust()
	switch {
	case err != nil:
		return err
	case t.None():
		return nil
	}
	return fmt.Errorf("the policy in %s is an unsigned folder, but %s requires signatures: "+
		"pack it with `reviewer policy build`, have it signed, activate the archive and remove the folder", dir, t.Path)
}

// bundle reads an activated bundle, if it is still the one that was activated.
func (h *Layers) bundle(now releases.Activation) (*Source, error) {
	raw, err := h.Releases.Archive(now.Release)
	if err != nil {
		return nil, h.unusable(now, err)
	}
	s := &Source{Layer: now.Layer, At: h.Releases.Path(now.Release), Activation: &now, program: h.machine.Program}
	files, err := h.vouched(now, raw)
	if err != nil {
		return nil, h.unusable(now, err)
	}
	if files == nil {
		archive, err := bundles.OpenArchive(bytes.NewReader(raw))
		if err != nil {
			return nil, h.unusable(now, err)
		}
		files = archive.Memory
	}
	s.Files = files
	s.entitled = func() error { return h.entitled(now, raw) }
	return s, nil
}

// OwnKinds returns an error if the source defines kinds of intervention and may not. Load returns
// the same error.
func (s *Source) OwnKinds() error {
	content, err := fs.ReadFile(s.Files, "settings.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	names, err := bundles.OwnKindsIn(map[string][]byte{"settings.yaml": content})
	if err != nil {
		return nil // which is reported when the file is read
	}
	return s.mayHave(names)
}

func (s *Source) mayHave(kinds []string) error {
	if len(kinds) == 0 || s.entitled == nil {
		return nil
	}
	return s.entitled()
}

// noFolderMay refuses kinds of intervention in an unsigned folder.
func noFolderMay(dir string) error {
	return fmt.Errorf("interventions.kinds: only an activated signed bundle may define kinds of intervention, and %s is a folder: "+
		"pack it with `reviewer policy build`, have it signed by a role that has may: [%s] in trust.yaml, "+
		"activate the archive and remove the folder; "+
		"or remove the kinds", dir, trust.MayInterventions)
}

// entitled refuses a bundle with kinds of intervention unless a role that may define
// them has signed it, as of the time of the activation. Without an organisation's trust
// file nothing else checks its signatures again.
func (h *Layers) entitled(now releases.Activation, raw []byte) error {
	t, err := h.trust()
	if err != nil {
		return h.unusable(now, err)
	}
	in := trust.Candidate{File: now.Release.String(), Archive: raw, Name: now.Name, Channel: now.Channel, Now: now.At}
	if !t.None() && !now.Unsigned {
		if in.Envelope, err = h.Releases.Envelope(now.Release); err != nil {
			return h.unusable(now, err)
		}
	}
	if v := t.Check(in); v.Refused() {
		return h.unusable(now, v.Err())
	}
	return nil
}

// vouched refuses an unsigned bundle where a trust file requires signatures. The
// state folder belongs to the person, the organisation's trust file does not:
// where that file is active, the state folder is not trusted, and the signatures
// are checked again. They are checked as of the time of the activation: a policy
// whose signatures have expired since then stays active, because no policy would
// be worse.
func (h *Layers) vouched(now releases.Activation, raw []byte) (bundles.Memory, error) {
	if now.Layer != bundles.Base && now.Layer != bundles.Organisation {
		return nil, nil
	}
	t, err := h.trust()
	switch {
	case err != nil:
		return nil, err
	case t.None():
		return nil, h.ungoverned(now.Layer)
	case now.Unsigned:
		return nil, fmt.Errorf("it was activated before there was a trust file and is unsigned, but %s requires signatures",
			t.Path)
	case !t.Organisation:
		return nil, nil
	}
	envelope, err := h.Releases.Envelope(now.Release)
	if err != nil {
		return nil, err
	}
	v := t.Check(trust.Candidate{File: now.Release.String(), Archive: raw, Envelope: envelope, Name: now.Name, Channel: now.Channel,
		Now: now.At})
	return v.Files, v.Err()
}

// ungoverned refuses a base other than the built-in one under an organisation's
// folder, since it could make the folder ineffective.
func (h *Layers) ungoverned(layer string) error {
	if there, err := IsDir(h.organisation); err != nil || !there || layer != bundles.Base {
		return err
	}
	return fmt.Errorf("the organisation's policy in %s is written for the built-in base, and the organisation has not signed another one; "+
		"the organisation can allow it with a trust file", h.organisation)
}

// unusable describes why an activated bundle cannot be used, and how to fix that. The hook's denial has room for few words.
func (h *Layers) unusable(now releases.Activation, err error) error {
	if p := (*trust.FileProblem)(nil); errors.As(err, &p) { // it describes its own fix, without which nothing else helps
		return fmt.Errorf("the activated %s policy %s cannot be used: %w", now.Layer, now.Release, err)
	}
	return fmt.Errorf("the activated %s policy %s cannot be used: %w; %s", now.Layer, now.Release, err, h.wayBack(now.Layer))
}

// wayBack names a command that works: a rollback only if its bundle would be accepted.
func (h *Layers) wayBack(layer string) string {
	const activate = "activate a valid one: `reviewer policy activate ARCHIVE`"
	switch back, before := h.back(layer); {
	case back == "":
		return activate
	case before.None():
		return "activate a valid one, or remove it from the layer: `" + back + "`"
	default:
		return fmt.Sprintf("the last valid one is %s: `%s`", before.Release, back)
	}
}

// Undo returns the command that restores what was active in a layer before; empty: it would be refused.
func (m Machine) Undo(layer string) string {
	back, _ := m.layersWith("", nil).back(layer)
	return back
}

// back returns the command that rolls a layer back, and to what; empty: its bundle would be refused.
func (h *Layers) back(layer string) (command string, before releases.Activation) {
	s, err := h.Releases.State()
	if err != nil {
		return "", before
	}
	if before, err = s.Previous(layer); err != nil {
		return "", before
	}
	flags, ok := h.backFlags(s, before)
	if !ok {
		return "", before
	}
	return fmt.Sprintf("reviewer policy rollback --layer %s%s --reason TEXT", layer, flags), before
}

// backFlags returns the flags that a rollback needs besides the reason, and
// whether its bundle would be accepted at all.
func (h *Layers) backFlags(s *releases.State, before releases.Activation) (flags string, ok bool) {
	t, err := h.trust()
	if err != nil || t.None() {
		return "", err == nil
	}
	if before.None() {
		return " --allow-rollback", true
	}
	raw, err := h.Releases.Archive(before.Release)
	if err != nil {
		return "", false
	}
	envelope, err := h.Releases.Envelope(before.Release)
	if err != nil {
		return "", false
	}
	v := t.Check(trust.Candidate{File: before.Release.String(), Archive: raw, Envelope: envelope, Now: h.machine.Now()})
	if seen := s.Seen.Of(before.Name, before.Channel); before.Sequence < seen.Sequence {
		flags = " --allow-rollback"
	}
	return flags, !v.Refused()
}

// Load reads a layer.
func (s *Source) Load() (*bundles.Bundle, error) {
	if s.Activation == nil && s.Layer == bundles.Base {
		return bundles.Default()
	}
	b, err := bundles.Load(s.Files, s.Layer)
	if err != nil {
		return nil, s.named(fmt.Errorf("%s policy in %s: %w", s.Layer, s.At, err))
	}
	if err := s.mayHave(b.OwnKinds()); err != nil {
		return nil, err
	}
	a := s.Activation
	switch {
	case a == nil:
	case a.Digest != b.Digest:
		return nil, fmt.Errorf("%s policy in %s: its files have the digest %s, but %s was activated; activate the archive again", s.Layer, s.At,
			b.Digest, a.Digest)
	case a.Checked == s.program():
		b.MarkChecked()
	}
	return b, nil
}

// Effective returns the policy that is active in a workspace.
func (m Machine) Effective(workspace string) (*bundles.Effective, error) {
	h, err := m.Layers(workspace)
	if err != nil {
		return nil, err
	}
	return h.Effective()
}

// Effective is the result of all layers.
func (h *Layers) Effective() (*bundles.Effective, error) {
	layers, own, err := h.load("")
	if err != nil {
		return nil, err
	}
	for i, l := range layers {
		if len(l.Workspaces()) > 0 && h.workspace != "" {
			layers[i] = l.In(realPath(homeDir()), h.workspace, realPath)
		}
	}
	e, err := bundles.Assemble(layers...)
	if err == nil {
		notices := append([]string{own.Text()}, h.Disbelieved()...)
		e.Notice = strings.Join(slices.DeleteFunc(notices, func(s string) bool { return s == "" }), "; ")
		return e, nil
	}
	if s, other := h.Source(bundles.Project); other == nil && s != nil {
		err = s.named(err)
	}
	return nil, err
}

// homeDir is the person's home directory, with slashes; empty: it is unknown.
func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.ToSlash(home)
}

// realPath returns an absolute path without symbolic links, with slashes; where it does not exist, as it is.
func realPath(name string) string {
	if whole, err := filepath.Abs(filepath.FromSlash(name)); err == nil && name != "" {
		name = whole
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	return filepath.ToSlash(name)
}

// mayHoldBundle refuses a layer that is a folder, and, without a trust file, a
// base under a folder of the organisation.
func (h *Layers) mayHoldBundle(layer string) error {
	dir := h.Dir(layer)
	files, err := filesOfLayer(layer, dir)
	switch {
	case err != nil:
		return err
	case files != nil:
		return h.folderFirst(layer, dir, files)
	}
	t, err := h.trust()
	if err != nil || !t.None() {
		return err
	}
	return h.ungoverned(layer)
}

// folderFirst refuses a bundle for a layer that is a folder, and says what removing the folder loses.
func (h *Layers) folderFirst(layer, dir string, files fs.FS) error {
	text := fmt.Sprintf("the %s layer is the folder %s; remove it first: a layer cannot have two sources", layer, dir)
	if there, err := bundles.FilesThatCount(files); err == nil && len(there) > 0 {
		text += fmt.Sprintf(". What its files say is lost then (%s), unless the bundle or another layer says it, too",
			few(slices.Sorted(maps.Keys(there))))
	}
	if limit, err := h.limit(); err == nil && limit.Channel != "" {
		text += fmt.Sprintf("; releases are taken from the channel %s anyway, until a setting names another one, "+
			"or a person does with --channel", limit.Channel)
	}
	return errors.New(text)
}

// load reads the layers, except for one that is left out, and says which content of the person's own policy is active.
func (h *Layers) load(but string) (layers []*bundles.Bundle, own *Own, err error) {
	var errs []error
	for _, layer := range bundles.Layers() {
		if layer == but {
			continue
		}
		var b *bundles.Bundle
		if layer == bundles.User {
			b, own, err = h.own(layers)
		} else {
			b, err = h.layer(layer)
		}
		if err == nil && b != nil {
			layers = append(layers, b)
		}
		errs = append(errs, err)
	}
	return layers, own, errors.Join(errs...)
}

// layer reads a layer from its source; nil: it has none.
func (h *Layers) layer(layer string) (*bundles.Bundle, error) {
	s, err := h.Source(layer)
	if err != nil || s == nil {
		return nil, err
	}
	return s.Load()
}
