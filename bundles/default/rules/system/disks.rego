package reviewer.families.system

# METADATA
# title: Disk formatted or written directly
# related_resources: [https://attack.mitre.org/techniques/T1561/]
# custom:
#   severity: critical
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1561, SOC2-CC7.5]
#   message: "This writes directly to a disk, or destroys the data needed to restore it: {command}"
#   remediation: work on an image file inside the workspace
disk_write if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	_loses_disk(e)
}

_loses_disk(e) if {
	e.kind == "system_call"
	e.verb in {"format", "write"}
}

# A volume that a service manages has a rule of its own (container_wipe).
_loses_disk(e) if {
	e.kind == "system_call"
	e.verb == "wipe"
	not e.object
}

# Sources from which a disk can be restored.
_loses_disk(e) if {
	e.kind == "system_call"
	e.verb == "delete"
	e.target in data.reviewer.system.disk_records
}

_loses_disk(e) if {
	e.kind in {"file_write", "file_delete"}
	e.location == "device"
	not strings.any_prefix_match(e.target, data.reviewer.system.harmless_devices)
}
