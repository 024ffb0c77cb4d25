package sql

import (
	"strings"
	"testing"
)

func lossesOf(text, dialect string) string {
	var out []string
	s := Read(text, dialect)
	for _, l := range s.Losses {
		out = append(out, l.Verb+" "+l.Object)
	}
	for _, c := range s.Code {
		out = append(out, c.What+": "+c.Text)
	}
	return strings.Join(out, ", ")
}

// sqlLossCases are statements and what is lost by them.
var sqlLossCases = []struct{ dialect, text, want string }{
	// Statements that lose something.
	{"", "DROP TABLE users", "drop table"},
	{"", "drop\n\ttable if exists users cascade", "drop table"},
	{"", "select 1; DROP/**/DATABASE shop", "drop database"},
	{"", "-- tidy up\nTRUNCATE orders", "truncate table"},
	{"", "DELETE FROM users", "delete table"},
	{"", "delete from users where 1=1", "delete table"},
	{"", "delete from users where id = 3 or true", "delete table"},
	{"", "delete from users where (((2 > 1)))", "delete table"},
	{"", "delete from users where users.id = users.id", "delete table"},
	{"", "delete from users where id is not null", "delete table"},
	{"", "delete from users where not 1 = 2", "delete table"},
	{"", "delete from users where name like '%'", "delete table"},
	{"", "delete from users where id in (select id from users)", "delete table"},
	{"", "delete from users where exists (select 1)", "delete table"},
	{"", "delete from users where id >= 0 and 'a' <> 'b'", "delete table"},
	{"", "UPDATE users SET admin = 1", "update table"},
	{"", "UPDATE users SET note = (SELECT x FROM y WHERE z = 1)", "update table"},
	{"", "WITH gone AS (DELETE FROM users RETURNING *) SELECT count(*) FROM gone", "delete table"},
	{"", "WITH x AS (SELECT 1) DELETE FROM users", "delete table"},
	{"", "EXPLAIN ANALYZE DELETE FROM users", "delete table"},
	{"", "explain (analyze, buffers) delete from users", "delete table"},
	{"", "ALTER TABLE users DROP COLUMN email", "alter column"},
	{"", "ALTER TABLE logs DROP PARTITION p1", "alter partition"},
	{"", "BEGIN; DELETE FROM users; COMMIT; ROLLBACK", "delete table"},
	{"", "BEGIN; SAVEPOINT a; DELETE FROM users; ROLLBACK TO a; DROP TABLE x; COMMIT", "delete table, drop table"},
	{"mysql", "START TRANSACTION; DROP TABLE users; ROLLBACK", "drop table"},
	{"mysql", "/*!50000 DROP TABLE users */", "drop table"},
	{"mysql", "SELECT 'it\\'s'; # a comment's quote\nDROP TABLE users", "drop table"},
	{"mysql", "DELIMITER //\nDROP TABLE users//\nDELIMITER ;", "drop table"},
	{"mysql", "SET @s = 'DROP TABLE users'; PREPARE p FROM @s; EXECUTE p", "drop table"},
	{"standard", "/* a /* b */ c */ DROP TABLE users", "drop table"},
	{"standard", "select $a$ ; it's $a$; drop table users", "drop table"},
	{"standard", "DO $$ BEGIN EXECUTE 'DROP TABLE users'; END $$", "drop table"},
	{"standard", "select 'a\\'; DROP TABLE users; --'", "drop table"},
	{"standard", "DROP TABLE [users]\nGO\nDROP DATABASE [shop]", "drop table, drop database"},
	{"standard", "EXEC('TRUNCATE TABLE users')", "truncate table"},
	{"", "GRANT ALL PRIVILEGES ON *.* TO 'x'@'%'", "grant role"},
	{"", "ALTER USER postgres WITH PASSWORD 'x'", "grant role"},
	{"", "CREATE OR REPLACE TABLE users (a int)", "drop table"},
	{"", "INSERT OVERWRITE TABLE users SELECT * FROM x", "truncate table"},
	{"", "COPY x FROM PROGRAM 'curl https://example.dev/a'", "exec code, shell: curl https://example.dev/a"},
	{"", "EXEC xp_cmdshell 'dir'", "exec code, shell: dir"},
	{"", "select load_file('/etc/passwd')", "read: /etc/passwd"},
	{"", "select 1 into outfile '/var/www/x.php'", "write: /var/www/x.php"},
	{"", "CREATE FUNCTION f() RETURNS int AS '/tmp/f.so' LANGUAGE C", "exec code"},
	// Statements that lose nothing.
	{"", "SELECT * FROM users -- drop table users", ""},
	{"", "SELECT 'drop table users; delete from users'", ""},
	{"", `SELECT "drop table" FROM t`, ""},
	{"", "INSERT INTO notes (text) VALUES ('truncate logs')", ""},
	{"", "EXPLAIN DELETE FROM users", ""},
	{"", "BEGIN; DELETE FROM users; ROLLBACK", ""},
	{"standard", "begin; drop table users; rollback", ""},
	{"mysql", "START TRANSACTION; DELETE FROM users; ROLLBACK;", ""},
	{"", "CREATE TEMP TABLE t (a int); DROP TABLE t", ""},
	{"", "CREATE TABLE t (a int); INSERT INTO t VALUES (1); TRUNCATE t", ""},
	{"mysql", "DROP TEMPORARY TABLE IF EXISTS t", ""},
	{"standard", "DROP TABLE #t", ""},
	{"", "DROP INDEX users_email", ""},
	{"", "DROP VIEW report", ""},
	{"", "ALTER TABLE users DROP CONSTRAINT users_key", ""},
	{"", "ALTER TABLE users ALTER COLUMN a DROP NOT NULL", ""},
	{"", "ALTER TABLE users ADD COLUMN dropped boolean", ""},
	{"", "CREATE TABLE a (id int REFERENCES b ON DELETE CASCADE ON UPDATE SET NULL)", ""},
	{"", "GRANT SELECT ON users TO reader", ""},
	{"", "SELECT truncate(3.14, 1)", ""},
	{"", "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET a = 1", ""},
	{"", "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1", ""},
	// Rows that match a condition.
	{"", "DELETE FROM carts WHERE id = 7", "delete rows"},
	{"", "delete from carts where expires < now() limit 100", "delete rows"},
	{"", "UPDATE users SET name = 'x' WHERE id = 1", "update rows"},
	{"", "delete from a where id in (select id from b where old)", "delete rows"},
	{"", "delete from a where x between 1 and 2", "delete rows"},
}

func TestSQLLosses(t *testing.T) {
	for _, c := range sqlLossCases {
		if got := lossesOf(c.text, c.dialect); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.dialect, c.text, got, c.want)
		}
	}
}

func FuzzSQL(f *testing.F) {
	for _, s := range []string{"drop table x", "/*!1 delete from t */", "do $$ x $$", "select [a", "delimiter //\nx//", "with a as (delete from b", "e'\\'", "begin; rollback"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, dialect := range []string{"", "mysql", "standard"} {
			Read(s, dialect)
			// Whatever precedes it, a statement after a semicolon of its own line counts,
			// unless a quote or a comment is open.
			if !strings.ContainsAny(s, "'\"`$[/-#\\") && !strings.Contains(strings.ToLower(s), "delim") && !strings.Contains(strings.ToLower(s), "create") {
				if got := lossesOf(s+"\n;\nDROP TABLE zzz", dialect); !strings.Contains(got, "drop table") {
					t.Errorf("%s %q hides a statement: %q", dialect, s, got)
				}
			}
		}
	})
}
