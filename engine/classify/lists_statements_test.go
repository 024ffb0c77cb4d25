package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// statementCase returns a prompt in which a word more of the table of acts, or of the words around them, counts.
func statementCase(set *rows.Set, name string) (wordCase, bool) {
	if said, ok := statementCases[name]; ok {
		word, text, cut := strings.Cut(said, ": ")
		if !cut {
			word, text = "zzqx", said
		}
		return wordCase{said: text, word: word}, true
	}
	if kind, ok := strings.CutPrefix(name, "kind."); ok {
		return kindCase(set, kind)
	}
	rest, ok := strings.CutPrefix(name, "act.")
	if !ok {
		return wordCase{}, false
	}
	act, part, _ := strings.Cut(rest, ".")
	first := func(part string) string {
		for _, w := range set.Words("act." + act + "." + part) {
			return w
		}
		return ""
	}
	thing := first("things")
	if thing == "" {
		thing = first("nouns")
	}
	verb := first("verbs")
	if verb == "" {
		verb = first("with") + " the " + thing
	}
	return wordCase{said: map[string]string{
		"orders": "zzqx it", "verbs": "don't zzqx", "nouns": "no zzqx please", "bare": "no zzqx", "with": "don't zzqx the " + thing, "makes": "zzqx the " + thing,
		"things": "don't " + first("with") + " the zzqx", "objects": "don't " + verb + " zzqx stuff", "says": "zzqx", "in": "the freeze zzqx", "over": "the freeze zzqx",
	}[part]}, true
}

// kindCase returns a prompt in which a word more of a kind of program counts.
func kindCase(set *rows.Set, name string) (wordCase, bool) {
	kind, part, found := strings.Cut(name, ".")
	if !found {
		kind, part = "bar", name
	}
	usual := set.Words("kind." + kind + ".names")[0]
	return wordCase{word: "zzqx", said: map[string]string{
		"names": "make the zzqx larger", "programs": "make the " + usual + " larger", "unlike": "make the " + usual + " larger zzqx",
	}[part]}, true
}

