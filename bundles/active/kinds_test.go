package active

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
)

const paging = "interventions: {kinds: {page: {command: [/usr/local/bin/page]}}}\n"

func packedSettings(t *testing.T, settings string) []byte {
	t.Helper()
	b, err := bundles.FromFiles(map[string][]byte{
		".manifest":     []byte(`{"roots": ["policies/organisation"], "rego_version": 1, "metadata": {"name": "acme/agents", "version": "1.4.0"}}`),
		"settings.yaml": []byte(settings),
	}, bundles.Organisation)
	if err != nil {
		t.Fatal(err)
	}
	made, err := bundles.Pack(b, bundles.Release{Name: "acme/agents", Version: "1.4.0", Sequence: 42, Engine: 1, Capabilities: signing.SHA256(nil), TestsSkipped: true})
	if err != nil {
		t.Fatal(err)
	}
	return made.Bytes
}

// trusts makes the machine's trust file one in which alice signs releases, and the
// role of operations has a right, or none.
func (h *Layers) trusts(t *testing.T, organisation bool, may string, alice, ops *signing.PrivateKey) {
	t.Helper()
	var text strings.Builder
	text.WriteString("version: 1\nkeys:\n")
	for name, k := range map[string]*signing.PrivateKey{"alice": alice, "ops": ops} {
		public, _ := json.Marshal(k.PublicKey().PEM())
		fmt.Fprintf(&text, "  %s: {type: %s, public: %s}\n", name, k.PublicKey().Type(), public)
	}
	text.WriteString("roles:\n  root: {keys: [alice], threshold: 1}\n  release: {keys: [alice], threshold: 1}\n" +
		"  operations: {keys: [ops], threshold: 1" + may + "}\nchannels:\n  stable: {names: [acme/agents], role: release}\n")
	parsed, err := trust.Parse([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	h.trust = func() (Trust, error) {
		return Trust{Trust: parsed, Path: "trust.yaml", Organisation: organisation}, nil
	}
}

// Kinds of intervention run programs: they hold only in an activated bundle that a role
// with that right has signed. Without it the layer is refused; it is not used without them.
func TestWhoMayDefineKinds(t *testing.T) {
	alice, ops := signer(t), signer(t)
	archive := packedSettings(t, paging)
	r := releaseOf(t, archive, bundles.Organisation)
	one, both := sealed(t, archive, r, alice), sealed(t, archive, r, alice, ops)
	const may = ", may: [interventions]"
	for name, c := range map[string]struct {
		organisation bool
		may          string
		envelope     []byte
		want         string
	}{
		"the right and its signature":       {false, may, both, ""},
		"of the organisation":               {true, may, both, ""},
		"a release without that signature":  {false, may, one, "no role that may has signed it: operations (1 of ops)"},
		"the same under the organisation":   {true, may, one, "no role that may has signed it"},
		"a role without the right":          {false, "", both, "no role of the trust file may"},
		"the same role of the organisation": {true, "", both, "no role of the trust file may"},
	} {
		t.Run(name, func(t *testing.T) {
			h := governed(t, false)
			h.trusts(t, c.organisation, c.may, alice, ops)
			h.machine.Program = func() string { return "here" }
			h.put(t, bundles.Organisation, archive, c.envelope, func(*releases.Release) {})
			h.loads(t, c.want)
		})
	}
	t.Run("no trust file", func(t *testing.T) {
		h := governed(t, false)
		h.put(t, bundles.Organisation, archive, nil, func(r *releases.Release) { r.Unsigned = true })
		h.loads(t, "which only a signed bundle may")
	})
	t.Run("a folder", func(t *testing.T) {
		h := governed(t, true)
		if err := os.WriteFile(filepath.Join(h.organisation, "settings.yaml"), []byte(paging), 0o644); err != nil {
			t.Fatal(err)
		}
		h.loads(t, "is a folder: pack it with `reviewer policy build`")
	})
}

func (h *Layers) loads(t *testing.T, want string) {
	t.Helper()
	var b *bundles.Bundle
	s, err := h.Source(bundles.Organisation)
	if err == nil {
		if b, err = s.Load(); (s.OwnKinds() == nil) != (err == nil) {
			t.Errorf("asked alone it says %v", s.OwnKinds())
		}
	}
	switch {
	case want == "" && (err != nil || len(b.OwnKinds()) != 1):
		t.Errorf("%v, %+v", err, b)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%v; expected %q", err, want)
	}
}
