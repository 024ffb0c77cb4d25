package reviewer.scores

# METADATA
# title: A file outside the workspace may be changed without a question
# description: >-
#   The person's own words name the place, or what it belongs to; or people keep documents there. What
#   existed before is not lost (keeps_content).
open_place(e) if {
	open_kind(e)
	keeps_content(e)
}

# METADATA
# title: A file outside the workspace whose place and kind are open, whatever becomes of what is in it
# scope: document
open_kind(e) if {
	_open_effect(e)
	_named_settings(e)
}

open_kind(e) if {
	_open_effect(e)
	_named_project(e)
}

open_kind(e) if {
	_open_effect(e)
	_data(e)
}

# METADATA
# title: A write that loses nothing that was in the file
# scope: document
keeps_content(e) if e.exists == "no"

keeps_content(e) if {
	e.exists == "yes"
	e.verb in data.reviewer.workspace.keeping
	not e.entry in {"dir", "link"}
}

# Version control has the content.
keeps_content(e) if {
	e.git == "clean"
	_named_project(e)
	not e.entry in {"dir", "link"}
}

# An edit of a place that the person named.
keeps_content(e) if {
	_edits(e)
	e.entry == "file"
	e.mentioned
}

_edits(e) if e.verb == "edit"

_edits(e) if input.action.commands[e.command].name in data.reviewer.workspace.editors

_open_effect(e) if {
	data.reviewer.workspace.outside == "ask"
	e.kind == "file_write"
	e.certainty == "exact"
	e.verb in data.reviewer.workspace.writing
	not e.host
	not e.recursive
	not e.mode
	not e.privileged
	not e.repository
	not e.secret
	not _reads_secrets
	_of_person(e)
	not below(e, data.reviewer.workspace.denied)
	not below(e, data.reviewer.system.rights)
	not program_folder(e)
}

_reads_secrets if {
	some e in input.action.effects
	e.class in {"credential", "env_file"}
}

# A home directory is that of the session's user.
_of_person(e) if {
	e.location in data.reviewer.workspace.named
	e.location != "home"
}

_of_person(e) if {
	e.location == "home"
	"home" in data.reviewer.workspace.named
	startswith(e.short, "~/")
}

# METADATA
# title: A file in a folder of programs
program_folder(e) if {
	some part in split(lower(e.short), "/")
	part in data.reviewer.workspace.closed
}

# The settings of a program, or of a site in a server: only what the call shows, and nothing that starts something.
_named_settings(e) if {
	matches(e.mentioned, data.reviewer.workspace.settings)
	not _guards(e.mentioned)
	_settings_class(e)
	_shown(e)
	not input.action.detected["place.starts"]
	every c in _written_into(e) { _starts_no_program(c) }
}

_written_into(e) := [c | some c in input.action.code; c.path == e.short]

# Read as code, the text does nothing but name programs: most lines of settings look like the call of one.
_starts_no_program(c) if {
	count(object.get(c, "added_signals", [])) == 0
	every a in object.get(c, "added", []) { _only_a_name(a) }
}

_only_a_name(a) if {
	a.kind == "process"
	a.verb == "exec"
	not contains(a.target, "/")
	not a.target in data.reviewer.workspace.starters
}

_settings_class(e) if not e.class

_settings_class(e) if {
	e.class == "system_config"
	e.location == "system"
}

_guards(place) if regex.replace(place, `^.*/`, "") in data.reviewer.system.guards

_shown(e) if _makes_folder(e)

_shown(e) if {
	e.shown
	not "not_understood" in input.facts
}

# An editor of lines shows what it puts in, unless it reads that from another file.
_shown(e) if {
	c := input.action.commands[e.command]
	c.name in data.reviewer.workspace.editors
	object.get(c, "via", []) == []
	not _unknown_words(c)
	every o in [o | some o in input.action.effects; o.command == e.command] { o.target == e.target }
	not "not_understood" in input.facts
}

_unknown_words(c) if {
	some word in array.concat(object.get(c, "operands", []), object.get(c, "flags", []))
	regex.match(`^\?$|^(-f|--file)`, word)
}

