package classify

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestErrorClass(t *testing.T) {
	for in, want := range map[string]string{
		"":            "",
		"Exit code 1": "exit code",
		"Exit code 1\n\nFAIL\tshop/basket [build failed]":                                                          "exit code: FAIL … build failed",
		"Exit code 127\n/bin/sh: 1: foo: not found":                                                                "exit code: …: foo: not found",
		"Exit code 2\nls: cannot access '/srv/shop/x': No such file or directory":                                  "exit code: ls: cannot access …: No such file or directory",
		"File does not exist.":                                                                                     "File does not exist",
		"<tool_use_error>String to replace not found in file.\nString: total</tool_use_error>":                     "String to replace not found in file",
		"2026-11-21T07:04:05Z 12:01:02 error: connection refused by 10.0.0.1:5432":                                 "error: connection refused by …",
		"basket_test.go:12: Total() = 1350, want 2250":                                                             "…: Total() = want",
		"fatal: bad object 4b825dc642cb6eb9a060e54bf8d69288fbee4904":                                               "fatal: bad object",
		"\n\n   \nnpm ERR! code E404":                                                                              "npm ERR code",
		"can't open it":                                                                                            "can't open it",
		"Exit code 1\nTraceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'total'": "exit code: KeyError: …",
		"Traceback (most recent call last):\n\n":                                                                   "Traceback most recent call last:",
		"----------\n42\nreal error":                                                                               "real error",
	} {
		if got := errorClass(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestErrorClassIsTheSame(t *testing.T) {
	a := errorClass("Exit code 1\nrm: cannot remove '/srv/shop/a 1': Permission denied (pid 4711)")
	b := errorClass("Exit code 2\nrm: cannot remove '/tmp/b': Permission denied (pid 12)")
	if a != b || a == "" {
		t.Errorf("one mistake has two classes: %q, %q", a, b)
	}
}

func FuzzErrorClass(f *testing.F) {
	f.Add("Exit code 1\nerror: äöü 'x'")
	f.Fuzz(func(t *testing.T, text string) {
		got := errorClass(text)
		if len(got) > maxClass || strings.ContainsAny(got, "0123456789\n") || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q: %q", text, got)
		}
	})
}
