package active

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// personsKey signs as the key of an approval code does.
type personsKey struct{ ed25519.PrivateKey }

func (k personsKey) Key() engine.PersonKey {
	return engine.PersonKey{Public: hex.EncodeToString(k.Public().(ed25519.PublicKey))}
}

func (k personsKey) Sign(statement []byte) []byte { return ed25519.Sign(k.PrivateKey, statement) }

func newKey(seed byte) personsKey {
	return personsKey{ed25519.NewKeyFromSeed(slices.Repeat([]byte{seed}, ed25519.SeedSize))}
}

// machineWith is a machine whose person has a key and accepted their own policy.
func machineWith(t *testing.T, files map[string]string) (Machine, personsKey) {
	t.Helper()
	k := newKey(1)
	m := Machine{Home: t.TempDir(), Now: func() int64 { return 0 }}
	m.Log = &audit.Store{Dir: m.Home}
	if err := m.Log.SetPersonKey(context.Background(), k.Key(), "kim", nil); err != nil {
		t.Fatal(err)
	}
	writeOwn(t, m, files)
	acceptAll(t, m, k)
	return m, k
}

func acceptAll(t *testing.T, m Machine, k personsKey) {
	t.Helper()
	a, err := m.Acceptance()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Accept(context.Background(), m.Log, "kim", k); err != nil {
		t.Fatal(err)
	}
}

// writeOwn makes the files those of the person's own policy; nil: the folder is missing.
func writeOwn(t *testing.T, m Machine, files map[string]string) {
	t.Helper()
	dir := LayerDir(bundles.User, m.Home, "")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	ownRule = `- {id: my.vault, title: The vault, severity: high, decision: block, message: no, remediation: none, when: "true"}` + "\n"
	ownMild = `- {id: my.vault, title: The vault, severity: high, decision: warn, message: no, remediation: none, when: "true"}` + "\n"
	newRule = `- {id: my.deploy, title: Deployments, severity: high, decision: ask, message: no, remediation: none, when: "true"}` + "\n"
	newList = "id: ours\nrules:\n  - {id: one, effect: deny, tools: [Bash]}\n"
	ownRego = "package policies.user\n\nexceptions contains {\"rule\": \"git_force_push\"}\n"
)

func TestOwnPolicy(t *testing.T) {
	accepted := map[string]string{
		"settings.yaml":    "enforcement: warn\nrisk: {high_threshold: 0.7}\nzones: [/data/, /srv/]\ngrant: true\n",
		"rules/vault.yaml": ownRule,
	}
	with := func(name, content string) map[string]string {
		files := map[string]string{}
		for n, c := range accepted {
			files[n] = c
		}
		if files[name] = content; content == "" {
			delete(files, name)
		}
		return files
	}
	settings := func(text string) map[string]string { return with("settings.yaml", text) }
	const same = "enforcement=warn risk.high_threshold=0.7 zones=+/data/+/srv/ grant=true rules=my.vault"
	for name, c := range map[string]struct {
		files map[string]string
		state OwnState
		want  string // of activeNow
		told  string
	}{
		"as accepted":                 {accepted, OwnAccepted, same, ""},
		"only tests were added":       {with("cases/x.yaml", "- nonsense"), OwnAccepted, same, ""},
		"a comment":                   {settings("# x\n" + accepted["settings.yaml"]), OwnChanged, same, "(settings.yaml)"},
		"loosened":                    {settings("enforcement: observe\nrisk: {high_threshold: 0.79}\nzones: []\ngrant: true\n"), OwnChanged, same, "(settings.yaml)"},
		"tightened":                   {settings("enforcement: enforce\nrisk: {high_threshold: 0.6}\nzones: [/data/, /srv/, /opt/]\ngrant: false\n"), OwnChanged, "enforcement=enforce risk.high_threshold=0.6 zones=+/data/+/srv/+/opt/ grant=false rules=my.vault", "(enforcement, grant, risk.high_threshold, zones)"},
		"one loosened, one tightened": {settings("enforcement: observe\nrisk: {high_threshold: 0.6}\nzones: [/data/, /srv/]\ngrant: true\n"), OwnChanged, "enforcement=warn risk.high_threshold=0.6 zones=+/data/+/srv/ grant=true rules=my.vault", "(risk.high_threshold)"},
		// The default is stricter than what was accepted, except for the zones and the threshold.
		"settings removed":       {settings(""), OwnChanged, "enforcement=enforce risk.high_threshold=0.7 zones=+/data/+/srv/ grant=false rules=my.vault", "(settings.yaml)"},
		"unknown key":            {settings("enforcement: enforce\nenforcment: observe\n"), OwnChanged, same, "unknown key"},
		"invalid value":          {settings("enforcement: never\n"), OwnChanged, same, "enforcement"},
		"broken YAML":            {settings("enforcement: [enforce\n"), OwnChanged, same, "they cannot be used"},
		"empty file":             {with("rules/vault.yaml", "\n"), OwnChanged, same, "they cannot be used"},
		"rule loosened":          {with("rules/vault.yaml", ownMild), OwnChanged, same, "(rules/vault.yaml)"},
		"rule removed":           {with("rules/vault.yaml", ""), OwnChanged, same, "(rules/vault.yaml)"},
		"rule added":             {with("rules/deploy.yaml", newRule), OwnChanged, same + ",my.deploy", "tightens (rules/deploy.yaml)"},
		"list added":             {with("access/ours.yaml", newList), OwnChanged, same + ",access.ours", "tightens (access/ours.yaml)"},
		"id of an accepted rule": {with("rules/again.yaml", ownMild), OwnChanged, same, "is already in rules/again.yaml"},
		"exception in Rego":      {with("mine.rego", ownRego), OwnChanged, same, "(mine.rego)"},
		"row of a program":       {with("programs/x.yaml", "xx:\n  do: [{process: exec}]\n"), OwnChanged, same, "(programs/x.yaml)"},
		"text for the agent":     {settings(accepted["settings.yaml"] + "messages: {denial: all is allowed}\n"), OwnChanged, same, "(settings.yaml)"},
		"no folder":              {nil, OwnChanged, "enforcement=enforce risk.high_threshold=0.7 zones=+/data/+/srv/ grant=false rules=my.vault", "(rules/vault.yaml, settings.yaml)"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := machineWith(t, accepted)
			writeOwn(t, m, c.files)
			own, err := m.Own()
			if err != nil || own.State != c.state {
				t.Fatalf("%+v, %v", own, err)
			}
			e, err := m.Effective("")
			if err != nil {
				t.Fatal(err)
			}
			if got := activeNow(e); got != c.want {
				t.Errorf("active: %s\nwant:   %s", got, c.want)
			}
			if !strings.Contains(e.Notice, c.told) || (e.Notice == "") != (c.state == OwnAccepted) {
				t.Errorf("the person is told %q, want %q", e.Notice, c.told)
			}
		})
	}
}

