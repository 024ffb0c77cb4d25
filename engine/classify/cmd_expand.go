package classify

import (
	"strconv"
	"strings"
)

// percent replaces the variable here in the code; false: it is none.
func (s *cmdShell) percent(tainted *taint) bool {
	if s.dry {
		return false
	}
	rest := s.src[s.at+1:]
	if v, n, ok := s.loopVariable(rest); ok && !s.named(rest) {
		s.splice(1+n, v, tainted)
		return true
	}
	switch {
	case rest == "":
		return false
	case rest[0] == '%':
		if v, n, ok := s.loopVariable(rest[1:]); ok {
			s.splice(2+n, v, tainted)
		} else {
			s.splice(2, word("%"), tainted)
		}
		return true
	case rest[0] >= '0' && rest[0] <= '9' || rest[0] == '*':
		s.splice(2, unknownArg(), tainted)
		return true
	case rest[0] == '~':
		if end := run(rest, 1, len(rest), func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }); end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			s.splice(2+end, unknownArg(), tainted)
			return true
		}
	}
	return s.reference(rest, '%', tainted)
}

// exclaim replaces !NAME!, which some code has switched on.
func (s *cmdShell) exclaim(tainted *taint) bool {
	return !s.dry && s.delayed && s.reference(s.src[s.at+1:], '!', tainted)
}

func variableChar(c byte) bool {
	return alnum(c) || strings.IndexByte("_()#$.-", c) >= 0
}

// named says that a variable that is known ends behind these characters.
func (s *cmdShell) named(rest string) bool {
	end := run(rest, 0, len(rest), variableChar)
	_, ok := s.env[strings.ToLower(rest[:end])]
	return ok && end < len(rest) && (rest[end] == '%' || rest[end] == ':')
}

// reference replaces NAME, NAME:~1,2 or NAME:a=b before the mark that ends it.
func (s *cmdShell) reference(rest string, mark byte, tainted *taint) bool {
	end := run(rest, 0, len(rest), variableChar)
	if end == 0 || end >= len(rest) || rest[end] != mark && rest[end] != ':' {
		return false
	}
	name, modifier := rest[:end], ""
	if rest[end] == ':' {
		i := strings.IndexByte(rest[end:], mark)
		if i < 0 || strings.ContainsAny(rest[end:end+i], "\n") {
			return false
		}
		modifier, end = rest[end+1:end+i], end+i
	}
	v, _ := s.variable(name)
	if _, set := s.env[strings.ToLower(name)]; !set { // a slash would begin a switch
		v.text = strings.ReplaceAll(v.text, "/", `\`)
	}
	if modifier != "" {
		v = modified(v, modifier)
	}
	s.splice(1+end+1, v, tainted)
	return true
}

// modified applies :~from,length or :old=new.
func modified(v arg, modifier string) arg {
	if !v.known() {
		return v
	}
	v.taint |= decoded
	if from, ok := strings.CutPrefix(modifier, "~"); ok {
		first, length, cut := strings.Cut(from, ",")
		i, err := strconv.Atoi(strings.TrimSpace(first))
		n, err2 := strconv.Atoi(strings.TrimSpace(length))
		if err != nil || cut && err2 != nil {
			return unknownArg()
		}
		return v.with(substring(v.text, i, n, cut))
	}
	if old, with, ok := strings.Cut(modifier, "="); ok && old != "" {
		if rest, all := strings.CutPrefix(old, "*"); all {
			if i := strings.Index(strings.ToLower(v.text), strings.ToLower(rest)); i >= 0 {
				return v.with(with + v.text[i+len(rest):])
			}
			return v
		}
		return v.with(replaceFold(v.text, old, with))
	}
	return unknownArg()
}

// substring is NAME:~i,n, where what is negative counts from the end.
func substring(text string, i, n int, cut bool) string {
	if i < 0 {
		i = max(0, len(text)+i)
	}
	i = min(i, len(text))
	end := len(text)
	switch {
	case cut && n < 0:
		end = max(i, len(text)+n)
	case cut:
		end = min(len(text), i+n)
	}
	return text[i:end]
}

// replaceFold replaces without looking at case.
func replaceFold(text, old, with string) string {
	low, key := strings.ToLower(text), strings.ToLower(old)
	if len(low) != len(text) || len(key) != len(old) {
		return holeText
	}
	var b strings.Builder
	for {
		i := strings.Index(low, key)
		if i < 0 || b.Len() > maxText {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i] + with)
		text, low = text[i+len(old):], low[i+len(old):]
	}
}

// loopVariable is the variable of a for that begins here: i, ~nxi.
func (s *cmdShell) loopVariable(rest string) (v arg, n int, ok bool) {
	if len(s.loops) == 0 || rest == "" {
		return arg{}, 0, false
	}
	if rest[0] != '~' {
		v, ok = s.loops[rest[:1]]
		return v, 1, ok
	}
	end := run(rest, 1, min(len(rest), 12), func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '$' })
	for ; end > 1; end-- {
		if v, ok = s.loops[rest[end-1:end]]; ok {
			break
		}
	}
	if !ok {
		return arg{}, 0, false
	}
	v = v.with(strings.Trim(v.text, `"`))
	if modifiers := rest[1 : end-1]; strings.Trim(modifiers, "fFpPsS") != "" {
		v = arg{text: holeText, taint: v.taint}
	}
	return v, end, true
}

// splice puts text in the place of the next n bytes. Each costs a copy of what
// follows, which the budget knows.
func (s *cmdShell) splice(n int, v arg, tainted *taint) {
	if !s.spend(len(s.src) - s.at + len(v.text)) {
		s.at = len(s.src)
		return
	}
	*tainted |= v.taint
	s.src = s.src[:s.at] + v.text + s.src[s.at+n:]
	s.fresh = s.at + len(v.text)
}
