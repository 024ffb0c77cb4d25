package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"text/template"
)

//go:embed templates/formula.rb
var formulaTemplate string

// download is an archive as the formula names it.
type download struct{ URL, SHA256 string }

// writeHomebrew writes the formula of a release that has all targets of Homebrew; one
// with fewer targets, for trying it out, has no formula.
func (r *release) writeHomebrew(d *folder) error {
	downloads := map[string]download{}
	for _, t := range allTargets() {
		if t.os == "windows" {
			continue
		}
		name := r.archiveName(t)
		sum, ok := d.sha256(name)
		if !ok {
			_, err := fmt.Fprintf(d.log, "no Homebrew formula: %s was not built\n", t)
			return err
		}
		downloads[t.os+"_"+t.arch] = download{website + "/releases/download/v" + r.version + "/" + name, sum}
	}
	text, err := r.formula(downloads)
	if err != nil {
		return err
	}
	return d.add("homebrew/reviewer.rb", text)
}

func (r *release) formula(downloads map[string]download) ([]byte, error) {
	page, err := template.New("formula").Option("missingkey=error").Parse(formulaTemplate)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = page.Execute(&b, map[string]any{"Summary": summary, "Website": website, "Version": r.version, "Downloads": downloads})
	return b.Bytes(), err
}
