//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// received collects what a webhook gets.
type received struct {
	mutex  sync.Mutex
	bodies []string
	keys   []string
}

func (r *received) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.bodies, r.keys = append(r.bodies, string(body)), append(r.keys, req.Header.Get("Idempotency-Key"))
	if err != nil || len(r.bodies) == 1 {
		w.WriteHeader(http.StatusInternalServerError) // it is tried again
	}
}

// activate builds, signs and activates a bundle of an organisation whose signers may
// define kinds of intervention.
func (s *stage) activate(org string) {
	s.t.Helper()
	at := func(name string) string { return filepath.Join(filepath.Dir(s.Home), name) }
	home := []string{"--home", s.state}
	s.ok("policy", "keygen", "--out", at("alice"))
	s.ok("policy", "trust", "add", at("alice.pub"), "--role", "root", "--role", "release", "--channel", "stable=acme/agents",
		"--init", "-o", at("trust.yaml"))
	trust, err := os.ReadFile(at("trust.yaml"))
	s.must(err)
	lines := strings.SplitAfter(string(trust), "\n")
	for i, line := range lines {
		if strings.Contains(line, "threshold: 1") {
			lines[i] += strings.Replace(line, "threshold: 1", "may: [interventions]", 1)
		}
	}
	s.must(os.WriteFile(at("trust.yaml"), []byte(strings.Join(lines, "")), 0o600))
	s.ok("policy", "trust", "sign", at("trust.yaml"), "--signing-key", at("alice"))
	s.decide(append([]string{"policy", "trust", "rotate", at("trust.yaml"), "--init"}, home...)...)
	s.ok("policy", "build", org, "-o", at("acme.tar.gz"), "--skip-tests")
	s.ok("policy", "sign", at("acme.tar.gz"), "--signing-key", at("alice"))
	s.decide(append([]string{"policy", "activate", at("acme.tar.gz")}, home...)...)
}

// The kinds of an organisation's signed bundle, a program and a webhook, are carried out
// after the client got the answer, once each; the model reads their texts.
func TestOwnKinds(t *testing.T) {
	each(t, func(s *stage) {
		hook := &received{}
		server := httptest.NewServer(hook)
		defer server.Close()
		s.install("user")
		org := filepath.Join(filepath.Dir(s.Home), "org")
		page := filepath.Join(filepath.Dir(s.Home), "page")
		for name, text := range map[string]string{
			page: "#!/bin/sh\n{ cat; echo; echo \"$REVIEWER_ID $REVIEWER_KIND $*\"; } >> '" + page + ".out'\n",
			filepath.Join(org, ".manifest"): `{"roots": ["policies/organisation"], "rego_version": 1,` +
				` "metadata": {"name": "acme/agents", "version": "1.0.0", "sequence": 1}}`,
			filepath.Join(org, "settings.yaml"): fmt.Sprintf(ownKinds, page, server.URL),
			filepath.Join(org, "rules", "acme.yaml"): fmt.Sprintf(ownRule, "deploy", "report", "Reports") +
				fmt.Sprintf(ownRule, "release", "notes", "Notes"),
		} {
			s.must(os.MkdirAll(filepath.Dir(name), 0o755))
			s.must(os.WriteFile(name, []byte(text), 0o755))
		}
		s.activate(org)
		run := s.prompt(Script{Shell("make report"), Shell("make notes")})
		s.wantHeard(run, 1, "On call is told (rule acme.deploy")
		s.wantHeard(run, 2, "A ticket is opened")
		s.wantMade("page_oncall acme.deploy", "open_ticket acme.release")
		s.ok("notify", "deliver", "--home", s.state) // waits for the process that the hook started
		s.ok("notify", "deliver", "--home", s.state)
		out, err := os.ReadFile(page + ".out")
		s.must(err)
		if text := string(out); strings.Count(text, "\"own\":\"page_oncall\"") != 1 || !strings.Contains(text, "page_oncall --team shop; ls\n") {
			t.Errorf("the program got %q", text)
		}
		hook.mutex.Lock()
		defer hook.mutex.Unlock()
		if len(hook.bodies) != 2 || hook.bodies[0] != hook.bodies[1] || hook.keys[0] != hook.keys[1] || hook.keys[0] == "" ||
			!strings.Contains(hook.bodies[1], "\"own\":\"open_ticket\"") {
			t.Errorf("the webhook got %q with the keys %q", hook.bodies, hook.keys)
		}
		s.wantChain()
		s.ok("audit", "replay", "--home", s.state)
	})
}

const ownKinds = `interventions:
  intervention_cooldown_seconds: 0
  notifications: {first_seconds: 1}
  kinds:
    page_oncall:
      command: [%s, --team, "shop; ls"]
      text: "{reason} On call is told (rule {rule}, {id}). Better: {alternative}."
    open_ticket:
      webhook: %s
      text: "{reason} A ticket is opened (rule {rule}, {id}). Better: {alternative}."
  ladders: {acme.deploy: [page_oncall], acme.release: [open_ticket]}
`

const ownRule = `- id: acme.%s
  severity: high
  decision: warn
  match: {phases: [pre]}
  when: action.commands.exists(c, c.name == "make" && %q in c.operands)
  message: %s are for the pipeline.
  remediation: push a tag
`
