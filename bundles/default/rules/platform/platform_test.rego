package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

_asked(patch) := given.call({"action": {
	"types": ["network_request"],
	"signals": ["infrastructure_delete"],
	"effects": [given.request(object.union({"verb": "send", "target": "cloudctl", "egress": true, "command": -1}, patch))],
}})

_platform_rules := {"repository_public", "review_bypass", "payment", "message_sent", "cloud_public", "access_grant", "dns_change", "recovery_off", "audit_off"}

test_platform[name] if {
	some name, case in {
		"a repository is shown": {"effect": {"verb": "expose", "object": "repository"}, "fires": {"repository_public"}},
		"a repository is shown, by its other name": {"effect": {"verb": "expose", "object": "repo"}, "fires": {"repository_public"}},
		"a repository is made": {"effect": {"object": "repository"}, "fires": set()},
		"a bucket is shown": {"effect": {"verb": "expose", "object": "bucket"}, "fires": {"cloud_public"}},
		"nobody knows what is shown": {"effect": {"verb": "expose"}, "fires": {"cloud_public"}},
		"a bucket of this machine": {"effect": {"verb": "expose", "object": "bucket", "target": "http://localhost:4566", "loopback": true}, "fires": set()},
		"merged without a review": {"effect": {"verb": "grant", "object": "merge-without-review"}, "fires": {"review_bypass"}},
		"a branch's protection goes": {"effect": {"verb": "delete", "object": "protection"}, "fires": {"review_bypass"}},
		"a branch's protection is read": {"effect": {"verb": "fetch", "object": "protection"}, "fires": set()},
		"a server's protection": {"effect": {"verb": "disable", "object": "protection"}, "fires": set()},
		"an owner": {"effect": {"verb": "grant", "object": "owner"}, "fires": {"access_grant"}},
		"a reader": {"effect": {"verb": "grant", "object": "reader"}, "fires": set()},
		"nobody knows who": {"effect": {"verb": "grant"}, "fires": {"access_grant"}},
		"a name leads elsewhere": {"effect": {"object": "record"}, "fires": {"dns_change"}},
		"a name is asked for": {"effect": {"verb": "fetch", "object": "record"}, "fires": set()},
		"no more versions": {"effect": {"verb": "disable", "object": "versioning"}, "fires": {"recovery_off"}},
		"a word among others": {"effect": {"verb": "disable", "object": "deletion-protection"}, "fires": {"recovery_off"}},
		"a word that holds another": {"effect": {"verb": "disable", "object": "backupless"}, "fires": set()},
		"no more records": {"effect": {"verb": "disable", "object": "trail"}, "fires": {"audit_off"}},
		"records are sent": {"effect": {"object": "trail"}, "fires": set()},
		"paid": {"effect": {"object": "refund"}, "fires": {"payment"}},
		"paid, by who is asked": {"effect": {"target": "https://api.stripe.com/v1/x"}, "fires": {"payment"}},
		"paid, below who is asked": {"effect": {"target": "https://eu.api.stripe.com/v1/x"}, "fires": {"payment"}},
		"a host that only ends so": {"effect": {"target": "https://notapi.stripe.com/v1/x"}, "fires": set()},
		"a host in the path": {"effect": {"target": "https://example.com/api.stripe.com"}, "fires": set()},
		"as the user": {"effect": {"target": "https://api.stripe.com@example.com/"}, "fires": set()},
		"asked what was paid": {"effect": {"verb": "fetch", "target": "https://api.stripe.com/v1/x"}, "fires": set()},
		"paid at a stand-in": {"effect": {"object": "refund", "target": "http://localhost:12111", "loopback": true}, "fires": set()},
		"mail is read": {"effect": {"verb": "fetch", "object": "email"}, "fires": set()},
		"versions are kept": {"effect": {"object": "versioning"}, "fires": set()},
		"written to people": {"effect": {"object": "email"}, "fires": {"message_sent"}},
		"written to people, by who is asked": {"effect": {"target": "https://hooks.slack.com/services/x"}, "fires": {"message_sent"}},
	}
	ids := firing.ids with input as _asked(case.effect)
	case.fires == ids & _platform_rules
}

_each_of_them := {
	"shown": {"verb": "expose", "object": "repository"}, "opened": {"verb": "expose", "object": "bucket"},
	"given": {"verb": "grant", "object": "owner"}, "merged": {"verb": "grant", "object": "merge-without-review"}, "named": {"object": "record"},
	"off": {"verb": "disable", "object": "versioning"}, "unseen": {"verb": "disable", "object": "trail"}, "paid": {"object": "refund"}, "written": {"object": "email"},
}

# Together with an outgoing request.
_beside_others(effect, patch) := given.call({"action": object.union(doc.action, {"effects": array.concat([given.request({})], doc.action.effects)})}) if {
	doc := _asked(object.union(effect, patch))
}

test_platform_of_this_machine[name] if {
	some name, effect in _each_of_them
	ids := firing.ids with input as _beside_others(effect, {"target": "http://localhost:3000", "loopback": true})
	ids & _platform_rules == set()
}

# What a local program does reaches nobody.
test_platform_of_a_program[name] if {
	some name in {"given", "merged", "named", "off", "unseen", "paid", "written"}
	ids := firing.ids with input as _beside_others(_each_of_them[name], {"kind": "process"})
	ids & _platform_rules == set()
}

test_recovery_by_the_signal_of_an_end[name] if {
	some name in {"off", "unseen"}
	ids := firing.ids with input as object.union(_asked(_each_of_them[name]), {"action": {"signals": []}})
	ids & _platform_rules == set()
}

test_platform_that_has_changed[name] if {
	some name, effect in _each_of_them
	ids := firing.ids with input as object.union(_asked(effect), {"phase": "post"})
	ids & _platform_rules == set()
}
