package place

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Examples of the built-in rows have the result that they state.
func TestExamples(t *testing.T) {
	set := classifytest.Rows()
	all, err := rows.All[rows.Paths](set, rows.PlacesFolder)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range all {
		if e.Row.Examples == nil {
			t.Errorf("%s: no examples", e.Place)
			continue
		}
		for _, p := range e.Row.Examples.Match {
			if seen++; !TryRow(set, e.Names[0], p) {
				t.Errorf("%s: %s is not of the class %s", e.Place, p, e.Names[0])
			}
		}
		for _, p := range e.Row.Examples.NoMatch {
			if seen++; TryRow(set, e.Names[0], p) {
				t.Errorf("%s: %s is of the class %s", e.Place, p, e.Names[0])
			}
		}
	}
	if len(all) < len(engine.Classes()) || seen < 50 {
		t.Errorf("%d rows with %d examples", len(all), seen)
	}
}

// layered returns a set of the built-in rows and of one more layer.
func layered(t *testing.T, layer string, adds bool, text string) *Resolver {
	t.Helper()
	base, err := rows.All[rows.Paths](classifytest.Rows(), rows.PlacesFolder)
	if err != nil || len(base) == 0 {
		t.Fatal(base, err)
	}
	set := rows.New(append(classifytest.Layers(), rows.Layer{Name: layer, Adds: adds, Files: map[string][]byte{"places/own.yaml": []byte(text)}}))
	return NewResolver(World{Home: "/home/kim"}, "/srv/shop", set)
}

// An organisation teaches a place in a few lines, and takes rows away.
func TestOrganisationRows(t *testing.T) {
	r := layered(t, "organisation", false, "credential:\n  home: .shopcfg\nci_config:\n  replace: true\ngenerated:\n  folders: made\nguard:\n  replace: true\n")
	for p, want := range map[string]engine.Class{"/home/kim/.shopcfg/token": "credential", "/srv/shop/.shopcfg": "", "/home/kim/.ssh/id_rsa": "credential",
		"/srv/shop/Jenkinsfile": "", "/srv/shop/.reviewer.yaml": "guard"} {
		if got := r.Class(p); got != want {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
	if !r.Generated("made/a") {
		t.Error("made/a is not generated")
	}
}

// Rows of a layer that only adds never make a class less strict.
func TestAddedRows(t *testing.T) {
	everything := "{names: '*', except: {names: plain}}"
	for _, c := range []struct {
		row, path string
		want      engine.Class
	}{
		{"credential: " + everything, "/srv/shop/a", "credential"},
		{"credential: " + everything, "/srv/shop/plain", ""},
		{"credential: " + everything, "/srv/shop/.env", "credential"},
		{"credential: " + everything, "/srv/shop/.claude/settings.json", "agent_config"},
		{"agent_config: " + everything, "/home/kim/.ssh/id_rsa", "credential"},
		{"ci_config: " + everything, "/home/kim/.bashrc", "startup"},
		{"guard: " + everything, "/home/kim/.bashrc", "guard"},
		{"guard: " + everything, "/home/kim/.ssh/id_rsa", "credential"},
		{"packages: {inside: shop}", "/srv/shop/a.pem", "credential"},
		{"credential: {replace: true}", "/srv/shop/a.pem", "credential"},
	} {
		if got := layered(t, "project", true, c.row+"\n").Class(c.path); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.row, c.path, got, c.want)
		}
	}
	if layered(t, "project", true, "generated: {folders: src}\n").Generated("src/a.go") {
		t.Error("a project calls its code generated")
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		list, path string
		want       bool
	}{
		{"a b", "x/b", true}, {"*.{a,b}", "x.b", true}, {"*.{a,b}", "x.c", false}, {"*Test.java", "CartTest.java", true}, {"*Test.java", "latest.java", false},
		{"a\\ b", "x/A b", true}, {"[ab]c", "bc", true}, {"?*.pem", ".pem", false}, {"pre*", "prefix", true},
	} {
		m := matchersOf(rows.Paths{Names: c.list})
		if got := anyMatches(m, NewResolver(World{}, "", nil).bare(c.path)); got != c.want {
			t.Errorf("%s of %s: %v", c.path, c.list, got)
		}
	}
}

// BenchmarkTables measures what the first call of a process pays for the rows of
// places.
func BenchmarkTables(b *testing.B) {
	files := map[string][]byte{}
	for name, text := range classifytest.Layers()[0].Files {
		if strings.HasPrefix(name, rows.PlacesFolder) || strings.HasPrefix(name, rows.WordsFolder) {
			files[name] = text
		}
	}
	for b.Loop() {
		tablesOf(rows.New([]rows.Layer{{Name: "base", Files: files}}))
	}
}
