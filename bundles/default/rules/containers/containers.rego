package reviewer.families.containers

import data.reviewer.effects

# METADATA
# title: Volumes or namespaces deleted
# description: Ignores resources marked as test resources, and clusters on this machine (markers.clusters).
# scope: document
# related_resources:
#   - https://docs.docker.com/engine/storage/volumes/
#   - https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC7.5]
#   message: "This deletes volumes, namespaces or everything unused, with the data in them: {command}"
#   remediation: "remove only what you mean, by name, and save it first; a volume: `docker run --rm -v NAME:/from -v \"$PWD\":/to alpine tar -czf /to/NAME.tgz -C /from .`"
#   overridable: [organisation, user, project]
container_wipe if {
	"container_wipe" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	effects.wiped(e)
	e.verb != "prune"
	not effects.wiped_for_tests(e)
}

# In a cluster, what contains other resources, or all of one kind.
container_wipe if {
	"container_wipe" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	effects.ends_service(e)
	e.target == "kubernetes"
	effects.reached(e)
	not effects.comes_back(e)
}

# METADATA
# title: Prune that deletes volumes
# related_resources:
#   - https://docs.docker.com/reference/cli/docker/system/prune/
# custom:
#   severity: high
#   decision: modify
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1485]
#   message: "This would delete volumes or images that no container is using right now: {command}"
#   remediation: prune without --volumes and -a (`docker system prune`), or list the volumes (`docker volume ls -f dangling=true`) and let a person remove the right one
#   overridable: [organisation, user, project]
container_prune if {
	"container_wipe" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	effects.wiped(e)
	e.verb == "prune"
}

# METADATA
# title: Credentials passed to a container
# description: Keys or logins are mounted, or an environment file is passed to a third-party image.
# related_resources: ["https://attack.mitre.org/techniques/T1552/"]
# custom:
#   severity: high
#   decision: ask
#   harm: exposure
#   tags: [OWASP-ASI03, ATTACK-T1552, SOC2-CC6.1]
#   message: "This gives a container access to credentials: {command}"
#   remediation: forward the SSH agent, or pass only the one value that is needed with --env NAME
#   overridable: [organisation, user]
container_secrets if {
	# Keys and logins by a mount into any image except those that secrets.images lists; an environment
	# file only into a third-party image.
	input.phase == "pre"
	some f in input.action.flows
	f.image
	not _trusted_image(f.image)
	_too_much(f)
}

_too_much(f) if object.get(f, "class", "credential") != "env_file"

# An image without an owner in its name is built here, or is an official one.
_too_much(f) if {
	contains(f.image, "/")
	not _named_after_workspace(f.image)
}

_too_much(f) if f.what != "file"

_trusted_image(image) if {
	some known in data.reviewer.secrets.images
	name := split(split(image, "@")[0], ":")[0]
	endswith(concat("", ["/", name]), concat("", ["/", known]))
}

_named_after_workspace(image) if {
	some part in split(split(image, ":")[0], "/")
	some own in split(input.session.workspace, "/")
	part == own
}
