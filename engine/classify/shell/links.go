package shell

import (
	"path"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// maxLinks limits the links that a script is known to have made.
const maxLinks = 256

// Linked remembers that a name now stands for another file: what is done to it happens there. A relative source of a symbolic link
// is relative to the folder of the link.
func (s *Machine) Linked(source, name abstract.Arg, symbolic bool) {
	for _, dir := range s.Scope.Dirs {
		at, from := abstract.JoinDir(dir, name), dir
		if symbolic {
			from = abstract.Value{Sure: abstract.Literal, Text: path.Dir(at.Text)}
		}
		if at.Sure != abstract.Literal || len(s.Links) >= maxLinks {
			continue
		}
		s.Links[at.Text] = abstract.JoinDir(from, source)
		if !symbolic {
			s.hardLinks = append(s.hardLinks, at.Text)
		}
		s.Copied(source, at.Arg())
		if text, ok := s.Written(source); ok {
			s.Store(name, text, false)
		}
	}
}
