package mask

import (
	"strings"
	"sync"
)

// secretOption is a secret that a program takes after an option or at a position.
type secretOption struct {
	program string
	flag    string
	form    optionForm
}

type optionForm int

const (
	spacedValue  optionForm = iota // -p x, -p=x
	gluedValue                     // -px
	loginValue                     // -u user:x, -uuser:x
	percentLogin                   // -U user%x
	oracleLogin                    // user/x@database
	commaLogin                     // -u user,x
	secureValue                    // --value x of a command that contains SecureString
	cookieValue                    // -b name=x
	literalValue                   // --from-literal=name=x
	second                         // -b user x
	third                          // -b file user x
	fourth                         // name url user x
)

var secretOptions = []secretOption{
	{"curl", "-u", loginValue}, {"curl", "--user", loginValue}, {"curl", "-U", loginValue}, {"curl", "--proxy-user", loginValue},
	{"http", "-a", loginValue}, {"https", "-a", loginValue}, {"xh", "-a", loginValue}, {"http", "--auth", loginValue},
	{"sshpass", "-p", spacedValue}, {"sshpass", "-p", gluedValue},
	{"mysql", "-p", gluedValue}, {"mysqldump", "-p", gluedValue}, {"mysqladmin", "-p", gluedValue}, {"mysqlimport", "-p", gluedValue}, {"mariadb", "-p", gluedValue}, {"mariadb-dump", "-p", gluedValue},
	{"mysqladmin", "password", spacedValue},
	{"redis-cli", "-a", spacedValue}, {"redis-cli", "--pass", spacedValue}, {"redis-cli", "AUTH", spacedValue}, {"redis-cli", "auth", spacedValue},
	{"mongosh", "-p", spacedValue}, {"mongo", "-p", spacedValue}, {"mongodump", "-p", spacedValue}, {"mongorestore", "-p", spacedValue},
	{"sqlcmd", "-P", spacedValue}, {"bcp", "-P", spacedValue}, {"clickhouse-client", "--password", spacedValue}, {"cqlsh", "-p", spacedValue}, {"influx", "-password", spacedValue},
	{"login", "-p", spacedValue}, {"az", "-p", spacedValue}, {"cf", "-p", spacedValue}, {"oc", "-p", spacedValue},
	{"htpasswd", "-nb", second}, {"htpasswd", "-nbB", second}, {"htpasswd", "-b", third}, {"htpasswd", "-bB", third}, {"htpasswd", "-cb", third}, {"htpasswd", "-cbB", third},
	{"net use", "/user:", second}, {"requirepass", "", spacedValue}, {"masterauth", "", spacedValue}, {"gh secret set", "--body", spacedValue}, {"gh secret set", "-b", spacedValue},
	{"ConvertTo-SecureString", "-String", spacedValue}, {"ConvertTo-SecureString", "", spacedValue},
	{"ldapsearch", "-w", spacedValue}, {"ldapadd", "-w", spacedValue}, {"ldapmodify", "-w", spacedValue}, {"ldapwhoami", "-w", spacedValue},
	{"openssl", "pass:", gluedValue}, {"openssl", "-k", spacedValue},
	{"zip", "-P", spacedValue}, {"unzip", "-P", spacedValue}, {"7z", "-p", gluedValue},
	{"smbclient", "-U", percentLogin}, {"rpcclient", "-U", percentLogin}, {"smbmap", "-p", spacedValue}, {"lftp", "-u", commaLogin},
	{"xfreerdp", "/p:", gluedValue}, {"ipmitool", "-P", spacedValue}, {"wpa_passphrase", "", spacedValue},
	{"ssh-keygen", "-N", spacedValue}, {"ssh-keygen", "-P", spacedValue}, {"twine", "-p", spacedValue}, {"nmcli", "password", spacedValue}, {"jenkins-cli", "-auth", loginValue}, {"jenkins-cli.jar", "-auth", loginValue},
	{"poetry config", "http-basic.", third}, {"net user", "", second}, {"cmdkey", "/pass:", gluedValue}, {"mc alias set", "", fourth}, {"mc config host add", "", fourth},
	{"put-parameter", "--value", secureValue}, {"keyvault secret set", "--value", spacedValue}, {"curl", "-b", cookieValue}, {"curl", "--cookie", cookieValue},
	{"net use", "", second}, {"net use", "", third}, {"bw unlock", "", spacedValue}, {"bw login", "", second}, {"rclone obscure", "", spacedValue},
	{"kubectl create secret", "--from-literal=", literalValue}, {"kubectl create secret", "--from-literal", literalValue},
	{"oc create secret", "--from-literal=", literalValue}, {"docker-credential-helper", "", spacedValue},
	{"cryptsetup", "--key-file=", gluedValue}, {"hdiutil", "-passphrase", spacedValue}, {"security unlock-keychain", "-p", spacedValue},
	{"security add-generic-password", "-w", spacedValue}, {"security set-keychain-password", "-p", spacedValue}, {"dotnet nuget", "-p", spacedValue},
	{"sqlplus", "", oracleLogin}, {"jdbc:oracle:thin:", "", oracleLogin},
}

var optionsByPair = sync.OnceValue(func() *byPair[secretOption] {
	var p byPair[secretOption]
	for _, o := range secretOptions {
		p.add(o.program, o)
	}
	return &p
})

func appendOptions(found []span, s string) []span {
	programs := optionsByPair()
	for i := 0; i+1 < len(s); i++ {
		for _, o := range programs.at(s, i) {
			begin := i + len(o.program)
			if !strings.HasPrefix(s[i:], o.program) || i > 0 && Alnum(s[i-1]) || begin >= len(s) || s[begin-1] != ':' && !Blank(s[begin]) {
				continue
			}
			if a, ok := o.value(s, begin, commandEnd(s, begin)); ok {
				found = append(found, span{a.start, a.end, o.kind()})
			}
		}
	}
	return found
}

