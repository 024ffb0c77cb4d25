package shipped

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles"
)

var changelogSection = flag.String("changelog-section", "", "file with the section about this version of the built-in policy: it becomes the first of the changelog")

const changelog = "../../../docs/policy-changelog.md"

// The version and the sequence number of the built-in policy rise with each change that can move a decision: the
// changelog has a section for each, with a digest of what decides.
func TestPolicyVersion(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	m := base.Manifest.Metadata
	digest := decidingDigest(t, base)
	raw, err := os.ReadFile(changelog)
	if err != nil {
		t.Fatal(err)
	}
	head, sections, _ := strings.Cut(string(raw), "\n## ")
	if *changelogSection != "" {
		text, err := os.ReadFile(*changelogSection)
		if err != nil {
			t.Fatal(err)
		}
		title, body, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(text)), "## "), "\n")
		sections = fmt.Sprintf("%s (%d)\n\n<!-- decides: %s -->\n%s\n\n## %s", title, m.Sequence, digest, body, sections)
		if err := os.WriteFile(changelog, []byte(head+"\n## "+sections), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasPrefix(sections, fmt.Sprintf("%s %s (%d)\n\n<!-- decides: %s -->\n", m.Name, m.Version, m.Sequence, digest)) {
		t.Errorf("what decides in bundles/default differs from that of the first version in docs/policy-changelog.md: raise version "+
			"and sequence in bundles/default/.manifest, and run make policy-changelog SINCE=REVISION (this is %s %s, %d, %s)",
			m.Name, m.Version, m.Sequence, digest)
	}
	if n := 1 + strings.Count(sections, "\n## "); int64(n) != m.Sequence {
		t.Errorf("the sequence number is %d, but the changelog has %d versions", m.Sequence, n)
	}
}

// decidingDigest is a digest of a policy without comments, messages and other texts for people.
func decidingDigest(t *testing.T, b *bundles.Bundle) string {
	t.Helper()
	h := sha256.New()
	add := func(v any) {
		if err := json.NewEncoder(h).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Modules)) {
		m, err := ast.ParseModule(name, b.Modules[name])
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range m.Rules {
			add(m.Package.String() + r.String())
		}
	}
	rules := slices.Clone(b.Rules)
	slices.SortFunc(rules, func(a, b bundles.Rule) int { return strings.Compare(a.ID, b.ID) })
	for _, r := range rules {
		r.Title, r.Description, r.Message, r.Remediation, r.References, r.Examples = "", "", "", "", nil, bundles.RuleExamples{}
		add(r)
	}
	data := maps.Clone(b.Data)
	if reviewer, is := data["reviewer"].(map[string]any); is {
		reviewer = maps.Clone(reviewer)
		delete(reviewer, "messages")
		data["reviewer"] = reviewer
	}
	add(bundles.Normal(data))
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		if kind := bundles.FileKind(name); kind != bundles.RowsFile && kind != bundles.DetectorsFile && kind != bundles.AccessFile && kind != bundles.Definitions {
			continue
		}
		var doc any
		if err := yaml.Unmarshal(b.Files[name], &doc); err != nil {
			t.Fatalf("%s: %v", path.Base(name), err)
		}
		add(bundles.Normal(doc))
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
