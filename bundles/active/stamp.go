package active

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Stamp identifies the state of all files from which the policy of a workspace is
// made, without reading them: as long as it is the same, so is the policy. Files
// that change and keep size, times and inode go unnoticed.
func (m Machine) Stamp(workspace string) (string, error) {
	h := sha256.New()
	accepted, err := m.accepted()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%v\n", accepted)
	places := []string{
		OrganisationDir(), filepath.Join(filepath.Dir(OrganisationDir()), trust.FileName), filepath.Join(OrganisationDir(), trust.FileName),
		filepath.Join(m.Home, "policy"), filepath.Join(m.Home, trust.FileName), filepath.Join(m.Home, "bundles"), m.acceptedDir(),
	}
	signed, keyed, err := m.ledger().PolicyRecords()
	if err != nil {
		return "", err
	}
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(keyed)))
	for _, r := range signed {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(r.N)))
	}
	if workspace != "" {
		places = append(places, filepath.Join(workspace, filepath.FromSlash(projectDir)), filepath.Join(workspace, ShortSettings))
	}
	for _, place := range places {
		if err := stamp(h, place); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// stamp adds a file, or a folder with all that is in it.
func stamp(h hash.Hash, place string) error {
	return filepath.WalkDir(place, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		id, _ := osfile.IdentifyInfo(info)
		h.Write([]byte(name))
		for _, n := range []uint64{0, uint64(info.Mode()), uint64(info.Size()), uint64(info.ModTime().UnixNano()),
			uint64(osfile.Changed(info)), id.File, id.Device} {
			h.Write(binary.BigEndian.AppendUint64(nil, n))
		}
		return nil
	})
}
