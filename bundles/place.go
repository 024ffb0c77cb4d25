package bundles

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// positionedError is an error in a file of a policy. Its text gives the line; code that
// also prints columns finds it with errors.As.
type positionedError struct {
	position
	what string
	err  error // the wrapped error; nil: none
}

// position is a place in a policy's files.
type position struct {
	layer     string // empty: the layer that is being read
	file      string // empty: the whole layer
	line, col int    // from 1; 0: unknown
	code      string // what kind of problem is there, one of those that `policy codes` lists; empty: as the file's name says
}

func (s position) String() string {
	text := s.file
	if s.layer != "" {
		text = s.layer + "/" + s.file
	}
	if s.line > 0 {
		text += ":" + strconv.Itoa(s.line)
	}
	return text
}

func (p *positionedError) Error() string {
	if p.line == 0 && strings.HasPrefix(p.what, "is ") {
		return p.String() + " " + p.what // of a file as a whole
	}
	return p.String() + ": " + p.what
}

// Unwrap returns the underlying error.
func (p *positionedError) Unwrap() error { return p.err }

// in names the layer that the file is in.
func (s position) in(layer string) position {
	s.layer = layer
	return s
}

// as sets the code of the problem.
func (s position) as(code string) position {
	s.code = code
	return s
}

// kindOf returns the code of a problem without one, from the kind of its file.
func kindOf(file, otherwise string) string {
	switch FileKind(file) {
	case ManifestFile:
		return "manifest.field"
	case DataFile:
		return "data.value"
	case SettingsFile:
		return "settings.value"
	case RulesFile, AccessFile, DetectorsFile, Definitions:
		return "row.meaning"
	case RowsFile:
		return "facts.row"
	}
	return otherwise
}

func (s position) wrong(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &positionedError{s, err.Error(), errors.Unwrap(err)}
}

// inFile returns the position of a whole file.
func inFile(file string) position { return position{file: file} }

// nodeAt returns the position of a node.
func nodeAt(file string, n *yaml.Node) position { return position{"", file, n.Line, n.Column, ""} }

// texts are the positions of the texts of a row.
type texts struct {
	file  string
	spots *spots
	late  *lateSpots // of a row that was parsed before: its file is parsed for them
	row   int        // its number in the file
}

// spots are positions in a file.
type spots struct {
	lines map[string]int         // of the row itself (""), and of the text of each key's value
	cols  map[string]int         // the same, of its first character; 0: unknown
	folds map[string]*foldedText // of expressions whose text is written in another form; nil: it is not
}

// lateSpots are the positions of the rows of a file, which is parsed when they are needed.
type lateSpots struct {
	parse func() []texts
	once  sync.Once
	rows  []texts
}

func (l *lateSpots) of(row int) *spots {
	l.once.Do(func() { l.rows = l.parse() })
	return l.rows[row].spots
}

// find returns the positions of the texts.
func (t texts) find() spots {
	switch {
	case t.spots != nil:
		return *t.spots
	case t.late != nil:
		return *t.late.of(t.row)
	}
	return spots{}
}

// Place returns file:line for a line (from 1) of the text of one of the row's
// keys, such as "when"; line 0 or a missing key: of the row.
func (t texts) Place(key string, line int) string {
	found := t.find()
	at, ok := found.lines[key]
	if !ok {
		at = found.lines[""]
	}
	return t.file + ":" + strconv.Itoa(at+max(0, line-1))
}

// Spot returns file, line and column for a place in the text of one of the row's
// keys, as Place does; column 0 if it is unknown.
func (t texts) Spot(key string, line, col int) (string, int, int) {
	found := t.find()
	at, ok := found.lines[key]
	if !ok {
		return t.file, found.lines[""], found.cols[""]
	}
	if f := found.folds[key]; f != nil && line > 0 {
		line, col = f.place(line, max(1, col))
		return t.file, line, col
	}
	if first, block := found.cols[key], found.cols[blockKey+key] > 0; first > 0 && (line <= 1 || block) {
		return t.file, at + max(0, line-1), first + max(0, col-1)
	}
	return t.file, at + max(0, line-1), 0
}

func (t texts) at(key string) position {
	file, line, col := t.Spot(key, 0, 0)
	return position{"", file, line, col, ""}
}

// blockKey marks, in cols, the keys whose text is a | block.
const blockKey = "|"
