package checkpointcmd

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
)

// longest is how many characters of a path or a reason are shown.
const longest = 400

// occasion describes the call or event for which a checkpoint was taken.
func occasion(c *checkpoint.Checkpoint) string {
	text := map[checkpoint.When]string{
		checkpoint.BeforeCall: "before", checkpoint.AfterCall: "after",
		checkpoint.BeforeRestore: "before a restore", checkpoint.AfterRestore: "after a restore", checkpoint.ByHand: "by hand",
	}[c.When]
	switch {
	case c.Call != "":
		text += " " + c.Call
	case c.When == checkpoint.BeforeCall || c.When == checkpoint.AfterCall:
		text += " a call"
	}
	return text + term.After(" of ", c.Session)
}

// who names the author of the changes since the previous checkpoint.
func who(by checkpoint.By) string {
	return map[checkpoint.By]string{
		checkpoint.BySession: "the session", checkpoint.ByOthers: "others", checkpoint.ByReviewer: "a restore",
	}[by]
}

// left is a path that is not stored, or was not restored.
type left struct {
	Path  string `json:"path"`
	Why   string `json:"why"`
	Bytes int64  `json:"bytes"`
}

func leftOf(list []checkpoint.Left, mask func(string) string) []left {
	docs := []left{}
	for _, l := range list {
		docs = append(docs, left{mask(l.Path), mask(l.Why), l.Size})
	}
	return docs
}

func writeLeft(w io.Writer, list []left) {
	for _, l := range list {
		fmt.Fprintf(w, "  %s: %s", term.OneLine(l.Path, longest), term.OneLine(l.Why, longest))
		if l.Bytes > 0 {
			fmt.Fprintf(w, " (%s bytes)", term.Size(l.Bytes))
		}
		fmt.Fprintln(w)
	}
}

// change is how one path differs.
type change struct {
	Path   string `json:"path"`
	Does   string `json:"does"`             // created, deleted, changed, mode
	Before *state `json:"before,omitempty"` // absent: it did not exist
	After  *state `json:"after,omitempty"`  // absent: it does not exist
}

// state describes a path at one time.
type state struct {
	Kind      string `json:"kind"` // file, link, folder, left_out
	Mode      string `json:"mode,omitempty"`
	Bytes     int64  `json:"bytes"`
	Encrypted bool   `json:"encrypted,omitempty"`
	Target    string `json:"target,omitempty"` // of a link
	Why       string `json:"why,omitempty"`    // it is left out
}

func changesOf(list []checkpoint.Change, mask func(string) string) []change {
	docs := []change{}
	for _, c := range list {
		docs = append(docs, change{mask(c.Path), c.Does(), stateOf(c.Before, mask), stateOf(c.After, mask)})
	}
	return docs
}

func stateOf(e *checkpoint.Entry, mask func(string) string) *state {
	if e == nil {
		return nil
	}
	s := &state{Kind: string(e.Kind), Bytes: e.Size, Encrypted: e.Sealed, Target: mask(e.Target), Why: mask(e.Why)}
	if e.Kind == checkpoint.File || e.Kind == checkpoint.Folder {
		s.Mode = e.Mode.String()
	}
	return s
}

// signs precede changed paths.
var signs = map[string]string{"created": "+", "deleted": "-", "changed": "~", "mode": "m"}

func writeChange(w io.Writer, c change) {
	fmt.Fprintf(w, "  %s %s%s\n", signs[c.Does], term.OneLine(c.Path, longest), describe(c))
}

// describe returns the kind of a changed path if its name does not show it.
func describe(c change) string {
	is := c.After
	if is == nil {
		is = c.Before
	}
	switch {
	case is.Kind == string(checkpoint.Folder):
		return "/" + modes(c)
	case is.Kind == string(checkpoint.Link):
		return " -> " + term.OneLine(is.Target, longest)
	case is.Kind == string(checkpoint.LeftOut):
		return " (not stored: " + term.OneLine(is.Why, longest) + ")"
	case c.Does == "mode":
		return modes(c)
	}
	return fmt.Sprintf(" (%s bytes)", term.Size(is.Bytes)) + modes(c)
}

func modes(c change) string {
	if c.Before == nil || c.After == nil || c.Before.Mode == c.After.Mode {
		return ""
	}
	return fmt.Sprintf(" (%s, was %s)", c.After.Mode, c.Before.Mode)
}

// repository is the state of a repository at a checkpoint.
type repository struct {
	Folder string `json:"folder"` // relative to the workspace; . is the workspace
	Head   string `json:"head,omitempty"`
	Commit string `json:"commit,omitempty"`
	Index  string `json:"index,omitempty"` // digest of the file
	Stash  string `json:"stash,omitempty"` // newest entry
}

func repositoriesOf(list []checkpoint.Git, mask func(string) string) []repository {
	docs := []repository{}
	for _, g := range list {
		docs = append(docs, repository{mask(g.Dir), mask(g.Head), g.Commit, g.Index, g.Stash})
	}
	return docs
}
