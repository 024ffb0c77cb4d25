package trust

import (
	"strings"
	"testing"
)

// Releases that define kinds of intervention need the signatures of a role that may.
func TestOwnKinds(t *testing.T) {
	const kinds = "interventions: {kinds: {page: {command: [/usr/local/bin/page]}}}"
	may := []string{"security: {keys: [sec], threshold: 1", "security: {keys: [sec], threshold: 1, may: [interventions]"}
	archive := plainArchive(t, entry{name: "settings.yaml", content: kinds})
	for _, tt := range []struct {
		name    string
		changes []string
		who     []string
		code    Code
		says    string
	}{
		{"a role that may has signed too", may, []string{"alice", "bob", "sec"}, "", ""},
		{"the role of the channel may", []string{"release: {keys: [alice, bob], threshold: 2", "release: {keys: [alice, bob], threshold: 2, may: [interventions]"},
			[]string{"alice", "bob"}, "", ""},
		{"it has not signed", may, []string{"alice", "bob"}, Threshold, "no role that may has signed it: security (1 of sec); have the archive"},
		{"no role may", nil, []string{"alice", "bob", "sec"}, Threshold, "give a role of its signers may: [interventions] in the next version of trust.yaml"},
	} {
		in := candidate(t)
		in.Archive, in.Envelope = archive, sealed(t, archive, release(), tt.who...)
		v := parsed(t, tt.changes...).Check(in)
		if v.Code != tt.code || !strings.Contains(v.Reason, tt.says) {
			t.Errorf("%s: %s %s", tt.name, v.Code, v.Reason)
		}
	}
	in := candidate(t)
	in.Archive, in.Envelope = archive, nil
	if v := (*Trust)(nil).Check(in); v.Code != Unsigned || !strings.Contains(v.Reason, "which only a signed bundle may") {
		t.Errorf("without a trust file: %s %s", v.Code, v.Reason)
	}
}

func TestUnknownRight(t *testing.T) {
	_, err := Parse(trustFile(t, "threshold: 2}", "threshold: 2, may: [everything]}"))
	if err == nil || !strings.Contains(err.Error(), `may: unknown word "everything"; expected one of interventions`) {
		t.Error(err)
	}
}
