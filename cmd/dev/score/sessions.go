package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// Sessions are whole sessions of agents.
type Sessions struct {
	List    []transcript.Transcript
	Skipped map[string]int      // ending of a file's name -> files that are not a transcript of a known agent
	Agent   map[string]string   // session -> the format of its file, or the only agent that writes it
	Origin  map[string]Origin   // session -> its origin
	Files   map[string][]string // file -> the sessions in it
	CWD     map[string]string   // name of a file without its ending -> where the session began
	Derived int                 // files that were left out in favour of those made from them
	Unread  int                 // entries of files (lines, messages, calls) that could not be read
}

// Origin is the project and client of a session.
type Origin struct {
	Project string `json:"project"`
	Client  string `json:"client"`
}

// clientNames are the names of agents as an index has them, for sessions without an
// index.
var clientNames = map[string]string{
	harness.ClaudeCode: "Claude Code", transcript.Codex: "Codex", transcript.Gemini: "Gemini CLI", transcript.Copilot: "Copilot CLI", transcript.Pi: "Pi",
	transcript.Droid: "Factory droid", transcript.Qwen: "Qwen Code", transcript.Kimi: "Kimi Code", transcript.Cline: "Cline",
	transcript.OpenCode: "OpenCode",
}

// maxTranscript bounds a transcript in bytes.
const maxTranscript = 256 << 20

// maxSession is how much of a file's name is the id of its session, in bytes.
const maxSession = 100

// sessionFile is a file of sessions of unknown origin.
type sessionFile struct {
	from    string // the archive or folder
	name    string // within it
	derived bool   // it was made from another one
	raw     []byte // until it is read
	format  string // empty: unknown
	cwd     string // where it began
	list    []transcript.Transcript
}

// sessionReader collects transcripts.
type sessionReader struct {
	out     Sessions
	files   []sessionFile
	index   map[string]indexed // file -> what an index says about it
	from    string             // the archive or folder that is read now
	derived bool               // it was made of other files
}

// indexed is the entry of a file in an index.json.
type indexed struct {
	File   string `json:"file"`
	Source string `json:"source"` // where it comes from, such as github:owner/name
	Client string `json:"client"`
}

const indexName = "index.json"

// readSessions reads sessions*.tar.gz and the folders sessions* of a corpus.
// Files in one whose name ends with -derived were made from files that had no
// reader; they count for projects of which no other file could be read.
func readSessions(dir string) (Sessions, error) {
	r := sessionReader{out: Sessions{Skipped: map[string]int{}, Agent: map[string]string{}, CWD: map[string]string{},
		Origin: map[string]Origin{}, Files: map[string][]string{}}, index: map[string]indexed{}}
	names, err := filepath.Glob(filepath.Join(dir, "sessions*"))
	if err != nil {
		return r.out, fmt.Errorf("corpus %s: %w", dir, err)
	}
	for _, name := range names {
		base, packed := strings.CutSuffix(name, ".tar.gz")
		info, err := os.Stat(name)
		if err != nil {
			return r.out, fmt.Errorf("corpus %s: %w", dir, err)
		}
		if !packed && !info.IsDir() {
			continue // a description
		}
		read := r.folder
		if packed {
			read = r.archive
		}
		r.from, r.derived = name, strings.HasSuffix(base, "-derived")
		if err := read(name); err != nil {
			return r.out, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := r.read(); err != nil {
		return r.out, err
	}
	r.join()
	return r.out, nil
}

// join combines the files into sessions, each once.
func (r *sessionReader) join() {
	native := map[string]bool{}
	for _, f := range r.files {
		native[folderOf(f.name)] = native[folderOf(f.name)] || !f.derived
	}
	projects := r.projects()
	var list []transcript.Transcript
	for _, f := range r.files {
		if f.derived && native[folderOf(f.name)] {
			r.out.Derived++
			continue
		}
		for _, t := range f.list {
			if _, known := r.out.Origin[t.Session]; !known || !t.Partial {
				r.out.Origin[t.Session] = Origin{projects[f.name], cmp.Or(r.index[f.name].Client, clientNames[t.Harness], t.Harness)}
				r.out.Agent[t.Session] = f.format
			}
			r.out.Files[f.name] = append(r.out.Files[f.name], t.Session)
			list = append(list, t)
		}
		r.out.Unread += len(f.list[0].Bad)
	}
	r.out.List = transcript.Merge(list)
	slices.SortFunc(r.out.List, func(a, b transcript.Transcript) int { return cmp.Compare(a.Session, b.Session) })
}

// projects names the project of each file: its source in the index, or its first
// folder. A folder with the name of a source, with other punctuation or without the
// owner, is the same project.
func (r *sessionReader) projects() map[string]string {
	known := map[string]string{}
	for _, i := range r.index {
		_, source, named := strings.Cut(i.Source, ":")
		if !named {
			source = i.Source
		}
		known[strings.ReplaceAll(source, "/", "-")], known[path.Base(source)] = source, source
	}
	out := map[string]string{}
	for _, f := range r.files {
		if _, source, named := strings.Cut(r.index[f.name].Source, ":"); named {
			out[f.name] = source
			continue
		}
		folder := strings.ReplaceAll(folderOf(f.name), "+", "/")
		out[f.name] = cmp.Or(r.index[f.name].Source, known[strings.ReplaceAll(folder, "/", "-")], known[folder], folder, "none")
	}
	return out
}

// folderOf is the first folder of a file, below that of the sessions.
func folderOf(name string) string {
	parts := strings.Split(path.Dir(name), "/")
	if strings.HasPrefix(parts[0], "sessions") || parts[0] == "." {
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return ""
	}
	return parts[0]
}

func (r *sessionReader) archive(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("not gzip data: %w", err)
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = r.file(path.Clean(h.Name), t)
		}
		if err != nil {
			return err
		}
	}
}

