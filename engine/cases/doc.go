// Package cases reads case files and compares what happened with what they
// expect. A case describes a machine, a sequence of events, and the decisions
// that policy is expected to make. Only what is listed is compared.
//
//	name: a force push becomes one with a lease
//	workspace: /srv/shop              # these three are the defaults; workspace: none: it is unknown; C:/shop: the machine runs Windows
//	home: /home/anna
//	now: 2026-03-02T09:00:00Z          # a Monday; each event is one second later
//	files:                             # files on the machine; omitted: nothing is known about it
//	  notes.txt: "a string"              # in the workspace, under ~/, or absolute
//	  src/: null                       # a folder; parent folders of files exist implicitly
//	  current: {link: src}
//	  SRC: {same: src}                 # another name of the same folder: a disk that ignores case
//	git: {notes.txt: untracked}        # clean, dirty, untracked, ignored, conflict; omitted: unknown
//	mode: default                      # the agent's permission mode
//	todo: why it does not pass yet                         # in a case or a row: it runs, but its failure is not counted
//	incident: INC05                    # a real incident: a call must be held up where the case expects it, and none before
//	twin: true                         # the harmless counterpart: no call is blocked or asked about
//	settings: {risk: {high_threshold: 0.7}}                # settings.yaml of the user's layer
//	layers: {project: {rules/mine.yaml: "- id: …"}}        # whole files of layers
//	events:
//	  - prompt: tidy up
//	  - Bash: git push --force origin topic                # short for {tool: Bash, args: {command: …}}
//	    expect: {decision: modify, rules: [git_force_push], rewritten: git push --force-with-lease origin topic}
//	  - result: ok                                         # of the last call; or failed, or {failed: text, output: text}
//	  - allow: once                                        # a manual override of the last call; or call: 2 for the second
//	  - stop: enough                                       # a person stops the session; resume: continues it
//	  - restore: try another way                           # a person restores the files to a checkpoint
//	  - {phase: stop, at: +5m}                             # any other event of the agent
//	  - {Bash: make, times: 3, result: failed}             # three calls, each with its result
//	  - {Write: "src/{n}.go", times: 40, every: 2s}         # {n} is 1, 2, … in arguments and results; a pause between
//	  - {result: ok, files: {out.txt: "made"}}             # files that exist after it
//
// A table contains many small cases. Each row is a session of its own, which
// begins with the events above the table, if there are any:
//
//	name: deletions
//	cases:
//	  - {Bash: rm -rf ~, decision: block, rule: delete_broad}
//	  - {Write: /etc/passwd, decision: block}
//
// A file contains one or more YAML documents, each a case or a list of cases. In
// the txtar form, the member case.yaml is the case and each other member is a
// file of the workspace.
//
// Out of scope: running anything. Other packages determine what a call means and
// what policy decides; this package only needs the resulting record.
package cases
