package here

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/bundles/trust"
)

// Trust is the trust file that holds on this machine.
type Trust struct {
	*trust.Trust        // nil: there is none
	Path         string // of the file
	Organisation bool   // it is the organisation's, which no person here may change
}

// None reports whether there is no trust file.
func (t Trust) None() bool { return t.Trust == nil }

// trustThatHolds reads the organisation's trust file, else the person's own.
func trustThatHolds(home string) (Trust, error) {
	for i, dir := range []string{filepath.Dir(OrganisationDir()), home} {
		t := Trust{Path: filepath.Join(dir, trust.FileName), Organisation: i == 0}
		files, err := trustFiles(t.Path)
		if err != nil {
			return t, err
		}
		if files.None() {
			continue
		}
		t.Trust, err = trust.Open(files, trust.Pin{})
		return t, err
	}
	return Trust{}, nil
}

// trustFiles reads a trust file and its envelope, as far as they are there.
func trustFiles(path string) (files trust.Files, err error) {
	var other error
	files.Document, err = readThere(path, trust.MaxFile)
	files.Envelope, other = readThere(path+trust.EnvelopeSuffix, maxEnvelope)
	return files, errors.Join(err, other)
}

// maxEnvelope bounds a file of signatures, in bytes.
const maxEnvelope = 1 << 20

// readThere reads a plain file of at most so many bytes; nil where there is none.
func readThere(name string, most int64) ([]byte, error) {
	b, err := ReadBounded(name, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notDangling(name)
	}
	return b, err
}
