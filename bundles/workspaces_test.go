package bundles

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
)

// The settings of a workspace are those of the layer, with its own in their place.
func TestSettingsOfWorkspaces(t *testing.T) {
	b := layer(t, User, "settings.yaml", `enforcement: enforce
risk: {high_threshold: 0.7}
workspaces:
  ~/work: {enforcement: observe, risk: {high_threshold: 0.65}}
  ~/work/shop: {enforcement: warn}
  /srv/*/web: {enabled: false}
  C:\Work: {enforcement: warn}
`)
	for place, want := range map[string]string{
		"/home/anna/other":         "enforce 0.7 true",
		"/home/anna/work":          "observe 0.65 true",
		"/home/anna/work/a":        "observe 0.65 true",
		"/home/anna/workshop":      "enforce 0.7 true",
		"/home/anna/work/shop/web": "warn 0.65 true",
		"/srv/a/web":               "enforce 0.7 false",
		"/srv/a/b/web":             "enforce 0.7 true",
		"c:/work/shop":             "warn 0.7 true",
		"/":                        "enforce 0.7 true",
	} {
		own := b.In("/home/anna", place, asItIs)
		e, err := Assemble(shippedBundle(t), own)
		if err != nil {
			t.Errorf("%s: %v", place, err)
			continue
		}
		if got := fmt.Sprint(e.Settings.Enforcement, " ", at(e.Document, "risk.high_threshold"), " ", e.Settings.Enabled); got != want {
			t.Errorf("%s: %s, want %s", place, got, want)
		}
		if own.Digest != b.Digest {
			t.Errorf("%s: the files have another digest", place)
		}
	}
}

func asItIs(name string) string { return name }

// A link does not bring the settings of the folder that it is in, and a path that is a link has those of
// what it leads to. Without a home directory, paths below it are of nobody.
func TestWorkspacesBehindLinks(t *testing.T) {
	b := layer(t, User, "settings.yaml", "workspaces:\n  /mild: {enforcement: observe}\n  /linked: {enforcement: warn}\n  ~/work: {enforcement: observe}\n")
	links := map[string]string{"/mild/link": "/strict", "/linked": "/data/shop"}
	real := func(name string) string { return cmp.Or(links[name], name) }
	for place, want := range map[string]string{"/mild/link": "enforce", "/mild/a": "observe", "/data/shop/web": "warn", "/linked": "warn", "/work": "enforce"} {
		e, err := Assemble(shippedBundle(t), b.In("", place, real))
		if err != nil || e.Settings.Enforcement != want {
			t.Errorf("%s: %s, %v, want %s", place, e.Settings.Enforcement, err, want)
		}
	}
}

// What is wrong in the settings of a workspace is found with its line, before anybody works there.
func TestWrongSettingsOfWorkspaces(t *testing.T) {
	for name, test := range map[string]struct{ layer, text, want string }{
		"unknown key":    {User, "workspaces:\n  /srv/a:\n    enforcment: warn", `user/settings.yaml:3: workspaces./srv/a.enforcment: unknown key "enforcment"; did you mean "enforcement"?`},
		"wrong value":    {User, "workspaces:\n  /srv/a.b:\n    enforcement: maybe", `user/settings.yaml:3: workspaces./srv/a.b.enforcement: `},
		"relative path":  {User, "workspaces:\n  shop: {enforcement: warn}", "user/settings.yaml:2: workspaces.shop: expected an absolute path, or one that begins with ~/"},
		"not settings":   {User, "workspaces:\n  /srv/a: warn", "user/settings.yaml:2: workspaces./srv/a: "},
		"of the machine": {User, "workspaces:\n  /srv/a:\n    audit: {export_format: csv}", "user/settings.yaml:3: workspaces./srv/a.audit.export_format: this applies to the whole machine; set it outside workspaces"},
		"nested":         {User, "workspaces:\n  /srv/a:\n    workspaces: {}", "contain none of others"},
		"of the project": {Project, "workspaces:\n  /srv/a: {enforcement: enforce}", "the project layer may not set this"},
	} {
		_, err := Assemble(shippedBundle(t), layer(t, test.layer, "settings.yaml", test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v\nwant %s", name, err, test.want)
		}
	}
	b := layer(t, User, "settings.yaml", "workspaces:\n  /srv/a:\n    interventions:\n      progressive: [shout]").Of("/srv/a")
	_, err := Assemble(shippedBundle(t), b)
	checkErrors(t, "a value that only merging refuses", err, `user/settings.yaml:4: interventions.progressive: "shout" is not a kind of intervention`)
	b = layer(t, User, "settings.yaml", "workspaces:\n  /srv/a:\n    enforcment: warn").Of("/srv/a")
	if _, err = Assemble(shippedBundle(t), b); err == nil || strings.Count(err.Error(), "unknown key") != 1 {
		t.Errorf("a problem of the workspace in which an agent works is not reported once: %v", err)
	}
}
