package classify

import "strings"

// secretOptions are secrets that a program takes behind a short option, which says
// nothing by itself.
var secretOptions = []struct {
	program string
	flags   []string
	glued   bool // the value follows the flag without a space
	user    bool // the value is user:password
	kind    string
}{
	{"curl", []string{"-u", "--user", "-U", "--proxy-user"}, false, true, "password"},
	{"sshpass", []string{"-p"}, false, false, "password"},
	{"sshpass", []string{"-p"}, true, false, "password"},
	{"mysql", []string{"-p"}, true, false, "password"},
	{"mysqldump", []string{"-p"}, true, false, "password"},
	{"mysqladmin", []string{"-p"}, true, false, "password"},
	{"mariadb", []string{"-p"}, true, false, "password"},
	{"redis-cli", []string{"-a", "--pass"}, false, false, "password"},
	{"mongosh", []string{"-p"}, false, false, "password"},
	{"mongo", []string{"-p"}, false, false, "password"},
	{"sqlcmd", []string{"-P"}, false, false, "password"},
	{"login", []string{"-p"}, false, false, "password"},
	{"htpasswd", []string{"-bB", "-nbB"}, false, false, "password"},
	{"ldapsearch", []string{"-w"}, false, false, "password"},
	{"openssl", []string{"pass:"}, true, false, "password"},
}

func appendOptions(found []span, s string) []span {
	for _, o := range secretOptions {
		for from := 0; ; {
			i := strings.Index(s[from:], o.program)
			if i < 0 {
				break
			}
			begin := from + i + len(o.program)
			from = begin
			if begin >= len(s) || !blank(s[begin]) || begin-len(o.program) > 0 && alnum(s[begin-len(o.program)-1]) {
				continue
			}
			end := run(s, begin, min(len(s), begin+judged), func(c byte) bool { return c != '\n' && c != ';' && c != '|' })
			for _, flag := range o.flags {
				if v, ok := optionValue(s, begin, end, flag, o.glued, o.user); ok {
					found = append(found, span{v.start, v.end, o.kind})
				}
			}
		}
	}
	return found
}

// optionValue finds the first value of a flag in s[begin:end].
func optionValue(s string, begin, end int, flag string, glued, user bool) (assignment, bool) {
	i := strings.Index(s[begin:end], " "+flag)
	if i < 0 {
		return assignment{}, false
	}
	at := begin + i + 1 + len(flag)
	if at >= end {
		return assignment{}, false
	}
	if !glued {
		if s[at] != ' ' && s[at] != '=' && s[at] != '"' && s[at] != '\'' && !(user && len(flag) == 2) {
			return assignment{}, false
		}
		at = run(s, at, end, func(c byte) bool { return c == ' ' || c == '=' })
	}
	a, ok := assignment{}.readValue(s[:end], at)
	if !ok {
		return a, false
	}
	if user {
		colon := strings.IndexByte(a.value, ':')
		if colon < 0 {
			return a, false
		}
		a.start += colon + 1
		a.value = a.value[colon+1:]
	}
	return a, len(a.value) >= 3 && !placeholder(a.value) && a.value[0] != '-' && a.value[0] != '/'
}
