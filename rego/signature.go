package rego

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/util"
)

// FileHash is the entry of a file in OPA's own signature of a bundle.
type FileHash struct {
	Name      string `json:"name"`
	Hash      string `json:"hash"` // hex
	Algorithm string `json:"algorithm"`
}

// FileHashes hashes the files of a bundle as OPA does when it checks its own
// signature: a document by its contents, anything else by its bytes. Signatures
// are left out; files are in the order of their names.
func FileHashes(files map[string][]byte) ([]FileHash, error) {
	h, err := bundle.NewSignatureHasher(bundle.SHA256)
	if err != nil {
		return nil, err
	}
	hashes := []FileHash{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if bundle.IsSignaturesFile(name) {
			continue
		}
		var content any = files[name]
		if bundle.IsStructuredDoc(name) {
			content = nil
			if err := util.Unmarshal(files[name], &content); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		sum, err := h.HashFile(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		hashes = append(hashes, FileHash{name, hex.EncodeToString(sum), string(bundle.SHA256)})
	}
	return hashes, nil
}