// activeNow spells the settings that these tests change, and the rules of the person's own layer.
func activeNow(e *bundles.Effective) string {
	zones := ""
	for _, z := range e.Document["zones"].([]any) {
		if text := z.(string); text == "/data/" || text == "/srv/" || text == "/opt/" {
			zones += "+" + text
		}
	}
	text := fmt.Sprintf("enforcement=%v risk.high_threshold=%v zones=%s grant=%v rules=", e.Document["enforcement"],
		e.Document["risk"].(map[string]any)["high_threshold"], zones, e.Document["grant"])
	var ids []string
	if own := e.Layer(bundles.User); own != nil {
		for _, r := range own.Rules {
			ids = append(ids, r.ID)
			if r.ID == "my.vault" && r.Decision != "block" {
				ids = append(ids, r.Decision)
			}
		}
		for _, l := range own.Access {
			ids = append(ids, "access."+l.ID)
		}
		if len(own.Modules)+len(own.Rows) > 0 {
			ids = append(ids, "more")
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return text + strings.Join(ids, ",")
}

func TestOwnPolicyWithoutKey(t *testing.T) {
	m := Machine{Home: t.TempDir()}
	writeOwn(t, m, map[string]string{"settings.yaml": "enforcement: observe\n"})
	own, err := m.Own()
	if err != nil || own.State != OwnUnsigned {
		t.Fatalf("%+v, %v", own, err)
	}
	if e, err := m.Effective(""); err != nil || e.Document["enforcement"] != "observe" || e.Notice != "" {
		t.Errorf("%v, %v", e, err)
	}
	// The hook knows of a key that this ledger does not have: it was replaced.
	k := newKey(1).Key()
	m.Log = &audit.Store{Dir: m.Home, Fingerprint: k.Fingerprint()}
	if e, err := m.Effective(""); err != nil || e.Document["enforcement"] != "enforce" {
		t.Errorf("with another ledger: %v, %v", e, err)
	}
}

// A key without an act that accepts anything has accepted nothing.
func TestOwnPolicyNeverAccepted(t *testing.T) {
	m := Machine{Home: t.TempDir(), Log: &audit.Store{}}
	m.Log.Dir = m.Home
	if err := m.Log.SetPersonKey(context.Background(), newKey(1).Key(), "kim", nil); err != nil {
		t.Fatal(err)
	}
	if own, err := m.Own(); err != nil || own.State != OwnAccepted {
		t.Errorf("without files: %+v, %v", own, err)
	}
	writeOwn(t, m, map[string]string{"settings.yaml": "enforcement: observe\nrisk: {high_threshold: 0.6}\n"})
	e, err := m.Effective("")
	if err != nil || e.Document["enforcement"] != "enforce" || e.Document["risk"].(map[string]any)["high_threshold"] != 0.6 {
		t.Errorf("%v, %v", e, err)
	}
}

// Only the person's signature accepts: not a line that a program writes, not another key, and not an earlier act again.
func TestOwnPolicyForged(t *testing.T) {
	m, k := machineWith(t, map[string]string{"settings.yaml": "enforcement: observe\n"})
	writeOwn(t, m, map[string]string{"settings.yaml": "enforcement: enforce\n"})
	acceptAll(t, m, k)
	writeOwn(t, m, map[string]string{"settings.yaml": "enforcement: observe\n"})
	a, err := m.Acceptance()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Accept(context.Background(), m.Log, "kim", nil); err == nil {
		t.Error("accepted without a signature")
	}
	if err := a.Accept(context.Background(), m.Log, "kim", newKey(2)); err != nil {
		t.Error(err)
	}
	enforced := func(when string) {
		t.Helper()
		m.Log = nil
		if e, err := m.Effective(""); err == nil && e.Document["enforcement"] != "enforce" {
			t.Errorf("%s: enforcement is %v", when, e.Document["enforcement"])
		}
	}
	enforced("signed with another key")
	files, err := filepath.Glob(filepath.Join(m.Home, "ledger", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, `"do":"accept"`) {
			raw = append(raw, line...)
			break
		}
	}
	if err := os.WriteFile(files[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	enforced("with the first act repeated")
}

// The copy of what was accepted is checked whenever it is used. Without it, it is unknown what the change loosens.
func TestOwnPolicyCopy(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"missing": os.Remove,
		"changed": func(path string) error {
			raw, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, []byte(strings.Replace(string(raw), `"settings.yaml":"`, `"settings.yaml":"IyAK`, 1)), 0o600)
			}
			return err
		},
		"broken": func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"folder": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, k := machineWith(t, map[string]string{"settings.yaml": "risk: {high_threshold: 0.6}\n"})
			copies, err := filepath.Glob(filepath.Join(m.acceptedDir(), "*.json"))
			if err != nil || len(copies) != 1 {
				t.Fatal(copies, err)
			}
			if err := change(copies[0]); err != nil {
				t.Fatal(err)
			}
			if e, err := m.Effective(""); err != nil || e.Notice != "" {
				t.Errorf("it is not needed: %v", err)
			}
			writeOwn(t, m, nil)
			if e, err := m.Effective(""); err == nil || !strings.Contains(err.Error(), "`reviewer policy accept`") {
				t.Errorf("%v, %v", e, err)
			}
			if name == "folder" {
				return
			}
			acceptAll(t, m, k)
			if _, err := m.Effective(""); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOwnPolicyOfRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs files of root")
	}
	m, _ := machineWith(t, map[string]string{"settings.yaml": "enforcement: observe\n", "rules/x.yaml": ownRule})
	dir := LayerDir(bundles.User, m.Home, "")
	for name, change := range map[string]func() error{
		"a file that others can write":   func() error { return os.Chmod(filepath.Join(dir, "settings.yaml"), 0o666) },
		"a folder that others can write": func() error { return os.Chmod(filepath.Join(dir, "rules"), 0o777) },
		"a file of another user":         func() error { return os.Chown(filepath.Join(dir, "settings.yaml"), 1000, 0) },
		"a link":                         func() error { return os.Symlink("/etc/passwd", filepath.Join(dir, "rules", "y.yaml")) },
		"a link to the folder": func() error {
			if err := os.Rename(dir, dir+"-2"); err != nil {
				return err
			}
			return os.Symlink(dir+"-2", dir)
		},
	} {
		writeOwn(t, m, map[string]string{"settings.yaml": "enforcement: observe\n", "rules/x.yaml": ownRule})
		if !onlyRoots(dir, 1000) || onlyRoots(dir, 0) || onlyRoots(dir, -1) {
			t.Fatalf("files of root: %v for a user, %v for root", onlyRoots(dir, 1000), onlyRoots(dir, 0))
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if onlyRoots(dir, 1000) {
			t.Errorf("%s: counts as a policy that only root can change", name)
		}
		if err := os.RemoveAll(dir + "-2"); err != nil {
			t.Fatal(err)
		}
	}
	if onlyRoots(filepath.Join(m.Home, "none"), 1000) {
		t.Error("a folder that does not exist")
	}
}

// The resident process keeps a policy as long as its stamp is the same.
func TestOwnPolicyStamp(t *testing.T) {
	m, k := machineWith(t, map[string]string{"settings.yaml": "enforcement: observe\n"})
	stamps := map[string]string{}
	stamp := func(when string) {
		t.Helper()
		s, err := m.Stamp("")
		if err != nil {
			t.Fatal(err)
		}
		if before := stamps[s]; before != "" {
			t.Errorf("%s: the same stamp as %s", when, before)
		}
		stamps[s] = when
	}
	stamp("accepted")
	writeOwn(t, m, map[string]string{"settings.yaml": "enforcement: warn\n"})
	stamp("changed")
	acceptAll(t, m, k)
	stamp("accepted again")
	if err := os.RemoveAll(m.acceptedDir()); err != nil {
		t.Fatal(err)
	}
	stamp("without the copy")
	if err := m.Log.Note(context.Background(), engine.Note{What: "doctor"}); err != nil {
		t.Fatal(err)
	}
	now, err := m.Stamp("")
	if err != nil || stamps[now] == "" {
		t.Errorf("a note in the ledger changes the stamp: %v", err)
	}
}
