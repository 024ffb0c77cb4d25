package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Row is a command of a corpus. Other fields are ignored.
type Row struct {
	ID       string `json:"id"`
	Source   string `json:"source"`
	Tool     string `json:"tool"` // bash, python, powershell, cmd
	Command  string `json:"command"`
	Label    string `json:"label"` // dangerous, benign, context
	Category string `json:"category"`
	Family   string `json:"source_category"`
	Strength string `json:"strength"` // of a dangerous row: strong, policy, attack-step
	Cluster  string `json:"cluster"`  // near-duplicates share one
	Path     string `json:"path"`     // the file that it comes from
	CWD      string `json:"cwd"`      // where it ran; empty: unknown
}

// The labels of rows.
const (
	dangerous  = "dangerous"
	benign     = "benign"
	contextual = "context" // the right answer depends on the target
)

// Sample is a string that contains a secret, or one that only looks like it.
type Sample struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Secret bool   `json:"is_secret"`
	Kind   string `json:"kind"`         // of a secret
	Like   string `json:"lookalike_of"` // the kind that a look-alike resembles
	Value  string `json:"value_guess"`  // the secret itself, where it is known
}

// Corpus is the set of rows to score.
type Corpus struct {
	Dir      string
	Rows     []Row
	Samples  []Sample
	Sessions Sessions
	Denials  []denial // calls that people refused
	Labels   Labels   // of stops, which are kept elsewhere
}

// readCorpus reads a folder of commands*.jsonl[.gz], secrets*.jsonl[.gz] and
// sessions, packed (*.tar.gz) or as a folder. At least commands must be there.
func readCorpus(dir string) (Corpus, error) {
	c := Corpus{Dir: dir}
	info, err := os.Stat(dir)
	if err != nil {
		return c, fmt.Errorf("corpus: %w; give the folder with commands.jsonl.gz", err)
	}
	if !info.IsDir() {
		return c, fmt.Errorf("corpus %s is a file; give the folder that contains it", dir)
	}
	if c.Rows, err = readAll(dir, "commands", Row.check); err != nil {
		return c, err
	}
	if len(c.Rows) == 0 {
		return c, fmt.Errorf("corpus %s: no row in commands*.jsonl or commands*.jsonl.gz", dir)
	}
	if c.Samples, err = readAll(dir, "secrets", Sample.check); err != nil {
		return c, err
	}
	if c.Denials, err = readAll(dir, "denials", denial.check); err != nil {
		return c, err
	}
	c.Sessions, err = readSessions(dir)
	return c, err
}

func (r Row) check() error {
	switch {
	case r.Command == "":
		return errors.New("no command")
	case !slices.Contains([]string{dangerous, benign, contextual}, r.Label):
		return fmt.Errorf("unknown label %q; expected dangerous, benign or context", r.Label)
	case !slices.Contains(tools(), r.Tool):
		return fmt.Errorf("unknown tool %q; expected one of %s", r.Tool, strings.Join(tools(), ", "))
	}
	return nil
}

func (s Sample) check() error {
	if s.Text == "" {
		return errors.New("no text")
	}
	return nil
}

// readAll reads the rows of all files whose names begin with a word, in the
// order of the names.
func readAll[T any](dir, word string, check func(T) error) ([]T, error) {
	var all []T
	for _, pattern := range []string{word + "*.jsonl", word + "*.jsonl.gz"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("corpus %s: %w", dir, err)
		}
		for _, name := range names {
			rows, err := readFile(name, check)
			if err != nil {
				return nil, err
			}
			all = append(all, rows...)
		}
	}
	return all, nil
}

func readFile[T any](name string, check func(T) error) ([]T, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: not gzip data: %w", name, err)
		}
	}
	return readRows(name, r, check)
}

// readRows reads one JSON object a line.
func readRows[T any](name string, r io.Reader, check func(T) error) ([]T, error) {
	var rows []T
	b := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := b.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var row T
			bad := json.Unmarshal(line, &row)
			if bad == nil {
				bad = check(row)
			}
			if bad != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, bad)
			}
			rows = append(rows, row)
		}
		if err == io.EOF {
			return rows, nil
		}
	}
}
