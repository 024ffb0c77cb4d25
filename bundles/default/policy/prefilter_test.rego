package reviewer.prefilter_test

import data.reviewer
import data.reviewer.given_test as given
import data.reviewer.prefilter

_read(patch) := given.action("file_read", [given.effect("file_read", object.union({"verb": "read"}, patch))])

test_a_read_in_the_workspace if {
	got := reviewer.decision with input as _read({}) with data.reviewer.catalog as given.catalog
	got == {
		"decision": "allow", "enforced": "allow", "reason": data.reviewer.messages.prefiltered,
		"grant": false, "source": "prefilter",
	}
}

# What never passes, whatever the settings say.
test_not_through[name] if {
	some name, doc in {
		"a write": given.action("file_modification", [given.effect("file_write", {})]),
		"nothing at all": given.call({}),
		"outside": _read({"location": "home"}),
		"a credential": _read({"class": "credential"}),
		"an env file": _read({"class": "env_file"}),
		"the guard": _read({"class": "guard"}),
		"a protected zone": _read({"short": "~/.ssh/config"}),
		"an unsure path": _read({"certainty": "prefix"}),
		"another type": given.action("mcp_call", [given.effect("file_read", {})]),
		"a signal": object.union(_read({}), {"action": {"signals": ["environment_dump"]}}),
		"a finding": object.union(_read({}), {"findings": ["ours"]}),
		"after the call": object.union(_read({}), {"phase": "post"}),
		"a stopped session": given.call(object.union(_read({}), {"session": {"stopped": true}})),
	}
	not prefilter.passes with input as doc with data.reviewer.catalog as given.catalog
}

test_a_rule_speaks if {
	not prefilter.passes with input as _read({})
		with data.reviewer.catalog as given.catalog
		with data.reviewer.firing.ids as {"says_warn"}
}

test_settings[name] if {
	some name, case in {
		"off": {"enabled": false, "types": ["file_read"], "locations": ["inside"]},
		"no types": {"enabled": true, "types": [], "locations": ["inside"]},
		"no places": {"enabled": true, "types": ["file_read"], "locations": []},
	}
	not prefilter.passes with input as _read({}) with data.reviewer.catalog as given.catalog with data.reviewer.prefilter as case
}

# Generated files and the configuration of a build are not secrets.
test_harmless_classes[class] if {
	some class in ["generated", "ci_config", "git_data", "test"]
	prefilter.passes with input as _read({"class": class}) with data.reviewer.catalog as given.catalog
}

# A stop applies although no rule reports it.
test_stopped_without_a_rule if {
	doc := given.call(object.union(_read({}), {"session": {"stopped": true}}))
	not prefilter.passes with input as doc with data.reviewer.catalog as {}
}

test_switched_off if {
	not prefilter.passes with input as _read({}) with data.reviewer.catalog as given.catalog with data.reviewer.enabled as false
}
