package checkpointcmd

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	textdiff "github.com/rogpeppe/go-internal/diff"
)

// diffable is the size up to which the lines of a file are compared.
const diffable = 1 << 20

// diff returns the unified diff of a changed path, and a note on what it does not show.
func (in sides) diff(c checkpoint.Change, shown change) (diff, note string) {
	if note = undiffable(c, shown); note != "" {
		return "", note
	}
	before, err := in.contents(c.Before, false)
	if err != nil {
		return "", "it cannot be read: " + in.mask(err.Error())
	}
	after, err := in.contents(c.After, in.now)
	if err != nil {
		return "", "it cannot be read: " + in.mask(err.Error())
	}
	switch {
	case !isText(before) || !isText(after):
		return "", fmt.Sprintf("binary, %s -> %s bytes", term.Size(int64(len(before))), term.Size(int64(len(after))))
	case bytes.Equal(before, after):
		return "", emptyNote(shown)
	}
	if text := strings.TrimSpace(modes(shown)); text != "" {
		note = "mode " + strings.Trim(text, "()")
	}
	return in.unified(c, before, after), note
}

// emptyNote describes a change that no line shows.
func emptyNote(c change) string {
	switch {
	case c.Does == "mode":
		return strings.Trim(modes(c), " ()")
	case c.Does == "changed":
		return "other hard links"
	}
	return "empty"
}

// undiffable returns why the contents of a path are not compared; empty: they are.
func undiffable(c checkpoint.Change, shown change) string {
	for _, e := range []*checkpoint.Entry{c.Before, c.After} {
		switch {
		case e == nil:
		case e.Kind == checkpoint.LeftOut:
			return "not stored: " + term.OneLine(shownWhy(shown), longest)
		case e.Sealed:
			return "encrypted, since such files hold secrets; the contents are not shown"
		case e.Kind != checkpoint.File:
			return strings.TrimSpace(kinds(c) + strings.TrimPrefix(describe(shown), "/"))
		case e.Size > diffable:
			return "large, " + sizes(c)
		}
	}
	return ""
}

func shownWhy(c change) string {
	if c.After != nil && c.After.Why != "" {
		return c.After.Why
	}
	return c.Before.Why
}

func kinds(c checkpoint.Change) string {
	switch {
	case c.Before == nil:
		return string(c.After.Kind)
	case c.After == nil || c.Before.Kind == c.After.Kind:
		return string(c.Before.Kind)
	}
	return string(c.Before.Kind) + " -> " + string(c.After.Kind)
}

func sizes(c checkpoint.Change) string {
	var was, is int64
	if c.Before != nil {
		was = c.Before.Size
	}
	if c.After != nil {
		is = c.After.Size
	}
	return fmt.Sprintf("%s -> %s bytes", term.Size(was), term.Size(is))
}

func (in sides) contents(e *checkpoint.Entry, now bool) ([]byte, error) {
	switch {
	case e == nil:
		return nil, nil
	case now:
		return in.store.ContentsNow(e.Path)
	}
	return in.store.Contents(e)
}

// isText reports whether lines can be compared.
func isText(b []byte) bool { return bytes.IndexByte(b, 0) < 0 && utf8.Valid(b) }

// unified compares masked texts: the same secret has the same name on both sides, two
// different ones have different names.
func (in sides) unified(c checkpoint.Change, before, after []byte) string {
	path := in.mask(c.Path)
	from, to := "a/"+path, "b/"+path
	if c.Before == nil {
		from = "/dev/null"
	}
	if c.After == nil {
		to = "/dev/null"
	}
	text := textdiff.Diff("a", []byte(in.mask(string(before))), "b", []byte(in.mask(string(after))))
	if at := bytes.Index(text, []byte("\n@@")); at >= 0 {
		return fmt.Sprintf("--- %s\n+++ %s%s", from, to, text[at:])
	}
	return fmt.Sprintf("--- %s\n+++ %s\n", from, to)
}
