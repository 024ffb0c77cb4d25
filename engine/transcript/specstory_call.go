package transcript

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// specCall is the parts of a call in an export.
type specCall struct {
	tool   string
	inline string   // code on the line that names the tool
	lines  []string // the lines after it: a description, the input, the output
	output []string // the output, once the input was read
	ran    string   // the command
}

var (
	errNoInput  = errors.New("the export does not contain the call's input")
	errCutInput = errors.New("the export contains only part of the call's input")
)

// head removes the lines that name the tool.
func (c *specCall) head() {
	end := slices.IndexFunc(c.lines, func(l string) bool { return strings.Contains(l, "</summary>") })
	if end < 0 {
		return
	}
	summary := strings.Join(c.lines[:end+1], "\n")
	_, after, _ := strings.Cut(summary, "**"+c.tool+"**")
	inner, rest, _ := strings.Cut(after, "</summary>")
	c.inline = unquoteCode(strings.TrimSpace(inner))
	c.lines = c.lines[end+1:]
	if strings.TrimSpace(rest) != "" {
		c.lines = append([]string{rest}, c.lines...)
	}
}

// unquoteCode returns the text between back quotes.
func unquoteCode(text string) string {
	if len(text) < 2 || text[0] != '`' || text[len(text)-1] != '`' {
		return ""
	}
	return text[1 : len(text)-1]
}

// code returns the line or lines between back quotes; the rest is the output.
func (c *specCall) code() string {
	for i, line := range c.lines {
		switch {
		case strings.HasPrefix(line, "```"):
			return ""
		case !strings.HasPrefix(strings.TrimSpace(line), "`"):
			continue
		}
		for j := i; j < len(c.lines); j++ {
			text := strings.TrimSpace(strings.Join(c.lines[i:j+1], "\n"))
			if code := unquoteCode(text); code != "" && blockEnds(c.lines[j+1:]) {
				c.rest(j + 1)
				return code
			}
		}
	}
	return ""
}

// block returns the first block of code, if its first line is one of the given; the
// rest is the output.
func (c *specCall) block(starts ...string) (string, bool) {
	begin := slices.IndexFunc(c.lines, func(l string) bool { return strings.Contains(l, "```") })
	if begin < 0 || !slices.Contains(starts, c.lines[begin]) {
		return "", false
	}
	for end := begin + 1; end < len(c.lines); end++ {
		if c.lines[end] == "```" && blockEnds(c.lines[end+1:]) {
			text := strings.Join(c.lines[begin+1:end], "\n")
			c.rest(end + 1)
			return text, true
		}
	}
	return "", false
}

// blockEnds reports whether a code fence ends a block: the next non-blank line begins
// another block, or there is none.
func blockEnds(after []string) bool {
	for _, line := range after {
		if strings.TrimSpace(line) != "" {
			return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "**")
		}
	}
	return true
}

// rest sets the output to the lines from a line on.
func (c *specCall) rest(at int) {
	c.output = c.lines[at:]
	c.lines = c.lines[:at]
	blank := func(l string) bool { return strings.TrimSpace(l) == "" }
	for len(c.output) > 0 && blank(c.output[0]) {
		c.output = c.output[1:]
	}
	for len(c.output) > 0 && blank(c.output[len(c.output)-1]) {
		c.output = c.output[:len(c.output)-1]
	}
	if len(c.output) > 0 && strings.HasPrefix(c.output[0], "```") {
		c.output = c.output[1:]
		if n := len(c.output); n > 0 && c.output[n-1] == "```" {
			c.output = c.output[:n-1]
		}
	}
}

// last sets the output to the last block, for a call whose input is a file.
func (c *specCall) last() {
	end := len(c.lines) - 1
	for end >= 0 && c.lines[end] != "```" {
		end--
	}
	for begin := end - 1; begin >= 0; begin-- {
		if strings.HasPrefix(c.lines[begin], "```") {
			c.rest(begin)
			return
		}
	}
}

// first sets the output to the first block.
func (c *specCall) first() {
	begin := slices.IndexFunc(c.lines, func(l string) bool { return strings.HasPrefix(l, "```") })
	if begin >= 0 {
		c.rest(begin)
	}
}

