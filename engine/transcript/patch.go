package transcript

import (
	"slices"
	"strings"
)

// A patch in the notation of apply_patch: marks of files, and, within an updated file,
// context, removed and added lines.
const (
	patchBegin  = "*** Begin Patch"
	patchEnd    = "*** End Patch"
	patchAdd    = "*** Add File: "
	patchUpdate = "*** Update File: "
	patchDelete = "*** Delete File: "
	patchMove   = "*** Move to: "
	patchEOF    = "*** End of File"
)

// patchCalls returns the changes of a patch, one call for each file. A patch that is
// not understood stays one call.
func patchCalls(args map[string]any) []toolCall {
	text := ""
	for _, name := range []string{"input", "patch", "command", "patch_text", "patchText"} {
		if text = word(args, name); text != "" {
			break
		}
	}
	files, ok := patched(text)
	if !ok {
		return []toolCall{encoded("apply_patch", args)}
	}
	var calls []toolCall
	for _, f := range files {
		calls = append(calls, f.calls()...)
	}
	return calls
}

// patchedFile is the change that a patch makes to a file.
type patchedFile struct {
	mark, name, to string
	added          []string
	hunks          []hunk
}

type hunk struct{ before, after []string }

// patched reads a patch; ok reports whether all of it was understood.
func patched(text string) (files []patchedFile, ok bool) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) < 3 || strings.TrimSpace(lines[0]) != patchBegin || strings.TrimSpace(lines[len(lines)-1]) != patchEnd {
		return nil, false
	}
	for _, line := range lines[1 : len(lines)-1] {
		line = strings.TrimSuffix(line, "\r")
		if mark, name := patchMark(line); mark != "" {
			files = append(files, patchedFile{mark: mark, name: name})
			continue
		}
		if len(files) == 0 || !files[len(files)-1].line(line) {
			return nil, false
		}
	}
	return files, len(files) > 0 && len(files) <= maxTouched/2 // a file that moves is two calls
}

func patchMark(line string) (mark, name string) {
	for _, mark := range []string{patchAdd, patchUpdate, patchDelete} {
		if name, is := strings.CutPrefix(line, mark); is && strings.TrimSpace(name) != "" {
			return mark, strings.TrimSpace(name)
		}
	}
	return "", ""
}

// line adds a line of the file.
func (f *patchedFile) line(line string) bool {
	to, moves := strings.CutPrefix(line, patchMove)
	switch {
	case f.mark == patchUpdate && moves:
		f.to = strings.TrimSpace(to)
	case f.mark == patchUpdate && strings.HasPrefix(line, "@@"):
		f.hunks = append(f.hunks, hunk{})
	case f.mark == patchUpdate && line == patchEOF:
	case f.mark == patchUpdate:
		if len(f.hunks) == 0 {
			f.hunks = append(f.hunks, hunk{})
		}
		return f.hunks[len(f.hunks)-1].line(line)
	case f.mark == patchAdd && strings.HasPrefix(line, "+"):
		f.added = append(f.added, line[1:])
	default:
		return line == ""
	}
	return true
}

func (h *hunk) line(line string) bool {
	if line == "" {
		line = " " // models omit the blank of an empty line
	}
	switch line[0] {
	case ' ':
		h.before, h.after = append(h.before, line[1:]), append(h.after, line[1:])
	case '-':
		h.before = append(h.before, line[1:])
	case '+':
		h.after = append(h.after, line[1:])
	default:
		return false
	}
	return true
}

func (f patchedFile) calls() []toolCall {
	switch f.mark {
	case patchAdd:
		return []toolCall{encoded("Write", map[string]any{"file_path": f.name, "content": strings.Join(append(f.added, ""), "\n")})}
	case patchDelete:
		return []toolCall{encoded("Bash", map[string]any{"command": "rm -- " + shellQuote(f.name)})}
	}
	calls := f.edits()
	if f.to != "" {
		calls = append(calls, encoded("Bash", map[string]any{"command": "mv -- " + shellQuote(f.name) + " " + shellQuote(f.to)}))
	}
	return calls
}

func (f patchedFile) edits() []toolCall {
	var edits []any
	for _, h := range f.hunks {
		if len(h.before)+len(h.after) > 0 {
			edits = append(edits, map[string]any{"old_string": strings.Join(h.before, "\n"), "new_string": strings.Join(h.after, "\n")})
		}
	}
	switch {
	case len(edits) == 1:
		args := edits[0].(map[string]any)
		args["file_path"] = f.name
		return []toolCall{encoded("Edit", args)}
	case len(edits) == 0 && f.to != "":
		return nil
	}
	return []toolCall{encoded("MultiEdit", map[string]any{"file_path": f.name, "edits": slices.Clip(edits)})}
}

// patchOfWords returns the patch in the arguments of apply_patch.
func patchOfWords(words []string) (string, bool) {
	switch {
	case len(words) == 2 && isApplyPatch(words[0]):
		return words[1], true
	case len(words) == 3 && isShell(words[0]) && strings.HasSuffix(words[1], "c"):
		return patchOfScript(words[2])
	}
	return "", false
}

// patchOfScript returns the patch of a script that only applies it.
func patchOfScript(script string) (string, bool) {
	head, body, more := strings.Cut(strings.TrimSpace(script), "\n")
	program, mark, here := strings.Cut(head, "<<")
	mark = strings.Trim(strings.TrimSpace(mark), `'"`)
	if !more || !here || mark == "" || !isApplyPatch(strings.TrimSpace(program)) {
		return "", false
	}
	body, last := strings.CutSuffix(body, "\n"+mark)
	if !last || strings.Contains("\n"+body+"\n", "\n"+mark+"\n") {
		return "", false
	}
	_, ok := patched(body)
	return body, ok
}

func isApplyPatch(program string) bool { return program == "apply_patch" || program == "applypatch" }
