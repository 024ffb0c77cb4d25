package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// texts are LICENSE and README.md, and the licences of Go and of every module that is
// built into the programs for a target: other targets do not affect an archive.
func (r *release) texts(ctx context.Context, t target) ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "README.md"} {
		content, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, content})
	}
	dirs, err := r.moduleDirs(ctx, t)
	if err != nil {
		return nil, err
	}
	goroot, err := output(ctx, r.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	dirs["go"] = goroot
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		texts, err := licences(name, dirs[name])
		if err != nil {
			return nil, err
		}
		files = append(files, texts...)
	}
	return files, nil
}

// moduleDirs returns the folders of the modules in the programs for a target, by module path.
func (r *release) moduleDirs(ctx context.Context, t target) (map[string]string, error) {
	dirs := map[string]string{}
	for _, p := range programs(t) {
		list, err := output(ctx, r.root, buildEnv(t), "go", "list", "-deps",
			"-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", p.pkg)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				dirs[name] = dir
			}
		}
	}
	return dirs, nil
}

// licences returns the files of a module that must accompany its code.
func licences(module, dir string) ([]file, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("licences of %s: %w", module, err)
	}
	var files []file
	for _, e := range list {
		if e.IsDir() || !isLicence(e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{path.Join("licenses", module, e.Name()), 0o644, content})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("the module %s has no licence: it cannot be shipped; use another", module)
	}
	return files, nil
}

func isLicence(name string) bool {
	word, rest, _ := strings.Cut(strings.ToLower(name), ".")
	word, _, _ = strings.Cut(word, "-")
	return slices.Contains([]string{"license", "licence", "copying", "copyright", "notice", "patents"}, word) && rest != "go"
}
