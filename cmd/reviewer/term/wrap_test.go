package term

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line string
		to   int
		want []string
	}{
		{"as it is", 0, []string{"as it is"}},
		{"fits", 4, []string{"fits"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"  kept indent here", 8, []string{"  kept", "indent", "here"}},
		{"averylongword b", 5, []string{"averylongword", "b"}},
		{"ää öö", 2, []string{"ää", "öö"}},
	} {
		if diff := cmp.Diff(c.want, Wrap(c.line, c.to)); diff != "" {
			t.Errorf("Wrap(%q, %d):\n%s", c.line, c.to, diff)
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb": "a    b", "a\r\nb": "a\nb", "a\rb": `a\rb`, "\x1b[2J": `\x1b[2J`, "\u202eabc": `\u202eabc`, "é😀": "é😀", "\xff": "\uFFFD", "\U000e0001": `\U000e0001`, "'": "'",
		"a\u200bb\u3164c\ufe0e": `a\u200bb\u3164c\ufe0e`, "שלום": "שלום", "❤\ufe0f": "❤\ufe0f",
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHidden(t *testing.T) {
	for in, want := range map[string]string{
		"ls -l\n\tשלום é😀": "", "rm \u202egpj.a\u202c": "U+202E U+202C", "a\u200bb\u200bc\u3164": "U+200B U+3164", "\x1b[2J": "U+001B",
	} {
		if got := strings.Join(Hidden(in), " "); got != want {
			t.Errorf("Hidden(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCutAndPad(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöü", 2, "ä…"}, {"ab", 4, "ab  "}, {"", 2, "  "}} {
		if got := Pad(Cut(c.text, c.width), c.width); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
	if got := Cut("abcd", 0); got != "abcd" {
		t.Errorf("any width: %q", got)
	}
}

func TestThousandsAndCounted(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -999: "-999"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	if got := Counted(1, "file", "files") + ", " + Counted(0, "file", "files"); got != "1 file, 0 files" {
		t.Error(got)
	}
}
