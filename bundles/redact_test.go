package bundles

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/schemas"
	"github.com/google/go-cmp/cmp"
)

// The schema offers the kinds that the classifier finds.
func TestRedactKinds(t *testing.T) {
	b, err := schemas.FS.ReadFile("settings.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Properties struct {
			Redact struct {
				Properties struct {
					PII struct {
						Items struct {
							Enum []string `json:"enum"`
						} `json:"items"`
					} `json:"pii"`
				} `json:"properties"`
			} `json:"redact"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(engine.PersonalKinds(), doc.Properties.Redact.Properties.PII.Items.Enum); d != "" {
		t.Error(d)
	}
}

// Each layer may add kinds, none can take those of another away.
func TestRedactOfLayers(t *testing.T) {
	row := func(kinds string) string { return fmt.Sprintf("redact: {pii: [%s]}", kinds) }
	for _, test := range []struct {
		organisation, user, project string
		want                        []string
	}{
		{"", "", "", nil},
		{"iban", "", "", []string{"iban"}},
		{"", "phone, email", "", []string{"email", "phone"}},
		{"iban", "email", "card, email", []string{"card", "email", "iban"}},
	} {
		e, err := Assemble(shippedBundle(t), layer(t, Organisation, "settings.yaml", row(test.organisation)),
			layer(t, User, "settings.yaml", row(test.user)), layer(t, Project, "settings.yaml", row(test.project)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(test.want, e.Redact); d != "" {
			t.Errorf("%+v: %s", test, d)
		}
	}
	_, err := Assemble(shippedBundle(t), layer(t, User, "settings.yaml", row("emial")))
	if err == nil || !strings.Contains(err.Error(), `"email"`) {
		t.Errorf("a kind that there is not: %v", err)
	}
}
