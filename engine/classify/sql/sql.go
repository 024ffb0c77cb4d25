package sql

import (
	"cmp"
	"slices"
	"strings"
)

// Loss is something that a script of SQL destroys or opens on the server.
type Loss struct {
	Verb   string // drop, truncate, delete, update, alter, grant, restore, exec
	Object string // table, database, role …; rows: those that a condition names
	Name   string // of a database that is deleted as a whole, in lower case; Several for a list
}

// Several is the name if there is a list of names.
const Several = ","

// Code is code of another kind that a script runs, or a file that it uses.
type Code struct {
	What string // shell, read, write
	Text string
}

// Script is the effects of an SQL script apart from queries and insertions.
type Script struct {
	Losses []Loss
	Code   []Code
}

// Read interprets a script. If the dialect is unknown, both readings count.
func Read(text, dialect string) Script {
	var out Script
	for _, mysql := range []bool{false, true} {
		if dialect != "" && mysql != (dialect == "mysql") || dialect == "" && mysql && !strings.ContainsAny(text, "#\\\"!") {
			continue
		}
		r := &Reader{mysql: mysql, open: -1, Own: map[string]bool{}}
		r.script(text)
		out.Losses = append(out.Losses, r.losses...)
		out.Code = append(out.Code, r.Code...)
	}
	return out
}

// Reader interprets the statements of a script, one after the other.
type Reader struct {
	mysql  bool
	depth  int             // of code in strings
	open   int             // number of losses when the transaction began; -1: none is open
	Own    map[string]bool // tables that the script itself has made
	losses []Loss
	Code   []Code
}

// maxSQLDepth bounds code in strings in code.
const maxSQLDepth = 6

func (r *Reader) script(text string) {
	if r.depth++; r.depth <= maxSQLDepth {
		for _, st := range Statements(text, r.mysql) {
			r.statement(st)
			r.functions(st)
		}
	} else {
		r.lose("exec", "code")
	}
	r.depth--
}

func (r *Reader) lose(verb, object string) {
	r.losses = append(r.losses, Loss{Verb: verb, Object: object})
}

func (r *Reader) uses(what, text string) { r.Code = append(r.Code, Code{what, text}) }

// sqlVerbs begin the statements that change something, wherever they are in a
// procedure's body.
var sqlVerbs = []string{"DROP", "TRUNCATE", "DELETE", "UPDATE", "ALTER", "EXECUTE", "EXEC", "GRANT", "COPY", "MERGE"}

func (r *Reader) statement(st []sqlToken) {
	if len(st) == 0 {
		return
	}
	rest := st[1:]
	switch st[0].text {
	case "EXPLAIN", "DESCRIBE", "DESC":
		if i := findWord(st, "ANALYZE", "ANALYSE"); i > 0 && i < 4 {
			r.inner(st[i+1:])
		}
	case "BEGIN", "START":
		if len(rest) == 0 || rest[0].is("TRANSACTION", "TRAN", "WORK", "ISOLATION", "READ", "IMMEDIATE", "EXCLUSIVE", "DEFERRED") {
			r.open = len(r.losses)
		} else {
			r.inner(rest)
		}
	case "COMMIT", "END":
		r.open = -1
	case "ROLLBACK", "ABORT":
		r.rollBack(rest)
	case "WITH":
		r.common(rest)
	case "CREATE":
		r.create(rest)
	case "DO", "EXECUTE", "EXEC", "CALL", "PREPARE", "SET":
		r.dynamic(st)
	case "DECLARE", "IF", "ELSE", "ELSIF", "ELSEIF", "THEN", "WHILE", "LOOP", "FOR", "REPEAT":
		r.dynamic(st)
		r.inner(rest)
	default:
		r.change(st)
	}
}

// inner is a statement that follows other words.
func (r *Reader) inner(st []sqlToken) {
	if i := findWord(st, sqlVerbs...); i >= 0 {
		r.statement(st[i:])
	}
}

