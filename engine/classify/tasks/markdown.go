package tasks

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// documentBlocks returns the code blocks of a document that a program could run, each
// as the command that runs it.
func documentBlocks(text string) []string {
	var list []string
	var block fence
	for line := range strings.Lines(text) {
		if block.mark == "" {
			block = openFence(line)
		} else if code, ok := block.add(line); ok {
			list, block = append(list, code...), fence{}
		}
		if len(list) >= maxLines {
			return list
		}
	}
	return append(list, block.commands()...) // a block that is not closed continues to the end
}

// fence is a block of code that begins with three marks or more.
type fence struct {
	mark, lang string // the marks as they are; empty: there is no block
	code       strings.Builder
}

// openFence reads the first line of a block. A line with marks before and after text
// does not open a block.
func openFence(line string) (f fence) {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 3 && (mark == "~" || !strings.Contains(rest, "`")) {
			f.mark = line[:n]
			if info := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(" \t{},=.~", r) }); len(info) > 0 {
				f.lang = strings.ToLower(info[0])
			}
		}
	}
	return f
}

// add takes a line of the block. ok: it is the last one, and these are the commands.
func (f *fence) add(line string) (commands []string, ok bool) {
	marks := strings.TrimSpace(line)
	if !strings.HasPrefix(marks, f.mark) || strings.Trim(marks, f.mark[:1]) != "" {
		f.code.WriteString(line)
		return nil, false
	}
	return f.commands(), true
}

// commands returns the commands of a block.
func (f *fence) commands() []string {
	switch lang := f.lang; {
	case f.mark == "":
		return nil
	case lang == "r":
		return []string{inForeign("Rscript", nil, f.code.String())}
	case lang == "console" || strings.HasSuffix(lang, "-session"):
		return prompted(f.code.String())
	case foreign(lang) && shell.Language(lang) != "":
		return []string{inForeign(lang, nil, f.code.String())}
	case shell.Language(lang) == "shell" || lang == "shell" || lang == "":
		return []string{f.code.String()}
	}
	return nil
}

// prompted returns the lines after a prompt.
func prompted(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		for _, prompt := range []string{"$ ", "# ", "% ", "> "} {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line), prompt); ok {
				list = append(list, command)
			}
		}
	}
	return list
}