// text returns the input as text.
func (c *specCall) text() string { return strings.TrimSpace(strings.Join(c.lines, "\n")) }

// named are the values of a line such as "path `a` pattern `b`".
func (c *specCall) named() map[string]any {
	args := map[string]any{}
	for _, line := range c.lines {
		rest := strings.TrimPrefix(strings.TrimSpace(line), "- ")
		for {
			name, after, found := strings.Cut(rest, " `")
			value, tail, closed := strings.Cut(after, "`")
			if !found || !closed || strings.ContainsAny(strings.TrimSpace(name), " \t") {
				break
			}
			if tail == "" || strings.HasPrefix(tail, " ") {
				args[strings.TrimSuffix(strings.TrimSpace(name), ":")] = value
			}
			rest = tail
		}
	}
	return args
}

func shortSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// specPaths are the paths in an export. Calls name files under the session's directory
// relative to it, and results name all files in full, so the directory is known if a
// file is named in both ways.
type specPaths struct {
	short, full map[string]bool
	entered     map[string]int // directories that commands go to
	changes     map[string]int // file -> number of changes: they differ, although the export shows none of them
}

// maxSpecPaths limits the paths that are compared.
const maxSpecPaths = 2000

func (p *specPaths) note(name string) {
	short, below := strings.CutPrefix(name, "./")
	switch {
	case below && short != "" && len(p.short) < maxSpecPaths:
		p.short["/"+short] = true
	case isAbsolute(name) && len(p.full) < maxSpecPaths:
		p.full[strings.ReplaceAll(name, `\`, "/")] = true
	}
}

func newSpecPaths() specPaths {
	return specPaths{map[string]bool{}, map[string]bool{}, map[string]int{}, map[string]int{}}
}

// enter notes the directory that a command begins with.
func (p *specPaths) enter(command string) {
	rest, goes := strings.CutPrefix(command, "cd ")
	dir, _, _ := strings.Cut(strings.ReplaceAll(rest, "\n", " "), " ")
	if dir = strings.Trim(dir, `"';`); goes && isAbsolute(dir) {
		p.entered[dir]++
	}
}

// root returns the directory that most files indicate; if none does, the one to which
// most commands change, else the common directory of all files.
func (p *specPaths) root() string {
	if best := p.byFiles(); best != "" {
		return best
	}
	best := ""
	for dir, n := range p.entered {
		if most := p.entered[best]; n > most || n == most && dir < best {
			best = dir
		}
	}
	return cmp.Or(best, p.common())
}

// homeDepth is the least number of names of a path in a folder of a home directory,
// such as /home/kim/shop.
const homeDepth = 3

// common returns the common directory of all files that are named in full. Hidden
// folders do not count: agents keep their own notes there.
func (p *specPaths) common() string {
	var shared []string
	for full := range p.full {
		if strings.Contains(full, "/.") {
			continue
		}
		names := strings.Split(full, "/")
		names = names[:len(names)-1]
		if shared == nil {
			shared = names
		}
		n := 0
		for n < min(len(shared), len(names)) && shared[n] == names[n] {
			n++
		}
		shared = shared[:n]
	}
	if len(shared) <= homeDepth {
		return "" // a home directory or its parent is not a session's directory
	}
	return strings.Join(shared, "/")
}

func (p *specPaths) byFiles() string {
	votes := map[string]int{}
	best := ""
	for full := range p.full {
		for short := range p.short {
			dir, ok := strings.CutSuffix(full, short)
			if !ok || dir == "" {
				continue
			}
			votes[dir]++
			if n, most := votes[dir], votes[best]; n > most || n == most && dir < best {
				best = dir
			}
		}
	}
	return best
}

// calls returns the calls of an export.
func (p *specPaths) calls(c *specCall) ([]toolCall, error) {
	switch c.tool {
	case "exec":
		return c.script()
	case "apply_patch":
		return c.patch()
	case "Bash", "PowerShell":
		calls, err := c.command(c.tool)
		p.enter(c.ran)
		return calls, err
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		return p.change(c)
	case "Read":
		return p.read(c)
	case "WebFetch":
		return c.only("url")
	case "WebSearch":
		return c.only("query")
	}
	if aliases[c.tool].tool == "Bash" {
		return c.command(c.tool)
	}
	c.first()
	args := c.named()
	for _, name := range []string{"path", "file_path"} {
		p.note(word(args, name))
	}
	if text := c.text(); len(args) == 0 && text != "" {
		if args["description"] = text; c.tool == "Task" || c.tool == "Agent" {
			args["prompt"] = text // the prompt is omitted; this is its title
		}
	}
	return translate(c.tool, args), nil
}

func (c *specCall) command(tool string) ([]toolCall, error) {
	command := c.inline
	if command == "" {
		command = c.code()
	}
	if command == "" {
		command, _ = c.block("```bash", "```powershell", "```sh")
	} else if c.output == nil {
		c.first()
	}
	if command == "" {
		return nil, errNoInput
	}
	c.ran = command
	return translate(tool, map[string]any{"command": command}), nil
}

func (c *specCall) only(name string) ([]toolCall, error) {
	value := c.inline
	if value == "" {
		value = c.code()
	}
	if value == "" {
		return nil, errNoInput
	}
	return []toolCall{encoded(c.tool, map[string]any{name: value})}, nil
}

func (c *specCall) script() ([]toolCall, error) {
	code, whole := c.block("Input: ```")
	if !whole {
		return nil, errCutInput
	}
	return flat(scriptCalls(strings.TrimSpace(code))), nil
}

// patch rebuilds a patch from its parts in the export: file marks and differences.
func (c *specCall) patch() ([]toolCall, error) {
	text, inDiff := "", false
	for i, line := range c.lines {
		mark, name := specMark(line)
		switch {
		case inDiff && line == "```" && blockEnds(c.lines[i+1:]):
			inDiff = false
		case inDiff:
			text += line + "\n"
		case mark != "":
			text += mark + name + "\n"
		case text != "" && line == "```diff":
			inDiff = true
		case strings.HasPrefix(line, "```"):
			c.rest(i)
			return patchOf(text)
		}
	}
	return patchOf(text)
}

func patchOf(text string) ([]toolCall, error) {
	if text == "" {
		return nil, errNoInput
	}
	return translate("apply_patch", map[string]any{"input": patchBegin + "\n" + text + patchEnd}), nil
}

// specMark is a line that names a file and its operation.
func specMark(line string) (mark, name string) {
	for start, mark := range map[string]string{"**Add: `": patchAdd, "**Update: `": patchUpdate, "**Delete: `": patchDelete} {
		if name, ok := strings.CutPrefix(line, start); ok {
			return mark, strings.TrimSuffix(name, "`**")
		}
	}
	return "", ""
}

func (p *specPaths) read(c *specCall) ([]toolCall, error) {
	name := c.code()
	if name == "" {
		return nil, errNoInput
	}
	p.note(name)
	return []toolCall{encoded("Read", map[string]any{"file_path": name})}, nil
}

// change is a change of a file. Its name is only in the result, and the replaced text
// is missing.
func (p *specPaths) change(c *specCall) ([]toolCall, error) {
	c.last()
	name := changedFile(strings.Join(c.output, "\n"))
	if name == "" {
		return nil, errNoInput
	}
	p.note(name)
	args := map[string]any{"file_path": name}
	if c.tool == "Write" {
		args["content"] = written(c.lines)
	} else {
		p.changes[name]++
		args["old_string"] = fmt.Sprintf("(not in the export: change %d)", p.changes[name])
		args["new_string"] = ""
	}
	return []toolCall{encoded(c.tool, args)}, nil
}

// written is the content of a file: what is between the first mark and the
// last.
func written(lines []string) string {
	begin := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "```") })
	end := len(lines) - 1
	for end > begin && lines[end] != "```" {
		end--
	}
	if begin < 0 || end <= begin {
		return ""
	}
	return strings.Join(lines[begin+1:end], "\n")
}

// changedFile is the file that was changed according to a result.
func changedFile(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if _, name, ok := strings.Cut(first, "created successfully at: "); ok {
		name, _, _ = strings.Cut(name, " (")
		return name
	}
	rest, ok := strings.CutPrefix(first, "The file ")
	for _, end := range []string{" has been updated", " has been overwritten"} {
		if name, _, said := strings.Cut(rest, end); ok && said {
			return name
		}
	}
	return ""
}
