package settings

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// The lines around what reviewer writes to a TOML file. The rest of the file is a person's, with its
// comments and its order.
const (
	blockBegin = "# reviewer: begin (written by `reviewer install`, removed by `reviewer uninstall`)\n"
	blockEnd   = "# reviewer: end\n"
)

// blockFormat is the format of a TOML file at whose end reviewer has a block.
func blockFormat(block func(HookCommand) (string, error), inspect func([]byte, string) Findings) Format {
	return Format{
		Install: func(old []byte, c HookCommand) ([]byte, error) {
			if err := c.check(); err != nil {
				return nil, err
			}
			text, err := block(c)
			if err != nil {
				return nil, err
			}
			return withBlock(old, text)
		},
		Uninstall: func(old []byte) ([]byte, error) {
			rest, found, err := withoutBlock(old)
			switch {
			case err != nil || !found:
				return old, err
			case len(bytes.TrimSpace(rest)) == 0:
				return nil, nil
			}
			return rest, nil
		},
		Inspect: inspect,
	}
}

// withBlock puts a block at the end, or where it was.
func withBlock(old []byte, text string) ([]byte, error) {
	if _, err := parseTOML(old); err != nil {
		return nil, err
	}
	rest, found, err := withoutBlock(old)
	if err != nil {
		return nil, err
	}
	at := len(rest)
	if found {
		begin, _, _ := blockAt(old)
		at = min(begin, len(rest))
	}
	before, after := string(rest[:at]), string(rest[at:])
	if after == "" && before != "" {
		before = ended(before) + "\n"
	}
	all := []byte(before + blockBegin + text + blockEnd + after)
	if _, err := parseTOML(all); err != nil {
		return nil, fmt.Errorf("reviewer's hooks cannot be added: %w; "+
			"a hook there may be written in another form (an inline list): write it as a table", err)
	}
	return all, nil
}

// ended returns a string, with a line end after its last line.
func ended(text string) string {
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// withoutBlock removes reviewer's block, and the empty line before it.
func withoutBlock(old []byte) (rest []byte, found bool, err error) {
	begin, end, err := blockAt(old)
	if err != nil || end == 0 {
		return old, false, err
	}
	before, after := old[:begin], old[end:]
	if len(after) == 0 {
		before = bytes.TrimSuffix(bytes.TrimSuffix(before, []byte("\n")), []byte("\r"))
	}
	return append(bytes.Clone(before), after...), true, nil
}

// blockAt returns where reviewer's block begins and ends; an end of 0: there is none. A person's editor may
// have changed the line ends.
func blockAt(text []byte) (begin, end int, err error) {
	first, last := strings.TrimSpace(blockBegin), strings.TrimSpace(blockEnd)
	begin = bytes.Index(text, []byte(first))
	if begin < 0 {
		return 0, 0, nil
	}
	n := bytes.Index(text[begin:], []byte(last))
	if n < 0 {
		return 0, 0, fmt.Errorf("settings: the line %q is missing after %q", last, first)
	}
	end = begin + n + len(last)
	for _, lineEnd := range []string{"\r", "\n"} {
		if bytes.HasPrefix(text[end:], []byte(lineEnd)) {
			end++
		}
	}
	return begin, end, nil
}

func parseTOML(raw []byte) (map[string]any, error) {
	doc := map[string]any{}
	if _, err := toml.Decode(string(raw), &doc); err != nil {
		return nil, fmt.Errorf("settings are not valid TOML: %w", err)
	}
	return doc, nil
}

// table returns a table below others; nil: there is none.
func table(doc map[string]any, path ...string) map[string]any {
	for _, key := range path {
		doc, _ = doc[key].(map[string]any)
	}
	return doc
}

// tables returns an array of tables; of another type: none.
func tables(v any) []map[string]any {
	if list, ok := v.([]map[string]any); ok {
		return list
	}
	var list []map[string]any
	items, _ := v.([]any)
	for _, item := range items {
		if t, ok := item.(map[string]any); ok {
			list = append(list, t)
		}
	}
	return list
}

// quoteTOML writes a string as a basic string.
func quoteTOML(s string) string {
	raw, err := encoded(s) // JSON's escapes are among TOML's
	if err != nil {
		return `""` // not reached: a string can be encoded
	}
	return strings.ReplaceAll(string(raw), "\x7f", `\u007f`)
}
