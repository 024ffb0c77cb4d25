package signing

import (
	"strings"
	"testing"
)

func TestSealAll(t *testing.T) {
	sum := SHA256([]byte("x"))
	release := exampleRelease()
	e, err := SealAll([]Subject{{"a.tar.gz", sum}, {"oci/blobs/b", sum}}, release)
	if err != nil {
		t.Fatal(err)
	}
	files, _, err := OpenAll[Release](e)
	if err != nil || len(files) != 2 || files[1].Name != "oci/blobs/b" || files[1].SHA256 != sum {
		t.Errorf("got %v, %v", files, err)
	}
	if _, _, err := Open[Release](e); err == nil || !strings.Contains(err.Error(), "2 subjects") {
		t.Errorf("Open takes a statement about two files: %v", err)
	}
	for want, files := range map[string][]Subject{
		"at least one file":      nil,
		"is listed twice":        {{"a", sum}, {"a", sum}},
		"under one folder":       {{"../a", sum}},
		"path of a file":         {{"/a", sum}},
		"subject.digest.sha256":  {{"a", "ab"}},
		"the path of a file":     {{"a/../b", sum}},
		"expected the name of a": {{"..", sum}},
	} {
		if _, err := SealAll(files, release); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", files, err, want)
		}
	}
}
