package reviewer.scores

# METADATA
# title: An effect is in the session's scope
# description: Only paths have a scope.
# scope: document
in_scope(e) if e.location in data.reviewer.scope.locations

in_scope(e) if not e.location

# On other machines nothing is in the session's scope: reads there are ordinary, and
# changes count as in scope only if scope.hosts says so.
in_scope(e) if {
	e.host
	e.kind == "file_read"
}

in_scope(e) if own_host(e)

# A person added the place to the session's scope at a terminal.
in_scope(e) if e.scoped

in_scope(e) if allowed_place(e)

in_scope(e) if open_place(e)

in_scope(e) if start_up_named(e)

# A rule asks about it (delete_named).
in_scope(e) if ordered(e)

in_scope(e) if own_file(e)

in_scope(e) if cache(e)

# Data sent to a board at a serial port is not on a disk.
in_scope(e) if {
	e.kind == "file_write"
	e.location == "device"
	e.certainty == "exact"
	strings.any_prefix_match(e.target, data.reviewer.system.serial)
}

# METADATA
# title: A file outside the scope that did not exist before the session wrote it is deleted
# description: A person approved that write.
own_file(e) if {
	e.kind == "file_delete"
	e.location in {"outside", "home"}
	e.ledger == "created"
	e.certainty == "exact"
	not e.recursive
	not e.entry == "dir"
}

# METADATA
# title: A deletion outside the scope finds nothing
# description: >-
#   No file has that name when the call begins, and nothing in the call puts one there. A part of the call
#   that is not understood could, so a whole folder counts only without one.
# scope: document
not_there(e) if {
	_absent(e)
	not e.recursive
}

not_there(e) if {
	_absent(e)
	not "not_understood" in input.facts
}

_absent(e) if {
	e.exists == "no"
	e.kind == "file_delete"
	e.certainty == "exact"
	e.location in {"outside", "home", "beside"}
	not e.host
}

# METADATA
# title: A tool's cache is deleted
# description: The tool can download or build it again.
cache(e) if {
	e.kind == "file_delete"
	known_path(e)
	e.location in {"outside", "home"}
	some pattern in data.reviewer.scope.caches
	regex.match(pattern, e.short)
}

# METADATA
# title: The user asked by name to delete a file outside the scope
# description: One plain file whose path is fully known, while the request is to clean up.
ordered(e) if {
	e.kind == "file_delete"
	e.named
	"clean" in input.goal.intents
	e.location in {"outside", "home"}
	e.certainty == "exact"
	not e.class
	not e.recursive
	not e.entry == "dir"
}

# METADATA
# title: An effect is in a place that settings allow
# description: Besides the workspace, such as where the agent keeps its plans.
allowed_place(e) if {
	e.location in {"outside", "home", "beside"}
	known_path(e)
	below(e, data.reviewer.workspace.allowed)
}

# METADATA
# title: An effect is in one of several places
# description: A place may be written in short form or in full, or begin with {workspace}.
below(e, places) if strings.any_prefix_match(spellings(e), folders(places))

# METADATA
# title: The places as beginnings of paths
folders(places) := split(trim_suffix(replace(replace(listed, "/\u0000", "\u0000"), "\u0000", "/\u0000"), "\u0000"), "\u0000") if {
	places != []
	listed := replace(_listed("", array.concat(places, [""]), ""), "{workspace}", input.session.workspace)
}

# METADATA
# title: Each text of a list with something before and after it
# description: Without a loop over the list, whose cost would grow with the length of the list.
between(before, list, after) := split(_listed(before, list, after), "\u0000") if {
	list != []
}

# METADATA
# title: A text matches one of several patterns
# description: >-
#   As one pattern, since the cost of a loop would grow with the length of the list.
matches(text, patterns) if {
	patterns != []
	regex.match(concat("", ["(?:", concat(")|(?:", patterns), ")"]), text)
}

# METADATA
# title: A text is one of several, or ends in one after a separator
# description: Such as a host that is one of several, or a subdomain of one.
one_or_below(text, separator, list) if strings.any_suffix_match(concat("", [separator, text]), between(separator, list, ""))

# NUL separates the texts, since no path and no host has one.
_listed(before, list, after) := concat("", [before, concat(concat("", [after, "\u0000", before]), list), after])

# METADATA
# title: The forms of an effect's path
# description: In short form, and in full; either may be missing.
spellings(e) := [concat("", [trim_suffix(path, "/"), "/"]) | some field in ["short", "target"]; path := e[field]; path != ""]

# METADATA
# title: An effect happens in a local container or virtual machine
own_host(e) if strings.any_prefix_match(e.host, data.reviewer.scope.hosts)
