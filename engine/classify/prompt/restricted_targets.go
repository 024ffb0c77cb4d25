package prompt

import (
	"slices"
	"strings"
)

// meantTargets returns what the parts before a negation name, else the sentence before; commands only where what follows says that
// they are run.
func (r *restrictionReader) meantTargets(no, to int) []target {
	found := r.targets(0, no)
	if len(found) == 0 {
		found = slices.Clone(r.named)
	}
	if !has(r.t[no:to], "restrict.runs", "restrict.performs") {
		found = slices.DeleteFunc(found, func(t target) bool { return t.command != "" })
	}
	return found
}

// targets returns the commands and paths among tokens.
func (r *restrictionReader) targets(from, to int) []target {
	var list []target
	program := ""
	for i := from; i < to; i++ {
		w := r.t[i]
		if i > from && strings.HasPrefix(w.text, "-") && w.kind != known && r.t[i-1].among(r.with) && len(list) > 0 {
			for k := range list { // dbt run with --target prod
				if list[k].command != "" {
					list[k].command += " " + w.text
				}
			}
			continue
		}
		if r.fine(i) {
			continue
		}
		if w.kind != quoted && w.kind != name {
			if commands, n := r.spoken(i, to); n > 0 {
				for _, c := range commands {
					list = append(list, target{command: c})
				}
				i += n - 1
			}
			continue
		}
		command := r.commandOf(i, program)
		before := program != "" && list[len(list)-1].command == program
		after := i+2 < to && r.t[i+1].in("conjunctions") && r.commandOf(i+2, program) != ""
		if command == "" && (before || after) {
			command = r.sibling(i)
		}
		switch {
		case command != "":
			list = append(list, target{command: command})
			program, _, _ = strings.Cut(command, " ")
		case w.kind == name && r.pathOf(w.text) && !(token{entry: r.entries[strings.ToLower(w.text)]}).in("targets"):
			path := w.text
			if suffix := strings.TrimPrefix(path, "."); suffix != path && r.suffixes(i) &&
				!strings.ContainsAny(suffix, "/*") && (r.exists == nil || !r.exists(path)) {
				path = "*" + path // .meta files
			}
			list = append(list, target{path: path})
		}
	}
	return list
}

// sibling returns a program that a list names after another one: pip or tlmgr; empty: the token is none.
func (r *restrictionReader) sibling(i int) string {
	text := r.t[i].text
	if !r.t[i].code || strings.ContainsFunc(text, func(c rune) bool { return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') }) ||
		r.exists != nil && r.exists(text) {
		return ""
	}
	return text
}

// suffixes reports whether a word for files follows a name, also in a list of names: .po and .mo files.
func (r *restrictionReader) suffixes(i int) bool {
	for i++; i < len(r.t) && (r.t[i].kind == name || r.t[i].text == "/" || r.t[i].in("joiners", "conjunctions")); i++ {
	}
	return i < len(r.t) && r.t[i].in("restrict.files")
}

// fine reports whether what follows a name says that it may be used: /tmp is fine.
func (r *restrictionReader) fine(i int) bool {
	end := min(r.end(i), i+4)
	ok := index(r.t[i+1:end], "restrict.fine")
	return ok > 0 && has(r.t[i+1:i+1+ok], "restrict.is") && !has(r.t[i+1:end], "not", "never", "only")
}

// spoken returns the commands that tokens name without a code span, and how many tokens that are: force-push, the AWS CLI; 0: none.
func (r *restrictionReader) spoken(from, to int) (commands []string, n int) {
	if next := from + 1; next < to && r.t[next].in("restrict.invocations") && r.t[from].kind == bare {
		if _, known, _ := r.vocabulary.set.Program(strings.ToLower(r.t[from].text)); known {
			return []string{strings.ToLower(r.t[from].text)}, 2
		}
	}
	if from > 0 && r.t[from-1].in("restrict.runs") && r.t[from].kind == bare {
		if _, known, _ := r.vocabulary.set.Program(strings.ToLower(r.t[from].text)); known {
			return []string{strings.ToLower(r.t[from].text)}, 1
		}
	}
	for _, said := range r.vocabulary.set.Words("restrict.commands") {
		words, means, _ := strings.Cut(said, "=")
		text := ""
		for i := from; i < to && len(text) < len(words); i++ {
			if text = strings.TrimPrefix(text+" "+strings.ToLower(r.t[i].text), " "); text == words && i-from >= n {
				commands, n = strings.Split(means, "+"), i-from+1
			}
		}
	}
	return commands, n
}

// commandOf returns the command that a token is, without what stands in for an argument; empty: none. program is that of the command
// before, which options and subcommands after it belong to.
func (r *restrictionReader) commandOf(i int, program string) string {
	if !r.t[i].code {
		return ""
	}
	fields := strings.Fields(r.t[i].text)
	for at, f := range fields {
		if strings.ContainsAny(f, "<>{}[]…|;&$") || f == "..." {
			fields = fields[:at]
			break
		}
	}
	if len(fields) == 0 || len(r.t[i].text) > MaxGoalName {
		return ""
	}
	first := fields[0]
	word := !strings.ContainsFunc(first, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.ContainsRune("-./_", c))
	})
	near := func(at int, lists ...string) bool { return at >= 0 && at < len(r.t) && r.t[at].in(lists...) }
	_, knows, _ := r.vocabulary.set.Program(first)
	switch {
	case program != "" && len(fields) == 1 && (strings.HasPrefix(first, "-") || strings.Contains(first, ":") && !strings.Contains(first, "/")):
		return program + " " + first
	case len(fields) == 1 && len(first) > 1 && strings.HasPrefix(first, "-") && letterOrDigit(rune(first[len(first)-1])):
		return first
	case !word || strings.HasPrefix(first, "-"):
		return ""
	case len(fields) > 1 && slices.Contains(r.vocabulary.set.Words("instructions.keywords"), first):
		return ""
	case len(fields) > 1:
		return strings.Join(fields, " ")
	case slices.Contains(r.vocabulary.set.Words("instructions.programs"), first):
		return first
	case knows && (r.marked || near(i-1, "restrict.performs", "restrict.runs", "not", "never") || near(i+1, "restrict.invocations")):
		return first
	}
	return ""
}

// pathOf reports whether a name can be that of a file or a folder.
func (r *restrictionReader) pathOf(s string) bool {
	if strings.ContainsAny(s, "()") {
		return false
	}
	return strings.ContainsAny(s, "/*") && !strings.Contains(s, "://") || strings.HasPrefix(s, ".") || strings.LastIndexByte(s, '.') > 0 ||
		r.exists != nil && r.exists(s)
}
