package reviewer.fired

import data.reviewer.effects

# METADATA
# title: Volumes or namespaces deleted
# custom:
#   id: container_wipe
fires contains "container_wipe" if {
	"container_wipe" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	effects.wiped(e)
	e.verb != "prune"
	not _for_tests(e)
}

# METADATA
# title: Volumes or namespaces deleted
# description: In a cluster, what contains other resources, or all of one kind.
# custom:
#   id: container_wipe
fires contains "container_wipe" if {
	"container_wipe" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	effects.ends_service(e)
	e.target == "kubernetes"
	effects.reached(e)
}

# METADATA
# title: Prune that deletes volumes
# custom:
#   id: container_prune
fires contains "container_prune" if {
	"container_wipe" in input.action.signals
	input.phase == "pre"
	some e in input.action.effects
	effects.wiped(e)
	e.verb == "prune"
}

# A word of the command marks what is lost as a test resource.
_for_tests(e) if {
	not effects.production(e)
	some text in effects.words(e)
	effects.marked(text, data.reviewer.markers.test)
}

# METADATA
# title: Credentials passed to a container
# description: >-
#   Keys and logins by a mount into any image except those that secrets.images lists;
#   an environment file only into a third-party image.
# custom:
#   id: container_secrets
fires contains "container_secrets" if {
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
