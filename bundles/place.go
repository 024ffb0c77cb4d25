package bundles

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// placed is an error in a file of a policy. Its text gives the line; who prints
// columns too finds it with errors.As.
type placed struct {
	spot
	what string
	err  error // what is behind it; nil: nothing
}

// spot is where something is written.
type spot struct {
	layer     string // empty: the layer that is being read
	file      string // empty: the whole layer
	line, col int    // from 1; 0: not known
}

func (s spot) String() string {
	text := s.file
	if s.layer != "" {
		text = s.layer + "/" + s.file
	}
	if s.line > 0 {
		text += ":" + strconv.Itoa(s.line)
	}
	return text
}

func (p *placed) Error() string {
	if p.line == 0 && strings.HasPrefix(p.what, "is ") {
		return p.String() + " " + p.what // of a file as a whole
	}
	return p.String() + ": " + p.what
}

// Unwrap returns what is behind the error.
func (p *placed) Unwrap() error { return p.err }

// in names the layer that the file is in.
func (s spot) in(layer string) spot {
	s.layer = layer
	return s
}

func (s spot) wrong(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &placed{s, err.Error(), errors.Unwrap(err)}
}

// inFile is a file as a whole.
func inFile(file string) spot { return spot{file: file} }

// nodeAt is where a node of a file is written.
func nodeAt(file string, n *yaml.Node) spot { return spot{"", file, n.Line, n.Column} }