func (o secretOption) kind() string {
	if o.form == cookieValue {
		return "cookie"
	}
	return "password"
}

// commandEnd returns the end of the command that continues at i: at the end of its
// line, unless a backslash continues it.
func commandEnd(s string, i int) int {
	for at := i; at < len(s) && at-i < judged; at++ {
		switch c := s[at]; {
		case c == '\n' && s[at-1] != '\\', c == ';', c == '|':
			return at
		}
	}
	return min(len(s), i+judged)
}

// value finds the first value of the option in s[begin:end].
func (o secretOption) value(s string, begin, end int) (assignment, bool) {
	at := o.place(s, begin, end)
	if o.form >= second {
		at = skipWords(s, at, end, int(o.form-second)+1)
	}
	if at < 0 || at >= end {
		return assignment{}, false
	}
	a, ok := assignment{}.readValue(s[:end], at)
	if !ok || Blank(a.value[0]) { // code that assembles the command
		return a, false
	}
	switch o.form {
	case loginValue:
		return a.login(s[:end])
	case secureValue:
		ok = strings.Contains(s[begin:end], "SecureString")
	case cookieValue:
		a, ok = a.after("=")
		ok = ok && len(a.value) >= 12 && HasDigit(a.value)
	case literalValue:
		a, ok = a.after("=")
	case commaLogin:
		if a.next != ',' {
			return a, false
		}
		a, ok = assignment{}.readValue(s[:end], a.end+1)
	case percentLogin:
		a, ok = a.after("%")
	case oracleLogin:
		a, ok = a.after("/")
		if i := strings.IndexByte(a.value, '@'); ok && i >= 0 {
			a.value, a.end = a.value[:i], a.start+i
		}
	}
	return a, ok && len(a.value) >= 3 && !placeholder(a.value) && strings.IndexByte(`-/\`, a.value[0]) < 0
}

// skipWords skips n words, the first of which may be partial.
func skipWords(s string, at, end, n int) int {
	for ; n > 0 && at >= 0; n-- {
		at = Run(s, at, end, func(c byte) bool { return !Blank(c) })
		at = Run(s, at, end, Blank)
	}
	return at
}

// cluster returns where the value of the last letter of a cluster begins: -su x.
func cluster(s string, begin, end int, letter byte) int {
	for i := begin; i+2 < end; i++ {
		if s[i] != '-' || !Blank(s[i-1]) {
			continue
		}
		j := Run(s, i+1, end, Alnum)
		if j > i+2 && j < end && s[j-1] == letter && Blank(s[j]) {
			return Run(s, j, end, Blank)
		}
		i = max(i, j-1)
	}
	return -1
}

// place returns the beginning of the value; -1: there is none.
func (o secretOption) place(s string, begin, end int) int {
	if o.flag == "" {
		return Run(s, begin, end, Blank)
	}
	for from := begin; ; {
		i := strings.Index(s[from:end], o.flag)
		if i < 0 && o.form == loginValue && len(o.flag) == 2 {
			return cluster(s, begin, end, o.flag[1])
		}
		if i < 0 {
			return -1
		}
		at := from + i + len(o.flag)
		from = at
		if before := s[at-len(o.flag)-1]; !Blank(before) || at >= end {
			continue
		}
		switch {
		case o.form >= second && o.flag[0] == '-': // other letters may follow it: -bc
			return skipWords(s, at, end, 1)
		case o.form == gluedValue || o.form >= second || o.form == literalValue && o.flag[len(o.flag)-1] == '=':
			return at
		}
		if Blank(s[at]) || s[at] == '=' || s[at] == '"' || s[at] == '\'' || o.form == loginValue && len(o.flag) == 2 {
			return Run(s, at, end, func(c byte) bool { return Blank(c) || c == '=' })
		}
	}
}

// after keeps what follows the first sign in a value.
func (a assignment) after(sign string) (assignment, bool) {
	_, secret, ok := strings.Cut(a.value, sign)
	a.start += len(a.value) - len(secret)
	a.value = secret
	return a, ok
}

// login keeps the password of user:password. Without a password, the user is the
// secret if it looks like a key.
func (a assignment) login(s string) (assignment, bool) {
	user, secret, ok := strings.Cut(a.value, ":")
	switch {
	case !ok && strings.HasPrefix(s[min(len(s), a.end+1):], ":"): // "user":"password"
		i := a.end + 2
		b, ok := assignment{}.readValue(s, i)
		if ok && strings.HasPrefix(b.value, ":") {
			b, ok = b.after(":")
		}
		return b, ok && a.quoted && likelyPassword(b.value)
	case !ok:
		return a, false
	case secret == "" && a.end < len(s) && (s[a.end] == '\'' || s[a.end] == '"') && !a.quoted: // user:'password'
		b, ok := assignment{}.readValue(s, a.end)
		return b, ok && likelyPassword(b.value)
	case secret == "":
		a.value, a.end = user, a.start+len(user)
		return a, len(user) >= 8 && HasDigit(user) && (mixed(user) || entropy(user) >= 3.5) && !placeholder(user)
	}
	a, ok = a.after(":")
	return a, ok && likelyPassword(a.value)
}

// likelyPassword reports whether the second half of a login may be a password: not a
// placeholder.
func likelyPassword(v string) bool {
	switch v {
	case "pass", "pwd", "test", "pw":
		return false
	}
	return len(v) >= 3 && !Blank(v[0]) && !placeholder(v) && !bracketed(v)
}

// bracketed reports whether a value is a word in brackets, as in manuals:
// [PASSWORD].
func bracketed(v string) bool { return v[0] == '[' && v[len(v)-1] == ']' }
