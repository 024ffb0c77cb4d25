package rego

import (
	"context"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// fixedData serves a host's data. OPA reads its store for each query and caches the
// result until the end of the query; data that never change need neither.
type fixedData struct{ root ast.Object }

var _ topdown.BaseCache = (*fixedData)(nil)

// readData reads all data of a store that returns OPA's own values.
func readData(ctx context.Context, store storage.Store, txn storage.Transaction) (*fixedData, error) {
	found, err := store.Read(ctx, txn, storage.Path{})
	if err != nil {
		return nil, fmt.Errorf("read data: %w", err)
	}
	root, ok := found.(ast.Object)
	if !ok {
		return nil, fmt.Errorf("read data: expected an object, found %T", found)
	}
	return &fixedData{root}, nil
}

// Get implements topdown.BaseCache. For missing paths and for the whole document, OPA
// reads the store.
func (d *fixedData) Get(ref ast.Ref) ast.Value {
	if len(ref) < 2 {
		return nil
	}
	v, err := d.root.Find(ref[1:])
	if err != nil {
		return nil
	}
	return v
}

// Put implements topdown.BaseCache: the data are fixed.
func (*fixedData) Put(ast.Ref, ast.Value) {}