# A project or a site: a folder of that name, which is not part of another project, and nothing hidden in it.
_named_project(e) if {
	e.location != "system"
	count(split(e.mentioned, "/")) > 1
	e.mentioned != "/"
	startswith(e.short, concat("", [e.mentioned, "/"]))
	not contains(substring(e.short, 1, -1), "/.")
	_own_checkout(e)
	_plain_class(e)
}

_own_checkout(e) if not e.checkout

_own_checkout(e) if startswith(concat("", [e.checkout, "/"]), concat("", [e.mentioned, "/"]))

_plain_class(e) if not e.class

_plain_class(e) if e.class in {"generated", "test"}

_data(e) if {
	e.area == "data"
	_document(e)
	not e.class
	not e.checkout
}

# A setting says that the disk is thrown away: what no row classes is somebody's data.
_data(e) if {
	data.reviewer.workspace.disposable
	e.location in {"home", "outside"}
	_plain_class(e)
	not contains(substring(e.short, 1, -1), "/.")
}

_document(e) if e.document

_document(e) if _makes_folder(e)

_makes_folder(e) if {
	e.verb == "create"
	input.action.commands[e.command].name in data.reviewer.workspace.makers
}

# METADATA
# title: A start-up file of what the person named for work, whose new content starts nothing else
# description: >-
#   The file has the name itself (~/.zshrc), or it is in the folder of the program (~/.config/fish). Units of
#   a person may start the program that has their name.
start_up_named(e) if {
	e.class == "startup"
	e.kind == "file_write"
	e.certainty == "exact"
	e.verb in data.reviewer.workspace.writing
	_of_user(e)
	not e.mode
	not e.privileged
	not e.checkout
	_start_up_of_mention(e)
	keeps_content(e)
	_shown(e)
	not input.action.detected["place.start_up"]
	every c in _written_into(e) { _starts_nothing_else(c, e) }
}

_of_user(e) if {
	not e.host
	e.location == "home"
	startswith(e.short, "~/")
}

# A session in the home directory itself.
_of_user(e) if {
	not e.host
	e.location == "inside"
	startswith(e.short, "./.")
}

_start_up_of_mention(e) if matches(e.mentioned, data.reviewer.workspace.settings)

# A unit with the name of what is to run at certain times.
_start_up_of_mention(e) if {
	e.mentioned == e.short
	e.timed
}

# A session in the home directory itself: ./.zshrc is ~/.zshrc.
_start_up_of_mention(e) if {
	e.location == "inside"
	matches(regex.replace(e.mentioned, `^\.`, "~"), data.reviewer.workspace.settings)
}

_starts_nothing_else(c, e) if {
	not c.added_unread
	every signal in object.get(c, "added_signals", []) { signal == "persistence_mechanism" }
	every a in object.get(c, "added", []) { _harmless_start(a, e) }
}

_harmless_start(a, _) if {
	a.kind == "file_read"
	not a.class
	regex.match(`^/(usr/(share|lib)|etc)/`, a.target)
}

# What the shell runs here is a file, and it is among what is read.
_harmless_start(a, _) if {
	a.kind == "process"
	a.verb == "exec"
	a.target in {".", "source"}
}

# A program by its name alone, as it is installed.
_harmless_start(a, _) if {
	a.kind == "process"
	a.verb == "exec"
	regex.match(`^([A-Za-z0-9_.:+-]+|/usr/bin/[A-Za-z0-9_.+-]+|/bin/[A-Za-z0-9_.+-]+)$`, a.target)
	not regex.replace(a.target, `^.*/`, "") in data.reviewer.workspace.starters
}

_harmless_start(a, e) if {
	a.kind == "process"
	a.verb == "exec"
	not regex.match(`/\.|^/(tmp|var/tmp|dev/shm)/`, a.target)
	regex.replace(a.target, `^.*/`, "") == regex.replace(regex.replace(e.short, `^.*/`, ""), `\.[a-z]+$`, "")
}
