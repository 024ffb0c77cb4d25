package reviewer.families.database

import data.reviewer.effects

# METADATA
# title: Destructive database operation
# description: >-
#   Tables are dropped or emptied, or rows changed without a condition, in a database that
#   is remote or cannot be identified, or in any database marked as production. If the SQL is in
#   a program's code and no database is known, changed rows are only asked about.
# related_resources:
#   - https://attack.mitre.org/techniques/T1485/
#   - https://www.postgresql.org/docs/current/sql-rollback.html
# custom:
#   severity: critical
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC8.1]
#   message: "This drops, empties or overwrites tables of a remote, unknown or production database: {command}"
#   remediation: back the database up first, limit it to the rows or keys that you mean, or try it on a copy
#   overridable: [organisation, user]
database_destructive if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.loses_data(e)
	_severe(e)
}

# METADATA
# title: Irreversible database change
# description: >-
#   The operations of database_destructive on this machine, or by a tool that rebuilds the
#   database; and changes that lose no data but open the database to others.
# related_resources:
#   - https://www.postgresql.org/docs/current/backup-dump.html
#   - https://www.sqlite.org/cli.html
# custom:
#   severity: high
#   decision: ask
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC8.1]
#   message: "This drops or rebuilds a database, or opens it to others: {command}"
#   remediation: back up first (pg_dump, .backup), or use a database whose name marks it as a test database
#   overridable: [organisation, user, project]
database_change if {
	# On this machine, by a tool that rebuilds the database, or in a way that loses no data but opens
	# it to others. A person who has a backup can approve.
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.loses_data(e)
	e.verb != "exec"
	not _severe(e)
	not _forced(e)
}

# METADATA
# title: Schema synchronization that accepts data loss
# description: >-
#   A tool that keeps a database in line with its schema is told to continue even if data is
#   lost. The project's configuration determines which database that is; it may be a shared one.
# related_resources:
#   - https://www.prisma.io/docs/orm/reference/prisma-cli-reference
#   - https://attack.mitre.org/techniques/T1485/
# custom:
#   severity: critical
#   decision: block
#   harm: loss
#   tags: [essential, OWASP-ASI02, ATTACK-T1485, SOC2-CC8.1]
#   message: "This rebuilds a database and accepts data loss in advance: {command}"
#   remediation: show a migration first (`prisma migrate dev --create-only`, `drizzle-kit generate`), or use a test database on this machine
#   overridable: [organisation, user, project]
database_forced if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.loses_data(e)
	_forced(e)
}

# METADATA
# title: Code run by a database server
# description: The code has the rights of the server, not those of the database user.
# related_resources:
#   - https://www.postgresql.org/docs/current/sql-copy.html
#   - https://attack.mitre.org/techniques/T1505/001/
# custom:
#   severity: critical
#   decision: ask
#   harm: foreign_code
#   tags: [OWASP-ASI05, ATTACK-T1505, ATTACK-T1059, SOC2-CC6.8]
#   message: "This runs code outside SQL on a database server, or loads it there: {command}"
#   remediation: "run the program yourself and load its result (\\copy, LOAD DATA LOCAL)"
#   overridable: [organisation, user]
database_code if {
	"changes" in input.facts
	"system_command" in input.action.types
	input.phase == "pre"
	some e in input.action.effects
	effects.loses_data(e)
	e.verb == "exec"
}

# METADATA
# title: Rows deleted or changed
# related_resources:
#   - https://www.postgresql.org/docs/current/sql-begin.html
# custom:
#   severity: low
#   decision: warn
#   tags: [OWASP-ASI02, ATTACK-T1565]
#   message: "This deletes or changes the rows that match a condition: {command}"
#   remediation: check the rows first with a SELECT on the same condition, and change them between BEGIN and COMMIT
#   overridable: [organisation, user, project]
database_rows if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.object == "rows"
	e.kind == "process"
	not effects.rehearsal(e)
	not effects.made_here(e)
}

# METADATA
# title: Rows deleted or changed that match a pattern
# description: A pattern that may begin with anything matches rows that nobody thought of. Databases for tests are left out.
# related_resources:
#   - https://www.postgresql.org/docs/current/functions-matching.html
# custom:
#   severity: medium
#   decision: ask
#   harm: loss
#   tags: [OWASP-ASI02, ATTACK-T1565]
#   message: "This deletes or changes all rows that match a pattern, and they cannot be restored: {command}"
#   remediation: list the rows first with a SELECT on the same condition, and name them by their keys
#   overridable: [organisation, user, project]
database_pattern if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.object == "rows"
	e.kind == "process"
	regex.match(`\b(delete\s+from|update)\b.*\b(i?like|~\*?|similar\s+to|regexp|rlike)\s+e?'[%.^]`, effects.lines[e.command])
	not effects.rehearsal(e)
	not effects.made_here(e)
	not _for_tests(e)
}

_for_tests(e) if effects.marked(effects.lines[e.command], {word | some word in data.reviewer.markers.test; word != "test"})

_for_tests(e) if {
	some flag in input.action.commands[e.command].flags
	regex.match(`^(-d|--dbname|--database|-D)=`, flag)
	effects.marked(flag, data.reviewer.markers.test)
}

# METADATA
# title: Unread script run against a database
# description: >-
#   The script comes from a file or command whose text is not known in advance and is not
#   under version control. It can drop tables just like a statement on the command line.
# related_resources:
#   - https://www.postgresql.org/docs/current/app-psql.html
# custom:
#   severity: high
#   decision: ask
#   harm: unread
#   tags: [OWASP-ASI02, ATTACK-T1485, SOC2-CC8.1]
#   message: "This runs a database script that cannot be read in advance: {command}"
#   remediation: name the script file itself so that it can be read, commit it first, or try it on a database whose name marks it as a test database
#   overridable: [organisation, user, project]
database_unseen if {
	"changes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.object == "script"
	e.kind == "process"
	not effects.rehearsal(e)
	not effects.made_here(e)
}

# The tool does not prompt, and its configuration names the database.
_forced(e) if {
	e.verb == "reset"
	e.forced
	not _local(e)
}

_severe(e) if effects.production(e)

_severe(e) if {
	e.verb in data.reviewer.databases.block
	not _local(e)
}

_local(e) if {
	effects.near(e)
	e.loopback
}

_local(e) if {
	effects.near(e)
	startswith(e.target, "sqlite:")
}

# The database cannot be identified: SQL in a program's code, or with no client at all.
_local(e) if {
	startswith(e.target, "sql:")
	not e.verb in data.reviewer.databases.block_unseen
}
