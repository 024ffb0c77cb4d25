package settings

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Restored returns the text of a JSON file without reviewer's hooks as it was before the installation, if a
// backup next to the file contains the same with other spaces and line ends; else the text as it is. An
// empty document without a backup is one that reviewer made: nil, the file is to be removed.
func Restored(path string, rest []byte) ([]byte, error) {
	same := compact(rest)
	if same == nil {
		return rest, nil // removed already, or of another format
	}
	backups, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"+backupInfix+"*"))
	if err != nil {
		return nil, fmt.Errorf("find backups: %w", err)
	}
	backups = slices.DeleteFunc(backups, func(name string) bool { return !strings.HasPrefix(name, path+backupInfix) })
	for _, name := range slices.Backward(backups) {
		old, err := os.ReadFile(name)
		if err == nil && bytes.Equal(compact(old), same) {
			return old, nil
		}
	}
	if len(backups) == 0 && string(same) == "{}" {
		return nil, nil
	}
	return rest, nil
}
