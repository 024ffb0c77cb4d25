# METADATA
# title: Effects
# description: |-
#   What rules of several families ask about the effects and the commands of a call.
#   A question that only one family asks is in that family's file.
# scope: package
package reviewer.effects

# METADATA
# title: What follows the name of a program
# description: Subcommands, flags and operands of a command.
arguments(c) := array.flatten([object.get(c, "sub", []), object.get(c, "flags", []), object.get(c, "operands", [])])

# METADATA
# title: An effect is on what listens on a port, or on a process that is only found when the call runs
# scope: document
by_port(e) if found_late(e)

by_port(e) if input.action.commands[e.command].name in data.reviewer.processes.by_port

# METADATA
# title: What is deleted in a cluster is made again, or only the object of it goes
# description: >-
#   A pod that a controller made, by its name (services.made_again) or by its labels, and what --cascade=orphan leaves
#   alone (services.orphans). Not in production.
# scope: document
comes_back(e) if {
	_in_cluster(e)
	e.object == "pod"
	c := input.action.commands[e.command]
	not _of_all(c)
	names := [regex.replace(word, `^(pods?|po)/`, "") | some word in c.operands; not word in {"pod", "pods", "po"}]
	_controlled(c, names)
}

comes_back(e) if {
	_in_cluster(e)
	e.object in data.reviewer.services.orphans
	c := input.action.commands[e.command]
	not _of_all(c)
	some flag in c.flags
	flag == "--cascade=orphan"
	every word in c.operands { not contains(word, ",") }
}

_in_cluster(e) if {
	e.target == "kubernetes"
	e.verb == "delete"
	not production(e)
}

_of_all(c) if {
	some flag in object.get(c, "flags", [])
	flag in {"--all", "-A", "--all-namespaces"}
}

_controlled(c, []) if {
	some flag in c.flags
	regex.match(`^(-l|--selector)=[A-Za-z0-9]`, flag)
}

_controlled(_, names) if {
	count(names) > 0
	pattern := concat("|", data.reviewer.services.made_again)
	every name in names { regex.match(pattern, name) }
}

# METADATA
# title: The target is moved to another place, where it is kept
# scope: document
displaced(e) if {
	e.kind == "file_delete"
	e.verb == "move"
}

displaced(e) if e.verb == "rename"

# METADATA
# title: An effect ends a process
ends_process(e) if {
	e.kind == "process"
	e.verb == "kill"
}

# METADATA
# title: A request ends something that a service runs or keeps
# description: The verbs are the setting services.ends.
ends_service(e) if {
	e.kind == "network"
	e.verb in data.reviewer.services.ends
}

# METADATA
# title: The call touches a file that holds secrets
# description: Such files have rules of their own.
file_of_secrets if {
	some e in input.action.effects
	e.class in {"credential", "env_file"}
}

# METADATA
# title: The target is only known when the call runs
found_late(e) if e.certainty in {"unknown", "prefix"}

# METADATA
# title: The target is no longer where it was
# scope: document
gone(e) if e.kind == "file_delete"

gone(e) if e.verb == "rename"

# METADATA
# title: The target is a key of the Windows registry
in_registry(e) if {
	e.kind == "system_call"
	regex.match(`^HK[A-Z]+(\\|$)`, e.target)
}

# METADATA
# title: A host is one that the settings name, or below it
# scope: document
known_host(host) if host in data.reviewer.hosts.known

known_host(host) if {
	some known in data.reviewer.hosts.known
	endswith(host, concat("", [".", known]))
}

# METADATA
# title: What an effect sends leaves this machine
# description: Data sent to this machine does not, unless hosts.trust_loopback is false.
# scope: document
leaves_machine(e) if not e.loopback

leaves_machine(_) if not data.reviewer.hosts.trust_loopback

# METADATA
# title: A command as text, in lower case
line(c) := lower(concat(" ", array.concat([c.name], arguments(c))))

# METADATA
# title: The commands of the call as text
# description: Each is made once for all rules.
lines := [line(c) | some c in input.action.commands]

# METADATA
# title: An effect on a database loses data
loses_data(e) if {
	e.kind == "system_call"
	e.object
	not in_registry(e)
	not wiped(e)
	not rehearsal(e)
	not made_here(e)
}