func (r *sessionReader) folder(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		within, err := filepath.Rel(filepath.Dir(dir), name)
		if err != nil {
			return err
		}
		return r.file(filepath.ToSlash(within), f)
	})
}

// file adds a file, to be read with the others.
func (r *sessionReader) file(name string, in io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(in, maxTranscript))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case isIndex(name):
		return r.readIndex(name, raw)
	}
	r.files = append(r.files, sessionFile{from: r.from, name: name, derived: r.derived, raw: raw})
	return nil
}

// read reads the files, on all cores. Files that are not transcripts are counted.
func (r *sessionReader) read() error {
	err := each(len(r.files), func(int) {}, func(i int) error { return r.files[i].read() })
	r.files = slices.DeleteFunc(r.files, func(f sessionFile) bool {
		if f.format == "" && err == nil {
			r.out.Skipped[path.Ext(f.name)]++
		}
		return f.format == ""
	})
	for _, f := range r.files {
		if f.cwd != "" {
			r.out.CWD[f.stem()] = f.cwd
		}
	}
	return err
}

func (f *sessionFile) read() error {
	t, format, err := readSession(f.raw)
	f.raw, f.format = nil, format
	if err != nil {
		return fmt.Errorf("%s: %s: %w", f.from, f.name, err)
	}
	if calls := t.Calls(); len(calls) > 0 {
		f.cwd = calls[0].CWD
	}
	name := f.stem()
	f.list = transcript.Split(t, cmp.Or(transcript.SessionOf(format, f.name), name[max(0, len(name)-maxSession):]))
	return nil
}

// stem is the file's name without its ending.
func (f *sessionFile) stem() string { return strings.TrimSuffix(path.Base(f.name), path.Ext(f.name)) }

// isIndex reports whether a file is at the top, or right under the sessions'
// folder, and is named as an index is.
func isIndex(name string) bool {
	return path.Base(name) == indexName && path.Dir(path.Dir(name)) == "."
}

func (r *sessionReader) readIndex(name string, raw []byte) error {
	var list []indexed
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, i := range list {
		r.index[path.Clean(i.File)] = i
	}
	return nil
}

// readSession reads a transcript; the format is empty if it is unknown.
func readSession(raw []byte) (t transcript.Transcript, format string, err error) {
	r, known := transcript.Recognise(raw[:min(len(raw), 64<<10)])
	if !known {
		return t, "", nil
	}
	t, err = r.Read(bytes.NewReader(raw))
	if r.Name != harness.ClaudeCode { // others do not record the directory, or not always
		for i := range t.Events {
			t.Events[i].CWD = cmp.Or(t.Events[i].CWD, workspace)
		}
	}
	return t, r.Name, err
}
