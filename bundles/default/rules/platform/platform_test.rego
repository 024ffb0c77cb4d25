package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

_asked(patch) := given.call({"action": {
	"types": ["network_request"],
	"signals": ["infrastructure_delete"],
	"effects": [given.request(object.union({"verb": "send", "target": "cloudctl", "egress": true, "command": -1}, patch))],
}})

_platform_rules := {"repository_public", "review_bypass", "payment", "message_sent", "cloud_public", "access_grant", "dns_change", "recovery_off", "audit_off"}

test_platform[name] if {
	some name, case in {
		"a repository is shown": {"effect": {"verb": "expose", "object": "repository"}, "speaks": {"repository_public"}},
		"a repository is shown, by its other name": {"effect": {"verb": "expose", "object": "repo"}, "speaks": {"repository_public"}},
		"a repository is made": {"effect": {"object": "repository"}, "speaks": set()},
		"a bucket is shown": {"effect": {"verb": "expose", "object": "bucket"}, "speaks": {"cloud_public"}},
		"nobody knows what is shown": {"effect": {"verb": "expose"}, "speaks": {"cloud_public"}},
		"a bucket of this machine": {"effect": {"verb": "expose", "object": "bucket", "target": "http://localhost:4566", "loopback": true}, "speaks": set()},
		"merged without a review": {"effect": {"verb": "grant", "object": "merge-without-review"}, "speaks": {"review_bypass"}},
		"a branch's protection goes": {"effect": {"verb": "delete", "object": "protection"}, "speaks": {"review_bypass"}},
		"a branch's protection is read": {"effect": {"verb": "fetch", "object": "protection"}, "speaks": set()},
		"a server's protection": {"effect": {"verb": "disable", "object": "protection"}, "speaks": set()},
		"an owner": {"effect": {"verb": "grant", "object": "owner"}, "speaks": {"access_grant"}},
		"a reader": {"effect": {"verb": "grant", "object": "reader"}, "speaks": set()},
		"nobody knows who": {"effect": {"verb": "grant"}, "speaks": {"access_grant"}},
		"a name leads elsewhere": {"effect": {"object": "record"}, "speaks": {"dns_change"}},
		"a name is asked for": {"effect": {"verb": "fetch", "object": "record"}, "speaks": set()},
		"no more versions": {"effect": {"verb": "disable", "object": "versioning"}, "speaks": {"recovery_off"}},
		"a word among others": {"effect": {"verb": "disable", "object": "deletion-protection"}, "speaks": {"recovery_off"}},
		"a word that holds another": {"effect": {"verb": "disable", "object": "backupless"}, "speaks": set()},
		"no more records": {"effect": {"verb": "disable", "object": "trail"}, "speaks": {"audit_off"}},
		"records are sent": {"effect": {"object": "trail"}, "speaks": set()},
		"paid": {"effect": {"object": "refund"}, "speaks": {"payment"}},
		"paid, by who is asked": {"effect": {"target": "https://api.stripe.com/v1/x"}, "speaks": {"payment"}},
		"paid, below who is asked": {"effect": {"target": "https://eu.api.stripe.com/v1/x"}, "speaks": {"payment"}},
		"a host that only ends so": {"effect": {"target": "https://notapi.stripe.com/v1/x"}, "speaks": set()},
		"a host in the path": {"effect": {"target": "https://example.com/api.stripe.com"}, "speaks": set()},
		"as the user": {"effect": {"target": "https://api.stripe.com@example.com/"}, "speaks": set()},
		"asked what was paid": {"effect": {"verb": "fetch", "target": "https://api.stripe.com/v1/x"}, "speaks": set()},
		"paid at a stand-in": {"effect": {"object": "refund", "target": "http://localhost:12111", "loopback": true}, "speaks": set()},
		"mail is read": {"effect": {"verb": "fetch", "object": "email"}, "speaks": set()},
		"versions are kept": {"effect": {"object": "versioning"}, "speaks": set()},
		"written to people": {"effect": {"object": "email"}, "speaks": {"message_sent"}},
		"written to people, by who is asked": {"effect": {"target": "https://hooks.slack.com/services/x"}, "speaks": {"message_sent"}},
	}
	said := spoken.speaks with input as _asked(case.effect)
	case.speaks == said & _platform_rules
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
	said := spoken.speaks with input as _beside_others(effect, {"target": "http://localhost:3000", "loopback": true})
	said & _platform_rules == set()
}

# What a local program does reaches nobody.
test_platform_of_a_program[name] if {
	some name in {"given", "merged", "named", "off", "unseen", "paid", "written"}
	said := spoken.speaks with input as _beside_others(_each_of_them[name], {"kind": "process"})
	said & _platform_rules == set()
}

test_recovery_by_the_signal_of_an_end[name] if {
	some name in {"off", "unseen"}
	said := spoken.speaks with input as object.union(_asked(_each_of_them[name]), {"action": {"signals": []}})
	said & _platform_rules == set()
}

test_platform_that_has_changed[name] if {
	some name, effect in _each_of_them
	said := spoken.speaks with input as object.union(_asked(effect), {"phase": "post"})
	said & _platform_rules == set()
}
