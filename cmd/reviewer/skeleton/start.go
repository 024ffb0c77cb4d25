package skeleton

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"
)

//go:embed start
var starts embed.FS

// Template is a policy to start with, for a layer above the base.
type Template struct {
	Name  string // of the template
	About string // in a few words
}

// Templates lists them.
func Templates() []Template {
	return []Template{
		{"deny-by-default", "calls that are not on a list are denied or asked about"},
		{"team", "for people who work with an agent in shared repositories"},
		{"ci", "for agents in continuous integration, where nobody can be asked"},
	}
}

// Start returns the files of a bundle that starts with a template: its manifest and
// README, and the rules, lists and cases of the template, under its own name.
func (b Bundle) Start(name string) ([]File, error) {
	list, err := fill([]File{{Name: ".manifest"}, {Name: "README.md"}}, []string{"manifest.json", "README.md"}, b)
	if err != nil {
		return nil, err
	}
	dir := "start/" + name
	err = fs.WalkDir(starts, dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := b.fillFile(file)
		list = append(list, File{Name: b.place(strings.TrimPrefix(file, dir+"/")), Text: text})
		return err
	})
	return list, err
}

func (b Bundle) fillFile(file string) (string, error) {
	t, err := template.ParseFS(starts, file)
	if err != nil {
		return "", fmt.Errorf("read template: %w", err)
	}
	var text strings.Builder
	if err := t.Execute(&text, b); err != nil {
		return "", fmt.Errorf("fill in %s: %w", file, err)
	}
	return text.String(), nil
}

// place is where a file of a template goes: rows and cases into a folder of the
// bundle's name, as with those that are added later.
func (b Bundle) place(file string) string {
	dir, base := path.Split(file)
	switch {
	case base != "NAME.yaml":
		return file
	case dir == "access/":
		return dir + b.Name + ".yaml"
	}
	return dir + b.Name + "/" + b.Name + ".yaml"
}
