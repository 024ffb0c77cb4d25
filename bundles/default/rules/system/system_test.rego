package reviewer.fired_test

import data.reviewer.firing
import data.reviewer.given_test as given

_machine(patch) := given.call({"action": {"types": ["system_command"], "effects": [object.union(
	{"kind": "system_call", "verb": "stop", "object": "service", "target": "auditd", "certainty": "exact", "command": -1},
	patch,
)]}})

_system_rules := {"power_suspend", "system_delete", "trash_emptied", "mount_change", "kernel_change", "guard_off", "process_attach"}

_machine_cases := {
	"sleeps": {"effect": {"verb": "suspend"}, "fires": {"power_suspend"}},
	"deletes something other than a file": {"effect": {"verb": "delete"}, "fires": {"system_delete"}},
	"loses what is in a database": {"effect": {"verb": "delete", "object": "table", "target": "postgres:///shop_test"}, "fires": set()},
	"a request that deletes": {"effect": {"verb": "delete", "kind": "process"}, "fires": set()},
	"trash": {"effect": {"verb": "empty"}, "fires": {"trash_emptied"}},
	"a file system": {"effect": {"verb": "mount"}, "fires": {"mount_change"}},
	"the kernel": {"effect": {"verb": "kernel"}, "fires": {"kernel_change"}},
	"a guard stops": {"effect": {}, "fires": {"guard_off"}},
	"a guard starts no more": {"effect": {"verb": "disable"}, "fires": {"guard_off"}},
	"a guard in capitals": {"effect": {"target": "SELinux"}, "fires": {"guard_off"}},
	"a guard starts again": {"effect": {"verb": "restart"}, "fires": set()},
	"a service that is not a guard": {"effect": {"target": "shop-worker"}, "fires": set()},
	"a program of that name": {"effect": {"kind": "process"}, "fires": set()},
	"another's memory": {"effect": {"kind": "process", "verb": "attach"}, "fires": {"process_attach"}},
	"a disk is attached": {"effect": {"verb": "attach"}, "fires": set()},
}

test_machine[name] if {
	some name, case in _machine_cases
	ids := firing.ids with input as _machine(case.effect)
	case.fires == ids & _system_rules
}

test_machine_that_has_changed[name] if {
	some name, case in _machine_cases
	ids := firing.ids with input as object.union(_machine(case.effect), {"phase": "post"})
	ids & _system_rules == set()
}

# The type means that the machine changes; a process counts whatever the type is.
test_machine_by_the_type_of_the_action[name] if {
	some name, case in _machine_cases
	ids := firing.ids with input as object.union(_machine(case.effect), {"action": {"types": ["file_read"]}})
	case.fires & {"process_attach"} == ids & _system_rules
}

test_kernel_by_its_files[name] if {
	some name, case in {
		"a setting": {"kind": "file_write", "target": "/proc/sys/kernel/sysrq", "fires": true},
		"a device": {"kind": "file_write", "target": "/sys/power/state", "fires": true},
		"only looked at": {"kind": "file_read", "target": "/proc/sys/kernel/sysrq", "fires": false},
		"of the workspace": {"kind": "file_write", "target": "/srv/shop/proc/a", "fires": false},
		"a name that begins so": {"kind": "file_write", "target": "/sysroot/a", "fires": false},
		"has happened": {"phase": "post", "kind": "file_write", "target": "/sys/power/state", "fires": false},
	}
	doc := given.action("file_modification", [
		given.effect(case.kind, {"target": case.target}),
		given.effect("file_write", {}), # so that something is written in any case
	])
	ids := firing.ids with input as object.union(doc, object.filter(case, ["phase"]))
	got := "kernel_change" in ids
	case.fires == got
}
