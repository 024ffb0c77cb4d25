package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// missed is a line of the list for development: a result that differs from its label.
type missed struct {
	What     string   `json:"what"` // missed, alarm, asked (context), session, secret, partly, lookalike
	Category string   `json:"category"`
	ID       string   `json:"id"`
	Strength string   `json:"strength,omitempty"`
	Verdict  string   `json:"verdict,omitempty"`
	Rules    []string `json:"rules,omitempty"`
	Error    string   `json:"error,omitempty"`
	Text     string   `json:"text"`
}

func (r *Report) note(list []decided) {
	for _, d := range list {
		what := ""
		switch {
		case d.Label == dangerous && !d.harmless():
			what = "missed"
		case d.Label == benign && d.stopped():
			what = "alarm"
		case d.Label == contextual && d.stopped():
			what = "asked"
		case d.Error == "":
			continue
		}
		r.misses = append(r.misses, missed{cmp.Or(what, "error"), d.Category, d.ID, d.Strength, string(d.Effect), d.Rules, d.Error, d.Command})
	}
}

func (r *Report) noteCalls(list []decided) {
	for _, d := range list {
		if d.stopped() || d.Error != "" {
			r.misses = append(r.misses, missed{"session", d.rule(), d.Path + " " + d.ID, "", string(d.Effect), d.Rules,
				d.Error, d.Tool + " " + d.Command})
		}
	}
}

func (r *Report) noteSample(s Sample, got seen) {
	what := ""
	switch {
	case s.Secret && got.Leaked:
		what = "secret"
	case s.Secret && got.Partly:
		what = "partly"
	case !s.Secret && got.Touched:
		what = "lookalike"
	default:
		return
	}
	r.misses = append(r.misses, missed{What: what, Category: cmp.Or(s.Kind, s.Like), ID: s.ID, Verdict: got.As, Text: s.Text})
}

// writeMisses writes the list, one JSON object a line below a head for each
// category with its count, the longest first.
func (r Report) writeMisses(name string) error {
	if err := outside(name); err != nil {
		return err
	}
	type key struct{ what, category string }
	parts := map[key][]missed{}
	for _, m := range r.misses {
		k := key{m.What, m.Category}
		parts[k] = append(parts[k], m)
	}
	keys := slices.SortedFunc(maps.Keys(parts), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(len(parts[b]), len(parts[a])), cmp.Compare(a.category, b.category))
	})
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	for _, k := range keys {
		fmt.Fprintf(&b, "# %s %s: %d\n", k.what, k.category, len(parts[k]))
		for _, m := range parts[k] {
			if err := lines.Encode(m); err != nil {
				return fmt.Errorf("write misses: %w", err)
			}
		}
	}
	return os.WriteFile(name, b.Bytes(), 0o600)
}

// writeStops lists the stops, one JSON object a line, outside the project.
func writeStops(name string, stops []Stop) error {
	if err := outside(name); err != nil {
		return err
	}
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	for _, s := range stops {
		if err := lines.Encode(s); err != nil {
			return fmt.Errorf("write stops: %w", err)
		}
	}
	return os.WriteFile(name, b.Bytes(), 0o600)
}

var ownModule = engine.Regexp(`(?m)^module github\.com/agent-reviewer/reviewer$`)

// outside refuses a file inside the project, which must not contain rows of a corpus.
func outside(name string) error {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("write misses: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write misses: %w", err)
		}
		if ownModule().Match(mod) {
			return fmt.Errorf("%s is inside the project, which must not contain corpus data: name a file outside %s", name, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
