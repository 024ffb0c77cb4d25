package classify

import (
	"strings"
)

// extractScript finds the calls of Perl, Ruby, PHP, Lua, R and AppleScript
// that delete, write or run something.
func extractScript(c *call, lang string, code arg) {
	l := syntaxRuby
	switch lang {
	case "perl":
		l = syntaxPerl
	case "php":
		l = syntaxPHP
	case "lua":
		l = lexis{comments: []string{"--"}, quotes: `'"`}
	case "Rscript", "rscript":
		l = lexis{comments: []string{"#"}, quotes: "'\""}
	case "osascript":
		l = lexis{comments: []string{"--"}, quotes: `"`}
	}
	r := &codeReader{c: c, tokens: tokenize(code.text, l), vars: map[string]codeValue{}, call: scriptCall, attr: pythonAttr}
	for i := 0; i < len(r.tokens) && c.s.spend(1); i++ {
		t := r.tokens[i]
		switch {
		case t.kind == tokenString && t.raw && lang != "osascript":
			c.s.embed(word(t.text), lang, false)
		case t.kind == tokenName && t.text == "qx" && r.at(i+1).kind == tokenPunct:
			c.s.embed(r.qx(i+1), lang, false)
		case t.kind == tokenName && t.text == "script" && r.at(i-1).text == "shell" && r.at(i+1).kind == tokenString:
			c.s.embed(word(r.at(i+1).text), lang, false)
		case t.kind == tokenName:
			r.scriptName(i, lang)
		}
	}
}

// qx is the text of perl's qx{…}, put together from its tokens.
func (r *codeReader) qx(i int) arg {
	var b strings.Builder
	for i++; i < len(r.tokens) && !r.punct(i, "}") && !r.punct(i, ")") && !r.punct(i, "/"); i++ {
		if r.at(i).kind == tokenName && r.at(i-1).kind == tokenName {
			b.WriteByte(' ')
		}
		b.WriteString(r.at(i).text)
	}
	return word(b.String())
}

// scriptName looks at a name that may be a call, with or without parentheses.
func (r *codeReader) scriptName(i int, lang string) {
	name := r.at(i).text
	if !scriptVerb(name) {
		return
	}
	var args []codeValue
	named := map[string]codeValue{}
	if r.punct(i+1, "(") {
		args, named, _ = r.arguments(i+2, ")")
	} else {
		args = r.bareArguments(i + 1)
	}
	owner := ""
	if r.punct(i-1, ".") || r.punct(i-1, "::") {
		owner = r.at(i - 2).text
	}
	r.scriptEffect(owner, name, lang, args, named)
}

func scriptVerb(name string) bool {
	switch name {
	case "unlink", "rmdir", "rmtree", "remove_tree", "delete", "remove", "rm", "rm_r", "rm_rf", "rm_f", "remove_dir", "remove_entry", "rmtree!", "file_put_contents", "write", "rename", "mv",
		"system", "exec", "shell_exec", "passthru", "popen", "proc_open", "spawn", "execute", "eval", "open", "copy", "open3", "capture2", "chmod", "readpipe":
		return true
	}
	return false
}

// bareArguments are arguments without parentheses: system "rm", "x";
func (r *codeReader) bareArguments(i int) []codeValue {
	var out []codeValue
	for i < len(r.tokens) && startsValue(r.at(i)) {
		v, n := r.expression(i)
		out = append(out, v)
		if !r.punct(n, ",") {
			break
		}
		i = n + 1
	}
	return out
}

func scriptCall(r *codeReader, fn codeValue, args []codeValue, named map[string]codeValue) codeValue {
	if strings.HasSuffix(fn.name, "b64decode") || strings.HasSuffix(fn.name, "base64_decode") || strings.HasSuffix(fn.name, "decode_base64") || strings.HasSuffix(fn.name, "decode64") {
		return textValue(decodeLiteral("base64", argAt(args, 0).texts()[0]))
	}
	return unknownValue()
}

func (r *codeReader) scriptEffect(owner, name, lang string, args []codeValue, named map[string]codeValue) {
	c := r.c
	if len(args) == 0 {
		return
	}
	first := flatTexts(args)
	switch name {
	case "unlink", "rmdir", "delete", "remove", "rm", "rm_f":
		if (name == "delete" || name == "remove" || name == "rm") && owner != "File" && owner != "FileUtils" && owner != "Dir" && owner != "os" && owner != "Pathname" {
			return
		}
		c.deletes(false, false, first...)
	case "rmtree", "remove_tree", "rm_r", "rm_rf", "remove_dir", "remove_entry":
		c.deletes(true, true, first...)
	case "file_put_contents":
		c.writes("write", first[0])
	case "write":
		if owner == "File" || owner == "IO" {
			c.writes("write", first[0])
		}
	case "rename", "mv":
		if len(first) > 1 && (name == "rename" || owner == "FileUtils") {
			c.moves(first[:1], first[1:2])
		}
	case "chmod":
		if len(first) > 1 {
			c.writes("chmod", first[1:]...)
		}
	case "open":
		r.scriptOpen(owner, first)
	case "eval":
		if lang == "perl" || lang == "ruby" || lang == "php" {
			r.runs(args[0], lang)
		}
	case "copy":
	default:
		if owner != "" && owner != "Kernel" && owner != "os" && owner != "IO" && owner != "io" && owner != "Open3" && owner != "Process" {
			return
		}
		if len(args) > 1 && lang != "php" {
			c.starts([]codeValue{{isList: true, list: args}}, false, false)
			return
		}
		c.starts(args[:1], true, false)
	}
}

func flatTexts(args []codeValue) []arg {
	var out []arg
	for _, v := range args {
		if v.isList {
			out = append(out, flatTexts(v.list)...)
		} else {
			out = append(out, v.texts()...)
		}
	}
	if len(out) == 0 {
		return []arg{unknownArg()}
	}
	return out
}

// scriptOpen is perl's open(F, ">x") and open(F, "|-", …), ruby's File.open.
func (r *codeReader) scriptOpen(owner string, args []arg) {
	c := r.c
	if owner == "File" || owner == "IO" {
		mode := unknownValue()
		if len(args) > 1 {
			mode = textValue(args[1])
		}
		c.opens(args[:1], mode)
		return
	}
	for i, a := range args[min(1, len(args)):] {
		t := strings.TrimSpace(a.text)
		next := arg{}
		if i+2 < len(args) {
			next = args[i+2]
		}
		switch {
		case t == ">" || t == ">>" || t == "+<":
			c.writes("write", next)
		case strings.HasPrefix(t, ">"):
			c.writes("write", a.with(strings.TrimSpace(strings.TrimLeft(t, ">"))))
		case t == "|-" || t == "-|":
			c.s.embed(next, "perl", false)
		case strings.HasPrefix(t, "|") || strings.HasSuffix(t, "|"):
			c.s.embed(a.with(strings.Trim(t, "|")), "perl", false)
		default:
			continue
		}
		return
	}
}
