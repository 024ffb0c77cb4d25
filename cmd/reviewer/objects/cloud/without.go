//go:build !cloud

package cloud

import (
	"context"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
)

// Built reports whether this program has the libraries.
const Built = false

// Open returns ErrNotBuilt.
func Open(context.Context, objects.Location) (objects.Store, error) { return nil, ErrNotBuilt }
