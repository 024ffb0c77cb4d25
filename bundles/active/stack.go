package active

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
)

// StackMark separates the layers of a reference to several, as in org+team.
const StackMark = "+"

// StackParts splits a reference to several layers; any other reference, and the path of a file or folder
// whose name has the mark, is one part. Names after git:REV:PATH are folders of that revision too: git:main:org+team is not
// compared with the team's layer as it is here, which is ./team.
func StackParts(ref string) []string {
	if _, err := os.Lstat(ref); err == nil || !strings.Contains(ref, StackMark) {
		return []string{ref}
	}
	parts := strings.Split(ref, StackMark)
	if slices.Contains(parts, "") {
		return []string{ref}
	}
	revision := ""
	for i, part := range parts {
		tree, isTree := strings.CutPrefix(part, "git:")
		switch rev, _, ok := strings.Cut(tree, ":"); {
		case isTree && ok:
			revision = "git:" + rev + ":"
		case revision != "" && isName(part):
			parts[i] = revision + part
		}
	}
	return parts
}

// PlacesOf returns how to name the files of a layer as the person gave it: those of the folders that a reference names by the
// folder, others by the layer. Empty: no reference.
func PlacesOf(ref string) func(layer, place string) string {
	folders := map[string]string{}
	if ref != "" {
		for _, part := range StackParts(ref) {
			if info, err := os.Stat(part); err != nil || !info.IsDir() {
				continue
			}
			if layer, err := LayerAt(part); err == nil {
				folders[layer] = filepath.ToSlash(part)
			}
		}
	}
	return func(layer, place string) string {
		if folder, named := folders[layer]; named {
			return path.Join(folder, place)
		}
		return layer + ":" + place
	}
}

// isName reports whether a part is the name of a folder, and neither a path from here, an archive nor a word.
func isName(part string) bool {
	return part != RefActive && part != RefDefault && !strings.HasPrefix(part, "git:") && !strings.HasPrefix(part, ".") &&
		!filepath.IsAbs(part) && !strings.HasSuffix(part, "gz") && !isDigest(part)
}

// stack joins the layers that several references name. A layer that a part names replaces that of a complete policy
// before it, such as the active one; two parts that are the same layer are an error.
func (r References) stack(ctx context.Context, ref string, parts []string) (*bundles.Effective, error) {
	of, notice := map[string]*bundles.Bundle{}, ""
	named := map[string]string{} // layer -> the part that names only this layer
	for _, part := range parts {
		layers, said, err := r.layers(ctx, part)
		if err != nil {
			return nil, err
		}
		if notice == "" {
			notice = said
		}
		base, top := layers[0], layers[len(layers)-1]
		if single := isOneLayer(part, layers); single {
			if other, twice := named[top.Layer]; twice {
				return nil, fmt.Errorf("policy %s: %s and %s are both the %s layer, and a policy has one of each; the root in "+
					".manifest names the layer", ref, other, part, top.Layer)
			}
			named[top.Layer], layers = part, layers[len(layers)-1:]
		}
		for _, l := range layers {
			if named[l.Layer] == "" || l == top {
				of[l.Layer] = l
			}
		}
		if of[bundles.Base] == nil { // the built-in one
			of[bundles.Base] = base
		}
	}
	var all []*bundles.Bundle
	for _, name := range bundles.Layers() {
		if l := of[name]; l != nil {
			all = append(all, l)
		}
	}
	e, err := bundles.Assemble(all...)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", ref, err)
	}
	e.Notice = notice
	return e, nil
}

// isOneLayer reports whether a part names files of one layer, and not the policy of a machine or a stored one.
func isOneLayer(part string, layers []*bundles.Bundle) bool {
	if part == RefActive || part == RefDefault {
		return false
	}
	_, err := os.Stat(part)
	return err == nil || strings.HasPrefix(part, "git:") || len(layers) == 1
}

// Below returns the layers that a policy's own layer, the last of them, is tested with: its own, over those of another policy that
// are below it.
func Below(layers, others []*bundles.Bundle) ([]*bundles.Bundle, error) {
	own := layers[len(layers)-1]
	if own.Layer == bundles.Base {
		return nil, fmt.Errorf("the policy is a complete one (%s layer), and is not a layer over another", own.Layer)
	}
	var all []*bundles.Bundle
	place := func(layer string) int { return slices.Index(bundles.Layers(), layer) }
	for _, l := range others {
		if l.Layer == own.Layer {
			return nil, fmt.Errorf("both are the %s layer, and a policy has one of each; the root in .manifest names the layer", own.Layer)
		}
		if place(l.Layer) < place(own.Layer) {
			all = append(all, l)
		}
	}
	return append(all, own), nil
}
