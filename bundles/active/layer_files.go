package active

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
)

// ShortSettings is a file in a workspace that contains the project layer's settings, for
// projects that need no other policy files. It is read as the settings.yaml of the
// project's policy folder.
const ShortSettings = ".reviewer.yaml"

// filesOfLayer returns the files of a layer's folder; nil if the layer has none.
func filesOfLayer(layer, dir string) (fs.FS, error) {
	if dir == "" {
		return nil, nil
	}
	folder, err := IsDir(dir)
	if err != nil {
		return nil, err
	}
	if layer == bundles.Project {
		root := filepath.Dir(filepath.Dir(dir))
		short, err := hasShort(root)
		switch {
		case err != nil:
			return nil, err
		case short && folder && Exists(filepath.Join(dir, settingsFile)):
			return nil, fmt.Errorf("%s and %s both contain the project's settings; merge them into one", filepath.Join(root, ShortSettings),
				filepath.Join(dir, settingsFile))
		case short:
			return projectFiles{root: os.DirFS(root), at: root, alone: !folder}, nil
		}
	}
	if !folder {
		return nil, nil
	}
	return os.DirFS(dir), nil
}

const settingsFile = "settings.yaml"

// hasShort reports whether a workspace has settings in a file of its own.
func hasShort(root string) (bool, error) {
	name := filepath.Join(root, ShortSettings)
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, notDangling(name)
	case err != nil:
		return false, fmt.Errorf("look for the project's settings: %w", err)
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is not a regular file; replace it with a settings file", name)
	}
	return true, nil
}

// Exists reports whether a name is taken, even by a dangling link.
func Exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// projectFiles shows the policy folder of a workspace, whether or not it exists,
// with the workspace's settings file as its settings.yaml.
type projectFiles struct {
	root  fs.FS
	at    string // the workspace
	alone bool   // the settings file is all that there is
}

// placeOf is where a person finds a layer's files: its folder, or the settings file of
// a workspace that has no more.
func placeOf(files fs.FS, dir string) string {
	if p, ok := files.(projectFiles); ok && p.alone {
		return filepath.Join(p.at, ShortSettings)
	}
	return dir
}

// Place returns the path of a layer's file, with slashes.
func (s *Source) Place(file string) string {
	if p, ok := s.Files.(projectFiles); ok {
		return path.Join(filepath.ToSlash(p.at), p.name(file))
	}
	return path.Join(filepath.ToSlash(s.At), file)
}

// named is an error about a layer by the names that its files have. The settings of a
// workspace are read under a name other than the file's own.
func (s *Source) named(err error) error {
	if _, ok := s.Files.(projectFiles); !ok || err == nil {
		return err
	}
	return &renamedError{err, s.Named(err.Error())}
}

// Named returns a string with the names of the layer's files replaced by their actual names.
func (s *Source) Named(text string) string {
	if _, ok := s.Files.(projectFiles); !ok {
		return text
	}
	text = strings.ReplaceAll(text, bundles.Project+"/"+settingsFile, ShortSettings)
	return strings.ReplaceAll(text, " "+settingsFile+":", " "+ShortSettings+":")
}

// renamedError is an error with another text.
type renamedError struct {
	err  error
	text string
}

// Error implements error.
func (e *renamedError) Error() string { return e.text }

// Unwrap returns the original error.
func (e *renamedError) Unwrap() error { return e.err }

// projectDir is where the policy folder is in a workspace.
const projectDir = ".reviewer/policy"

func (p projectFiles) name(name string) string {
	if name == settingsFile {
		return ShortSettings
	}
	return path.Join(projectDir, name)
}

// Open opens a file of the folder.
func (p projectFiles) Open(name string) (fs.File, error) { return p.root.Open(p.name(name)) }

// Stat describes a file of the folder.
func (p projectFiles) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(p.root, p.name(name))
	if name == "." && errors.Is(err, fs.ErrNotExist) {
		return fs.Stat(p.root, ".")
	}
	return info, err
}

// ReadDir lists a subfolder, or the folder itself.
func (p projectFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(p.root, p.name(name))
	if name != "." {
		return entries, err
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	info, err := fs.Stat(p.root, ShortSettings)
	if err != nil {
		return nil, err
	}
	return append(entries, settingsEntry{fs.FileInfoToDirEntry(info)}), nil
}

// settingsEntry is the workspace's settings file under the name that it is read as.
type settingsEntry struct{ fs.DirEntry }

// Name is settings.yaml.
func (settingsEntry) Name() string { return settingsFile }
