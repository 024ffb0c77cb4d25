package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The main package has a JavaScript script that starts the program of this machine's
// package. npm installs the one optional dependency whose os and cpu match, so nothing
// is downloaded or run at installation.

//go:embed templates/reviewer.js
var npmScript []byte

const npmScope = "@agent-reviewer"

// npmPackage is a package.json, in the order in which npm documents the fields.
type npmPackage struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Homepage    string            `json:"homepage"`
	License     string            `json:"license"`
	Repository  map[string]string `json:"repository"`
	Bin         map[string]string `json:"bin,omitempty"`
	Files       []string          `json:"files"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

func (r *release) npmPackage(name string) npmPackage {
	return npmPackage{Name: npmScope + "/" + name, Version: r.version, Description: summary, Homepage: website, License: "Apache-2.0",
		Repository: map[string]string{"type": "git", "url": "git+" + website + ".git"}}
}

// npmName returns a target in Node's terms: process.platform and process.arch.
func npmName(t target) (system, cpu string) {
	system, cpu = t.os, t.arch
	if system == "windows" {
		system = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return system, cpu
}

// writeNPM writes the packages as npm pack would, the main one last: it may only be
// published after its dependencies.
func (r *release) writeNPM(d *folder, built []build) error {
	main := r.npmPackage("reviewer")
	main.Bin, main.Files = map[string]string{"reviewer": "bin/reviewer.js"}, []string{"bin"}
	main.Engines, main.Optional = map[string]string{"node": ">=18"}, map[string]string{}
	for i := range built {
		p, files := r.npmPlatform(&built[i])
		if err := r.addNPM(d, p, files); err != nil {
			return err
		}
		main.Optional[p.Name] = p.Version
	}
	files := slices.Concat(plainTexts(built[0].texts), []file{{"bin/reviewer.js", 0o755, npmScript}})
	return r.addNPM(d, main, files)
}

// npmPlatform is the package with the programs of one target.
func (r *release) npmPlatform(b *build) (npmPackage, []file) {
	system, cpu := npmName(b.target)
	p := r.npmPackage("reviewer-" + system + "-" + cpu)
	p.Files, p.OS, p.CPU = []string{"bin", "licenses"}, []string{system}, []string{cpu}
	files := b.texts
	for _, program := range b.programs {
		files = append(slices.Clone(files), file{"bin/" + program.name, 0o755, program.content})
	}
	return p, files
}

// plainTexts are LICENSE and README.md.
func plainTexts(texts []file) []file {
	return slices.DeleteFunc(slices.Clone(texts), func(f file) bool { return strings.Contains(f.name, "/") })
}

func (r *release) addNPM(d *folder, p npmPackage, files []file) error {
	var description bytes.Buffer
	out := json.NewEncoder(&description)
	out.SetEscapeHTML(false) // ">=18" as people write it
	out.SetIndent("", "  ")
	if err := out.Encode(p); err != nil {
		return err
	}
	files = append(slices.Clone(files), file{"package.json", 0o644, description.Bytes()})
	content, err := tarGzip(under("package", files), r.time)
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(strings.TrimPrefix(p.Name, "@"), "/", "-")
	return d.add(fmt.Sprintf("npm/%s-%s.tgz", name, p.Version), content)
}
