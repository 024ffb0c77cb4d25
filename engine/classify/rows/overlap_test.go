package rows_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

var updateOverlap = flag.Bool("update-overlap", false, "rewrite testdata/overlap.txt from the rows")

const overlapFile = "testdata/overlap.txt"

// TestOverlap compares our rows with those of the same program, or subcommand, that
// were converted from facts of others: which options take a value only there. What
// is in testdata/overlap.txt is known; anything else is a mistake on one side.
func TestOverlap(t *testing.T) {
	own, converted := programSets(t)
	got := map[string][]string{}
	for _, name := range own.Names(false) {
		ours, _, err := own.Program(name)
		theirs, both, err2 := converted.Program(name)
		if err != nil || err2 != nil {
			t.Fatal(name, err, err2)
		}
		if both {
			overlap(got, name, ours.Program, theirs.Program)
		}
	}
	if len(got) == 0 {
		t.Fatal("no program has rows of both sources")
	}
	comments, want := readOverlap(t)
	if *updateOverlap {
		writeOverlap(t, comments, got)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options that take a value by the converted rows only; fix our row, or accept them with -update-overlap (-known +found):\n%s", diff)
	}
}

// programSets are the built-in rows: those of our own, and those converted.
func programSets(t *testing.T) (own, converted *rows.Set) {
	t.Helper()
	return rows.New([]rows.Layer{shipped(t, rows.ProgramsFolder)}), rows.New([]rows.Layer{shipped(t, rows.ConvertedFolder)})
}

func shipped(t *testing.T, folder string) rows.Layer {
	t.Helper()
	l := rows.Layer{Name: "base", Files: map[string][]byte{}}
	paths, err := filepath.Glob("../../../bundles/default/" + folder + "*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no rows below "+folder, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l.Files[folder+filepath.Base(path)] = text
	}
	return l
}

// overlap notes which options of a row, and of the subcommands that both sides
// have, take a value by their row only.
func overlap(found map[string][]string, name string, ours, theirs rows.Program) {
	known := takesValue(ours)
	for _, option := range strings.Fields(strings.Join([]string{theirs.Values, theirs.Code, theirs.Scripts, theirs.Persistent}, " ")) {
		if !slices.Contains(known, option) && !slices.Contains(found[name], option) {
			found[name] = append(found[name], option)
		}
	}
	slices.Sort(found[name])
	for names, sub := range theirs.Subcommands {
		for _, one := range strings.Fields(names) {
			if own, ok := ours.Subcommand(one); ok && ownKey(ours, one) != "*" {
				own.Persistent += " " + ours.Persistent
				overlap(found, name+" "+one, own, sub)
			}
		}
	}
	if len(found[name]) == 0 {
		delete(found, name)
	}
}

// ownKey is the key of the row that a subcommand has, "*" if it has none of its
// own.
func ownKey(p rows.Program, sub string) string {
	for _, names := range p.SubcommandNames() {
		if names != "*" && rows.Fits(strings.Fields(names), sub) {
			return names
		}
	}
	return "*"
}

// takesValue lists the options that take a value by a row, in whatever way.
func takesValue(p rows.Program) []string {
	lists := []string{p.Values, p.Glued, p.Code, p.Scripts, p.Persistent}
	if p.Wraps != nil {
		lists = append(lists, p.Wraps.Values)
	}
	for _, hop := range p.Hops {
		lists = append(lists, hop.Values)
	}
	return strings.Fields(strings.Join(lists, " "))
}

// readOverlap reads the list of known differences, and the comment above each line.
func readOverlap(t *testing.T) (comments map[string]string, known map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(overlapFile)
	if err != nil && !*updateOverlap {
		t.Fatal(err)
	}
	comments, known = map[string]string{}, map[string][]string{}
	above := ""
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			above += line
			continue
		}
		name, options, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			t.Fatalf("%s: expected program: options, got %q", overlapFile, line)
		}
		comments[name], known[name], above = above, strings.Fields(options), ""
	}
	return comments, known
}

func writeOverlap(t *testing.T, comments map[string]string, found map[string][]string) {
	t.Helper()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		b.WriteString(comments[name] + name + ": " + strings.Join(found[name], " ") + "\n")
	}
	if err := os.WriteFile(overlapFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
