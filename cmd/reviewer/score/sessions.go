package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
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
)

// Sessions are whole sessions of agents.
type Sessions struct {
	List    []harness.Transcript
	Skipped map[string]int    // ending of a file's name -> files that are no transcript of a known agent
	Agent   map[string]string // session -> the agent that wrote it: claude-code, codex, gemini, swe-agent
	CWD     map[string]string // name of a file without its ending -> where the session began
}

// maxTranscript bounds a transcript in bytes.
const maxTranscript = 256 << 20

// maxSession is how much of a file's name is the id of its session, in bytes.
const maxSession = 100

// sessionReader collects transcripts.
type sessionReader struct {
	out Sessions
}

// readSessions reads sessions*.tar.gz and the folders sessions* of a corpus.
func readSessions(dir string) (Sessions, error) {
	r := sessionReader{Sessions{Skipped: map[string]int{}, Agent: map[string]string{}, CWD: map[string]string{}}}
	names, err := filepath.Glob(filepath.Join(dir, "sessions*"))
	if err != nil {
		return r.out, fmt.Errorf("corpus %s: %w", dir, err)
	}
	for _, name := range names {
		read := r.folder
		if strings.HasSuffix(name, ".tar.gz") {
			read = r.archive
		}
		if err := read(name); err != nil {
			return r.out, fmt.Errorf("%s: %w", name, err)
		}
	}
	r.out.List = harness.Merge(r.out.List)
	slices.SortFunc(r.out.List, func(a, b harness.Transcript) int { return cmp.Compare(a.Session, b.Session) })
	return r.out, nil
}

func (r *sessionReader) archive(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("not packed by gzip: %w", err)
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = r.file(h.Name, t)
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
		return r.file(filepath.ToSlash(name), f)
	})
}

// file takes a transcript in; a file that is none is counted.
func (r *sessionReader) file(name string, in io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(in, maxTranscript))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	t, agent, err := transcript(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if agent == "" {
		r.out.Skipped[path.Ext(name)]++
		return nil
	}
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	t.Session = cmp.Or(t.Session, stem[max(0, len(stem)-maxSession):])
	r.out.Agent[t.Session] = agent
	if calls := t.Calls(); len(calls) > 0 {
		r.out.CWD[stem] = calls[0].CWD
	}
	r.out.List = append(r.out.List, t)
	return nil
}

// transcript reads a session; the agent is empty where none is known that writes
// such a file.
func transcript(raw []byte) (t harness.Transcript, agent string, err error) {
	r, known := harness.Recognise(raw[:min(len(raw), 64<<10)])
	if !known {
		return t, "", nil
	}
	t, err = r.Read(bytes.NewReader(raw))
	if r.Name != harness.ClaudeCode {
		// what other agents do not tell, or not alike: one place, and a person who can be asked
		for i := range t.Events {
			t.Events[i].CWD, t.Events[i].Mode = cmp.Or(t.Events[i].CWD, workspace), "default"
		}
	}
	return t, r.Name, err
}
