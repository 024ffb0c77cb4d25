package rego

import (
	"context"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// fixedData answers what a host's data hold. OPA reads its store again for each
// query, and remembers what it read until the end of it; data that never change
// need neither.
type fixedData struct{ root ast.Object }

var _ topdown.BaseCache = (*fixedData)(nil)

// readData takes all data out of a store that returns them as OPA's own values.
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

// Get implements topdown.BaseCache. For what is not there OPA asks the store,
// and for all data as well, of which it leaves out its own.
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

// Put implements topdown.BaseCache: there is nothing to remember.
func (*fixedData) Put(ast.Ref, ast.Value) {}
