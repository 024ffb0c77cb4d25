package prompt

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// withoutComments blanks the comments of a text in Markdown, and its front matter. The number of lines stays the same.
func withoutComments(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	blank := func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
	var b strings.Builder
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if end := strings.Index(rest, "\n---\n"); end >= 0 {
			end += len("\n---\n")
			b.WriteString("\n" + blank(rest[:end]))
			text = rest[end:]
		}
	}
	for {
		before, rest, found := strings.Cut(text, "<!--")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if strings.HasSuffix(before, "`") { // it is written about
			b.WriteString("<!--")
			text = rest
			continue
		}
		comment, after, _ := strings.Cut(rest, "-->")
		b.WriteString(blank(comment))
		text = after
	}
}

// tables writes rows of tables that forbid something, or want a question, as items, such as: `make deploy`: never. All cells of a column
// with a header such as "allowed" count, and others by what they say, such as "ask first".
func (g *vocabulary) tables(text string) string {
	var out []string
	var columns []bool // those whose header is such a word; nil: no table
	rows := 0
	for line := range strings.Lines(text) {
		cells := cellsOf(line)
		if len(cells) < 2 || rows == maxRows {
			out, columns = append(out, line), nil
			continue
		}
		rows++
		if columns == nil {
			columns = make([]bool, len(cells))
			for k, c := range cells {
				begins := func(w string) bool { return strings.HasPrefix(strings.ToLower(c), w) }
				columns[k] = slices.ContainsFunc(g.set.Words("instructions.columns"), begins)
			}
			out = append(out, "\n")
			continue
		}
		out = append(out, g.row(cells, columns)+"\n")
	}
	return strings.Join(out, "")
}

// row writes a row of a table as an item, up to the last cell that forbids something or wants a question; empty: none does, or one
// allows it.
func (g *vocabulary) row(cells []string, columns []bool) string {
	row := ""
	for k, c := range cells {
		if g.fine(c) {
			return ""
		}
		said, low := g.cell(c), strings.ToLower(c)
		other := strings.HasPrefix(cells[0], "`") && g.restricts(c) // `legacy/`: old scripts, read-only
		if said != "" {                                             // a word such as no says nothing below another header
			other = said == "ask" || strings.Contains(c, " ") || slices.Contains(g.set.Words("instructions.never"), low)
		}
		if k > 0 && c != "" && (k < len(columns) && columns[k] || other) {
			row = "- " + strings.Join(cells[:k], ", ") + ": " + c
		}
	}
	return row
}

// fine reports whether a cell of a table says that something may be done.
func (g *vocabulary) fine(cell string) bool {
	symbol := strings.TrimSuffix(startsInSymbol(cell+" "), "\ufe0f")
	return slices.Contains(g.set.Words("instructions.fine_marks"), symbol) ||
		slices.Contains(g.set.Words("instructions.yes"), strings.ToLower(cell))
}

// restricts reports whether a text says that something is closed, that somebody is asked, or that it is not to be changed.
func (g *vocabulary) restricts(text string) bool {
	low := " " + strings.ToLower(strings.NewReplacer(",", " ", ";", " ", ".", " ", ":", " ").Replace(text)) + " "
	any := func(lists ...string) bool {
		return slices.ContainsFunc(lists, func(list string) bool {
			return slices.ContainsFunc(g.set.Words(list), func(w string) bool { return strings.Contains(low, " "+w+" ") })
		})
	}
	return any("restrict.closed", "restrict.approval", "restrict.asks") ||
		any("prompt.not", "prompt.never") && any("restrict.edits", "act.change.orders", "act.change.verbs")
}

// cellsOf returns the cells of a row of a table.
func cellsOf(line string) []string {
	bare, ok := strings.CutPrefix(strings.TrimSpace(line), "|")
	if !ok {
		return nil
	}
	var cells []string
	for _, c := range strings.SplitN(strings.TrimSuffix(bare, "|"), "|", maxCells) {
		cells = append(cells, strings.TrimSpace(c))
	}
	return cells
}

