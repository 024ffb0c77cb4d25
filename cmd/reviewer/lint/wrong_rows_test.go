package lint

import "strings"

// rule is a row with more keys than id, title and severity, and with a harm if these name none.
func rule(more string) string {
	if !strings.Contains(more, "harm: ") {
		more += "\n  harm: outward"
	}
	return "- id: mine\n  title: Mine\n  severity: high\n  decision: ask\n  message: m\n  examples: {match: [{tool: Bash, args: {command: ls}}], no_match: [{tool: Bash, args: {command: pwd}}]}\n  " + more + "\n"
}

var wrongCEL = []wrong{
	{"syntax in CEL", "rules/a.yaml", rule(`when: phase ==`), `rules/a.yaml:7:17: syntax error: the expression ends too early`},
	{"misspelt variable", "rules/a.yaml", rule(`when: acton.name == "x"`), `rules/a.yaml:7:9: unknown name "acton"; did you mean "action"?`},
	{"misspelt field in CEL", "rules/a.yaml", rule(`when: action.intnt == "x"`), `rules/a.yaml:7:15: unknown field "intnt"; did you mean "intent"?`},
	{"misspelt field in a block", "rules/a.yaml", rule("when: |\n    phase == \"pre\" &&\n      action.effects.exists(e, e.knd == \"x\")"), `rules/a.yaml:9:33: unknown field "knd"; did you mean "kind"?`},
	{"unknown word in CEL", "rules/a.yaml", rule(`when: phase == "pree"`), `rules/a.yaml:7:18: phase: unknown word "pree"; did you mean "pre"?`},
	{"misspelt window in CEL", "rules/a.yaml", rule(`when: history.windows.recnt.failed > 3`), `rules/a.yaml:7:24: windows: unknown word "recnt"; did you mean "recent"?`},
	{"misspelt window by its key", "rules/a.yaml", rule(`when: '"recnt" in history.windows'`), `rules/a.yaml:7:10: windows: unknown word "recnt"; did you mean "recent"?`},
	{"misspelt detector in CEL", "rules/a.yaml", rule(`when: action.detected["x.y"] > 0`), `rules/a.yaml:7:25: detected: unknown word "x.y"; expected one of …`},
	{"no bool", "rules/a.yaml", rule(`when: size(action.paths)`), `rules/a.yaml:7:9: expected a bool (compare the value with something), got int`},
	{"too expensive", "rules/a.yaml", rule(`when: action.effects.exists(a, action.effects.exists(b, action.effects.exists(c, a.target + b.target + c.target == "x")))`), `rules/a.yaml:7:9: could cost 352782083 units, the limit is 10000000: avoid nested loops over lists`},
	{"always false in CEL", "rules/a.yaml", rule(`when: phase == "pre" && 1 > 2`), `rules/a.yaml:7:24: this is always false, so the rule can never fire`},
	{"contradiction in CEL", "rules/a.yaml", rule(`when: phase == "pre" && action.name == "x" && phase == "post"`), "rules/a.yaml:7:55: `phase == \"post\"` and `phase == \"pre\"` exclude each other, so this can never be true"},
	{"contradiction inside", "rules/a.yaml", rule(`when: action.commands.exists(c, c.name == "git" && c.name == "hg")`), "rules/a.yaml:7:61: `c.name == \"hg\"` and `c.name == \"git\"` exclude each other, so this can never be true"},
	{"contradiction of numbers in CEL", "rules/a.yaml", rule(`when: time.hour > 20 && time.hour < 6`), "rules/a.yaml:7:37: `time.hour < 6` and `time.hour > 20` exclude each other, so this can never be true"},
	{"contradiction of not", "rules/a.yaml", rule(`when: session.stopped && !session.stopped`), "rules/a.yaml:7:28: `!session.stopped` and `session.stopped` exclude each other, so this can never be true"},
	{"a measure that is not a number", "rules/a.yaml", rule("measure: phase\n  threshold: 3"), `rules/a.yaml:7:12: expected a number (such as size(list), or double(value)), got string`},
	{"CEL of an access rule", "access/a.yaml", "id: a\nrules:\n  - {id: one, effect: deny, when: 'action.intnt == \"x\"'}\n", `access/a.yaml:3:42: unknown field "intnt"; did you mean "intent"? (1 more follows from this)`},
}

