package auditcmd

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// maskTranscript masks secrets in the parts of a transcript that are shown unchanged:
// names, ids, and error messages. Ids become those of the log if mask is the log's.
func maskTranscript(t *transcript.Transcript, mask func(string) string) {
	t.Session = mask(t.Session)
	for i := range t.Events {
		e := &t.Events[i]
		for _, text := range []*string{&e.Session, &e.Agent, &e.Call, &e.Tool} {
			*text = mask(*text)
		}
	}
	unasked := map[string]bool{}
	for call, is := range t.Unasked {
		unasked[mask(call)] = is
	}
	t.Unasked = unasked
	written := map[string]transcript.WrittenCall{}
	for call, as := range t.Written {
		written[mask(call)] = as
	}
	t.Written = written
	for i := range t.Bad {
		t.Bad[i].Why = mask(t.Bad[i].Why)
	}
}

// source is a file that was read, with the number of lines that were skipped.
type source struct {
	Path    string               `json:"path"`
	Session string               `json:"session"`
	Lines   int                  `json:"lines"`
	Bad     []transcript.BadLine `json:"bad,omitempty"`
	Error   string               `json:"error,omitempty"`
}

// transcriptFiles lists the files of the paths, folders searched in order.
func transcriptFiles(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		if p == "-" {
			files = append(files, p)
			continue
		}
		err := filepath.WalkDir(p, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && (name == p || strings.HasSuffix(name, ".jsonl") || maybeTranscript(name)) {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("find transcripts: %s: %w", p, cli.WithoutCall(err))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no transcripts in %s: give transcript files, or folders that contain some", strings.Join(paths, ", "))
	}
	return files, nil
}

// readTranscripts reads every transcript under the paths. One that cannot be
// read is listed among the sources; it is an error only if none can be read. What
// is shown of them is masked.
func readTranscripts(a *cli.App, paths []string, mask func(string) string) ([]transcript.Transcript, []source, error) {
	files, err := transcriptFiles(paths)
	if err != nil {
		return nil, nil, err
	}
	var list []transcript.Transcript
	var sources []source
	for _, name := range files {
		t, err := readTranscript(a, name)
		maskTranscript(&t, mask)
		s := source{Path: mask(name), Session: t.Session, Lines: t.Lines, Bad: t.Bad}
		if err == nil && (t.LocalIDs || t.DerivedIDs) {
			err = errors.New("its calls have no ids to match them with the log")
		}
		if err != nil {
			s.Error = mask(err.Error())
		} else {
			list = append(list, transcript.Split(t, "")...)
		}
		sources = append(sources, s)
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("none of %s could be read; the first: %s", engine.Counted(len(files), "file", "files"), sources[0].Error)
	}
	return list, sources, nil
}

// headLength is the number of bytes from which the format of a file is determined.
const headLength = 64 << 10

func readTranscript(a *cli.App, name string) (transcript.Transcript, error) {
	in := a.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return transcript.Transcript{}, err
		}
		defer f.Close()
		in = f
	}
	b := bufio.NewReaderSize(in, headLength)
	head, err := b.Peek(headLength)
	if err != nil && err != io.EOF {
		return transcript.Transcript{}, err
	}
	format, known := transcript.Recognise(head)
	if !known {
		return transcript.Transcript{}, errors.New("not a transcript of a known agent")
	}
	t, err := format.Read(b)
	if t.Session == "" {
		t.Session = cmp.Or(transcript.SessionOf(format.Name, name), strings.TrimSuffix(filepath.Base(name), ".jsonl"))
	}
	return t, err
}

// maybeTranscript reports whether a file with an unusual name for a transcript
// begins like one.
func maybeTranscript(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headLength))
	_, known := transcript.Recognise(head)
	return err == nil && known
}

// reportSources reports on standard error what could not be read.
func reportSources(a *cli.App, sources []source) error {
	var failed, bad int
	for _, s := range sources {
		if s.Error != "" {
			failed++
			fmt.Fprintf(a.Stderr, "reviewer: %s: %s\n", s.Path, s.Error)
		}
		if len(s.Bad) > 0 {
			bad += len(s.Bad)
			fmt.Fprintf(a.Stderr, "reviewer: %s:%d: %s (%s skipped)\n", s.Path,
				s.Bad[0].Line, s.Bad[0].Why, term.Counted(len(s.Bad), "line of this file was", "lines of this file were"))
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s could not be read", failed, engine.Counted(len(sources), "file", "files"))
	}
	return nil
}
