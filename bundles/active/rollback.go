package active

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/releases"
)

// RollbackRequest makes a request to roll back to a bundle.
func RollbackRequest(d *releases.Store, b BundleBack, reason string, allowRollback bool) (Request, error) {
	in := Request{Layer: b.Layer, Reason: reason, AllowRollback: allowRollback}
	return in, in.TakeKept(d, b.To)
}

// TakeKept adds the bytes of a stored bundle.
func (in *Request) TakeKept(d *releases.Store, target releases.Activation) (err error) {
	in.back = &target
	if target.None() {
		return nil
	}
	in.File = target.Release.String()
	if in.Archive, err = d.Archive(target.Release); err == nil {
		in.Envelope, err = d.Envelope(target.Release)
	}
	if err != nil {
		err = fmt.Errorf("%w; name another with --to: `reviewer policy list` shows them", err)
	}
	return err
}

// RollbackLayer returns the layer to roll back.
func RollbackLayer(s *releases.State, layer string) (string, error) {
	if layer != "" {
		return layer, nil
	}
	var with []string
	for _, l := range bundles.Layers() {
		if a, ok := s.Active.Layers[l]; ok && !a.None() {
			with = append(with, l)
		}
	}
	switch len(with) {
	case 0:
		return bundles.Base, nil
	case 1:
		return with[0], nil
	}
	return "", fmt.Errorf("several layers have a bundle; choose one with --layer (%s)", strings.Join(with, ", "))
}

// RollbackTarget finds the bundle to roll back to: the one that was active before, or
// the one that a person names; releases.NoBundle means none.
func RollbackTarget(s *releases.State, layer, to string) (releases.Activation, error) {
	switch to {
	case "":
		return s.Previous(layer)
	case releases.NoBundle:
		if !slices.ContainsFunc(s.History, func(a releases.Activation) bool { return a.Layer == layer }) {
			return releases.Activation{}, fmt.Errorf("no bundle was ever active in the %s layer", layer)
		}
		return releases.Activation{Layer: layer}, nil
	}
	return s.Find(layer, to)
}