// statementCases are such prompts for the words around acts; before a colon stands the word that is added, if it is another one.
var statementCases = map[string]string{
	"prompt.asks_you":              "zzqx commit this?",
	"prompt.forced":                "push: never push",
	"prompt.brings":                "zzqx this merged",
	"prompt.reasons":               "push it zzqx CI runs",
	"prompt.therefore":             "CI is green zzqx push it",
	"prompt.withdrawals":           "push it. zzqx",
	"prompt.corrections":           "push it. zzqx no",
	"prompt.not_yet":               "commit zzqx",
	"prompt.deferrals":             "the deploy zzqx",
	"prompt.reserving":             "zzqx push first",
	"prompt.attached":              "don't pushzzqx",
	"prompt.bans":                  "哦哦: 这个仓库里哦哦部署",
	"prompt.code_words":            "niet zzqx veranderen",
	"prompt.reasoning":             "no cambies nada zzqx lopsum",
	"prompt.subjects":              "zzqx niet mergen",
	"prompt.english":               "geen: lopsum geen deploy zzqxy",
	"prompt.existing":              "lopsum geen zzqx deploy",
	"prompt.telling":               "lopsum geen bazzqx deploy",
	"prompt.reminders":             "zzqx push",
	"prompt.announces":             "よよ: コミットよよ",
	"prompt.us":                    "ik: ik niet mergen tot lopsum klaar is",
	"prompt.wants":                 "zzqx de wijzigingen zien voordat je iets deployt",
	"prompt.modal":                 "never: people never push",
	"prompt.indefinite":            "zzqx PR please",
	"prompt.moments":               "everywhere: push it to main, but not everywhere",
	"prompt.wishable":              "install: installation please",
	"prompt.determiners":           "add a field to zzqx form and push",
	"prompt.paired":                "implement zzqx and push",
	"prompt.explains":              "fix zzqx tests and push",
	"prompt.purposes":              "fix the test zzqx tests and push",
	"prompt.other_work":            "zzqx the tests and push",
	"prompt.outcomes":              "push the zzqx",
	"prompt.texts":                 "commit it with a zzqx",
	"prompt.with":                  "commit it zzqx a message",
	"prompt.praise":                "zzqx, push it",
	"prompt.wonders":               "can you push, zzqx?",
	"prompt.before_request":        "build it zzqx put main.go on 10.1.2.3",
	"prompt.alternatives":          "don't commit, push zzqx deploy",
	"prompt.sequels":               "fix the typo zzqx push it",
	"prompt.passed":                "push it when tests zzqx",
	"prompt.checks":                "push it when zzqx pass",
	"prompt.passed_then":           "tests zzqx push it",
	"prompt.after_checks":          "push it zzqx tests pass",
	"prompt.infinitives":           "t: auf staging deployt",
	"prompt.possessives":           "wir: push wir changes",
	"prompt.contracted":            "nicht: faz deploy nicht staging",
	"prompt.portuguese":            "please: please deploy no staging",
	"request.remove_branch.verbs":  "zzqx the branch",
	"request.remove_branch.things": "delete the zzqx",
	"request.remove_branch.unlike": "delete the branch zzqx",
	"request.remove_branch.needs":  "host: delete the branch",
	"prompt.media":                 "write the image to it. the zzqx is /dev/sdc",
	"prompt.kept":                  "flash pi.img to the card /dev/sdc. the card /dev/sdb is zzqx",
	"prompt.postponing":            "comment on the PR again zzqx",
	"request.tell.needs":           "command: comment on the PR",
	"request.tell.verbs":           "zzqx 5",
	"request.tell.after":           "comment on the PR zzqx",
	"request.tell.unlike":          "comment on the PR about zzqx",
	"request.type.needs":           "host: run `go test ./...`",
	"request.type.verbs":           "zzqx `go test ./...`",
	"request.put.needs":            "device: put main.go on 10.8.0.51",
	"request.put.verbs":            "zzqx main.go on 10.8.0.51",
	"request.restart.needs":        "device: restart gwd on 10.8.0.51",
	"request.restart.verbs":        "zzqx gwd on 10.8.0.51",
	"request.restart.says":         "gwd on 10.8.0.51 zzqx",
	"request.flash.needs":          "host: flash the image to the card /dev/sdc",
	"request.flash.verbs":          "zzqx the image to the card /dev/sdc",
	"request.flash.things":         "flash the zzqx to /dev/sdc",
	"request.mount.verbs":          "zzqx the card in /dev/sdc",
	"request.mount.things":         "mount the zzqx in /dev/sdc",
	"request.drain.needs":          "host: drain w3",
	"request.drain.verbs":          "zzqx w3",
	"request.suspend.verbs":        "zzqx?",
	"request.suspend.unlike":       "suspend it zzqx",
	"request.picture.verbs":        "zzqx a screenshot",
	"request.picture.things":       "take a zzqx",
	"request.backup.verbs":         "zzqx a backup",
	"request.backup.things":        "make a zzqx",
	"request.hand_over.verbs":      "zzqx it onto the desktop",
	"request.hand_over.things":     "zip it onto the zzqx",
	"request.lane.verbs":           "zzqx the beta lane",
	"request.lane.things":          "run the beta zzqx",
	"request.draft.verbs":          "zzqx the draft release v1.2.0",
	"request.draft.things":         "write the zzqx release v1.2.0",
	"request.draft.also":           "write the draft zzqx v1.2.0",
	"request.draft.despite":        "delete: write the draft release v1.2.0, don't delete a.go",
	"request.draft.unlike":         "write the draft release v1.2.0 zzqx",
	"request.upgrade.verbs":        "zzqx the system",
	"request.upgrade.things":       "upgrade the zzqx",
	"request.go_live.verbs":        "zzqx it",
	"request.go_live.unlike":       "make it live zzqx",
	"request.cycle.needs":          "command: restart web in prod",
	"request.cycle.verbs":          "zzqx web in prod",
	"request.cycle.things":         "restart web in zzqx",
	"request.scale.needs":          "command: scale web to 5",
	"request.scale.verbs":          "zzqx web to 5",
	"request.configure.needs":      "command: set the secret KEY",
	"request.configure.verbs":      "zzqx the secret KEY",
	"request.configure.things":     "set the zzqx KEY",
	"request.switch_on.needs":      "command: turn on the flag cart",
	"request.switch_on.verbs":      "zzqx the flag cart",
	"request.switch_on.things":     "turn on the zzqx cart",
	"request.switch_off.needs":     "command: turn off the flag cart",
	"request.switch_off.verbs":     "zzqx the flag cart",
	"request.switch_off.things":    "turn off the zzqx cart",
	"request.route.needs":          "command: point the domain at main.go",
	"request.route.verbs":          "zzqx the domain at main.go",
	"request.route.things":         "point the zzqx at main.go",
	"prompt.aged":                  "delete the zzqx dumps folder",
	"prompt.doing":                 "you can stop fizzqx now",
	"prompt.now":                   "you can restart the pi zzqx",
	"prompt.pointed":               "them: remove them from src/",
	"prompt.inverted":              "zzqx: delete a.go, and make is slow, zzqx spotlight busy?",
	"prompt.generic":               "fix the zzqx",
	"prompt.shells":                "write a zzqx script",
	"prompt.code_kinds":            "write a zsh zzqx",
	"prompt.likens":                "fix it zzqx the kiosk",
	"prompt.planners":              "change it in zzqx, plan only",
	"prompt.machine_places":        "fix it zzqx the pi",
	"prompt.articles":              "fix it on zzqx pi",
	"prompt.own_project":           "fix the zzqx",
	"prompt.not":                   "zzqx commit",
	"prompt.never":                 "zzqx commit",
	"prompt.without":               "fix it zzqx committing",
	"prompt.without_after":         "commit zzqx fix it",
	"prompt.off":                   "zzqx main.go",
	"prompt.no":                    "don't: don't changes",
	"prompt.absent":                "don't: don't commit",
	"prompt.passive":               "nothing zzqx committed",
	"prompt.restricts":             "ne touche zzqx main.go",
	"prompt.self":                  "the commits zzqx",
	"prompt.ask":                   "zzqx before you commit",
	"prompt.before":                "ask me zzqx you commit",
	"prompt.asking":                "don't commit zzqx",
	"prompt.until":                 "don't commit zzqx I say so",
	"prompt.me":                    "now: now don't commit",
	"prompt.work":                  "only zzqx main.go",
	"prompt.limit":                 "zzqx main.go",
	"prompt.only":                  "zzqx touch main.go",
	"prompt.outside":               "don't touch anything zzqx main.go",
	"prompt.leave":                 "zzqx the push to me",
	"prompt.alone":                 "leave main.go zzqx",
	"prompt.may":                   "zzqx commit",
	"prompt.always":                "you may commit zzqx",
	"prompt.make":                  "don't zzqx a commit",
	"prompt.polite":                "no changes zzqx",
	"prompt.fillers":               "don't commit zzqx",
	"prompt.starters":              "zzqx commit",
	"prompt.targets":               "deploy to zzqx",
	"prompt.turns":                 "fix it zzqx don't commit",
	"prompt.blocks":                "don't commit: don't commit",
	"prompt.go":                    "zzqx",
	"prompt.go_weak":               "zzqx",
	"prompt.not_before":            "commits zzqx I say so",
	"prompt.only_then":             "commits zzqx, until I say so",
	"prompt.chosen_1":              "zzqx",
	"prompt.chosen_2":              "zzqx",
	"prompt.chosen_3":              "zzqx",
	"prompt.chosen_4":              "zzqx",
	"prompt.goes":                  "now: now commit it",
	"prompt.revokes":               "zzqx pushing",
	"prompt.hands_over":            "this is it zzqx\ncommit it",
	"prompt.kind_nouns":            "delete the zzqx old",
	"prompt.towards":               "push zzqx topic",
	"prompt.saying":                "comment on the issue zzqx it works",
	"prompt.places":                "don't touch the zzqx",
	"prompt.lasting":               "commit: commit it",
	"prompt.all":                   "a.go is mine, don't overwrite zzqx",
	"prompt.referring":             "commit: a.go is mine, don't commit",
	"prompt.broad":                 "push: don't push them raring",
	"prompt.nobody":                "zzqx pushes",
	"prompt.by_word":               "remove: don't remove the exporter",
	"prompt.duration":              "zzqx: do not commit zzqx",
	"prompt.yourself":              "zzqx: never merge pull requests zzqx",
	"prompt.everyday":              "install: don't install random crates",
	"prompt.past":                  "ing: not pushing",
	"prompt.before_past":           "don't: don't pushed",
	"prompt.one":                   "the: without the commit",
	"prompt.of_subject":            "never: tests never run",
	"prompt.will":                  "zzqx deploy tonight",
	"prompt.not_after":             "pushen zzqx",
	"prompt.owned":                 "deployment zzqx ops",
	"prompt.vague":                 "don't push the zzqx they broke",
	"prompt.compound":              "keine: keine commits kaputt",
	"prompt.future":                "yesterday: i push myself yesterday or so",
	"prompt.clock":                 "roll out zzqx 22:00, i do that myself",
	"prompt.hours":                 "roll out at 22 zzqx, i do that myself",
	"prompt.conditions":            "please: please don't commit",
	"act.freeze.nouns":             "we are in a zzqx",
	"act.freeze.things":            "the zzqx is over",
	"prompt.conjunctions":          "don't touch a.go zzqx fix it",
	"prompt.joiners":               "don't touch a.go, zzqx b.go",
	"prompt.pronouns":              "Look at main.go. Don't touch zzqx",
	"prompt.plain_file_names":      "don't touch Zzqx",
	"prompt.dotted_words":          "zz.go: don't touch zz.go",
	"prompt.slashed_words":         "zz/qx: don't touch zz/qx",
	"prompt.interjections":         "plan only: plan only. look at it",
	"prompt.let_me":                "wait, zzqx look",
	"prompt.just":                  "only: only change main.go",
	"prompt.nothing_else":          "change main.go, zzqx",
	"prompt.whatever":              "install zzqx",
	"prompt.it_before":             "also: make a draft. i also edit myself",
	"prompt.it_after":              "code: make a draft. i edit code myself",
	"prompt.keeps":                 "zzqx main.go",
	"prompt.limited":               "run: only run the tests",
	"prompt.others":                "fix main.go, don't touch zzqx",
	"prompt.parts":                 "don't touch the timeout zzqx in main.go",
	"prompt.within":                "don't touch the timeout zzqx main.go",
	"prompt.postponed":             "leave main.go zzqx",
	"prompt.stops":                 "zzqx committing",
	"prompt.works_on":              "don't zzqx on main",
	"work.asks":                    "zzqx fix the login?",
	"work.asked":                   "kannst du das zzqx?",
	"work.verbs":                   "zzqx the login",
	"work.implements":              "zzqx the plan",
	"work.with":                    "go ahead zzqx",
	"work.goes_on":                 "zzqx",
	"work.plans":                   "create the zzqx",
	"work.studies":                 "create the zzqx",
	"work.notes":                   ".zzq: write it down in a.zzq",
	"work.said":                    "fix zzqx in main",
	"work.approves":                "1 zzqx",
	"work.picks":                   "zzqx 1",
	"work.options":                 "do zzqx 1",
	"work.links":                   "write a plan zzqx implement it",
	"work.around":                  "zzqx fix it",
	"request.tree.verbs":           "zzqx this worktree",
	"request.tree.things":          "remove this zzqx",
}