// rollBack undoes the changes since the transaction began. MySQL cannot undo
// a DROP or a TRUNCATE: they end the transaction.
func (r *Reader) rollBack(rest []sqlToken) {
	if r.open < 0 || findWord(rest, "TO") >= 0 {
		return
	}
	kept := r.losses[:r.open:r.open]
	for _, l := range r.losses[r.open:] {
		if r.mysql && (l.Verb == "drop" || l.Verb == "truncate" || l.Verb == "alter") || l.Verb == "exec" {
			kept = append(kept, l)
		}
	}
	r.losses, r.open = kept, -1
}

// common interprets WITH name AS (statement), … statement.
func (r *Reader) common(st []sqlToken) {
	depth := 0
	for i, t := range st {
		switch {
		case t.is("("):
			depth++
			if i+1 < len(st) && st[i+1].is(sqlVerbs...) {
				r.statement(st[i+1 : sqlClosing(st, i)])
			}
		case t.is(")"):
			depth--
		case depth == 0 && t.is(sqlVerbs...):
			r.statement(st[i:])
			return
		}
	}
}

// sqlClosing is the index of the parenthesis that closes the one at i.
func sqlClosing(st []sqlToken, i int) int {
	depth := 0
	for k := i; k < len(st); k++ {
		if st[k].is("(") {
			depth++
		} else if st[k].is(")") {
			if depth--; depth == 0 {
				return k
			}
		}
	}
	return len(st)
}

// create notes the tables that the script creates, and interprets bodies that will run
// later.
func (r *Reader) create(st []sqlToken) {
	replaces := findWord(st, "REPLACE") == 1
	if i := findWord(st, "FUNCTION", "PROCEDURE", "TRIGGER", "EVENT", "RULE", "AGGREGATE"); i >= 0 && i < 4 {
		r.routine(st[i:])
		return
	}
	if findWord(st, "ROLE", "USER", "LOGIN") >= 0 && findWord(st, "SUPERUSER") >= 0 {
		r.lose("grant", "role")
		return
	}
	i := findWord(st, "TABLE", "DATABASE", "SCHEMA")
	if i < 0 || i > 3 {
		return
	}
	name := tableName(st[i+1:])
	switch {
	case replaces && findWord(st[:i], "TEMP", "TEMPORARY") < 0:
		r.lose("drop", strings.ToLower(st[i].text))
	case findWord(st[:i], "TEMP", "TEMPORARY") >= 0 || !st[min(i+1, len(st)-1)].is("IF"):
		r.Own[name] = true
	}
}

// routine interprets the body of a function, a trigger or an event. Languages without
// a sandbox can run any code.
func (r *Reader) routine(st []sqlToken) {
	if i := findWord(st, "LANGUAGE"); i >= 0 && i+1 < len(st) &&
		slices.Contains([]string{"C", "PLPYTHONU", "PLPYTHON3U", "PLPERLU", "PLSH", "PLTCLU", "INTERNAL"}, strings.ToUpper(st[i+1].text)) ||
		findWord(st, "SONAME") >= 0 {
		r.lose("exec", "code")
		return
	}
	for _, t := range st {
		if t.kind == sqlText {
			r.script(t.text)
		}
	}
	if i := findWord(st, "BEGIN", "DO", "INSTEAD", "AS"); i >= 0 {
		r.inner(st[i+1:])
	}
}

// dynamic interprets code in strings: DO $$…$$, EXECUTE '…', PREPARE s FROM '…', and
// SET @s = '…', which a PREPARE uses.
func (r *Reader) dynamic(st []sqlToken) {
	if i := findWord(st, "XP_CMDSHELL"); i >= 0 {
		r.shell(st[i:])
		return
	}
	if i := findWord(st, "AS"); st[0].is("PREPARE") && i >= 0 {
		r.inner(st[i+1:])
	}
	for _, t := range st {
		if t.kind == sqlText || t.kind == sqlName {
			r.script(t.text)
		}
	}
}

