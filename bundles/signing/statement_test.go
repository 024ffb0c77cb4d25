package signing

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func exampleRelease() Release {
	digest := SHA256(nil)
	return Release{
		Name: "acme/agents", Version: "1.4.0", Channel: "stable", Sequence: 42, Revision: "git:abc", Policy: "h1:abc=",
		Created: TimeOf(time.Date(2026, 1, 31, 15, 4, 5, 999, time.UTC)), Expires: TimeOf(time.Date(2026, 4, 30, 0, 0, 0, 0, time.UTC)), RollbackOf: 40,
		Requires: map[string]int{"engine": 3}, Capabilities: digest,
		Tests:      &Tests{Passed: 312, Todo: 2, Coverage: map[string]Coverage{"rego lines": {97, 100}}, Report: digest},
		Simulation: &Simulation{Baseline: "recorded", Decisions: 1000, Changed: 3, Tightened: 2, Loosened: 1, Report: digest},
	}
}

func TestStatement(t *testing.T) {
	subject := SubjectOf("policy-1.4.0.tar.gz", []byte("archive"))
	e, err := Seal(subject, exampleRelease())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"policy-1.4.0.tar.gz","digest":{"sha256":"` + subject.SHA256 + `"}}],"predicateType":"` + ReleaseType + `","predicate":{`,
		`"created":"2026-01-31T15:04:05Z"`, `"sequence":42`, `"rollback_of":40`, `"loosened":1`, `"coverage":{"rego lines":{"covered":97,"total":100}}`,
	} {
		if !strings.Contains(string(e.Payload), want) {
			t.Errorf("the statement lacks %s:\n%s", want, e.Payload)
		}
	}
	gotSubject, got, err := Open[Release](e)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exampleRelease(), got); diff != "" || gotSubject != subject {
		t.Errorf("opened %v (-want +got):\n%s", gotSubject, diff)
	}
	again, err := Seal(subject, got)
	if err != nil || string(again.Payload) != string(e.Payload) {
		t.Errorf("the same statement has other bytes (%v):\n%s\n%s", err, e.Payload, again.Payload)
	}
}

// note is another predicate.
type note struct {
	Text string `json:"text"`
}

func (note) PredicateType() string { return "https://example.com/note/v1" }
func (note) Check() error          { return nil }

// laterNote is the predicate of a later version, with another field.
type laterNote struct {
	note
	Colour string `json:"colour"`
}

func (laterNote) PredicateType() string { return "https://example.com/note/v2" }

func TestLaterPredicate(t *testing.T) {
	e, err := Seal(SubjectOf("trust.yaml", nil), laterNote{note{"hello"}, "red"})
	if err != nil {
		t.Fatal(err)
	}
	want := "the statement was written by a newer reviewer (https://example.com/note/v2, this one knows https://example.com/note/v1); install that version"
	if _, _, err := Open[note](e); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestOtherPredicate(t *testing.T) {
	e, err := Seal(SubjectOf("trust.yaml", nil), note{"hello"})
	if err != nil {
		t.Fatal(err)
	}
	if _, got, err := Open[note](e); err != nil || got.Text != "hello" {
		t.Errorf("opened %q, %v", got.Text, err)
	}
	if _, _, err := Open[Release](e); err == nil {
		t.Error("a note is taken for a release")
	}
	e, err = Seal(SubjectOf("a", nil), exampleRelease())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open[note](e); err == nil {
		t.Error("a release is taken for a note")
	}
	// The type alone does not make it one.
	e.Payload = []byte(strings.Replace(string(e.Payload), ReleaseType, note{}.PredicateType(), 1))
	if _, _, err := Open[note](e); err == nil {
		t.Error("a release that calls itself a note is taken for one")
	}
}

func TestBadStatements(t *testing.T) {
	e, err := Seal(SubjectOf("policy.tar.gz", nil), exampleRelease())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"Statement/v1", "Statement/v0.1", "expected \"https://in-toto.io/Statement/v1\""},
		{"policy-release/v1", "policy-release/v2", "newer reviewer"},
		{`"subject":[`, `"subject":[{"name":"b","digest":{"sha256":"` + SHA256(nil) + `"}},`, "2 subjects"},
		{`"subject":[{"name":"policy.tar.gz","digest":{"sha256":"` + SHA256(nil) + `"}}]`, `"subject":[]`, "0 subjects"},
		{`{"name":"policy.tar.gz"`, `{"name":"../policy.tar.gz"`, "without folders"},
		{`{"name":"policy.tar.gz"`, `{"name":"a\u001b[2J"`, "on one line"},
		{`{"name":"policy.tar.gz"`, `{"name":"a\u202eb"`, "on one line"},
		{`{"sha256":"e3b0`, `{"sha256":"E3B0`, "expected a SHA-256"},
		{`{"sha256":"e3b0`, `{"sha256":"e3b`, "expected a SHA-256"},
		{`{"sha256":`, `{"sha1":"a","sha256":`, `unknown field "sha1"`},
		{`"sequence":42`, `"sequence":0`, "expected at least 1"},
		{`"sequence":42`, `"sequence":42.5`, "not as expected"},
		{`"sequence":42`, `"sequence":"42"`, "not as expected"},
		{`"sequence":42`, `"sequence":42,"sequence":43`, `duplicate key "sequence"`},
		{`"sequence":42`, `"sequence":42,"Sequence":43`, "not written exactly"},
		{`"sequence":42`, `"Sequence":42`, "not written exactly"},
		{`"sequence":42`, `"sequence":42,"seq":43`, `unknown field "seq"`},
		{`"sequence":42`, `"sequence":4e1`, "not as expected"},
		{`"version":"1.4.0"`, `"version":"latest"`, "expected one such as 1.4.0"},
		{`"channel":"stable"`, `"channel":""`, "channel is missing"},
		{`"created":"2026-01-31T15:04:05Z"`, `"created":"2026-01-31T15:04:05+01:00"`, "expected one in UTC"},
		{`"created":"2026-01-31T15:04:05Z"`, `"created":"2026-01-31T15:04:05.5Z"`, "not written exactly"},
		{`"created":"2026-01-31T15:04:05Z"`, `"created":1769871845`, "not as expected"},
		{`"expires":"2026-04-30`, `"expires":"2025-04-30`, "expected a time after created"},
		{`"rollback_of":40`, `"rollback_of":42`, "rollback_of is 42"},
		{`"requires":{"engine":3}`, `"requires":{"engine":-1}`, "requires"},
		{`"requires":{"engine":3}`, `"requires":null`, "requires is missing"},
		{`"failed":0`, `"failed":1`, "expected 0 failed"},
		{`"covered":97`, `"covered":101`, "101 of 100"},
		{`"revision":"git:abc"`, `"revision":"git:abc","skipped_tests":true`, "either results of tests, or skipped_tests"},
		{`"loosened":1`, `"loosened":-1`, "must be from 0"},
		{`"loosened":1`, `"loosened":1001`, "from 0 to its 1000 decisions"},
		{`"loosened":1,`, ``, "missing"},
	} {
		payload := strings.Replace(string(e.Payload), c.old, c.new, 1)
		if payload == string(e.Payload) {
			t.Fatalf("%s is not in the statement:\n%s", c.old, payload)
		}
		_, _, err := Open[Release](&Envelope{Payload: []byte(payload)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.new, err, c.want)
		}
	}
}

// Without tests there is no mention of them.
func TestSkippedTests(t *testing.T) {
	r := exampleRelease()
	r.SkippedTests, r.Tests, r.Simulation, r.Expires = true, nil, nil, 0
	e, err := Seal(SubjectOf("a", nil), r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(e.Payload), `"tests"`) || strings.Contains(string(e.Payload), "expires") || !strings.Contains(string(e.Payload), `"skipped_tests":true`) {
		t.Errorf("statement without tests: %s", e.Payload)
	}
	if _, got, err := Open[Release](e); err != nil || cmp.Diff(r, got) != "" {
		t.Errorf("opened %v: %s", err, cmp.Diff(r, got))
	}
	r.SkippedTests = false
	if _, err := Seal(SubjectOf("a", nil), r); err == nil {
		t.Error("a release without tests that does not say so is sealed")
	}
}

func FuzzOpen(f *testing.F) {
	e, err := Seal(SubjectOf("policy.tar.gz", nil), exampleRelease())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(e.Payload)
	f.Add([]byte(`{"_type":"https://in-toto.io/Statement/v1","subject":[],"predicateType":"x","predicate":{}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		s, r, err := Open[Release](&Envelope{Payload: payload})
		if err != nil {
			return
		}
		again, err := Seal(s, r)
		if err != nil {
			t.Fatalf("what was opened cannot be sealed: %v", err)
		}
		gotS, gotR, err := Open[Release](again)
		if err != nil || s != gotS || cmp.Diff(r, gotR) != "" {
			t.Errorf("it says something else (%v): %s", err, cmp.Diff(r, gotR))
		}
	})
}