var wrongDefinitions = []wrong{
	{"a definition that is not YAML", "definitions.yaml", "a: [b\n", `definitions.yaml:1:4: this [ is not closed; write ] at its end`},
	{"a definition of no known type", "definitions.yaml", "a:\n  type: number\n  is: phase\n", `definitions.yaml:2:9: type: unknown word "number"; expected one of bool, int, double, string, list`},
	{"a definition without its expression", "definitions.yaml", "a:\n  type: bool\n", `definitions.yaml:2:3: definition a: is is missing`},
	{"a definition with an unknown key", "definitions.yaml", "a: {type: bool, is: 'true', iz: x}\n", `definitions.yaml:1:29: unknown key "iz"; did you mean "is"?`},
	{"a definition twice", "definitions.yaml", "a: {type: bool, is: 'true'}\na: {type: bool, is: 'true'}\n", `definitions.yaml:2:1: the key a is already set on line 1; keep one of the two`},
	{"a definition of the layer below", "definitions.yaml", "waiting:\n  type: bool\n  is: phase == \"pre\"\n", `definitions.yaml:1:1: is already defined; give the definition another name (4 more follow from this)`},
	{"a definition with the name of an input", "definitions.yaml", "action:\n  type: bool\n  is: phase == \"pre\"\n", `definitions.yaml:1:1: is the name of a part of the input; give the definition another one`},
	{"a definition with a capital letter", "definitions.yaml", "Waits:\n  type: bool\n  is: phase == \"pre\"\n", `definitions.yaml:1:1: a definition's name consists of lower-case letters, digits and _, and begins with a letter`},
	{"a misspelt name in a definition", "definitions.yaml", "waits:\n  type: bool\n  is: |\n    phase == \"pre\" &&\n      acton.name == \"x\"\n", `definitions.yaml:5:7: unknown name "acton"; did you mean "action"?`},
	{"a definition of another type than it says", "definitions.yaml", "waits:\n  type: bool\n  is: size(action.paths)\n", `definitions.yaml:3:7: expected bool, got int`},
	{"a definition of itself", "definitions.yaml", "waits:\n  type: bool\n  is: '!waits'\n", `definitions.yaml:3:8: uses waits, which is not defined before it`},
	{"a definition before what it uses", "definitions.yaml", "tries: {type: bool, is: waits}\nwaits: {type: bool, is: 'phase == \"pre\"'}\n", `definitions.yaml:1:25: uses waits, which is not defined before it`},
}

