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

func TestOwnKindsThatAreWrong(t *testing.T) {
	kind := func(text string) string { return "interventions: {kinds: {mine: {" + text + "}}}" }
	for _, tt := range []struct{ layer, settings, want string }{
		{User, paging, "interventions.kinds.page_oncall: only the organisation's layer may define kinds of intervention, in a signed bundle"},
		{Project, paging, "interventions.kinds.page_oncall: only the organisation's layer"},
		{Organisation, kind("text: x"), "give exactly one of webhook"},
		{Organisation, kind("webhook: 'https://a.example', command: [/bin/true]"), "give exactly one of webhook"},
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
