package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Folders are the places of one scenario on this machine.
type Folders struct {
	Home    string
	Project string // a git repository with one commit
	Outside string // neither in the project nor in the home
}

// Places are the names under which a scenario knows its folders.
func (f Folders) Places() map[string]string {
	return map[string]string{"HOME": f.Home, "PROJECT": f.Project, "OUTSIDE": f.Outside}
}

// Fill writes the scenario's files and commits the project's.
func (f Folders) Fill(files map[string]string) error {
	for name, text := range files {
		path, err := f.path(name)
		if err != nil {
			return err
		}
		if err := writeFile(path, text); err != nil {
			return err
		}
	}
	for _, dir := range []string{f.Home, f.Project, f.Outside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make a scenario's folder: %w", err)
		}
	}
	return f.commit()
}

func (f Folders) path(name string) (string, error) {
	place, rest, _ := strings.Cut(name, "/")
	switch place {
	case "home":
		return filepath.Join(f.Home, rest), nil
	case "project":
		return filepath.Join(f.Project, rest), nil
	case "outside":
		return filepath.Join(f.Outside, rest), nil
	}
	return "", fmt.Errorf("place file %s: want home/, project/ or outside/ in front", name)
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make a scenario's folder: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write a scenario's file: %w", err)
	}
	return nil
}

// commit makes the project a repository, so that git's state is the same in
// each run and not that of a folder above.
func (f Folders) commit() error {
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=Kim", "-c", "user.email=kim@shop.example", "commit", "-q", "--allow-empty", "-m", "shop: first version"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = f.Project
		cmd.Env = []string{"HOME=" + f.Home, "PATH=" + os.Getenv("PATH")}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("run git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}