# METADATA
# title: The call removes data of a repository
# description: Except for lock files that a crashed git leaves behind, and single hooks.
loses_repository if {
	some e in input.action.effects
	gone(e)
	not _left_behind(e)
	not _hook_file(e)
	not _perhaps_renamed(e)
	_own_data(e)
}

# METADATA
# title: The session made the container or database
# description: >-
#   What is in a container counts if its image is one of the setting databases.images: others may be set up to
#   reach a server elsewhere.
# scope: document
made_here(e) if {
	e.made == "itself"
	not e.verb in {"exec", "grant"}
}

made_here(e) if {
	e.made == "inside"
	not e.verb in {"exec", "grant"}
	some m in input.session.made
	m.object == "container"
	endswith(e.host, concat("", ["container:", m.name]))
	m.image in data.reviewer.databases.images
}

# METADATA
# title: A text contains one of some words, as a word of its own
# description: Paths of devices do not count, so /dev/null does not name the stage dev.
marked(text, words) if {
	some w in regex.split(`[^a-z0-9]*/dev/[a-z0-9/]*|[^a-z0-9]+`, lower(text))
	w in words
}

# METADATA
# title: An effect is on this machine, or on a host of the setting scope.hosts
# description: An effect on another machine is not, whatever its address is there.
# scope: document
near(e) if not e.host

near(e) if strings.any_prefix_match(e.host, data.reviewer.scope.hosts)

# METADATA
# title: A file with a key is closed to others, and otherwise stays as it is
closes_key(e) if {
	e.verb == "restrict"
	e.class == "credential"
	e.certainty == "exact"
	not e.recursive
}

# METADATA
# title: An effect is on a machine that the user named
# description: By its address, its full name, or its name in the configuration of ssh.
on_named_machine(e) if {
	startswith(e.host, "ssh:")
	named_machine(regex.replace(substring(e.host, 4, -1), `^[^@]*@`, ""))
}

# METADATA
# title: The call runs commands on a machine that the user named
# description: One with a mark of production in its name does not count, since people also name where something comes from.
named_machine(name) if {
	some n in input.action.effects
	n.kind == "network"
	n.verb == "exec"
	n.target == name
	n.named
	not marked(name, data.reviewer.markers.production)
}

# METADATA
# title: An effect is on a repository of a code host
of_repository(e) if e.object in {"repo", "repository"}

# METADATA
# title: The call gives everybody rights to files
# scope: document
opens_widely if {
	some e in input.action.effects
	e.mode
	e.kind == "file_write"
	some pattern in data.reviewer.permissions.broad
	regex.match(pattern, e.mode)
}

opens_widely if {
	some e in input.action.effects
	e.mode
	e.kind == "file_write"
	e.recursive
	some pattern in data.reviewer.permissions.broad_below
	regex.match(pattern, e.mode)
}

# METADATA
# title: The name of a service without its domain and its maker
# description: sshd for system/com.apple.sshd.
plain_service(name) := regex.replace(name, `^((system|user|gui|login)/([0-9]+/)?)?(com\.(apple|openssh)\.|homebrew\.mxcl\.)?`, "")

# METADATA
# title: An effect concerns production
# description: By its target, or by any word of the command.
production(e) if {
	some text in array.concat([e[k] | some k in ["target", "host"]], words(e))
	marked(text, data.reviewer.markers.production)
}

# METADATA
# title: An effect reaches a service that is not only of this machine
# description: Data stores count on this machine too.
# scope: document
reached(e) if {
	not e.loopback
	not _own_cluster(e)
}

reached(e) if not near(e)

reached(e) if {
	regex.find_all_string_submatch_n(_port, e.target, 1)[0][1] in data.reviewer.services.stores
}

# METADATA
# title: A database for tests
# description: >-
#   By its name, on this machine or at the client's default. Running code or opening the
#   server does not depend on the data in it.
rehearsal(e) if {
	e.certainty == "exact"
	not e.verb in {"exec", "grant", "stop"}
	not production(e)
	near(e)
	parts := regex.find_all_string_submatch_n(`^[a-z]+:(?://([^/]*)/)?(.*)$`, e.target, 1)[0]
	_here(e, parts[1])
	marked(parts[2], data.reviewer.markers.test)
}

_here(e, _) if e.loopback

_here(_, "")