// shell interprets a command for the server's shell, in the first string.
func (r *Reader) shell(st []sqlToken) {
	r.lose("exec", "code")
	for _, t := range st {
		if t.kind == sqlText {
			r.uses("shell", t.text)
			return
		}
	}
}

// change interprets a statement that names its object.
func (r *Reader) change(st []sqlToken) {
	switch st[0].text {
	case "DROP", "REMOVE":
		r.drop(st[1:])
	case "TRUNCATE":
		if name := tableName(cutWords(st[1:], "TABLE", "ONLY", "IF", "EXISTS", "DATABASE")); len(st) > 1 && !st[1].is("(") && !r.mine(name) {
			r.lose("truncate", "table")
		}
	case "DELETE", "UPDATE":
		r.rows(st)
	case "MERGE":
		if i := findWord(st, "DELETE"); i > 0 {
			r.lose("delete", "rows")
		}
	case "ALTER":
		r.alter(st[1:])
	case "GRANT":
		if findWord(st, "ALL", "SUPER", "SUPERUSER") > 0 || findWord(st, "OPTION") > 0 || grantsAll(st) {
			r.lose("grant", "role")
		}
	case "COPY":
		r.Copies(st)
	case "LOAD":
		if i := findWord(st, "INFILE"); i > 0 {
			r.file("read", st[i:])
		} else if len(st) == 2 {
			r.lose("exec", "code")
		}
	case "INSERT":
		if findWord(st, "OVERWRITE") == 1 {
			r.lose("truncate", "table")
		}
	case "PURGE", "RESET":
		if findWord(st, "LOGS", "MASTER", "BINARY", "RECYCLEBIN") > 0 {
			r.lose("delete", "log")
		}
	case "RESTORE":
		r.lose("restore", "database")
	case "FLUSHALL", "FLUSHDB":
		r.lose("truncate", "database")
	case "SHUTDOWN":
		r.lose("stop", "server")
	}
}

// sqlObjects are the kinds of objects that hold data or permissions. Others (views,
// indexes, triggers) can be recreated by a script.
var sqlObjects = []string{"table", "database", "schema", "keyspace", "user", "role", "login", "tablespace", "owned",
	"sequence", "collection", "column", "stream", "bucket", "measurement", "series", "publication", "server", "partition",
	"stage", "share", "catalog", "dictionary", "namespace"}

func (r *Reader) drop(st []sqlToken) {
	st = cutWords(st, "IF", "EXISTS", "FOREIGN", "EXTERNAL", "TRANSIENT", "UNLOGGED")
	if len(st) == 0 || st[0].is("TEMPORARY") {
		return
	}
	object := strings.ToLower(st[0].text)
	if st[0].kind != sqlWord || !slices.Contains(sqlObjects, object) {
		return
	}
	if object == "owned" {
		object = "schema"
	}
	name := tableName(st[1:])
	if r.mine(name) {
		return
	}
	r.lose("drop", object)
	if object == "database" && len(r.losses) > 0 {
		name = strings.ToLower(name)
		if quoted := cutWords(st[1:], "IF", "EXISTS"); len(quoted) > 0 && quoted[0].kind == sqlName && quoted[0].text != name {
			name = quoted[0].text // another one than in lower case
		}
		r.losses[len(r.losses)-1].Name = cmp.Or(name, Several)
	}
}

// Made returns the name of the database that a script makes, where it does nothing else, and fails if there
// already is one of that name. Empty: it does not.
func Made(text, dialect string) string {
	list := Statements(text, dialect == "mysql")
	if len(list) != 1 || len(list[0]) < 3 {
		return ""
	}
	st := list[0]
	if name := st[2]; st[0].is("CREATE") && st[1].is("DATABASE") && (name.kind == sqlName || name.kind == sqlWord && !name.is("IF")) &&
		(len(st) == 3 || st[3].kind == sqlWord) && strings.Contains(text, strings.ToLower(name.text)) {
		return strings.ToLower(name.text)
	}
	return ""
}

