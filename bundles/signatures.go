package bundles

import (
	"bytes"
	"fmt"
)

// WithSignatures returns the archive with OPA's own signatures in it, replacing any
// that it has: another archive of the same policy. It has the same digest as a policy,
// and another SHA-256.
func WithSignatures(archive, signatures []byte) ([]byte, error) {
	a, err := OpenArchive(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(a.Memory[manifestFile])
	if err != nil {
		return nil, err
	}
	a.Memory[signaturesFile] = signatures
	signed, err := compress(a.Memory, m.created())
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return signed, nil
}

// NewArchiveSum names an archive by its bytes.
func NewArchiveSum(archive []byte) ArchiveSum { return sumOf(archive) }