# METADATA
# title: What lists of processes are searched or filtered for
# scope: document
searched contains word if {
	some c in input.action.commands
	c.name in data.reviewer.processes.lists
	some word in array.concat(object.get(c, "operands", []), object.get(c, "flags", []))
}

searched contains word if {
	some listing in input.action.commands
	listing.name in data.reviewer.processes.lists
	some c in input.action.commands
	c.name in data.reviewer.processes.filters
	some word in object.get(c, "operands", [])
}

# METADATA
# title: An effect sends data to another machine
sends_away(e) if {
	e.kind == "network"
	e.egress
	e.verb == "send"
	leaves_machine(e)
}

# METADATA
# title: A process gets a signal that its program handles without ending
# description: >-
#   The setting processes.handled has the program's name and the signal. The program is selected by that name alone,
#   not by an expression, a command line or a process ID.
signal_handled(e) if {
	e.signal
	e.certainty == "exact"
	_handled(e.target, e.signal)
	not _matches_lines(e)
}

# METADATA
# title: What the call does to the machine itself, beyond files
system_verbs contains e.verb if {
	"system_call" in input.kinds
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "system_call"
}

# METADATA
# title: The target is data that people or programs put there
# description: The setting places.data; generated files are not.
users_data(e) if {
	not e.class == "generated"
	some pattern in data.reviewer.places.data
	regex.match(pattern, e.short)
}

# METADATA
# title: A container tool wipes data or prunes
wiped(e) if {
	e.kind == "system_call"
	e.verb in {"wipe", "prune"}
}

# METADATA
# title: What a container tool wipes is marked as a test resource
# description: By a word of the command, where it names only one thing, else by each name.
# scope: document
wiped_for_tests(e) if {
	not production(e)
	some text in words(e)
	marked(text, data.reviewer.markers.test)
	every name in object.get(input.action.commands[e.command], "operands", []) { _for_tests(e, name) }
}

# METADATA
# title: The words of the command that an effect belongs to
# description: An effect that belongs to no command has none.
words(e) := [word |
	some k in ["sub", "flags", "operands"]
	some word in input.action.commands[e.command][k]
]

# METADATA
# title: The session itself made the target
written_here(e) if e.ledger in {"created", "written", "moved_into"}

# A single hook file.
_hook_file(e) if {
	e.certainty == "exact"
	not e.recursive
	regex.match(`/\.git/hooks/[^/]+$`, e.target)
}

# A pattern that may match .git too, of files that are renamed near their folder.
_perhaps_renamed(e) if {
	e.kind == "file_write"
	e.certainty == "glob"
}

_handled(name, signal) if {
	sprintf("%s %s", [lower(name), regex.replace(lower(signal), `\+.*$`, "")]) in data.reviewer.processes.handled
}

_for_tests(_, name) if marked(name, data.reviewer.markers.test)

_for_tests(e, _) if count(object.get(input.action.commands[e.command], "operands", [])) < 2

_matches_lines(e) if {
	some option in input.action.commands[e.command].flags
	regex.match(`^(-[a-zA-Z]*f|--full)`, option)
}

# Lock files that a crashed git leaves behind.
_left_behind(e) if {
	endswith(e.target, ".lock")
	not e.recursive
}

# A cluster on this machine, by every context that the command names. A server or
# cluster that it also names takes precedence over a context.
_own_cluster(e) if {
	e.target == "kubernetes"
	named := _values_of(e, `^--(?:kube-)?context=(.*)$`)
	named != set()
	every context in named { strings.any_prefix_match(context, data.reviewer.markers.clusters) }
	_values_of(e, `^(?:-s|--(?:server|cluster|kube-apiserver)=)(.*)`) == set()
}

_own_data(e) if e.class == "git_data"

_own_data(e) if e.repository

_own_data(e) if {
	e.class == "git_hook"
	contains(concat("", [e.target, "/"]), "/.git/")
}

_port := `^(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/?#\\\s]*@)?(?:\[[^\]]*\]|[^/?#\\\s:@]+):([0-9]+)`

# The values that an expression finds in the flags of an effect's command.
_values_of(e, expression) := {found[1] |
	some flag in input.action.commands[e.command].flags
	some found in regex.find_all_string_submatch_n(expression, flag, 1)
}
