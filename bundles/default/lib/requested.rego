# METADATA
# title: What the person asked for at a place that they named
# description: |-
#   Orders of work on machines, devices, clusters and folders (words/requests.yaml). Each covers exactly what it names: the setting
#   goals.requests lists the rules that it answers, and the rules below what it covers of a call.
# scope: package
package reviewer.requested

import data.reviewer.effects
import data.reviewer.families.workspace
import data.reviewer.scores

_cfg := data.reviewer.goals.requests

# METADATA
# title: A request of the person answers what a rule objects to
# description: >-
#   All that the rule is about is covered by a request. Or the call is the very command that the person typed in the latest prompt, and
#   the rule's harm is one of goals.requests.typed.
# scope: document
answers(r) if {
	not r.firm
	r.decision == "ask"
	r.harm in _cfg.typed
	typed
}

answers(r) if {
	not r.firm
	_listed(r.id)
	about := _about[r.id]
	about != []
	every e in about { _covered(r.id, e) }
}

# METADATA
# title: The latest prompt asks for an act
# description: For rules about what nobody asked for. What the request names makes no difference.
asked(act) if {
	"permitted" in input.facts
	some s in _requests(act)
	s.prompt >= input.session.prompts
}

# METADATA
# title: The call is a command that the latest prompt orders letter for letter
typed if {
	"permitted" in input.facts
	some s in _requests("type")
	s.prompt >= input.session.prompts
	input.event.args.command in s.objects
}

# METADATA
# title: The latest prompt asks for an act, on what the call does it to and nothing more
# description: Where the call has numbers, of issues or pull requests, the sentence has all of them, if it has any.
# scope: document
ordered(act) if {
	"permitted" in input.facts
	some s in _requests(act)
	s.prompt >= input.session.prompts
	only_its_numbers(s)
}

# METADATA
# title: A command that changes a service does what the latest prompt orders, to what it names
# description: |-
#   The command is one of goals.requests.operates of the order's act. Each name and value among its operands is a word of the sentence,
#   besides goals.requests.operates_any and values of settings that people do not write down (operates_unsaid). If the sentence has
#   numbers, the command has no others. A command that names another stage than the sentence is not covered.
# scope: document
operates(i) if {
	"permitted" in input.facts
	some act, expressions in _cfg.operates
	scores.matches(effects.lines[i], expressions)
	some s in _requests(act)
	s.prompt >= input.session.prompts
	_names_all(i, expressions, {w | some w in regex.split(`[^\p{L}\p{N}_]+`, lower(s.text))})
}

_names_all(i, expressions, said) if {
	operands := [lower(o) | some o in input.action.commands[i].operands]
	parts := [p | some o in operands; not scores.matches(o, expressions); some p in _parts(o)]
	some p in parts
	p in said
	every p in parts { p in said }
	numbers := {w | some w in said; regex.match(`^[0-9]+$`, w)}
	_no_other_number(numbers)
	stages := {w | some w in data.reviewer.services.stages; w in said}
	every w in stages { effects.marked(effects.lines[i], [w]) }
}

_no_other_number(numbers) if numbers == set()

_no_other_number(numbers) if {
	every n in regex.find_n(`\b[0-9]+\b`, object.get(input.event.args, "command", ""), -1) { n in numbers }
}

# The words of an operand that an order has to name: name=value and kind/name are two.
_parts(o) := {w |
	some part in _assigned(o)
	some w in regex.split(`[^\p{L}\p{N}_]+`, part)
	w != ""
	not w in _cfg.operates_any
}

_assigned(o) := [split(o, "=")[0]] if {
	scores.matches(split(o, "=")[0], _cfg.operates_unsaid)
} else := [o]

# METADATA
# title: The call is about no number that is not in the sentence, if that has any
# scope: document
only_its_numbers(s) if {
	words := array.concat([object.get(s, "text", "")], object.get(s, "objects", []))
	numbers := {n | some text in words; some n in regex.find_n(`[0-9]+`, text, -1)}
	_has_only(numbers)
}

_has_only(numbers) if numbers == set()

_has_only(numbers) if every n in _numbers { n in numbers }

# Numbers of issues and pull requests: operands of the commands that are about them, parts of addresses, and arguments of tools.
_numbers contains n if {
	some i, line in effects.lines
	some list in [data.reviewer.services.speaks, data.reviewer.services.merges]
	scores.matches(line, list)
	some word in object.get(input.action.commands[i], "operands", [])
	some part in split(trim_left(word, "#!"), "/")
	some n in regex.find_n(`^[0-9]+$`, part, 1)
}

