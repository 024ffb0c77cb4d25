package active

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/agent-reviewer/reviewer/bundles"
)

// LayersFrom reads the policy in a folder, as LayersIn does.
func LayersFrom(dir string) ([]*bundles.Bundle, error) {
	if there, err := IsDir(dir); err != nil || !there {
		if err == nil {
			err = fmt.Errorf("policy %s: no such folder", dir)
		}
		return nil, err
	}
	layers, err := LayersIn(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", dir, err)
	}
	return layers, nil
}

// LayersIn reads a policy from any file system: a base bundle is used alone, any other
// layer on top of the built-in policy.
func LayersIn(files fs.FS) ([]*bundles.Bundle, error) {
	layer, err := bundles.LayerOf(files)
	if err != nil {
		return nil, err
	}
	b, err := bundles.Load(files, layer)
	if err != nil {
		return nil, err
	}
	if layer == bundles.Base {
		return []*bundles.Bundle{b}, nil
	}
	base, err := bundles.Default()
	return []*bundles.Bundle{base, b}, err
}