// mine reports whether the script created a table, or the table is temporary.
func (r *Reader) mine(name string) bool {
	return r.Own[name] || strings.HasPrefix(name, "#") || strings.HasPrefix(name, "PG_TEMP.") || strings.HasPrefix(name, "TEMP.") ||
		strings.HasPrefix(name, "TEMPDB.")
}

// tableName is the name that begins st, in capitals; for a list of names it is the
// script's own only if all are.
func tableName(st []sqlToken) string {
	st = cutWords(st, "IF", "NOT", "EXISTS", "ONLY", "FROM", "TABLE")
	var b strings.Builder
	for i, t := range st {
		if i%2 == 0 && t.kind != sqlPunct {
			b.WriteString(strings.ToUpper(t.text))
		} else if i%2 == 1 && t.is(".") {
			b.WriteByte('.')
		} else {
			if t.is(",") {
				return ""
			}
			break
		}
	}
	return b.String()
}

func cutWords(st []sqlToken, words ...string) []sqlToken {
	for len(st) > 0 && st[0].is(words...) {
		st = st[1:]
	}
	return st
}

// rows interprets DELETE and UPDATE: of all rows, or of those that match a condition.
func (r *Reader) rows(st []sqlToken) {
	verb := strings.ToLower(st[0].text)
	if len(st) < 2 || verb == "update" && findWord(st, "SET") < 0 || r.mine(tableName(st[1:])) {
		return
	}
	if boundedRows(st) {
		r.lose(verb, "rows")
		return
	}
	r.lose(verb, "table")
}

// grantsAll reports whether a grant opens data to everybody, or hands on a role that sees everything or acts
// for the server.
func grantsAll(st []sqlToken) bool {
	to := findWord(st, "TO")
	if to < 0 {
		return false
	}
	if on := findWord(st, "ON"); on > 0 {
		data := findWord(st[:on], "SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE") > 0
		return data && slices.ContainsFunc(st[to+1:], func(t sqlToken) bool { return t.is("PUBLIC") })
	}
	return slices.ContainsFunc(st[1:to], func(t sqlToken) bool {
		name := strings.ToUpper(t.text)
		return t.kind != sqlText && (slices.Contains(sqlRulers, name) || strings.HasSuffix(name, "SUPERUSER"))
	})
}

// sqlRulers are roles that read or write everything, or files and programs of the server.
var sqlRulers = []string{"POSTGRES", "PG_READ_ALL_DATA", "PG_WRITE_ALL_DATA", "PG_READ_SERVER_FILES", "PG_WRITE_SERVER_FILES",
	"PG_EXECUTE_SERVER_PROGRAM", "DBA", "SYSADMIN", "ACCOUNTADMIN", "SECURITYADMIN"}

// alterRights interprets an ALTER that changes who sees which rows, or who rules the server.
func (r *Reader) alterRights(st []sqlToken) bool {
	at := findWord(st, "ROW")
	switch {
	case st[0].is("TABLE") && at > 1 && at+2 < len(st) && st[at+1].is("LEVEL") && st[at+2].is("SECURITY"):
		if st[at-1].is("DISABLE") || at > 2 && st[at-1].is("FORCE") && st[at-2].is("NO") {
			r.lose("grant", "policy")
		}
	case st[0].is("SECURITY") && len(st) > 1 && st[1].is("POLICY"): // SQL Server
		if findWord(st, "OFF") > 0 {
			r.lose("grant", "policy")
		}
	case st[0].is("SERVER") && len(st) > 1 && st[1].is("ROLE"):
		if findWord(st, "ADD") > 0 {
			r.lose("grant", "role")
		}
	case st[0].is("SYSTEM"): // settings whose value the server runs or loads
		if i := findWord(st, "ARCHIVE_COMMAND", "RESTORE_COMMAND", "ARCHIVE_CLEANUP_COMMAND", "RECOVERY_END_COMMAND",
			"SSL_PASSPHRASE_COMMAND", "SHARED_PRELOAD_LIBRARIES", "SESSION_PRELOAD_LIBRARIES"); i > 0 {
			r.shell(st[i:])
		}
	default:
		return false
	}
	return true
}

