package standing

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine"
)

// Limits of what is kept in one record.
const (
	maxText  = 100  // bytes of a sentence
	maxMarks = 24   // distinctive texts of the trusted files
	maxFacts = 3600 // bytes of all statements: with the rest of the event they stay below engine.MaxFacts
)

// inParts splits a statement that names more than a session keeps of one.
func inParts(s engine.Statement) []engine.Statement {
	if len(s.Objects) == 0 {
		return []engine.Statement{s}
	}
	var list []engine.Statement
	for part := range slices.Chunk(slices.Clone(s.Objects), engine.MaxStandingObjects) {
		s.Objects = part
		list = append(list, s)
	}
	return list
}

// Facts returns what is kept of what the files forbid, and a digest of the files. Nil: there are none.
func Facts(files []File, mac func([]byte) string, marks func(text string) []string) *engine.Standing {
	if len(files) == 0 {
		return nil
	}
	var all, trusted bytes.Buffer
	for _, f := range files {
		if f.Trusted {
			trusted.Write(f.text)
			trusted.WriteByte('\n')
		}
		all.WriteString(f.Path + "\x00" + strconv.FormatBool(f.Trusted) + "\x00")
		all.Write(f.text)
		all.WriteByte(0)
	}
	texts := marks(trusted.String())
	return &engine.Standing{MAC: mac(all.Bytes()), Statements: Kept(files), Marks: texts[:min(len(texts), maxMarks)]}
}

// Kept lists what is kept of what the files forbid: what is denied before what is only asked about, and of each file in turn, so
// that a long file displaces no other.
func Kept(files []File) []engine.Statement {
	var kept []engine.Statement
	left := maxFacts
	for _, denied := range []bool{true, false} {
		var rest [][]engine.Statement
		for _, f := range files {
			var list []engine.Statement
			for _, sentence := range f.Sentences {
				for _, s := range sentence.Statements {
					if (s.Until == "") == denied {
						list = append(list, s)
					}
				}
			}
			rest = append(rest, list)
		}
		for turn := 0; slices.ContainsFunc(rest, func(list []engine.Statement) bool { return turn < len(list) }); turn++ {
			for _, list := range rest {
				if turn >= len(list) || len(kept) == engine.MaxStanding {
					continue
				}
				s := list[turn]
				if s.Text = engine.ClipJSON(s.Text, maxText); sizeOf(s) > left/(engine.MaxStanding-len(kept)) {
					s.Text = "" // what is forbidden counts more than how it was said
				}
				if n := sizeOf(s); n <= left {
					left -= n
					kept = append(kept, s)
				}
			}
		}
	}
	return kept
}

// sizeOf is the most that a statement takes in a record.
func sizeOf(s engine.Statement) int {
	n := 90 + len(s.Act) + len(s.Until) + engine.JSONLen(s.From) + engine.JSONLen(s.Text)
	for _, o := range s.Objects {
		n += engine.JSONLen(o) + 1
	}
	return n
}
