package reviewer.families.processes

import data.reviewer.effects
import data.reviewer.scores

# METADATA
# title: Processes killed, perhaps not the session's own
# description: >-
#   The processes are selected by a name, a port, or a process ID from a list or another source,
#   on the command line or in code. The session may end what it started: jobs of its shell, process IDs that were
#   reported when it started something, names and ports of what it started, and process IDs from its own files.
# related_resources: [https://man7.org/linux/man-pages/man1/pgrep.1.html]
# custom:
#   severity: medium
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1489, SOC2-CC7.5]
#   message: "This kills processes that this session is not known to have started: {command}"
#   remediation: keep the process ID of what you start and kill only that (`kill %1`, `kill $!`), use another port, or ask the user to stop it
#   overridable: [organisation, user, project]
processes_found if {
	"kill" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	effects.ends_process(e)
	not _container_engine(e)
	not _of_session(e)
	not effects.signal_handled(e)
}

_container_engine(e) if input.action.commands[e.command].name in data.reviewer.processes.engines

# The call itself started it, or it is a job of its shell or in its own process group.
_of_session(e) if e.own

_of_session(e) if regex.match(`^(%.*|-?0)$`, e.target)

_of_session(e) if {
	not effects.by_port(e)
	some s in _started
	trim_left(e.target, "-") in s.processes
}

_of_session(e) if {
	e.certainty == "exact"
	not regex.match(`^-?[0-9]+$`, e.target)
	_started_named(e.target)
}

_of_session(e) if {
	effects.by_port(e)
	some port in regex.find_n(`^:?[0-9]+(?:/(?:tcp|udp))?$`, e.target, 1)
	_started_port(regex.find_n(`[0-9]+`, port, 1)[0])
}

# A process ID from a list: what was searched for there decides.
_of_session(e) if {
	effects.found_late(e)
	some word in effects.searched
	_started_named(word)
}

_of_session(e) if {
	effects.found_late(e)
	some word in effects.searched
	some port in regex.find_n(`[0-9]{2,5}`, word, -1)
	_started_port(port)
}

# A process ID from a file of the project, or one that the session wrote.
_of_session(e) if {
	effects.found_late(e)
	not _lists_processes
	some r in input.action.effects
	r.kind == "file_read"
	_own_number_file(r)
}

# A process ID from elsewhere, such as a variable, after something was started.
_of_session(e) if {
	effects.found_late(e)
	not _lists_processes
	not _reads_files
	some s in _started
	not s.listed
}

# The same if this call starts the process after the kill was set up, as with a trap.
_of_session(e) if {
	effects.found_late(e)
	not _lists_processes
	not _reads_files
	count(object.get(input.action, "starts", [])) > 0
}

_own_number_file(r) if {
	r.location in {"inside", "worktree"}
	endswith(r.target, ".pid")
}

_own_number_file(r) if r.ledger in {"created", "written"}

# The command that starts the process does not count.
_reads_files if {
	some r in input.action.effects
	r.kind == "file_read"
	not _is_started(r.command)
}

_is_started(n) if {
	some s in input.action.starts
	input.action.commands[n].name in s.programs
}

_lists_processes if {
	some c in input.action.commands
	c.name in data.reviewer.processes.lists
}

# Processes that the session started, or that this call starts before it ends any. A list of
# processes that the session saw counts if the session searched it for a process of its own.
_started contains s if {
	some known in input.session.started
	not known.listed
	s := {"words": _process_words_of(known), "ports": object.get(known, "ports", []), "processes": object.get(known, "processes", []), "listed": false}
}

_started contains s if {
	some known in input.session.started
	known.listed
	some word in _process_words(known.line)
	_telling(word)
	some other in input.session.started
	not other.listed
	word in _process_words_of(other)
	s := {"words": set(), "ports": [], "processes": object.get(known, "processes", []), "listed": true}
}

_started contains s if {
	some known in input.action.starts
	some e in input.action.effects
	effects.ends_process(e)
	some i, c in input.action.commands
	i < e.command
	c.name in known.programs
	s := {"words": _process_words_of(known), "ports": [], "processes": [], "listed": false}
}

_started_named(pattern) if {
	words := _process_words(pattern)
	some s in _started
	every word in words {
		word in s.words
	}
	some word in words
	_tells(word, words)
}

_tells(word, _) if _telling(word)

_tells(word, words) if {
	count(words) > 1
	not word in data.reviewer.processes.runtimes
}

_telling(word) if {
	count(word) > 2
	not word in data.reviewer.processes.runtimes
	not word in data.reviewer.processes.common
	not regex.match(`^[0-9]+$`, word)
}

_started_port(port) if {
	some s in _started
	port in s.ports
}

_started_port(port) if {
	some s in _started
	port in s.words
}

_process_words_of(known) := _process_words(concat(" ", array.concat([known.line], object.get(known, "programs", []))))

# The words of a command line or of an expression: [v]ite and node.*serve.js are vite, node and serve.js.
_process_words(text) := {word |
	plain := regex.replace(lower(text), `\[([a-z])\]`, "$1")
	some found in regex.find_n(`[a-z0-9_.@+-]+`, plain, -1)
	word := trim_suffix(trim(found, ".-+"), ".exe")
	word != ""
}

# METADATA
# title: Container killed, perhaps not the session's own
# description: >-
#   Only kills count. A stop can be undone, and removing containers is ordinary work. The session made a container if
#   the command that makes it succeeded, and would have failed if there already was one of that name.
# related_resources: [https://docs.docker.com/reference/cli/docker/container/kill/]
# custom:
#   severity: medium
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1489, SOC2-CC7.5]
#   message: "This kills a container that this session is not known to have started: {command}"
#   remediation: stop it (`docker stop`), use your own names for the containers you start, or ask the user to stop it
#   overridable: [organisation, user, project]
container_ended if {
	"kill" in input.verbs
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "process"
	e.verb == "kill"
	_container_engine(e)
	not effects.made_here(e)
}

# METADATA
# title: Managed processes or terminals ended, perhaps not the session's own
# description: >-
#   Sessions of tmux, screen and zellij; processes of pm2, supervisord and the like; compose
#   projects that are named.
# related_resources: [https://man7.org/linux/man-pages/man1/tmux.1.html]
# custom:
#   severity: medium
#   decision: ask
#   harm: machine
#   tags: [OWASP-ASI02, ATTACK-T1489, SOC2-CC7.5]
#   message: "This ends processes or sessions of a manager that this session is not known to have started: {command}"
#   remediation: end only what you started yourself, by its name, or ask the user to end this
#   overridable: [organisation, user, project]
manager_ended if {
	input.phase == "pre"
	some i, line in effects.lines
	scores.matches(line, data.reviewer.processes.managers)
	not _own_managed(input.action.commands[i])
}

_own_managed(c) if {
	some s in _started
	c.name in s.words
	some word in _process_words(effects.line(c))
	word != c.name
	not word in data.reviewer.processes.orders
	word in s.words
}
