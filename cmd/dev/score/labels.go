package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// The labels of stops.
const (
	right    = "right"
	wrong    = "wrong"
	arguable = "arguable" // reasonable people differ
)

// label is a line of a file of labels. It identifies the stop only by its digest,
// because labels are part of the project and sessions are not.
type label struct {
	Digest string `json:"digest"`
	Label  string `json:"label"`
	By     string `json:"by"`
}

var (
	digestShape = engine.Regexp(`^[0-9a-f]{64}$`)
	nameShape   = engine.Regexp(`^[a-z0-9][a-z0-9_.-]{0,39}$`)
)

func (l label) check() error {
	switch {
	case !digestShape().MatchString(l.Digest):
		return fmt.Errorf("digest %.80q is not a hash of 64 digits", l.Digest)
	case !slices.Contains([]string{right, wrong, arguable}, l.Label):
		return fmt.Errorf("unknown label %.40q; expected right, wrong or arguable", l.Label)
	case !nameShape().MatchString(l.By):
		return fmt.Errorf("by is %.40q; expected a short name of lower-case letters and digits", l.By)
	}
	return nil
}

// Labels are judgements about stops by people or programs.
type Labels struct {
	of map[string]string // digest -> label; where two differ, arguable
	by map[string][]string
}

// readLabels reads the files *.jsonl of a folder, which need not exist.
func readLabels(dir string) (Labels, error) {
	l := Labels{map[string]string{}, map[string][]string{}}
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return l, fmt.Errorf("labels %s: %w", dir, err)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return l, fmt.Errorf("labels %s is a file; give the folder that contains it", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return l, fmt.Errorf("labels: %w", err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			return l, fmt.Errorf("labels: %w", err)
		}
		if err := l.read(name, raw); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (l Labels) read(name string, raw []byte) error {
	for n, line := range bytes.Split(raw, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var row label
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		err := d.Decode(&row)
		if err == nil && d.More() {
			err = errors.New("more than one object in a line")
		}
		if err == nil {
			err = row.check()
		}
		if err == nil {
			err = l.add(row)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n+1, err)
		}
	}
	return nil
}

// add adds a label. If labels differ, the stop is arguable.
func (l Labels) add(row label) error {
	if slices.Contains(l.by[row.Digest], row.By) {
		return fmt.Errorf("%s labels the stop %s… twice", row.By, row.Digest[:12])
	}
	l.by[row.Digest] = append(l.by[row.Digest], row.By)
	if before, there := l.of[row.Digest]; there && before != row.Label {
		row.Label = arguable
	}
	l.of[row.Digest] = row.Label
	return nil
}

// plural is a count with its word.
func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return strings.TrimSpace(fmt.Sprint(n) + " " + word)
}
