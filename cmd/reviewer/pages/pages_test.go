package pages

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/overview"
)

// payloads are texts that would do something if they were not text.
func payloads() []string {
	core := []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `" autofocus onfocus="alert(1)`, `</style><svg onload=alert(1)>`,
		`</title><script>1</script>`, `</pre></code><iframe src=//x>`, `javascript:alert(1)`, `data:text/html,<script>1</script>`, `{{.Live}}`, `${alert(1)}`,
		`<!--`, `-->`, `]]>`, `&lt;script&gt;`, `&#60;script&#62;`, `<a href="//x">click</a>`, `<form action=//x><button>`, `<meta http-equiv=refresh content=0>`,
		`<base href=//x>`, `<link rel=stylesheet href=//x>`, `<math><mi//xlink:href="data:x">`, `\u003cscript\u003e`, "\x00<b>", "<scr\x00ipt>", `%3Cscript%3E`,
		`</option></select><script>`, `</textarea><script>`, `</summary></details><script>`, `<div style="position:fixed">`, `x" style="background:url(//x)`,
		`expression(alert(1))`, `<b/x=">">`, "`-alert(1)-`", `<%= 1 %>`, `<?php 1 ?>`, `<xmp>`, `<plaintext>`, `<template>`, `<noscript><p title="</noscript><img>">`,
	}
	var list []string
	for _, wrap := range []string{"%s", "a%sb", "\n%s\n", "\u202e%s", "\uff1c%s"} {
		for _, text := range core {
			list = append(list, fmt.Sprintf(wrap, text))
		}
	}
	return list
}

// filled returns a page of a kind in which each text is the next one of a list, and each list has one item.
func filled(page Page, next func() string) Page {
	v := reflect.New(reflect.TypeOf(page)).Elem()
	fill(v, next, 0)
	return v.Interface().(Page)
}

func fill(v reflect.Value, next func() string, depth int) {
	if depth > 8 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(next())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1_800_000_000_000)
	case reflect.Slice:
		one := reflect.New(v.Type().Elem()).Elem()
		fill(one, next, depth+1)
		v.Set(reflect.Append(v, one))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next, depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), next, depth+1)
		}
	}
}

func all() []Page {
	return []Page{Day{}, Events{}, Sessions{}, Compare{}, Session{}, Record{}, Questions{}, Policy{}, Search{}, Problem{}}
}

var (
	tag       = regexp.MustCompile(`<(/?[a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z:-]+(?:="[^"]*")?)*)\s*/?>`)
	attribute = regexp.MustCompile(`([a-zA-Z:-]+)(?:="([^"]*)")?`)
	marks     = regexp.MustCompile(`</?mark[^>]*>`)
)

// shape lists the elements of a page with the names of their attributes, and the whole page must consist of them and of text.
func shape(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, p, time.UTC); err != nil {
		t.Fatal(err)
	}
	text := marks.ReplaceAllString(strings.TrimPrefix(b.String(), "<!doctype html>"), "")
	begin, end := strings.Index(text, "<style>"), strings.Index(text, "</style>")
	text = text[:begin] + "<style>" + text[end:]
	var shape strings.Builder
	for _, m := range tag.FindAllStringSubmatch(text, -1) {
		shape.WriteString(m[1])
		for _, a := range attribute.FindAllStringSubmatch(m[2], -1) {
			shape.WriteString(" " + a[1])
			if (a[1] == "href" || a[1] == "src" || a[1] == "action") && strings.Contains(strings.ToLower(a[2]), "script:") {
				t.Errorf("%s: an address runs code: %q", p.template(), a[2])
			}
		}
		shape.WriteString("\n")
	}
	if rest := tag.ReplaceAllString(text, ""); strings.ContainsAny(rest, "<") {
		at := strings.IndexByte(rest, '<')
		t.Errorf("%s: %q is left, which is not a text", p.template(), rest[at:min(len(rest), at+60)])
	}
	return shape.String()
}

// Whatever a field contains, the page has the elements and attributes that it has with a harmless word, and no others.
func TestHostileTextsStayText(t *testing.T) {
	list := payloads()
	if len(list) < 200 {
		t.Fatalf("only %d payloads", len(list))
	}
	for _, p := range all() {
		n := 0
		want := shape(t, filled(p, func() string { n++; return fmt.Sprint("word", n) }))
		for i := range list {
			at := i
			next := func() string { at++; return list[at%len(list)] }
			if got := shape(t, filled(p, next)); got != want {
				t.Errorf("%s with payloads from %q on has other elements", p.template(), list[i])
				break
			}
		}
	}
}

// A character that a reader would not see, or would take for another, is marked.
func TestUnusualCharactersAreMarked(t *testing.T) {
	for in, want := range map[string]string{
		"rm \u202eab":   `rm <mark title="invisible, or changes the order of others: U+202E">\u202e</mark>ab`,
		"pаypal":        `p<mark title="looks like another letter: U+0430">а</mark>ypal`,
		"привет":        "привет",
		"a\u3164b":      `a<mark title="invisible, or changes the order of others: U+3164">\u3164</mark>b`,
		"Ωmega":         `<mark title="looks like another letter: U+03A9">Ω</mark>mega`,
		"naïve café <b": "naïve café &lt;b",
		"ｒｍ":            `<mark title="looks like another letter: U+FF52">ｒ</mark><mark title="looks like another letter: U+FF4D">ｍ</mark>`,
	} {
		if got := string(text(in)); got != want {
			t.Errorf("%q is shown as %s; want %s", in, got, want)
		}
	}
}

func TestDiffLines(t *testing.T) {
	got := DiffLines("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z\n", true)
	var classes string
	for _, l := range got {
		classes += l.Class + ","
	}
	if classes != "head,head,head,del,add,," {
		t.Errorf("classes are %s", classes)
	}
	if plain := DiffLines("+y", false); plain[0].Class != "" {
		t.Errorf("a text that is not a diff has %+v", plain)
	}
}

// Each kind of events has those that belong to it.
func TestKinds(t *testing.T) {
	e := &overview.Event{Answer: engine.Block, Stop: true, Point: "1", Decision: engine.Block}
	for _, k := range Kinds() {
		want := k[0] != "asked" && k[0] != "warned" && k[0] != "modified"
		if Is(e, k[0]) != want {
			t.Errorf("%s: %v", k[0], !want)
		}
	}
}

// Pages in files run nothing and load nothing; live pages have one script, of their own origin.
func TestScripts(t *testing.T) {
	for _, live := range []bool{false, true} {
		var b bytes.Buffer
		if err := Render(&b, Problem{Frame: Frame{Title: "x", Live: live}}, time.UTC); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), "<script"); got != map[bool]int{false: 0, true: 1}[live] {
			t.Errorf("live %v: %d scripts", live, got)
		}
		if strings.Contains(b.String(), `default-src &#39;none&#39;; base-uri`) == live {
			t.Errorf("live %v: the policy of the contents is missing or twice", live)
		}
	}
}
