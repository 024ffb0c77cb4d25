package active

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/trust"
)

// Trust is the active trust file of this machine.
type Trust struct {
	*trust.Trust        // nil: there is none
	Path         string // of the file
	Organisation bool   // it is the organisation's, which no person here may change
	document     string // SHA-256 of the file next to the signatures, which is the older one after an interrupted rotation
}

// None reports whether there is no trust file.
func (t Trust) None() bool { return t.Trust == nil }

// activeTrust reads the organisation's trust file, else the person's own.
func activeTrust(home string) (Trust, error) {
	for i, dir := range []string{filepath.Dir(OrganisationDir()), home} {
		t := Trust{Path: filepath.Join(dir, trust.FileName), Organisation: i == 0}
		files, err := trustFiles(t.Path)
		if err != nil {
			return t, err
		}
		if files.None() {
			continue
		}
		t.document = trust.Sum(files.Document)
		t.Trust, err = trust.Open(files, trust.Pin{})
		return t, t.problem(err, trust.Pin{})
	}
	return Trust{}, nil
}

// problem adds to a problem of the trust file: its path, and whether the signatures
// next to it suffice to restore it. The owner of the file determines who can.
func (t Trust) problem(err error, pin trust.Pin) error {
	p := (*trust.FileProblem)(nil)
	if !errors.As(err, &p) {
		return err
	}
	p.Path = t.Path
	switch p.State {
	case trust.StateExpired, trust.StateUnaccepted, trust.StateMoved:
		return err // which restoring a file does not fix
	}
	switch p.Remedy = trust.RestoreText(pin); {
	case t.Organisation:
		p.Remedy += " by an administrator of this machine"
	case pin != trust.Pin{} && p.Signed != nil && pin == p.Signed.Pin():
		p.Remedy = fmt.Sprintf("a person runs `reviewer policy trust restore`, which puts the signed version %d back", p.Signed.Version)
	}
	return err
}

// Current returns an error if the trust file has expired.
func (t Trust) Current(now int64) error { return t.problem(t.Trust.Current(now), trust.Pin{}) }

// trustFiles reads a trust file and its envelope, as far as they are there.
func trustFiles(path string) (files trust.Files, err error) {
	var other error
	files.Document, err = readThere(path, trust.MaxFile)
	files.Envelope, other = readThere(path+trust.EnvelopeSuffix, maxEnvelope)
	return files, errors.Join(err, other)
}

// maxEnvelope bounds a file of signatures, in bytes.
const maxEnvelope = 1 << 20

// readThere reads a regular file of at most a given number of bytes; nil if there is
// none.
func readThere(name string, most int64) ([]byte, error) {
	b, err := ReadBounded(name, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notDangling(name)
	}
	return b, err
}

// shellWord quotes a path as one word of a shell.
func shellWord(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