_numbers contains n if {
	some e in input.action.effects
	e.kind == "network"
	some part in split(e.target, "/")
	some n in regex.find_n(`^[0-9]+$`, part, 1)
}

_numbers contains sprintf("%v", [value]) if {
	some value in input.event.args
	is_number(value)
	startswith(input.event.tool, "mcp__")
}

# METADATA
# title: What the call does at services, as texts that one list of expressions can be about
# description: >-
#   Command lines in lower case, of commands that do not only read; mcp and the words of a tool's name that does not only read; http and
#   the address of a request that sends something; press and what a click is on. Before the call only.
texts contains text if {
	input.phase == "pre"
	some text in _texts
}

_texts contains line if {
	some i, line in effects.lines
	not _only_reads(i)
}

_texts contains text if {
	startswith(input.event.tool, "mcp__")
	some text in _of_tool
}

_of_tool contains concat(" ", array.concat(["mcp"], words)) if {
	words := _words_of(input.event.tool)
	not _reads
}

_texts contains concat(" ", ["http", lower(e.target)]) if {
	"network" in input.kinds
	some e in input.action.effects
	e.kind == "network"
	e.verb != "fetch"
	not e.loopback
	contains(e.target, "/")
}

# What is written on what a tool of a browser presses.
_of_tool contains concat(" ", ["press", lower(value)]) if {
	some word in _words_of(input.event.tool)
	word in data.reviewer.services.presses
	some value in input.event.args
	is_string(value)
	count(value) < 200
}

_only_reads(i) if {
	some e in input.action.effects
	e.command == i
	e.kind == "network"
	not _sends(i)
}

_sends(i) if {
	some e in input.action.effects
	e.command == i
	e.kind == "network"
	e.verb != "fetch"
}

# The tool's own name begins with a verb of reading: mcp__github__list_issues, mcp__github__github_list_issues.
_reads if {
	[_, server, tool] := split(input.event.tool, "__")
	own := [w | some w in _words_of(tool); not w in _words_of(server)]
	own[0] in data.reviewer.services.reading
}

_words_of(name) := [w |
	some w in regex.split(`[^a-z0-9]+`, lower(regex.replace(name, `([a-z])([A-Z])`, "${1}_$2")))
	not w in {"", "mcp"}
]

# METADATA
# title: Requests cover all effects of the call that are critical
worst_named if {
	"permitted" in input.facts
	worst := [e |
		some i, e in input.action.effects
		scores.side_effects.severities[i] == data.reviewer.side_effects.names[data.reviewer.side_effects.critical]
	]
	worst != []
	every e in worst { _named_by_some(e) }
}

_named_by_some(e) if {
	some act, _ in _cfg.answers
	some s in _requests(act)
	_covers(act, s, e)
}

# What the user ordered to delete, by its name, here or on a machine that they named.
_named_by_some(e) if {
	e.kind == "file_delete"
	e.certainty == "exact"
	e.location in data.reviewer.workspace.given
	not e.class
	_here_or_named(e)
	some s in _requests("delete")
	some o in s.objects
	endswith(concat("", ["/", e.target]), concat("", ["/", trim_suffix(o, "/")]))
}

_here_or_named(e) if not e.host

_here_or_named(e) if effects.on_named_machine(e)

_listed(id) if {
	some act, rules in _cfg.answers
	id in rules
	_requests(act) != []
}

_covered(id, e) if {
	some act, rules in _cfg.answers
	id in rules
	some s in _requests(act)
	_covers(act, s, e)
}

# The effects that a rule is about.
_about["workspace_outside"] := [e | some e in input.action.effects; workspace.outside_place(e)]

_about["processes_found"] := [e | some e in input.action.effects; effects.ends_process(e)]

_about["api_delete"] := [e | some e in input.action.effects; effects.ends_service(e)]

_about["disk_write"] := [e | some e in input.action.effects; e.location == "device"; e.kind in {"file_write", "file_delete"}]

_about["machine_setting"] := [e | some e in input.action.effects; e.kind == "system_call"; not e.verb in {"mount", "unmount"}]

_about["mount_change"] := [e | some e in input.action.effects; e.verb == "mount"]

_about["power_suspend"] := [e | some e in input.action.effects; e.kind == "system_call"]

_about["prevent_recursive_deletion"] := _deletions

_about["delete_outside_scope"] := _deletions

_about["delete_broad"] := _deletions

