package active

import (
	"cmp"
	"sync"

	"github.com/agent-reviewer/reviewer/bundles"
)

// PolicyFinder finds the policies of earlier decisions by their digests. Each is read once. It
// may be used by several goroutines at once.
type PolicyFinder struct {
	Homes []string // state directories, the machine's own first

	mu    sync.Mutex
	found map[string]*bundles.Effective // nil: missing or unreadable
}

// NewPolicyFinder looks in state directories, in their order.
func NewPolicyFinder(homes []string) *PolicyFinder {
	return &PolicyFinder{Homes: homes, found: map[string]*bundles.Effective{}}
}

// Get returns a policy; nil if there is none.
func (k *PolicyFinder) Get(digest string) *bundles.Effective {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e, known := k.found[digest]; known {
		return e
	}
	e, err := FirstKept(k.Homes, digest)
	if err != nil {
		e = nil
	}
	k.found[digest] = e
	return e
}

// FirstKept returns a policy from the first home that has it. If none has, the error
// is that of the first home, which is the machine's own.
func FirstKept(homes []string, digest string) (*bundles.Effective, error) {
	var first error
	for _, home := range homes {
		e, err := KeptIn(home).Get(digest)
		if err == nil {
			return e, nil
		}
		first = cmp.Or(first, err)
	}
	if base, err := bundles.Default(); err == nil {
		if e, err := bundles.Assemble(base); err == nil && e.Digest == digest {
			return e, nil
		}
	}
	return nil, first
}
