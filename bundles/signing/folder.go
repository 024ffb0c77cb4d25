package signing

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// SealAll puts one statement about several files into an envelope. Unlike that of Seal,
// their names may have folders, with slashes: they are under one folder, and each has
// one name there.
func SealAll(files []Subject, p Predicate) (*Envelope, error) {
	if err := errors.Join(checkFiles(files), p.Check()); err != nil {
		return nil, fmt.Errorf("statement: %w", err)
	}
	return seal(files, p)
}

// OpenAll reads a statement about several files, without verifying signatures.
func OpenAll[P Predicate](e *Envelope) ([]Subject, P, error) {
	files, p, err := open[P](e)
	if err != nil {
		return nil, p, err
	}
	if err := errors.Join(checkFiles(files), p.Check()); err != nil {
		return nil, p, fmt.Errorf("statement: %w", err)
	}
	return files, p, nil
}

func checkFiles(files []Subject) error {
	if len(files) == 0 {
		return errors.New("subject is empty; expected at least one file")
	}
	seen := map[string]bool{}
	for _, f := range files {
		base := path.Base(f.Name)
		local := f.Name == path.Clean(f.Name) && !path.IsAbs(f.Name) && !strings.HasPrefix(f.Name, "../") // ".." alone fails as a base name
		err := errors.Join(
			Subject{base, f.SHA256}.check(),
			plainWord("subject.name", f.Name, true),
			unless(local, "subject.name is %.100q; expected the path of a file under one folder", f.Name),
			unless(!seen[f.Name], "subject.name %.100q is listed twice", f.Name),
		)
		if err != nil {
			return err
		}
		seen[f.Name] = true
	}
	return nil
}
