//go:build e2e && linux

package engines

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer-full/s3server"
)

// uploaded is a server with the archive, and the keys.
func uploaded(t *testing.T) (*s3server.Server, []string) {
	t.Helper()
	s := s3server.New(t)
	var keys []string
	err := filepath.WalkDir(shared.archive, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		key := "archive/" + filepath.Base(filepath.Dir(path)) + "/" + d.Name()
		s.Put(key, content)
		keys = append(keys, key)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Put("archive/empty.jsonl", nil)
	return s, keys
}

// Sources, manifest, parts and report are all in a bucket.
func TestS3(t *testing.T) {
	s, _ := uploaded(t)
	reviewer(t, 0, "policy", "simulate", "manifest", s.URL("archive"), "-o", s.URL("run/manifest.json"))
	for _, i := range []string{"1", "2", "3"} {
		reviewer(t, 0, "policy", "simulate", "--manifest", s.URL("run/manifest.json"), "--candidate", shared.policy,
			"--shard", i+"/3", "-f", "json", "-o", s.URL("run/parts/"+i+".json"))
	}
	report := filepath.Join(t.TempDir(), "s3.json")
	reviewer(t, 0, "policy", "simulate", "merge", s.URL("run/parts"), "-f", "json", "-o", report)
	same(t, report)
	errs := reviewer(t, 1, "policy", "simulate", s.URL("archive"), "--candidate", shared.policy, "-f", "json", "-o", s.URL("run/parts/1.json"))
	if !strings.Contains(errs, "exists already") {
		t.Errorf("two runs into the same output: %s", errs)
	}
}

// summary is what these tests read of a report.
type summary struct {
	Partial  string
	Sessions struct{ Total int }
	Sources  struct{ Failed int }
}

func summaryOf(t *testing.T, file string) (m summary) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// An object that is gone or changed after it was listed fails alone, and is named.
func TestS3Changed(t *testing.T) {
	s, keys := uploaded(t)
	manifest := filepath.Join(t.TempDir(), "manifest.json")
	reviewer(t, 0, "policy", "simulate", "manifest", s.URL("archive"), "-o", manifest)
	s.Delete(keys[0])
	s.Put(keys[1], []byte("something else"))
	report := filepath.Join(t.TempDir(), "report.json")
	errs := reviewer(t, 1, "policy", "simulate", "--manifest", manifest, "--candidate", shared.policy, "-f", "json", "-o", report)
	for key, why := range map[string]string{keys[0]: "was deleted after it was listed", keys[1]: "changed after it was listed"} {
		if !strings.Contains(errs, "s3://logs/"+key+": "+why) {
			t.Errorf("no %q of %s in:\n%s", why, key, errs)
		}
	}
	if m := summaryOf(t, report); m.Sources.Failed != 2 || m.Sessions.Total != len(keys)-2 {
		t.Errorf("%+v of %d objects", m, len(keys))
	}
}

// Credentials that expire in the middle end the run, which says so and keeps what was
// compared; the report of a shard is not written, so that it can be run again.
func TestS3Expired(t *testing.T) {
	s, keys := uploaded(t)
	manifest := filepath.Join(t.TempDir(), "manifest.json")
	reviewer(t, 0, "policy", "simulate", "manifest", s.URL("archive"), "-o", manifest)
	left := 0
	s.Before(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			left--
		}
		if left < 0 {
			s3server.Expire(w)
		}
		return left < 0
	})
	report := filepath.Join(t.TempDir(), "report.json")
	left = len(keys) + len(keys)/2 // every head, and half of the objects
	errs := reviewer(t, 1, "policy", "simulate", "--manifest", manifest, "--candidate", shared.policy, "-p", "1", "-f", "json", "-o", report)
	m := summaryOf(t, report)
	if !strings.Contains(m.Partial, "the credentials have expired or are not valid; renew them, and run again") ||
		!strings.Contains(errs, "incomplete") || m.Sessions.Total == 0 || m.Sessions.Total >= len(keys) || m.Sources.Failed != 0 {
		t.Errorf("%+v of %d objects\n%s", m, len(keys), errs)
	}
	left = len(keys) + len(keys)/4
	errs = reviewer(t, 1, "policy", "simulate", "--manifest", manifest, "--candidate", shared.policy, "-p", "1", "--shard", "1/1", "-f", "json", "-o", s.URL("parts/1.json"))
	if !strings.Contains(errs, "was not written: the shard is incomplete") || s.Has("parts/1.json") {
		t.Errorf("%s", errs)
	}
}
