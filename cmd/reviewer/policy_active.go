package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/depot"
	"github.com/agent-reviewer/reviewer/bundles/trust"
)

// thisMachine is where a machine keeps its policies, and who reads them.
type thisMachine struct {
	home    string // the state directory
	program string // names the program: what one has checked, another may find something wrong with
}

// holding is where the policy that holds for a workspace comes from: bundles that
// were activated, folders, and what ships.
type holding struct {
	machine      thisMachine
	workspace    string
	organisation string // folder of the organisation's policy, there or not
	depot        *depot.Depot
	active       *depot.Active
	trust        func() (trustHere, error) // asked for only where it matters
}

// policyDepot is where activated bundles are kept.
func policyDepot(home string) *depot.Depot { return depot.Open(filepath.Join(home, "bundles")) }

// layers finds where the policy of a workspace comes from.
func (m thisMachine) layers(workspace string) (*holding, error) {
	d := policyDepot(m.home)
	active, err := d.Active()
	if err != nil {
		return nil, fmt.Errorf("activated policies: %w (in %s)", err, d.Dir)
	}
	return m.layersWith(workspace, active), nil
}

func (m thisMachine) layersWith(workspace string, active *depot.Active) *holding {
	believed := sync.OnceValues(func() (trustHere, error) { return trustThatHolds(m.home) })
	return &holding{m, workspace, organisationDir(), policyDepot(m.home), active, believed}
}

// dir is the folder of a layer; empty where it has none.
func (h *holding) dir(layer string) string {
	if layer == bundles.Organisation {
		return h.organisation
	}
	return layerDir(layer, h.machine.home, h.workspace)
}

// layerSource is where a layer comes from.
type layerSource struct {
	layer      string
	files      fs.FS
	at         string            // a folder or an archive, for messages
	activation *depot.Activation // nil: it is a folder, or what ships
	program    string            // that reads it
}

// sources lists where the layers come from, in their order.
func (h *holding) sources() ([]*layerSource, error) {
	var list []*layerSource
	for _, layer := range bundles.Layers() {
		s, err := h.source(layer)
		if err != nil {
			return nil, err
		}
		if s != nil {
			list = append(list, s)
		}
	}
	return list, nil
}

// source is where one layer comes from; nil: there is none. A layer that is a
// folder and an activated bundle is an error: one of the two would not hold, and
// nobody could see which.
func (h *holding) source(layer string) (*layerSource, error) {
	dir := h.dir(layer)
	files, err := filesOfLayer(layer, dir)
	if err != nil {
		return nil, err
	}
	now, bundle := h.active.Layers[layer]
	bundle = bundle && !now.None()
	switch {
	case bundle && files != nil:
		return nil, fmt.Errorf("the %s layer is the folder %s and the activated bundle %s: remove the folder, or run `reviewer policy rollback --layer %s --to none --reason TEXT`", layer, dir, now.Release, layer)
	case bundle:
		return h.bundle(now)
	case files != nil && layer == bundles.Organisation:
		return &layerSource{layer: layer, files: files, at: dir}, h.mayBeFolder(dir)
	case files != nil:
		return &layerSource{layer: layer, files: files, at: dir}, nil
	case layer == bundles.Base:
		return &layerSource{layer: layer, files: bundles.DefaultFS(), at: shippedPlace}, nil
	}
	return nil, nil
}

// shippedPlace is what messages call the place of the embedded policy.
const shippedPlace = "(the policy that ships)"

// mayBeFolder refuses the organisation's folder where there is a trust file:
// nobody signed what is in it.
func (h *holding) mayBeFolder(dir string) error {
	t, err := h.trust()
	switch {
	case err != nil:
		return err
	case t.none():
		return nil
	}
	return fmt.Errorf("the policy in %s is a folder, which nobody signed, and %s says whose signatures count: pack it with `reviewer policy build`, have it signed, activate the archive and remove the folder", dir, t.path)
}

// bundle reads an activated bundle, if it is still the one that was activated.
func (h *holding) bundle(now depot.Activation) (*layerSource, error) {
	raw, err := h.depot.Archive(now.Release)
	if err != nil {
		return nil, h.unusable(now, err)
	}
	s := &layerSource{layer: now.Layer, at: h.depot.Path(now.Release), activation: &now, program: h.machine.program}
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
	s.files = files
	return s, nil
}

