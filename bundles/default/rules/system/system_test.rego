package reviewer.spoken_test

import data.reviewer.given_test as given
import data.reviewer.spoken

_machine(patch) := given.call({"action": {"types": ["system_command"], "effects": [object.union(
	{"kind": "system_call", "verb": "stop", "object": "service", "target": "auditd", "certainty": "exact", "command": -1},
	patch,
)]}})

_system_rules := {"power_suspend", "system_delete", "trash_emptied", "mount_change", "kernel_change", "guard_off", "process_attach"}

_machine_cases := {
	"sleeps": {"effect": {"verb": "suspend"}, "speaks": {"power_suspend"}},
	"deletes something other than a file": {"effect": {"verb": "delete"}, "speaks": {"system_delete"}},
	"loses what is in a database": {"effect": {"verb": "delete", "object": "table", "target": "postgres:///shop_test"}, "speaks": set()},
	"a request that deletes": {"effect": {"verb": "delete", "kind": "process"}, "speaks": set()},
	"trash": {"effect": {"verb": "empty"}, "speaks": {"trash_emptied"}},
	"a file system": {"effect": {"verb": "mount"}, "speaks": {"mount_change"}},
	"the kernel": {"effect": {"verb": "kernel"}, "speaks": {"kernel_change"}},
	"a guard stops": {"effect": {}, "speaks": {"guard_off"}},
	"a guard starts no more": {"effect": {"verb": "disable"}, "speaks": {"guard_off"}},
	"a guard in capitals": {"effect": {"target": "SELinux"}, "speaks": {"guard_off"}},
	"a guard starts again": {"effect": {"verb": "restart"}, "speaks": set()},
	"a service that is not a guard": {"effect": {"target": "shop-worker"}, "speaks": set()},
	"a program of that name": {"effect": {"kind": "process"}, "speaks": set()},
	"another's memory": {"effect": {"kind": "process", "verb": "attach"}, "speaks": {"process_attach"}},
	"a disk is attached": {"effect": {"verb": "attach"}, "speaks": set()},
}

test_machine[name] if {
	some name, case in _machine_cases
	said := spoken.speaks with input as _machine(case.effect)
	case.speaks == said & _system_rules
}

test_machine_that_has_changed[name] if {
	some name, case in _machine_cases
	said := spoken.speaks with input as object.union(_machine(case.effect), {"phase": "post"})
	said & _system_rules == set()
}

# The type means that the machine changes; a process counts whatever the type is.
test_machine_by_the_type_of_the_action[name] if {
	some name, case in _machine_cases
	said := spoken.speaks with input as object.union(_machine(case.effect), {"action": {"types": ["file_read"]}})
	case.speaks & {"process_attach"} == said & _system_rules
}

test_kernel_by_its_files[name] if {
	some name, case in {
		"a setting": {"kind": "file_write", "target": "/proc/sys/kernel/sysrq", "speaks": true},
		"a device": {"kind": "file_write", "target": "/sys/power/state", "speaks": true},
		"only looked at": {"kind": "file_read", "target": "/proc/sys/kernel/sysrq", "speaks": false},
		"of the workspace": {"kind": "file_write", "target": "/srv/shop/proc/a", "speaks": false},
		"a name that begins so": {"kind": "file_write", "target": "/sysroot/a", "speaks": false},
		"has happened": {"phase": "post", "kind": "file_write", "target": "/sys/power/state", "speaks": false},
	}
	doc := given.action("file_modification", [
		given.effect(case.kind, {"target": case.target}),
		given.effect("file_write", {}), # so that something is written in any case
	])
	said := spoken.speaks with input as object.union(doc, object.filter(case, ["phase"]))
	spoke := "kernel_change" in said
	case.speaks == spoke
}
