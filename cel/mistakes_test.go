package cel

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// Habits from other languages are reported, each at its place.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`phase = "pre"`:                              `when:1:7: = is not an operator of CEL: write == to compare`,
		`phase == "pre" and session.stopped`:         `when:1:16: and is not an operator of CEL: write &&`,
		`phase == "pre" or session.stopped`:          `when:1:16: or is not an operator of CEL: write ||`,
		`not session.stopped`:                        `when:1:1: not is not an operator of CEL: write ! before what is to be false; "not in" is !(x in list)`,
		`not(session.stopped)`:                       `when:1:4: not is not an operator of CEL: write ! before what is to be false; "not in" is !(x in list)`,
		`session.stopped & phase == "pre"`:           `when:1:17: & is not an operator of CEL: write && for "and"`,
		`session.stopped | phase == "pre"`:           `when:1:17: | is not an operator of CEL: write || for "or"`,
		`phase === "pre"`:                            `when:1:7: === is not an operator of CEL: write ==`,
		`phase <> "pre"`:                             `when:1:7: <> is not an operator of CEL: write !=`,
		"session.stopped &&\n  phase = \"pre\"":      `when:2:9: = is not an operator of CEL: write == to compare`,
		`phase == "a = b and c" and true`:            `when:1:24: and is not an operator of CEL: write &&`,
		`len(action.paths) > 1`:                      `when:1:4: unknown function len: write size(x)`,
		`any(action.paths)`:                          `when:1:4: unknown function any: write list.exists(x, condition)`,
		`action.name.matches("a(?=b)")`:              `when:1:21: the pattern "a(?=b)" is not a regular expression (RE2): (?=: RE2 has no lookahead or lookbehind; match the surrounding text as well`,
		`action.name.matches("[a")`:                  `when:1:21: the pattern "[a" is not a regular expression (RE2): missing closing ]: [a`,
		`true`:                                       `when:1:1: this is always true, so the rule fires for everything; compare something, or write match: {phases: [pre]} if every call is meant`,
		`phase == "pre" || 2 > 1`:                    `when:1:16: this is always true, so the rule fires for everything; compare something, or write match: {phases: [pre]} if every call is meant`,
		`history.fired[?"acme.flailing"].hasValue()`: `when:1:16: fired: unknown word "acme.flailing"; did you mean "acme.failing"?`,
		`action.commands.exists(c, c.name == "kubectl" && "apply" in c.operands)`:                      `when:1:58: "apply" is a subcommand of kubectl, so it is in c.sub and not in c.operands: write "apply" in c.sub`,
		`action.commands.exists(c, c.operands[0] == "apply" && phase == "pre" && c.name == "kubectl")`: `when:1:41: "apply" is a subcommand of kubectl, so it is in c.sub and not in c.operands: write "apply" in c.sub`,
		`action.commands.exists(c, c.name == "podman" && "-a" in c.flags)`:                             `when:1:49: "-a" is one way to write an option: write c.has("-n", "--name"), with all names of the option`,
		`action.commands.exists(c, c.flags.exists(f, f.matches("^-[a-z]*f")))`:                         `when:1:55: "^-[a-z]*f" is one way to write an option: write c.has("-n", "--name"), with all names of the option`,
		`action.paths.exists(p, p.matches("[.](md|mdx|txt|rst|adoc|org)$"))`:                           `when:1:33: a list of more than 5 names in a condition: no other layer can add to it. Write it in data.yaml or a row, or name it in definitions.yaml`,
		`action.commands.exists(c, c.name in ["a", "b", "c", "d", "e", "f"])`:                          `when:1:37: a list of more than 5 names in a condition: no other layer can add to it. Write it in data.yaml or a row, or name it in definitions.yaml`,
		`"acme.fialing" in history.fired`:                                                              `when:1:1: fired: unknown word "acme.fialing"; did you mean "acme.failing"?`,
	} {
		h, err := Compile([]Condition{{ID: "a", When: text}})
		if err != nil {
			t.Fatal(err)
		}
		found := h.Inspect(vocabulary())
		if len(found) == 0 {
			t.Errorf("%s: nothing is said", text)
			continue
		}
		if got := "condition a: " + want; found[0].Error() != got || found[0].Code == "" {
			t.Errorf("%s:\n got %v (%s)\nwant %s", text, found[0], found[0].Code, got)
		}
	}
}

// Valid code is not reported: the operators of CEL, and words in strings.
func TestNoMistakes(t *testing.T) {
	for _, text := range []string{
		`phase == "pre" && !session.stopped || action.name != "a = b and not c"`,
		`size(action.paths) > 0 && action.paths.exists(p, p.startsWith("~/"))`,
		`action.name == 'it is & | =' ? true : session.stopped`,
		`history.fired[?"acme.failing"].hasValue() // and so on = fine`,
		`action.commands.exists(c, c.name == "shopctl" && "apply" in c.operands)`,
		`action.commands.exists(c, c.name == "kubectl" && "prod" in c.operands)`,
		`action.commands.exists(c, c.name == "kubectl" && "explain" in c.sub && "apply" in c.operands)`,
		`action.commands.exists(c, (c.name == "kubectl" || c.name == "shopctl") && "apply" in c.operands)`,
		`action.commands.exists(c, c.has("-a", "--all") && "--context=prod" in c.flags && !("-x" in c.operands))`,
		`action.commands.exists(c, c.has("-a") && c.flags.exists(f, f.startsWith("--context=")))`,
		`action.commands.exists(c, c.name in ["a", "b", "c", "d", "e"])`,
		`action.signals.exists(s, s in ["remote_code", "checked_code", "publish", "tunnel", "disk_write", "power_state"])`,
		`action.effects.exists(e, e.location in ["inside", "self", "worktree", "temp", "beside", "notes", "null"])`,
		`-1 < session.actions && session.actions >= 3 && session.actions <= 9`,
		`domain(action.hosts[0], "shop.example") && data.lists.ssh.exists(h, domain("api.shop.example", h))`,
		`time.hour < 8 || time.hour >= 18 || time.minute == 59`,
		`time.hour >= 8 && time.hour < 18 && (session.actions > 3 || session.prompts <= 3)`,
		`history.windows.recent.failed >= 10 && history.windows.long.failed > 10 && history.windows.recent.same > 10`,
		`history.since.failed <= 1 || history.since.prompt == 1000`,
		`phase == "stop" && has(event.says) && event.says.admits`,
		`action.commands.exists(c, c.name == "curl") && action.commands.exists(c, c.name == "sh" && c.has("-s"))`,
		`action.commands.exists(c, c.name == "tee" && "-a=x y" in c.flags) && action.name.matches(r"\bexec\b")`,
	} {
		settings := &Names{Data: map[string]any{"lists": map[string]any{"ssh": []any{"ssh"}}}}
		h, err := Compile([]Condition{{ID: "a", When: text, Names: settings}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range h.Inspect(vocabulary()) {
			t.Errorf("%s: %v", text, e)
		}
	}
}

func vocabulary() engine.Vocabulary {
	return engine.Vocabulary{Findings: []string{"acme.failing"}, Windows: []string{"recent", "long"}, Lengths: map[string]int{"recent": 10},
		Subcommand: func(program, word string) bool { return program == "kubectl" && word == "apply" }}
}