_about["git_history_rewrite"] := [e | some e in input.action.effects; e.kind == "process"; e.object == "history"]

_about["recording"] := [e |
	some e in input.action.effects
	e.kind == "process"
	scores.matches(effects.lines[e.command], data.reviewer.execution.records)
]

_about["publish"] := _published

_about["dns_change"] := _published

_about["goal_disproportion"] := _published

_deletions := [e | some e in input.action.effects; e.kind == "file_delete"]

_published := [e | some e in input.action.effects; e.kind == "network"; e.verb != "fetch"]

# Requests of an act that no later prohibition ends.
_requests(act) := [s |
	some s in input.goal.statements
	s.act == act
	s.kind == "orders"
	not _taken_back(s)
]

_taken_back(s) if {
	some f in input.goal.statements
	f.kind == "forbids"
	f.prompt >= s.prompt
	f.act in _cfg.ended_by
	_same_thing(f, s)
	not _published_later(f, s)
}

# Who orders a draft of a release publishes it later.
_published_later(f, s) if {
	s.act == "draft"
	f.act == "release"
	f.prompt == s.prompt
}

# METADATA
# title: All that the call publishes is the draft of a release that an order names
# scope: document
only_drafts(s) if {
	s.act == "draft"
	count(_published) > 0
	every e in _published { _covers("draft", s, e) }
}

_same_thing(f, _) if not f.objects

_same_thing(f, s) if {
	some o in f.objects
	o in s.objects
}

# A file with a name that the order has, or a copy of it, in a folder of programs or data of the named machine.
_covers("put", s, e) if {
	e.kind == "file_write"
	_on_named_host(e, s)
	_plain_place(e)
	_names_of_file(e) & {lower(o) | some o in s.objects} != set()
}

_covers("put", s, e) if _ends_named(e, s)

_covers("restart", s, e) if _ends_named(e, s)

# What rsync deletes in the named machine's copy of a folder of the workspace.
_covers("put", s, e) if {
	e.kind == "file_delete"
	c := input.action.commands[e.command]
	c.name == "rsync"
	count(c.operands) == 2
	_on_named_host(e, s)
	_same_folder(c.operands[0], e.target)
}

# The working tree that git made for this work. Git's own command takes it off its list; what is not committed there is judged by other
# rules.
_covers("tree", _, e) if {
	e.object == "worktree"
	e.location == "self"
	e.certainty == "exact"
	not e.host
}

# The branch that is named, or one branch where the order names none. Protected branches are another matter.
_covers("remove_branch", s, e) if {
	c := input.action.commands[e.command]
	c.name == "git"
	"branch" in c.sub
	every flag in object.get(c, "flags", []) { not flag in {"-r", "--remotes", "-f", "--force"} }
	branches := object.get(c, "operands", [])
	count(branches) > 0
	every b in branches { not _protected(b) }
	_named_branches(branches, object.get(s, "objects", []))
}

_named_branches([_], names) if every n in names { not regex.match(`[/_0-9-]`, n) } # words such as locale

_named_branches(branches, names) if every b in branches { b in names }

_protected(branch) if {
	some p in data.reviewer.git.protected
	glob.match(p, ["/"], branch)
}

_covers("flash", s, e) if {
	e.kind == "file_write"
	_of_named_device(e.target, s)
	not e.host
	_not_in_use(e)
	some from in input.action.effects
	from.command == e.command
	from.kind == "file_read"
	from.location in {"inside", "temp"}
}

_covers("flash", s, e) if _uses_device(e, s)

_covers("mount", s, e) if _uses_device(e, s)

# The card was named before.
_covers("mount", _, e) if {
	some s in _requests("flash")
	_uses_device(e, s)
}

_covers("suspend", _, e) if {
	e.verb == "suspend"
	not e.host
	some word in effects.arguments(input.action.commands[e.command])
	word == "suspend"
}

_covers("picture", _, e) if {
	e.kind == "process"
	input.action.commands[e.command].name in _cfg.pictures
}

_covers("backup", _, e) if {
	_new_in_home(e)
	_folder_of_call(split(e.short, "/")[1])
}

_covers("hand_over", _, e) if {
	_new_file(e)
	_own_desktop(e)
	scores.matches(e.short, _cfg.desktop)
	not scores.one_or_below(lower(e.short), "", data.reviewer.workspace.executable)
}

_covers("drain", s, e) if {
	c := input.action.commands[e.command]
	e.target == "kubernetes"
	not effects.production(e)
	some verb in c.sub
	verb in {"drain", "cordon"}
	every word in c.operands { word in s.objects }
	count(c.operands) > 0
	every flag in object.get(c, "flags", []) { not strings.any_prefix_match(flag, _cfg.drains_more) }
}

