package channel

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	_ "time/tzdata"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// Each problem is one that a person can repair, with what to do.
func TestProblems(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	if err := os.WriteFile(open, []byte("a secret of 24 letters.."), 0o644); err != nil {
		t.Fatal(err)
	}
	asked := []string{notify.AboutApprovals}
	for name, tt := range map[string]struct {
		list []settings.Channel
		want string // empty: none
	}{
		"none":              {[]settings.Channel{{Name: "a", Kind: "webhook", URL: "https://hooks.example.com/x"}}, ""},
		"a missing file":    {[]settings.Channel{{Name: "a", Kind: "slack", URLFile: filepath.Join(dir, "none")}}, "a: address: open"},
		"a missing name":    {[]settings.Channel{{Name: "a", Kind: "telegram", To: asked, SecretEnv: "NOWHERE"}}, "NOWHERE is not set"},
		"of two layers":     {[]settings.Channel{{Name: "a", Kind: "webhook", URL: "https://x"}, {Name: "a", Kind: "desktop"}}, "give this one another name"},
		"an address inline": {[]settings.Channel{{Name: "a", Kind: "slack", URL: "https://hooks.example.com/key"}}, "name that file in url_file"},
		"a zone":            {[]settings.Channel{{Name: "a", Kind: "webhook", URL: "https://x", Quiet: settings.Quiet{From: "22:00", To: "07:00", Zone: "Nowhere"}}}, "until then it has no quiet hours"},
		"only second":       {[]settings.Channel{{Name: "a", Kind: "webhook", URL: "https://x", About: asked, AfterSeconds: 60}}, "remove after_seconds from the one that comes first"},
		"first and second": {[]settings.Channel{{Name: "a", Kind: "webhook", URL: "https://x", About: asked, AfterSeconds: 60},
			{Name: "b", Kind: "webhook", URL: "https://x", About: asked}}, ""},
	} {
		var got []string
		for _, p := range Problems(tt.list, sources(t, nil)) {
			got = append(got, p.Channel+": "+p.Text)
		}
		text := strings.Join(got, "\n")
		if !strings.Contains(text, tt.want) || tt.want == "" && text != "" || strings.Contains(text, "/key") {
			t.Errorf("%s: %q", name, text)
		}
	}
	if runtime.GOOS != "windows" {
		got := Problems([]settings.Channel{{Name: "a", Kind: "webhook", URL: "https://x", SecretFile: open}}, sources(t, nil))
		if len(got) != 1 || !got[0].Broken {
			t.Errorf("a file that others can read: %+v", got)
		}
	}
}

func TestSchedules(t *testing.T) {
	quiet := settings.Quiet{From: "22:00", To: "07:30", Zone: "Europe/Berlin", Days: []string{"fri", "sat"}}
	got := Schedules([]settings.Channel{{Name: "a", About: []string{"approvals"}, AfterSeconds: 60, DigestSeconds: 30, PerHour: 5, Quiet: quiet}, {Name: "a"}, {Name: "b"}})
	a := got["a"]
	if fmt.Sprint(a.About, a.After, a.Digest, a.PerHour, a.Quiet.From, a.Quiet.To, a.Quiet.Zone, a.Quiet.Days) !=
		"[approvals] 1m0s 30s 5 1320 450 Europe/Berlin [Friday Saturday]" {
		t.Errorf("%+v", a)
	}
	if b := got["b"]; len(got) != 2 || b.About != nil || b.Quiet.To != 0 {
		t.Errorf("%+v", got)
	}
	for name, q := range map[string]settings.Quiet{"no time": {From: "x", To: "07:00"}, "one time": {From: "22:00"}, "the same": {From: "07:00", To: "07:00"},
		"a day": {From: "22:00", To: "07:00", Days: []string{"someday"}}} {
		if _, err := parseQuiet(q); err == nil {
			t.Errorf("%s: %+v was taken", name, q)
		}
	}
}
