package mask

import (
	"strings"
	"sync"
)

// loginCall is a call of a library that takes a user and a password, in this order.
type loginCall struct {
	name  string
	place int // of the password among the arguments, from 0
}

var loginCalls = []loginCall{
	{"auth=(", 1}, {"BasicAuth(", 1}, {"basicAuth(", 1}, {"basic_auth(", 1}, {"NetworkCredential(", 1}, {"PasswordCredentials(", 1}, {"PasswordAuthentication(", 1}, {"Credentials.basic(", 1},
	{"DriverManager.getConnection(", 2}, {"new PDO(", 2}, {"new mysqli(", 2}, {"mysqli_connect(", 2}, {"mysql_connect(", 2}, {"MySQLdb.connect(", 2}, {"pymysql.connect(", 2},
	{`"pass": `, 0}, {"'pass': ", 0}, {" pass: ", 0}, {"{pass: ", 0},
}

var loginsByPair = sync.OnceValue(func() *byPair[loginCall] {
	var p byPair[loginCall]
	for _, c := range loginCalls {
		p.add(c.name, c)
	}
	return &p
})

// appendLogins finds passwords that are recognisable only by their position.
func appendLogins(found []span, s string) []span {
	calls := loginsByPair()
	for i := 0; i+1 < len(s); i++ {
		for _, c := range calls.at(s, i) {
			if !strings.HasPrefix(s[i:], c.name) {
				continue
			}
			if a, ok := c.password(s, i+len(c.name)); ok {
				found = append(found, span{a.start, a.end, "password"})
			}
			break
		}
	}
	return found
}

// password reads the literal at the call's place; the arguments begin at i.
func (c loginCall) password(s string, i int) (assignment, bool) {
	for range c.place {
		next := strings.IndexAny(s[i:min(len(s), i+judged/2)], ",\n)")
		if next < 0 || s[i+next] != ',' {
			return assignment{}, false
		}
		i += next + 1
	}
	a, ok := assignment{}.readValue(s, Run(s, i, min(len(s), i+maxName), spacing))
	return a, ok && a.quoted && len(a.value) >= 5 && !Blank(a.value[0]) && !placeholder(a.value) && !strings.ContainsAny(a.value, " \t")
}
