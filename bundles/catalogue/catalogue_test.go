package catalogue

import (
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
)

func TestCatalogue(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	own, err := bundles.FromFiles(map[string][]byte{
		"rules/shop/shop.yaml": []byte("- {id: shop.b, severity: low, match: {commands: [b]}}\n- {id: shop.a, severity: high, enforcement: warn, match: {commands: [a]}}\n"),
		"settings.yaml":        []byte("enforcement: warn\nrules: {builtin: essential, disabled: [git_force_push], enforcement: {delete_broad: observe, shop.b: observe}}\n"),
	}, bundles.User)
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base, own)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Entry{}
	order := []string{}
	for _, r := range Of(e) {
		got[r.ID] = r
		if r.Layer == bundles.User {
			order = append(order, r.ID)
		}
	}
	if len(order) != 2 || order[0] != "shop.a" || got["shop.a"].Family != "shop" || got["shop.a"].Line != 2 {
		t.Errorf("%v, %+v", order, got["shop.a"])
	}
	for id, want := range map[string]string{
		"shop.a": "warn", "shop.b": "observe", "delete_broad": "observe",
		"git_force_push": Off, // disabled
		"git_no_verify":  Off, // not essential
		"git_discard":    "warn",
	} {
		if got[id].Enforcement != want {
			t.Errorf("%s: %s, want %s", id, got[id].Enforcement, want)
		}
	}
	for id, r := range got {
		for _, row := range e.Rules() {
			if row.ID == id && row.Always && r.Enforcement != "enforce" {
				t.Errorf("%s always holds, and is said to go %s", id, r.Enforcement)
			}
		}
	}
}
