package bundles

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
)

func TestTidy(t *testing.T) {
	for name, test := range map[string]struct{ src, want string }{
		"spaces and empty lines": {"\n\na: 1  \n\n\n\nb: 2\t\n# c  \n\n", "a: 1\n\nb: 2\n# c\n"},
		"carriage returns":       {"a: 1\r\nb: |\r\n  x\r\n  y\r\n", "a: 1\nb: |\n  x\n  y\n"},
		"a text keeps its own":   {"a: |\n  x  \n\n\n  y\n\n\nb: 1 \n", "a: |\n  x  \n\n\n  y\n\nb: 1\n"},
		"comments stay":          {"# head\n\na: 1 # line   \n# foot\n", "# head\n\na: 1 # line\n# foot\n"},
		"no newline at the end":  {"a: 1", "a: 1\n"},
		"several documents":      {"a: 1\n---\nb: 1 \n...\n", "a: 1\n---\nb: 1\n...\n"},
	} {
		got, err := Tidy("a.yaml", []byte(test.src))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %q (%v), want %q", name, got, err, test.want)
		}
	}
}

// A file that would say something else is left alone, and that is said.
func TestTidyRefuses(t *testing.T) {
	for src, want := range map[string]string{
		"a: |+\n  x\n\n\n": "a.yaml: was left unchanged",
		"a: [1":            "a.yaml:1: this [ is not closed",
	} {
		if _, err := Tidy("a.yaml", []byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", src, err, want)
		}
	}
}

// What ships is tidy, and tidying twice is tidying once.
func TestTidyShipped(t *testing.T) {
	err := fs.WalkDir(DefaultFS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		src, err := fs.ReadFile(DefaultFS(), name)
		if err != nil {
			return err
		}
		out, err := Tidy(name, src)
		if err != nil {
			t.Error(err)
			return nil
		}
		if again, err := Tidy(name, out); err != nil || !bytes.Equal(out, again) {
			t.Errorf("%s: tidied twice it is something else (%v)", name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func FuzzTidy(f *testing.F) {
	f.Add("a: 1  \n\n\nb: |\n  x  \n")
	f.Add("- 'a  \n  b'\n- >-\n  x\n\n  y\n")
	f.Add("# c \n\na: {b: [1, 2] , c: \"x \\\n  y\"}\n")
	f.Fuzz(func(t *testing.T, src string) {
		out, err := Tidy("a.yaml", []byte(src))
		if err != nil {
			return
		}
		again, err := Tidy("a.yaml", out)
		if err != nil || !bytes.Equal(out, again) {
			t.Errorf("%q becomes %q, and that %q (%v)", src, out, again, err)
		}
	})
}