var wrongRows = []wrong{
	{"a harm of a rule that allows", "rules/a.yaml", "- id: mine\n  severity: high\n  decision: allow\n  harm: loss\n  when: phase == \"pre\"\n", `rules/a.yaml:4:9: rule mine names a harm, but only a rule whose decision is warn, modify, ask or block may have one`},
	{"a harm of a finding", "rules/a.yaml", "- id: mine\n  severity: high\n  harm: loss\n  when: phase == \"pre\"\n", `rules/a.yaml:3:9: rule mine names a harm, but only a rule whose decision is warn, modify, ask or block may have one`},
	{"no harm in the built-in policy", "base/rules/git/git.yaml", "- id: mine\n  severity: high\n  decision: modify\n  message: m\n  when: phase == \"pre\"\n", `rules/git/git.yaml:3:13: rule mine can hold up a call and names no harm, so it counts as closed; add harm, one of loss, exposure, foreign_code, unread, hold, outward, machine, forbidden, answered, closed, guard`},
	{"another harm of a limit", "rules/a.yaml", rule("limit: true\n  harm: loss\n  when: phase == \"pre\""), `rules/a.yaml:7:10: rule mine is a limit, which excludes calls whatever they do, but names the harm loss; write harm: closed or forbidden, or remove limit`},
	{"unknown harm", "rules/a.yaml", rule("harm: los\n  when: phase == \"pre\""), `rules/a.yaml:7:9: harm: unknown word "los"; did you mean "loss"?`},
	{"unattended, of requests", "rules/a.yaml", rule("unattended: allow\n  match: {types: [network_request]}"), `rules/a.yaml:7:15: rule mine cannot have unattended: allow: it is about actions of type network_request, whose effects are not known to stay in the workspace`},
	{"unattended, always", "rules/a.yaml", rule("unattended: allow\n  always: true\n  when: phase == \"pre\""), `rules/a.yaml:7:15: rule mine cannot have unattended: allow: it always applies (always: true)`},
	{"unattended, not understood", "rules/a.yaml", rule("unattended: allow\n  match: {facts: [not_understood]}"), `rules/a.yaml:7:15: rule mine cannot have unattended: allow: it is about actions with the fact not_understood`},
	{"no YAML", "rules/a.yaml", "- id: [a\n", `rules/a.yaml:1:7: this [ is not closed; write ] at its end`},
	{"unknown key", "rules/a.yaml", "- id: mine\n  titel: Mine\n  severity: high\n", `rules/a.yaml:2:3: unknown key "titel"; did you mean "title"?`},
	{"unknown severity", "rules/a.yaml", "- id: mine\n  title: Mine\n  severity: hihg\n", `rules/a.yaml:3:13: severity: unknown word "hihg"; did you mean "high"?`},
	{"no message", "rules/a.yaml", "- id: mine\n  title: Mine\n  severity: high\n  decision: ask\n  match: {phases: [pre]}\n", `rules/a.yaml:1:3: mine: message is missing: an answer of "ask" needs a reason (1 more follows from this)`},
	{"unknown phase in match", "rules/a.yaml", rule(`match: {phases: [pree]}`), `rules/a.yaml:7:20: phases: unknown word "pree"; did you mean "pre"?`},
	{"id twice in a file", "rules/a.yaml", rule(`match: {phases: [pre]}`) + rule(`match: {phases: [pre]}`), `rules/a.yaml:9:7: duplicate id mine, first in line 1`},
	{"id of another layer", "rules/a.yaml", "- id: delete_broad\n  title: Mine\n  severity: high\n  decision: ask\n  message: m\n  match: {phases: [pre]}\n", `rules/a.yaml:1:7: rule "delete_broad" of the user layer has the same id as a rule of the base layer; give it another id (2 more follow from this)`},
	{"unknown detector in match", "rules/a.yaml", rule(`match: {detected: [x.y]}`), `rules/a.yaml:7:10: rule mine: unknown detector "x.y"; expected one of …`},
	{"match that is never met", "rules/a.yaml", rule(`match: {phases: [prompt], commands: [git]}`), `rules/a.yaml:7:10: rule mine can never fire: its phases are prompt, and only a tool call (pre, post) has commands`},
	{"signal that is no longer given", "rules/a.yaml", rule(`match: {signals: [kill_all]}`), `rules/a.yaml:7:10: rule mine can never fire: kill_all is no longer produced; match on facts, and name the effects in when`},
	{"nothing fires it", "rules/a.yaml", "- id: mine\n  title: Mine\n  severity: high\n  decision: ask\n  message: m\n", `rules/a.yaml:1:7: rule mine can never fire: its row has no match, when or measure, and no Rego refers to it (1 more follows from this)`},
	{"level below the threshold", "rules/a.yaml", rule("measure: session.actions\n  threshold: 10\n  levels: [{at: 5, level: low}]"), `rules/a.yaml:9:11: levels: low at 5 is below the threshold 10 and can never be given`},
	{"unknown action", "rules/a.yaml", rule(`match: {actions: [code.exce]}`), `warning rules/a.yaml:7:10: no known tool has the action "code.exce"; did you mean "code.exec"?`},
	{"unknown tool in match", "rules/a.yaml", rule(`match: {tools: [Bsh]}`), `warning rules/a.yaml:7:10: no known tool is called "Bsh"; did you mean "Bash"?`},
	{"no test", "rules/a.yaml", "- id: mine\n  title: Mine\n  severity: high\n  decision: ask\n  message: m\n  match: {phases: [pre]}\n  harm: outward\n", `warning rules/a.yaml:1:7: rule mine has no case that expects it to fire`},
	{"threshold without a test", "rules/a.yaml", "- id: mine\n  title: Mine\n  severity: high\n  decision: ask\n  message: m\n  measure: session.actions\n  threshold: 3\n  examples: {match: [{tool: Bash, args: {command: ls}}]}\n  harm: outward\n", `warning rules/a.yaml:7:14: rule mine has no case that expects it not to fire, so its threshold is not tested`},
	{"unknown tool in an example", "rules/a.yaml", "- id: mine\n  title: Mine\n  severity: high\n  decision: ask\n  message: m\n  match: {phases: [pre]}\n  examples: {match: [{tool: Bsh, args: {command: ls}}]}\n", `rules/a.yaml:7:13: no known tool has this name; found "Bsh"; did you mean "Bash"?`},
	{"shadowed", "access/a.yaml", "id: a\nrules:\n  - {id: one, effect: deny, actions: [code.*]}\n  - {id: two, effect: allow, actions: [code.exec]}\n", `access/a.yaml:4:10: access rule access.a.two can never fire: rule one before it applies wherever this one does; move it first, or remove it (1 more follows from this)`},
	{"unknown effect", "access/a.yaml", "id: a\nrules:\n  - {id: one, effect: denny}\n", `access/a.yaml:3:23: effect: unknown word "denny"; did you mean "deny"?`},
	{"lapses", "access/a.yaml", "id: a\ndefault: allow\nrules:\n  - {id: one, effect: deny, schedule: {hours: [22, 6]}}\n", `warning access/a.yaml:4:10: access rule access.a.one stops applying outside its schedule; then the default allows what it holds up`},
	{"over", "access/a.yaml", "id: a\nrules:\n  - {id: one, effect: allow, expires_at: 2025-01-01}\n", `warning access/a.yaml:3:42: access rule access.a.one expired on 2025-01-01 and no longer applies; remove it, or set a later date`},
	{"bad date", "access/a.yaml", "id: a\nrules:\n  - {id: one, effect: deny, expires_at: soon}\n", `access/a.yaml:3:41: expires_at: "soon" is not a date; expected one such as 2027-01-31, or 2027-01-31T18:00:00Z`},
	{"unknown setting", "settings.yaml", "risk:\n  high_treshold: 0.9\n", `settings.yaml:2:3: risk.high_treshold: unknown key "high_treshold"; did you mean "high_threshold"?`},
	{"setting of the wrong type", "settings.yaml", "enforcement: enforced\n", `settings.yaml:1:1: enforcement: value must be one of "observe", "warn", "enforce", got "enforced"; did you mean "enforce"?`},
	{"levels out of order", "settings.yaml", "risk:\n  medium_threshold: 0.9\n", `settings.yaml:2:3: risk.medium_threshold (0.9) is above risk.high_threshold (0.8); levels must increase`},
	{"setting of the base layer only", "settings.yaml", "windows: {recent: {last: 3}}\n", `settings.yaml:1:1: windows: only the base layer may set this`},
	{"disabled rule that there is not", "settings.yaml", "rules:\n  disabled: [delete_untraked]\n", `settings.yaml:2:14: rules.disabled: no rule has the name "delete_untraked"; did you mean "delete_untracked"?`},
	{"enforcement of no rule", "settings.yaml", "rules:\n  enforcement:\n    delete_untraked: warn\n", `settings.yaml:3:5: rules.enforcement: no rule has the name "delete_untraked"; did you mean "delete_untracked"?`},
	{"disabled rule that always holds", "settings.yaml", "rules: {disabled: [guard_tampering]}\n", `settings.yaml:1:20: rules.disabled: rule guard_tampering always applies, regardless of this setting; remove it`},
	{"pattern that is none", "detectors/a.yaml", "- id: x.y\n  title: X\n  pattern: '('\n  examples: {match: [a], no_match: [b]}\n", `detectors/a.yaml:3:13: detector x.y: pattern: missing closing ): (`},
	{"detector that misses its example", "detectors/a.yaml", "- id: x.y\n  title: X\n  pattern: 'a'\n  examples: {match: [c], no_match: [b]}\n", `detectors/a.yaml:4:22: detector x.y does not match this example`},
	{"manifest with another root", ".manifest", `{"roots": ["policies/team"]}`, `.manifest:1:2: roots are ["policies/team"]; a bundle of the user layer has the single root "policies/user"`},
	{"manifest with an unknown key", ".manifest", `{"rots": []}`, `.manifest:1:2: unknown key "rots"; did you mean "roots"?`},
	{"a file that nobody reads", "notes.yaml", "a: 1\n", `notes.yaml: nothing reads this file; policy is in *.rego, data.yaml, settings.yaml, definitions.yaml, and in YAML files under rules/, patterns/, access/, detectors/ and, for rows, programs/, places/, tokens/, tools/, words/`},
	{"a rule that nobody reads", "rules/.a.yaml", "- id: x\n", `warning rules/.a.yaml: this file is not read: it is hidden, or its name does not end in .yaml, .yml, .json or .rego`},
	{"an empty file", "rules/a.yaml", "", `rules/a.yaml: the file is empty; add content or delete it`},
	{"data outside the root", "other/data.yaml", "a: 1\n", `other/data.yaml: data: "other" is outside the root "policies/user" of the user layer`},
}