_covers("lane", s, e) if {
	e.kind == "network"
	c := input.action.commands[e.command]
	c.name in data.reviewer.lists.lane_programs
	some word in array.concat(object.get(c, "sub", []), object.get(c, "operands", []))
	word in s.objects
}

_covers("route", _, e) if operates(e.command)

# The release of the named tag, as a draft with no files but those that the person named.
_covers("draft", s, e) if {
	scores.matches(effects.lines[e.command], _cfg.drafts)
	c := input.action.commands[e.command]
	every flag in c.flags { scores.matches(flag, _cfg.draft_options) }
	count(c.operands) > 0
	every word in c.operands { word in s.objects }
}

# The tag goes before it.
_covers("draft", s, e) if {
	c := input.action.commands[e.command]
	startswith(effects.lines[e.command], "git push ")
	not c.flags
	count(c.operands) > 1
	every word in array.slice(c.operands, 1, count(c.operands)) { word in s.objects }
}

_ends_named(e, s) if {
	effects.ends_process(e)
	e.certainty == "exact"
	_on_named_host(e, s)
	e.target in s.objects
}

_on_named_host(e, s) if {
	startswith(e.host, "ssh:")
	regex.replace(substring(e.host, 4, -1), `^[^@]*@`, "") in s.objects
}

_plain_place(e) if {
	e.certainty == "exact"
	object.get(e, "class", "backup") == "backup"
	not e.recursive
	scores.matches(e.target, _cfg.places)
	not scores.below(e, data.reviewer.system.rights)
}

# The name of a file, and the same without what marks it as new, old or a copy.
_names_of_file(e) := {base, plain} if {
	base := lower(regex.replace(e.target, `^.*/`, ""))
	plain := regex.replace(base, sprintf("([._-](%s|[0-9-]+))+$", [concat("|", data.reviewer.lists.copy_marks)]), "")
}

# A folder of the workspace, and one that ends in the workspace's name and the same path.
_same_folder(from, to) if {
	relative := trim_suffix(trim_prefix(from, "./"), "/")
	regex.match(`^[A-Za-z0-9_][^*?]*$`, relative)
	not contains(relative, "..")
	root := regex.replace(input.session.workspace, `^.*/`, "")
	endswith(trim_suffix(to, "/"), sprintf("/%s/%s", [root, relative]))
}

_of_named_device(path, s) if {
	some o in s.objects
	startswith(o, "/dev/")
	startswith(path, o)
	regex.match(`^p?[0-9]*$`, substring(path, count(o), -1))
}

# A disk of the system stays as it is, whatever was said. A card may be mounted where cards are.
_not_in_use(e) if not e.mounted

_not_in_use(e) if {
	scores.matches(e.mounted, _cfg.mounts)
	not startswith(e.mounted, "/tmp")
}

# A check of the file system of the card, or mounting it where cards are mounted, and the folder for that.
_uses_device(e, s) if {
	e.kind == "system_call"
	e.verb == "set"
	_of_named_device(e.target, s)
}

_uses_device(e, s) if {
	e.verb == "mount"
	_mounted_there(e.target, s)
}

_uses_device(e, s) if {
	e.kind == "file_write"
	e.verb == "create"
	_mounted_there(e.short, s)
}

_mounted_there(folder, s) if {
	scores.matches(folder, _cfg.mounts)
	some c in input.action.commands
	c.name in {"mount", "sudo"}
	folder in c.operands
	some word in c.operands
	_of_named_device(word, s)
}

_new_in_home(e) if {
	_new_file(e)
	e.location == "home"
	regex.match(`^~/[^./]`, e.short)
}

_new_file(e) if {
	e.kind == "file_write"
	e.certainty == "exact"
	not e.host
	not e.class
	not e.exists == "yes"
}

_own_desktop(e) if startswith(e.short, "~/")

# Of Windows: in the folder of the same person as the workspace.
_own_desktop(e) if {
	some home in regex.find_n(`^[A-Za-z]:/Users/[^/]+/`, e.short, 1)
	startswith(concat("", [replace(input.session.workspace, `\`, "/"), "/"]), home)
}

# A folder that the call makes, and that was not there.
_folder_of_call(name) if {
	some e in input.action.effects
	e.verb == "create"
	e.kind == "file_write"
	e.short == concat("", ["~/", name])
	e.exists == "no"
}
