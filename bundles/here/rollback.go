package here

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/depot"
)

// TakeKept takes the bytes of a bundle that is kept.
func (in *Request) TakeKept(d *depot.Depot, target depot.Activation) (err error) {
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

// RollbackLayer finds the layer whose bundle is meant.
func RollbackLayer(s *depot.State, layer string) (string, error) {
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
	return "", fmt.Errorf("several layers have a bundle: say with --layer which one is meant (%s)", strings.Join(with, ", "))
}

// RollbackTarget finds what is gone back to: what was active before, or what a person
// names; depot.NoBundle is none.
func RollbackTarget(s *depot.State, layer, to string) (depot.Activation, error) {
	switch to {
	case "":
		return s.Previous(layer)
	case depot.NoBundle:
		if !slices.ContainsFunc(s.History, func(a depot.Activation) bool { return a.Layer == layer }) {
			return depot.Activation{}, fmt.Errorf("no bundle was ever active in the %s layer", layer)
		}
		return depot.Activation{Layer: layer}, nil
	}
	return s.Find(layer, to)
}