func (r *Reader) alter(st []sqlToken) {
	if len(st) == 0 || r.alterRights(st) {
		return
	}
	switch {
	case st[0].is("DATABASE") && findWord(st, "RENAME") > 0:
		r.lose("rename", "database")
	case st[0].is("USER", "ROLE", "LOGIN"):
		r.lose("grant", "role")
	case st[0].is("TABLE") && findWord(st, "DELETE") > 0: // ClickHouse
		r.rows(st[findWord(st, "DELETE"):])
	case st[0].is("TABLE") && findWord(st, "TRUNCATE") > 0:
		r.lose("truncate", "partition")
	case st[0].is("TABLE") && findWord(st, "DROP") > 0:
		r.alterDrop(st[findWord(st, "DROP")+1:])
	}
}

// alterDrop returns what ALTER TABLE drops: dropping a column or a partition loses
// data; dropping a constraint, a default or an index does not.
func (r *Reader) alterDrop(st []sqlToken) {
	if len(st) == 0 || st[0].is("CONSTRAINT", "DEFAULT", "NOT", "PRIMARY", "FOREIGN", "INDEX", "KEY", "CHECK", "IDENTITY", "EXPRESSION",
		"TRIGGER", "PROJECTION") {
		return
	}
	object := "column"
	if st[0].is("PARTITION", "PART", "DETACHED") {
		object = "partition"
	}
	r.lose("alter", object)
}

// Copies interprets COPY: to and from files of the server, or a program there.
func (r *Reader) Copies(st []sqlToken) {
	if i := findWord(st, "PROGRAM"); i > 0 {
		r.shell(st[i:])
	} else if i := findWord(st, "TO"); i > 0 {
		r.file("write", st[i:i+min(2, len(st)-i)])
	} else if i := findWord(st, "FROM"); i > 0 {
		r.file("read", st[i:i+min(2, len(st)-i)])
	}
}

// file is the path in the first string.
func (r *Reader) file(what string, st []sqlToken) {
	for _, t := range st {
		if t.kind == sqlText {
			r.uses(what, t.text)
			return
		}
	}
}

// sqlFunctions run code or use files, in any statement.
var sqlFunctions = map[string]string{
	"LOAD_FILE": "read", "PG_READ_FILE": "read", "PG_READ_BINARY_FILE": "read", "LO_IMPORT": "read", "READFILE": "read",
	"LO_EXPORT": "write", "WRITEFILE": "write", "PG_FILE_WRITE": "write",
	"SYS_EXEC": "shell", "SYS_EVAL": "shell", "XP_CMDSHELL": "shell", "LOAD_EXTENSION": "shell", "DBMS_SCHEDULER": "shell",
	"OUTFILE": "write", "DUMPFILE": "write", "PG_TERMINATE_BACKEND": "stop",
}

func (r *Reader) functions(st []sqlToken) {
	for i, t := range st {
		if t.kind != sqlWord || i+1 == len(st) || st[0].is("EXEC", "EXECUTE") {
			continue
		}
		switch what := sqlFunctions[t.text]; {
		case what == "shell":
			r.shell(st[i:])
		case what == "stop":
			r.lose("stop", "session") // other connections lose uncommitted changes
		case what != "":
			r.file(what, st[i:])
		}
	}
}

// findWord is the index of the first of the words, -1 if there is none.
func findWord(st []sqlToken, words ...string) int {
	return slices.IndexFunc(st, func(t sqlToken) bool { return t.kind == sqlWord && t.is(words...) })
}
