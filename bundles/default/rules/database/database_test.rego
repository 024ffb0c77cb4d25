package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

_sql(patch) := given.call({"action": {"types": ["system_command"], "effects": [object.union(
	{"kind": "system_call", "verb": "drop", "object": "table", "target": "postgres:///shop", "certainty": "exact", "command": -1, "reversibility": "R5"},
	patch,
)]}})

_database_rules := {"database_destructive", "database_forced", "database_change", "database_code", "database_rows", "database_unseen"}

_database_cases := {
	"no host": {"effect": {}, "speaks": {"database_destructive"}},
	"another host": {"effect": {"target": "postgres://db.example.dev/shop_test"}, "speaks": {"database_destructive"}},
	"this machine": {"effect": {"target": "postgres://localhost/shop", "loopback": true}, "speaks": {"database_change"}},
	"this machine, seen from another": {
		"effect": {"target": "postgres://localhost/shop_test", "loopback": true, "host": "ssh:web1"},
		"speaks": {"database_destructive"},
	},
	"this machine, in a container": {
		"effect": {"target": "postgres://localhost/shop_test", "loopback": true, "host": "container:db"},
		"speaks": set(),
	},
	"a file": {"effect": {"target": "sqlite:shop.db"}, "speaks": {"database_change"}},
	"a file for tests": {"effect": {"target": "sqlite:/tmp/shop.db"}, "speaks": set()},
	"for tests": {"effect": {"target": "postgres:///shop_test"}, "speaks": set()},
	"for tests, not known whole": {"effect": {"target": "postgres:///test", "certainty": "prefix"}, "speaks": {"database_destructive"}},
	"for tests, by the host's name only": {"effect": {"target": "postgres://test/shop"}, "speaks": {"database_destructive"}},
	"production next to tests": {"effect": {"target": "postgres:///prod_test"}, "speaks": {"database_destructive"}},
	"production on this machine": {"effect": {"target": "postgres://localhost/prod", "loopback": true}, "speaks": {"database_destructive"}},
	"rebuilt": {"effect": {"verb": "reset", "target": "config:///"}, "speaks": {"database_change"}},
	"code, for tests": {"effect": {"verb": "exec", "object": "code", "target": "postgres:///test"}, "speaks": {"database_code"}},
	"nobody knows which": {"effect": {"target": "sql:///"}, "speaks": {"database_destructive"}},
	"rows of one that nobody knows": {"effect": {"verb": "delete", "target": "sql:///"}, "speaks": {"database_change"}},
	"rebuilt by force": {"effect": {"verb": "reset", "target": "config:///", "forced": true}, "speaks": {"database_forced"}},
	"rebuilt by force, for tests": {"effect": {"verb": "reset", "target": "config:///test", "forced": true}, "speaks": set()},
	"rebuilt by force, here": {"effect": {"verb": "reset", "target": "config://localhost/shop", "loopback": true, "forced": true}, "speaks": {"database_change"}},
	"a volume": {"effect": {"verb": "wipe", "object": "volume", "target": "data"}, "speaks": set()},
	"rows": {"effect": {"kind": "process", "verb": "delete", "object": "rows"}, "speaks": {"database_rows"}},
	"rows for tests": {"effect": {"kind": "process", "verb": "delete", "object": "rows", "target": "postgres:///test"}, "speaks": set()},
	"a script that nobody has seen": {"effect": {"kind": "process", "verb": "load", "object": "script"}, "speaks": {"database_unseen"}},
	"a script that nobody has seen, for tests": {
		"effect": {"kind": "process", "verb": "load", "object": "script", "target": "postgres:///test"},
		"speaks": set(),
	},
	"a script of another kind": {"effect": {"verb": "load", "object": "script", "target": "x"}, "speaks": {"database_change"}},
	"no database": {"effect": {"kind": "network", "target": "https://example.com/tables/1"}, "speaks": set()},
	"rows by a call to the system": {"effect": {"verb": "delete", "object": "rows"}, "speaks": {"database_destructive"}},
	"a table of a program's own": {"effect": {"kind": "process"}, "speaks": set()},
	"by force, and no schema": {"effect": {"target": "config:///", "forced": true}, "speaks": {"database_destructive"}},
	"a file of another machine": {"effect": {"target": "sqlite:shop.db", "host": "ssh:web1"}, "speaks": {"database_destructive"}},
	"opened, for tests": {"effect": {"verb": "grant", "target": "postgres:///shop_test"}, "speaks": {"database_change"}},
	"stopped, for tests": {"effect": {"verb": "stop", "target": "postgres:///shop_test"}, "speaks": {"database_change"}},
}

test_database[name] if {
	some name, case in _database_cases
	said := spoken.speaks with input as _sql(case.effect)
	case.speaks == said & _database_rules
}

test_database_that_has_happened if {
	said := spoken.speaks with input as object.union(_sql({}), {"phase": "post"})
	said & _database_rules == set()
}

test_database_whatever_has_happened[name] if {
	some name, case in _database_cases
	said := spoken.speaks with input as object.union(_sql(case.effect), {"phase": "post"})
	said & _database_rules == set()
}

# The type means that a database changes as a whole; rows do not count.
test_database_by_the_type_of_the_action[name] if {
	some name, case in _database_cases
	said := spoken.speaks with input as object.union(_sql(case.effect), {"action": {"types": ["file_read"]}})
	case.speaks & {"database_rows", "database_unseen"} == said & _database_rules
}
