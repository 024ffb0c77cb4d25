package bundles

import (
	"strings"
	"testing"
)

const paging = "interventions: {kinds: {page_oncall: {command: [/usr/local/bin/page, --now], text: 'paged ({rule})'}}, ladders: {loop: [soft_correction, page_oncall]}}"

func TestOwnKinds(t *testing.T) {
	e, err := assembled(t, [2]string{Organisation, paging}, [2]string{User, "interventions: {ladders: {ping_pong: [page_oncall]}}"})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Layer(Organisation).OwnKinds(); len(got) != 1 || got[0] != "page_oncall" {
		t.Errorf("the organisation has %v", got)
	}
	names, err := OwnKindsIn(map[string][]byte{"settings.yaml": []byte(paging), "rules/a.yaml": []byte("[")})
	if err != nil || len(names) != 1 {
		t.Errorf("its files have %v, %v", names, err)
	}
}

// What a kind does is enough.
func TestOwnKindsThatTellNobody(t *testing.T) {
	for _, text := range []string{"does: [remind, limit, wait, restore, stop]", "does: [limit], command: [/bin/true]", "does: [stop], webhook_env: X"} {
		if _, err := assembled(t, [2]string{Organisation, "interventions: {kinds: {mine: {" + text + "}}}"}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestOwnKindsThatAreWrong(t *testing.T) {
	kind := func(text string) string { return "interventions: {kinds: {mine: {" + text + "}}}" }
	for _, tt := range []struct{ layer, settings, want string }{
		{User, paging, "interventions.kinds.page_oncall: only the organisation's layer may define kinds of intervention, in a signed bundle"},
		{Project, paging, "interventions.kinds.page_oncall: only the organisation's layer"},
		{Organisation, kind("text: x"), "give exactly one of webhook"},
		{Organisation, kind("webhook: 'https://a.example', command: [/bin/true]"), "give exactly one of webhook"},
		{Organisation, kind("does: []"), "expected at least 1 item"},
		{Organisation, kind("does: [limit, limit]"), "are equal"},
		{Organisation, kind("does: [limits, wait]"), `"stop", got "limits"; did you mean "limit"?`},
		{Organisation, kind("does: [wait], webhook_env: X, command: [/bin/true]"), "give exactly one of webhook"},
		{Organisation, kind("does: [wait], env: [X]"), "env is for a command"},
		{Organisation, kind("command: [page]"), `command begins with "page"; give the absolute path of a program`},
		{Organisation, kind("command: [/bin/true], secret_env: X"), "secret_file, secret_env and proxy are for a webhook"},
		{Organisation, kind("webhook_env: X, env: [Y]"), "env is for a command"},
		{Organisation, kind("command: /bin/true"), "expected array, but got string"},
		{Organisation, kind("shell: rm"), "'shell' not allowed"},
		{Organisation, "interventions: {kinds: {emergency_stop: {command: [/bin/true]}}}", "this is a built-in kind"},
		{Organisation, "interventions: {kinds: {Mine: {command: [/bin/true]}}}", "does not match pattern"},
		{Organisation, "interventions: {ladders: {loop: [page_oncal]}}", `interventions.ladders.loop: "page_oncal" is not a kind of intervention; expected one of soft_correction`},
		{User, "interventions: {ladders: {loop: [soft_corection]}}", `did you mean "soft_correction"?`},
		{User, "interventions: {progressive: [page]}", `interventions.progressive: "page" is not a kind`},
		{User, "interventions: {severity: {below: {page: 1}}}", `interventions.severity.below.page: "page" is not a kind`},
	} {
		_, err := assembled(t, [2]string{tt.layer, tt.settings})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "settings.yaml:1") {
			t.Errorf("%s, %s: %v", tt.layer, tt.settings, err)
		}
	}
}

// Nobody is asked whether a base layer is signed, so it has no kinds.
func TestBaseHasNoOwnKinds(t *testing.T) {
	base := map[string]any{"interventions": map[string]any{"kinds": map[string]any{"mine": map[string]any{}}}}
	b := &Bundle{Layer: Base, Data: map[string]any{"reviewer": base}, checked: true}
	if _, _, err := mergeSettings([]*Bundle{b}); err == nil || !strings.Contains(err.Error(), "only the organisation's layer") {
		t.Error(err)
	}
}

// The errors about channels say what to do.
func TestChannelsThatAreWrong(t *testing.T) {
	channel := func(text string) string { return "interventions: {notification_channels: [{name: c, " + text + "}]}" }
	for _, tt := range []struct{ settings, want string }{
		{channel("kind: pigeon"), `value must be one of "webhook", "slack", "ntfy"`},
		{channel("kind: webhook"), "give its address in one of url, url_file and url_env"},
		{channel("kind: slack"), "an incoming webhook in url_file or url_env, or a token"},
		{channel("kind: slack, secret_env: X"), "give one recipient in to"},
		{channel("kind: telegram, to: ['-100'], secret_env: X, secret_file: /x"), "give one of secret_file and secret_env"},
		{channel("kind: telegram, to: ['-100']"), "give the token of the bot"},
		{channel("kind: telegram, to: ['-100', '-200'], secret_env: X"), "a second person gets a channel of their own"},
		{channel("kind: telegram, secret_env: X"), "missing properties: 'to'"},
		{channel("kind: webhook, url: 'http://hooks.example.com'"), "url must begin with https://"},
		{channel("kind: webhook, url: 'https://a.example', url_env: X"), "give one of url, url_file and url_env"},
		{channel("kind: desktop, after_seconds: 60"), "add about: [approvals], or remove them"},
		{channel("kind: desktop, about: [approvals], quiet: {from: '22:00', to: '22:00'}"), "quiet begins and ends at the same time"},
		{channel("kind: desktop, about: [approvals], quiet: {from: '22:00', to: '07:00', zone: Europe/Nowhere}"), "is not a time zone"},
		{channel("kind: desktop, about: [approvals], quiet: {from: '25:00', to: '07:00'}"), "does not match pattern"},
		{channel("kind: desktop, about: [everything]"), `value must be one of "stops", "approvals"`},
		{channel("kind: ntfy, url: 'https://a.example/t', token: x"), "'token' not allowed"},
		{"interventions: {notification_channels: [{name: c, kind: desktop}, {name: c, kind: desktop, program: /x}]}", "an earlier channel has this name"},
	} {
		_, err := assembled(t, [2]string{User, tt.settings})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "settings.yaml:1") {
			t.Errorf("%s: %v", tt.settings, err)
		}
	}
	_, err := assembled(t, [2]string{User, "interventions: {notification_channels: [" +
		"{name: a, kind: slack, about: [stops, approvals], secret_file: ~/.config/slack, to: [C0123456789], digest_seconds: 30, per_hour: 20}, " +
		"{name: b, kind: ntfy, url_env: TOPIC, about: [approvals], quiet: {from: '22:00', to: '07:00', zone: Europe/Berlin, days: [mon]}}, " +
		"{name: c, kind: telegram, secret_env: BOT, to: ['-1001234'], about: [approvals], after_seconds: 60}, " +
		"{name: d, kind: sms, url: 'https://sms.example.com/send?to={to}', body: 'text={text}', to: ['+49151'], headers: {X: '{secret}'}, secret_env: S}]}"})
	if err != nil {
		t.Error(err)
	}
}

const halting = "interventions: {kinds: {halt: {does: [limit, stop]}, slow_down: {does: [limit]}}}"

func TestDeadRungs(t *testing.T) {
	for settings, want := range map[string]string{
		"{}": "",
		"interventions: {ladders: {loop: [context_reinforcement, emergency_stop]}}":                                             "",
		"interventions: {ladders: {git_force_push: [soft_correction]}}":                                                         "git_force_push decides",
		"{interventions: {ladders: {git_force_push: [soft_correction]}}, rules: {enforcement: {git_force_push: warn}}}":         "",
		"{interventions: {ladders: {git_force_push: [soft_correction]}}, enforcement: warn}":                                    "",
		"interventions: {ladders: {deny_workaround: [soft_correction]}}":                                                        "",
		"interventions: {ladders: {goal_drift: [soft_correction]}}":                                                             "goal_drift is only recorded",
		"{interventions: {ladders: {goal_drift: [soft_correction]}}, rules: {enforcement: {goal_drift: enforce}}}":              "",
		"{interventions: {ladders: {loop: [soft_correction]}}, rules: {enforcement: {loop: observe}}}":                          "loop is only recorded",
		"interventions: {ladders: {exploration_wandering: [soft_correction]}}":                                                  "exploration_wandering has no decision",
		"interventions: {strategy: progressive, ladders: {loop: [soft_correction]}}":                                            "strategy is progressive",
		"interventions: {immediate: [loop], ladders: {loop: [soft_correction]}}":                                                "loop is in interventions.immediate",
		"interventions: {soft_correction: false, ladders: {loop: [soft_correction, context_reinforcement]}}":                    "soft_correction is never used",
		"interventions: {soft_correction: false}":                                                                               "",
		"interventions: {ladders: {loop: [emergency_stop, soft_correction]}}":                                                   "",
		"interventions: {stops: {levels: [low, medium]}, ladders: {loop: [emergency_stop, soft_correction]}}":                   "soft_correction is never used, since emergency_stop stops",
		"interventions: {stops: {levels: [low, medium]}, ladders: {loop: [halt, soft_correction]}}":                             "soft_correction is never used, since halt stops",
		"interventions: {stops: {levels: [low, medium]}, ladders: {loop: [slow_down, soft_correction]}}":                        "",
		"interventions: {hard_stop: false, stops: {levels: [low, medium]}, ladders: {loop: [emergency_stop, soft_correction]}}": "",
	} {
		e, err := assembled(t, [2]string{Organisation, halting}, [2]string{User, settings})
		if err != nil {
			t.Errorf("%s: %v", settings, err)
			continue
		}
		var found []string
		for _, p := range e.PointlessSettings() {
			found = append(found, p.Error())
		}
		if all := strings.Join(found, "\n"); (want == "") != (all == "") || !strings.Contains(all, want) {
			t.Errorf("%s: got %q, want %q", settings, all, want)
		}
	}
}