var wrongCases = []wrong{
	{"a case that is not YAML", "cases/a.yaml", "name: [a\n", `cases/a.yaml:1:7: this [ is not closed; write ] at its end`},
	{"a case that expects nothing", "cases/a.yaml", "name: a\nevents:\n  - Bash: ls\n", "cases/a.yaml:1:1: case \"a\" has no expectations: give an event `expect: {decision: …}`, or the case a table `cases:`"},
	{"an unknown key of a case", "cases/a.yaml", "name: a\ncases:\n  - {Bash: ls, decison: allow}\n", `cases/a.yaml:3:16: unknown key "decison"; did you mean "decision"?`},
	{"an unknown tool in a case", "cases/a.yaml", "name: a\ncases:\n  - {tool: Bsh, args: {command: ls}, decision: allow}\n", `cases/a.yaml:3:12: no known tool has this name; found "Bsh"; did you mean "Bash"?`},
	{"an unknown rule in a case", "cases/a.yaml", "name: a\ncases:\n  - {Bash: ls, not_rules: [delete_brod]}\n", `cases/a.yaml:3:28: no rule has this id; found "delete_brod"; did you mean "delete_broad"?`},
	{"a word that is not a verdict", "cases/a.yaml", "name: a\ncases:\n  - {Bash: ls, decision: deny}\n", `cases/a.yaml:3:26: decision: unknown word "deny"; expected one of allow, warn, modify, ask, block`},
	{"a result without a call", "cases/a.yaml", "name: a\nevents:\n  - {result: ok, expect: {decision: allow}}\n", `cases/a.yaml:3: event 1: 0 calls before this event, but it is about number 0`},
	{"a layer that is none", "cases/a.yaml", "name: a\nlayers: {team: {a.rego: x}}\ncases:\n  - {Bash: ls, decision: allow}\n", `cases/a.yaml:4: layers: unknown layer; expected one of organisation, user, project, found "team"`},
	{"a layer of a case with a mistake", "cases/a.yaml", "name: a\nlayers: {user: {rules/a.yaml: '- id: x'}}\ncases:\n  - {Bash: ls, decision: allow}\n", `cases/a.yaml:4: layers.user: rules/a.yaml:1: the rule: severity is missing`},
}
