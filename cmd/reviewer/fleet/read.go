package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"
)

// maxFile bounds a file with reports, in bytes: a day of a large fleet is far less.
const maxFile = 256 << 20

// Bad is a file, or a line in it, that is not a report.
type Bad struct {
	File  string `json:"file"`
	Line  int    `json:"line"`
	Error string `json:"error"`
}

// Read reads the reports of a folder and the folders in it: files that end in .json or .jsonl, each with one report or
// several after another. It returns the last report of each machine, by id, and what is not one.
func Read(folder fs.FS) (map[string]Report, []Bad, error) {
	last, bad := map[string]Report{}, []Bad{}
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".json", ".jsonl", ".ndjson"}, path.Ext(name)) {
			return err
		}
		raw, err := readFile(folder, name)
		if err != nil {
			bad = append(bad, Bad{name, 0, err.Error()})
			return nil
		}
		bad = append(bad, decode(name, raw, last)...)
		return nil
	})
	return last, bad, err
}

func readFile(folder fs.FS, name string) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, errors.Join(err, fmt.Errorf("expected a regular file of at most %d MB", maxFile>>20))
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// decode adds the reports of a file. What follows a syntax error is not read, since it may be in the middle of a report.
func decode(name string, raw []byte, last map[string]Report) (bad []Bad) {
	d := json.NewDecoder(bytes.NewReader(raw))
	for n := 0; ; n++ {
		rest := raw[d.InputOffset():]
		begin := len(raw) - len(bytes.TrimLeft(rest, " \t\r\n"))
		line := 1 + bytes.Count(raw[:begin], []byte("\n"))
		var whole json.RawMessage
		if err := d.Decode(&whole); errors.Is(err, io.EOF) {
			if n == 0 {
				bad = append(bad, Bad{name, 1, "it has no report"})
			}
			return bad
		} else if err != nil {
			return append(bad, Bad{name, line, "it is not JSON: " + err.Error()})
		}
		var r Report
		if err := r.parse(whole); err != nil {
			bad = append(bad, Bad{name, line, err.Error()})
			continue
		}
		if before, there := last[r.Labels["id"]]; !there || !r.sentAt().Before(before.sentAt()) {
			last[r.Labels["id"]] = r
		}
	}
}

// parse checks what a report must have. Fields that it does not know may be those of a newer version.
func (r *Report) parse(raw []byte) error {
	if err := json.Unmarshal(raw, r); err != nil {
		return fmt.Errorf("it is not a status report: %w", err)
	}
	switch {
	case r.Labels["id"] == "":
		return errors.New("labels.id is missing: expected a report that `reviewer policy pull` sent")
	case r.sentAt().IsZero():
		return fmt.Errorf("timestamp %q: expected a time such as 2026-11-29T08:00:00Z", r.Sent)
	case r.Bundles == nil:
		return errors.New("bundles is missing: expected a report that `reviewer policy pull` sent")
	}
	return nil
}

func (r *Report) sentAt() time.Time {
	at, err := time.Parse(time.RFC3339, r.Sent)
	if err != nil {
		return time.Time{}
	}
	return at
}
