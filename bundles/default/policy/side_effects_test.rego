package reviewer.scores_test

import data.reviewer.given_test as given
import data.reviewer.scores

test_severity[name] if {
	some name, case in {
		"read": {"effect": given.effect("file_read", {}), "severity": "none"},
		"write": {"effect": given.effect("file_write", {}), "severity": "medium"},
		"delete": {"effect": given.effect("file_delete", {}), "severity": "high"},
		"system": {"effect": {"kind": "system_call", "certainty": "exact"}, "severity": "high"},
		"process": {"effect": {"kind": "process", "certainty": "exact"}, "severity": "medium"},
		"resource": {"effect": {"kind": "resource", "certainty": "exact"}, "severity": "low"},
		"network": {"effect": given.request({}), "severity": "medium"},
		"loopback": {"effect": given.request({"loopback": true}), "severity": "low"},
		"a device that swallows": {"effect": given.effect("file_write", {"location": "null"}), "severity": "none"},
		"written outside": {"effect": given.effect("file_write", {"location": "outside"}), "severity": "medium"},
		"lost inside": {"effect": given.effect("file_write", {"reversibility": "R4"}), "severity": "medium"},
		"lost in a temporary directory": {"effect": given.effect("file_write", {"location": "temp", "reversibility": "R4"}), "severity": "medium"},
		"lost outside": {"effect": given.effect("file_write", {"location": "outside", "reversibility": "R4"}), "severity": "high"},
		"lost outside forever": {"effect": given.effect("file_write", {"location": "home", "reversibility": "R5"}), "severity": "high"},
		"can be got back outside": {"effect": given.effect("file_write", {"location": "outside", "reversibility": "R2"}), "severity": "medium"},
		"deleted outside": {"effect": given.effect("file_delete", {"location": "outside", "reversibility": "R4"}), "severity": "critical"},
		"a disk": {"effect": given.effect("file_write", {"location": "device", "short": "/dev/sda", "target": "/dev/sda"}), "severity": "high"},
		"a board at a serial port": {"effect": given.effect("file_write", {"location": "device", "short": "/dev/ttyUSB0", "target": "/dev/ttyUSB0"}), "severity": "medium"},
		"a file of the system": {"effect": given.effect("file_write", {"location": "system"}), "severity": "high"},
		"a program of the system": {"effect": {"kind": "process", "location": "system", "certainty": "exact"}, "severity": "medium"},
		"deleted on another machine": {"effect": given.request({"verb": "delete"}), "severity": "high"},
		"sent forever": {"effect": given.request({"egress": true, "reversibility": "R5"}), "severity": "medium"},
	}
	case.severity == scores.side_effects.severity with input as given.action("unknown", [case.effect])
}

test_no_scope_no_step_up if {
	doc := given.call({
		"action": {"effects": [given.effect("file_delete", {"location": "outside", "reversibility": "R4"})]},
		"session": {"workspace": ""},
	})
	scores.side_effects.severity == "high" with input as doc
}

test_zones[name] if {
	some name, case in {
		"written below": {"effect": given.effect("file_write", {"short": "~/.ssh/config"}), "severity": "critical"},
		"deleted below": {"effect": given.effect("file_delete", {"short": "~/.aws/credentials"}), "severity": "critical"},
		"the zone itself": {"effect": given.effect("file_delete", {"short": "~/.ssh"}), "severity": "critical"},
		"all in the zone": {"effect": given.effect("file_delete", {"short": "~/.ssh/*", "certainty": "glob"}), "severity": "critical"},
		"what holds the zone": {"effect": given.effect("file_delete", {"short": "~/.config", "recursive": true}), "severity": "critical"},
		"everything": {"effect": given.effect("file_delete", {"short": "/", "recursive": true}), "severity": "critical"},
		"a program that is there": {"effect": {"kind": "process", "short": "/boot/check", "location": "system", "reversibility": "R4", "certainty": "exact"}, "severity": "medium"},
		"a name that begins so": {"effect": given.effect("file_delete", {"short": "~/.conf", "recursive": true}), "severity": "high"},
		"next to it": {"effect": given.effect("file_delete", {"short": "~/.config"}), "severity": "high"},
		"another's name": {"effect": given.effect("file_write", {"short": "~/.sshd/config"}), "severity": "medium"},
		"in the workspace": {"effect": given.effect("file_write", {"short": "./.ssh/config"}), "severity": "medium"},
		"a file that is one": {"effect": given.effect("file_write", {"short": "/etc/passwd"}), "severity": "critical"},
		"read": {"effect": given.effect("file_read", {"short": "~/.ssh/config"}), "severity": "none"},
		"no path": {"effect": {"kind": "file_write", "certainty": "unknown", "location": "unknown"}, "severity": "medium"},
	}
	case.severity == scores.side_effects.severity with input as given.action("unknown", [case.effect])
}

# A severity that is set as high as it goes cannot be stepped up beyond its name.
test_step_up_ends_at_critical if {
	doc := given.action("file_deletion", [given.effect("file_delete", {"location": "outside", "reversibility": "R4"})])
	scores.side_effects.severity == "critical" with input as doc with data.reviewer.side_effects.severity.file_delete as 4
}

test_side_effects_as_a_whole if {
	effects := [given.effect("file_delete", {"reversibility": "R2"}), given.request({}), given.effect("file_read", {}), given.request({"target": "b"})]
	got := scores.side_effects with input as given.action("file_deletion", effects)
	got.severity == "high"
	got.kinds == ["file_delete", "network"]
	not got.reversible
	safer := scores.mitigations with input as given.action("file_deletion", effects)
	count(safer) == 2
	startswith(safer[0], "check first what would be lost")
}

test_reversible[name] if {
	some name, case in {
		"all": {"effects": [{"reversibility": "R1"}, {"reversibility": "R3"}], "reversible": true},
		"each way": {"effects": [{"reversibility": "R0"}, {"reversibility": "R2"}], "reversible": true},
		"one not": {"effects": [{"reversibility": "R1"}, {"reversibility": "R4"}], "reversible": false},
		"one not known": {"effects": [{"reversibility": "R1"}, {}], "reversible": false},
		"none": {"effects": [], "reversible": true},
	}
	effects := [given.effect("file_write", e) | some e in case.effects]
	case.reversible == scores.side_effects.reversible with input as given.action("file_modification", effects)
}

test_no_side_effects if {
	scores.side_effects == {"severity": "none", "reversible": true} with input as given.action("file_read", [given.effect("file_read", {})])
}

test_the_worst_of_a_read_is_nothing if {
	scores.worst == 0 with input as given.action("file_read", [given.effect("file_read", {})])
}

# Each effect has a severity of its own, in the order in which they come.
test_severity_of_each_effect if {
	effects := [
		given.effect("file_read", {}), given.effect("file_delete", {}), given.request({}),
		given.effect("file_write", {"short": "~/.ssh/config"}), given.effect("file_write", {"location": "null"}),
	]
	got := scores.side_effects with input as given.action("unknown", effects)
	got.severities == ["none", "high", "medium", "critical", "none"]
	got.severity == "critical"
}