// vouched refuses a bundle that nobody signed where a trust file asks for that.
// The state folder belongs to the person, the organisation's trust file does not:
// where it holds, what the state folder says is not taken for granted, and the
// signatures are checked again. The time is that of the activation: a policy
// that grows old goes on to hold, since none would be worse.
func (h *holding) vouched(now depot.Activation, raw []byte) (bundles.Memory, error) {
	if now.Layer != bundles.Base && now.Layer != bundles.Organisation {
		return nil, nil
	}
	t, err := h.trust()
	switch {
	case err != nil:
		return nil, err
	case t.none():
		return nil, h.ungoverned(now.Layer)
	case now.Unsigned:
		return nil, fmt.Errorf("it was activated before there was a trust file, and nobody vouched for it; %s says whose signatures count", t.path)
	case !t.organisation:
		return nil, nil
	}
	envelope, err := h.depot.Envelope(now.Release)
	if err != nil {
		return nil, err
	}
	v := t.Check(trust.Candidate{File: now.Release.String(), Archive: raw, Envelope: envelope, Name: now.Name, Channel: now.Channel, Now: now.At})
	return v.Files, v.Err()
}

// ungoverned refuses another base below an organisation's folder: whoever could
// change what the folder is laid over could make it say nothing.
func (h *holding) ungoverned(layer string) error {
	if there, err := isDir(h.organisation); err != nil || !there || layer != bundles.Base {
		return err
	}
	return fmt.Errorf("the organisation's policy in %s is written for the base that ships, and nobody there signed another one; the organisation can allow it with a trust file", h.organisation)
}

// unusable says of an activated bundle why it cannot be used, and what can be
// done. The hook's denial has room for few words.
func (h *holding) unusable(now depot.Activation, err error) error {
	return fmt.Errorf("the activated %s policy %s cannot be used: %w; %s", now.Layer, now.Release, err, h.wayBack(now.Layer))
}

func (h *holding) wayBack(layer string) string {
	s, err := h.depot.State()
	if err != nil {
		return "activate a good one: `reviewer policy activate ARCHIVE`"
	}
	before, err := s.Previous(layer)
	switch back := fmt.Sprintf("`reviewer policy rollback --layer %s --reason TEXT`", layer); {
	case err != nil:
		return "activate a good one: `reviewer policy activate ARCHIVE`"
	case before.None():
		return "activate a good one, or leave the layer without: " + back
	default:
		return fmt.Sprintf("the last good one is %s: %s", before.Release, back)
	}
}

// load reads a layer.
func (s *layerSource) load() (*bundles.Bundle, error) {
	if s.activation == nil && s.layer == bundles.Base {
		return bundles.Default()
	}
	b, err := bundles.Load(s.files, s.layer)
	if err != nil {
		return nil, fmt.Errorf("%s policy in %s: %w", s.layer, s.at, err)
	}
	a := s.activation
	switch {
	case a == nil:
	case a.Digest != b.Digest:
		return nil, fmt.Errorf("%s policy in %s: its files make the digest %s, and %s was activated; activate the archive again", s.layer, s.at, b.Digest, a.Digest)
	case a.Checked == s.program:
		b.Known()
	}
	return b, nil
}

// effective is the policy that holds for a workspace.
func (m thisMachine) effective(workspace string) (*bundles.Effective, error) {
	h, err := m.layers(workspace)
	if err != nil {
		return nil, err
	}
	return h.effective()
}

// effective is what all layers come to.
func (h *holding) effective() (*bundles.Effective, error) {
	layers, err := h.load("")
	if err != nil {
		return nil, err
	}
	return bundles.Assemble(layers...)
}

// mayHoldBundle refuses a layer that is a folder, and a base below a folder of
// the organisation without its word.
func (h *holding) mayHoldBundle(layer string) error {
	dir := h.dir(layer)
	files, err := filesOfLayer(layer, dir)
	switch {
	case err != nil:
		return err
	case files != nil:
		return fmt.Errorf("the %s layer is the folder %s; remove it first: only one of the two can hold", layer, dir)
	}
	t, err := h.trust()
	if err != nil || !t.none() {
		return err
	}
	return h.ungoverned(layer)
}

// load reads the layers, but for one that is left out.
func (h *holding) load(but string) ([]*bundles.Bundle, error) {
	var layers []*bundles.Bundle
	var errs []error
	for _, layer := range bundles.Layers() {
		if layer == but {
			continue
		}
		s, err := h.source(layer)
		if err == nil && s != nil {
			var b *bundles.Bundle
			if b, err = s.load(); err == nil {
				layers = append(layers, b)
			}
		}
		errs = append(errs, err)
	}
	return layers, errors.Join(errs...)
}
