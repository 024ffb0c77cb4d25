package harness

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of reading the commands of a client.
const (
	maxCommandNames = 20000
	maxCommandFiles = 4000
	maxCommandBytes = 64 << 10
	maxCommandDepth = 4
)

// CommandWith looks for a text among the client's commands below some folders, and returns where it is, as it is said to a person;
// empty: nowhere.
func (h Harness) CommandWith(fits func(text string) bool, bases ...string) string {
	c := commandSearch{fits: fits}
	for _, base := range bases {
		for _, folder := range h.Commands {
			if !filepath.IsAbs(base) {
				continue
			}
			if found := c.below(filepath.Join(base, folder), 0); found != "" {
				return fmt.Sprintf("the file %s has the same text", found)
			}
			if c.names > maxCommandNames || c.files > maxCommandFiles {
				return fmt.Sprintf("the folder %s has more commands than can be compared with it: move some of them away",
					filepath.Join(base, folder))
			}
		}
	}
	return ""
}

// commandSearch looks for a text in files.
type commandSearch struct {
	fits         func(text string) bool
	names, files int
}

// below returns the file under a name that has the text.
func (c *commandSearch) below(name string, depth int) string {
	info, err := os.Stat(name)
	if c.names++; err != nil || c.names > maxCommandNames || c.files > maxCommandFiles || depth > maxCommandDepth {
		return ""
	}
	if info.IsDir() {
		entries, _ := os.ReadDir(name) // the client cannot read the others either
		for _, entry := range entries {
			if slices.Contains([]string{"node_modules", ".git"}, entry.Name()) {
				continue // of a skill's program
			}
			if found := c.below(filepath.Join(name, entry.Name()), depth+1); found != "" {
				return found
			}
		}
		return ""
	}
	if !info.Mode().IsRegular() || !slices.Contains([]string{".md", ".mdc", ".toml", ".txt"}, strings.ToLower(filepath.Ext(name))) {
		return ""
	}
	if c.files++; slices.ContainsFunc(commandTexts(name), c.fits) {
		return name
	}
	return ""
}

// commandTexts returns the text of a command's file, and the part of it that the client passes on: what follows the front matter,
// or the value of `prompt` in TOML.
func commandTexts(name string) []string {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxCommandBytes))
	if err != nil {
		return nil
	}
	text := string(raw)
	list := []string{text}
	if front, ok := strings.CutPrefix(text, "---"); ok {
		if _, body, ok := strings.Cut(front, "\n---"); ok {
			list = append(list, strings.TrimLeft(body, "-"))
		}
	}
	if _, value, ok := strings.Cut(text, "prompt"); ok && filepath.Ext(name) == ".toml" {
		for _, quote := range []string{`"""`, `'''`, `"`, `'`} {
			if _, rest, ok := strings.Cut(value, quote); ok {
				inner, _, _ := strings.Cut(rest, quote)
				list = append(list, inner)
				break
			}
		}
	}
	return list
}