// unit is a heading, an item of a list or a paragraph.
type unit struct {
	line    int
	text    string
	heading bool
	item    bool
	indent  int    // of the line on which it begins
	breaks  []int  // where further lines begin in the text
	mark    string // what an item begins with instead of a word, such as a red cross
}

// units splits a text in Markdown. Lines of a paragraph, and those that continue an item, belong together.
func units(text string) []unit {
	var list []unit
	open := false // the last unit can continue
	n := 0
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimSpace(line)
		switch item, isItem := itemOf(bare); {
		case bare == "":
			open = false
		case strings.HasPrefix(bare, "#") && strings.HasPrefix(strings.TrimLeft(bare, "#"), " "):
			list, open = append(list, unit{line: n, text: plainMarkdown(strings.Trim(bare, "# ")), heading: true}), false
		case isItem:
			indent := len(line) - len(strings.TrimLeft(line, " \t"))
			list, open = append(list, unit{line: n, text: plainMarkdown(item), item: true, indent: indent}), true
		case open && startsInSymbol(bare) == "" && !ended(list[len(list)-1].text):
			if u := &list[len(list)-1]; len(u.text) < maxUnit {
				u.breaks = append(u.breaks, len(u.text))
				u.text += " " + plainMarkdown(bare)
			}
		default:
			list, open = append(list, unit{line: n, text: plainMarkdown(bare)}), true
		}
	}
	for i := range list {
		list[i].text = abstract.Clip(list[i].text, maxUnit)
		if mark := startsInSymbol(list[i].text); mark != "" {
			list[i].mark, list[i].text = mark, strings.TrimSpace(strings.TrimPrefix(list[i].text, mark))
		}
	}
	return list
}

// ended reports whether a line ends a sentence: the next one begins on the next line.
func ended(line string) bool {
	return line == "" || strings.ContainsAny(line[len(line)-1:], ".!?:;") || strings.HasSuffix(line, "。")
}

// itemOf returns the text of an item of a list.
func itemOf(line string) (string, bool) {
	for _, lead := range []string{"- ", "* ", "+ ", "• "} {
		if rest, ok := strings.CutPrefix(line, lead); ok {
			for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
				rest = strings.TrimPrefix(rest, box)
			}
			return rest, true
		}
	}
	first, rest, ok := strings.Cut(line, " ")
	if ok && strings.Contains(first, ".") && first[0] != '.' && strings.Trim(first, "0123456789.") == "" {
		return rest, true // 3.2 Releases
	}
	number := strings.TrimLeft(line, "0123456789")
	if number != line && len(number) > 2 && (number[0] == '.' || number[0] == ')') && number[1] == ' ' {
		return number[2:], true
	}
	return "", false
}

// plainMarkdown leaves out the marks of bold and italic text. Code spans stay: they are names.
func plainMarkdown(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, "`") {
		if i%2 == 0 {
			part = strings.NewReplacer("**", "", "__", "").Replace(part)
		} else if before := b.String(); before != "" && strings.IndexByte("(/[", before[len(before)-1]) >= 0 {
			b.WriteByte(' ') // a span of its own
		}
		if i > 0 {
			b.WriteByte('`')
		}
		b.WriteString(part)
	}
	return strings.TrimSpace(b.String())
}

// startsInSymbol returns the symbol that a line begins with, such as a red cross; empty: it begins with a word.
func startsInSymbol(s string) string {
	first, _, _ := strings.Cut(s, " ")
	letter := func(r rune) bool { return r != 0xfe0f && (r < 0x2190 || r > 0x1faff || r >= 0x3000 && r < 0x1f000) } // not how it looks
	if first == "" || len(first) == len(s) || strings.ContainsFunc(first, letter) {
		return ""
	}
	return first
}
