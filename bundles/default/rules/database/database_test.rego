package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

_sql(patch) := given.call({"action": {"types": ["system_command"], "effects": [object.union(
	{"kind": "system_call", "verb": "drop", "object": "table", "target": "postgres:///shop", "certainty": "exact", "command": -1, "reversibility": "R5"},
	patch,
)]}})

_database_rules := {"database_destructive", "database_forced", "database_change", "database_code", "database_rows", "database_unseen"}

_database_cases := {
	"no host": {"effect": {}, "fires": {"database_destructive"}},
	"another host": {"effect": {"target": "postgres://db.example.dev/shop_test"}, "fires": {"database_destructive"}},
	"this machine": {"effect": {"target": "postgres://localhost/shop", "loopback": true}, "fires": {"database_change"}},
	"this machine, seen from another": {
		"effect": {"target": "postgres://localhost/shop_test", "loopback": true, "host": "ssh:web1"},
		"fires": {"database_destructive"},
	},
	"this machine, in a container": {
		"effect": {"target": "postgres://localhost/shop_test", "loopback": true, "host": "container:db"},
		"fires": set(),
	},
	"a file": {"effect": {"target": "sqlite:shop.db"}, "fires": {"database_change"}},
	"a file for tests": {"effect": {"target": "sqlite:/tmp/shop.db"}, "fires": set()},
	"for tests": {"effect": {"target": "postgres:///shop_test"}, "fires": set()},
	"for tests, not known whole": {"effect": {"target": "postgres:///test", "certainty": "prefix"}, "fires": {"database_destructive"}},
	"for tests, by the host's name only": {"effect": {"target": "postgres://test/shop"}, "fires": {"database_destructive"}},
	"production next to tests": {"effect": {"target": "postgres:///prod_test"}, "fires": {"database_destructive"}},
	"production on this machine": {"effect": {"target": "postgres://localhost/prod", "loopback": true}, "fires": {"database_destructive"}},
	"rebuilt": {"effect": {"verb": "reset", "target": "config:///"}, "fires": {"database_change"}},
	"code, for tests": {"effect": {"verb": "exec", "object": "code", "target": "postgres:///test"}, "fires": {"database_code"}},
	"nobody knows which": {"effect": {"target": "sql:///"}, "fires": {"database_destructive"}},
	"rows of one that nobody knows": {"effect": {"verb": "delete", "target": "sql:///"}, "fires": {"database_change"}},
	"rebuilt by force": {"effect": {"verb": "reset", "target": "config:///", "forced": true}, "fires": {"database_forced"}},
	"rebuilt by force, for tests": {"effect": {"verb": "reset", "target": "config:///test", "forced": true}, "fires": set()},
	"rebuilt by force, here": {"effect": {"verb": "reset", "target": "config://localhost/shop", "loopback": true, "forced": true}, "fires": {"database_change"}},
	"a volume": {"effect": {"verb": "wipe", "object": "volume", "target": "data"}, "fires": set()},
	"rows": {"effect": {"kind": "process", "verb": "delete", "object": "rows"}, "fires": {"database_rows"}},
	"rows for tests": {"effect": {"kind": "process", "verb": "delete", "object": "rows", "target": "postgres:///test"}, "fires": set()},
	"a script that nobody has seen": {"effect": {"kind": "process", "verb": "load", "object": "script"}, "fires": {"database_unseen"}},
	"a script that nobody has seen, for tests": {
		"effect": {"kind": "process", "verb": "load", "object": "script", "target": "postgres:///test"},
		"fires": set(),
	},
	"a script of another kind": {"effect": {"verb": "load", "object": "script", "target": "x"}, "fires": {"database_change"}},
	"no database": {"effect": {"kind": "network", "target": "https://example.com/tables/1"}, "fires": set()},
	"rows by a call to the system": {"effect": {"verb": "delete", "object": "rows"}, "fires": {"database_destructive"}},
	"a table of a program's own": {"effect": {"kind": "process"}, "fires": set()},
	"by force, and no schema": {"effect": {"target": "config:///", "forced": true}, "fires": {"database_destructive"}},
	"a file of another machine": {"effect": {"target": "sqlite:shop.db", "host": "ssh:web1"}, "fires": {"database_destructive"}},
	"opened, for tests": {"effect": {"verb": "grant", "target": "postgres:///shop_test"}, "fires": {"database_change"}},
	"stopped, for tests": {"effect": {"verb": "stop", "target": "postgres:///shop_test"}, "fires": {"database_change"}},
}

test_database[name] if {
	some name, case in _database_cases
	ids := firing.ids with input as _sql(case.effect)
	case.fires == ids & _database_rules
}

test_database_that_has_happened if {
	ids := firing.ids with input as object.union(_sql({}), {"phase": "post"})
	ids & _database_rules == set()
}

test_database_whatever_has_happened[name] if {
	some name, case in _database_cases
	ids := firing.ids with input as object.union(_sql(case.effect), {"phase": "post"})
	ids & _database_rules == set()
}

# The type means that a database changes as a whole; rows do not count.
test_database_by_the_type_of_the_action[name] if {
	some name, case in _database_cases
	ids := firing.ids with input as object.union(_sql(case.effect), {"action": {"types": ["file_read"]}})
	case.fires & {"database_rows", "database_unseen"} == ids & _database_rules
}
