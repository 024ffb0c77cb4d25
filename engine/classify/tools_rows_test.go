package classify

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Examples of the rows of built-in tools have the result that they state.
func TestToolExamples(t *testing.T) {
	set := classifytest.Rows()
	all, err := rows.All[rows.Tool](set, rows.ToolsFolder)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range all {
		for _, ex := range e.Row.Examples {
			seen++
			wrong, found, err := TryTool(context.Background(), set, e.Names[0], ex)
			if err != nil || len(wrong) > 0 {
				t.Errorf("%s: %v: %v %v, found %v", e.Place, ex.Args, err, wrong, found)
			}
		}
	}
	if len(all) < 30 || seen < 8 {
		t.Errorf("%d rows with %d examples", len(all), seen)
	}
}

// Each function that a row may name is there, and each role is read.
func TestToolFunctions(t *testing.T) {
	for _, name := range rows.ToolFunctions() {
		if (&toolReader{}).function(name) == nil {
			t.Errorf("rows may name the function %s, which does not exist", name)
		}
	}
}

// own returns the built-in rows with those of one more layer.
func own(adds bool, text string) *rows.Set {
	layer := rows.Layer{Name: "own", Adds: adds, Files: map[string][]byte{"tools/own.yaml": []byte(text)}}
	return rows.New(append(classifytest.Layers(), layer))
}

func TestToolRows(t *testing.T) {
	for _, c := range []struct {
		about, row, tool string
		args             map[string]any
		effects, never   []string
		signals          []string
	}{
		{about: "an end, in five lines", row: "mcp__shop__refund_order:\n  do: [{end: refund, object: order}]\n", tool: "mcp__shop__refund_order",
			effects: []string{"network refund shop order egress R5"}, signals: []string{"infrastructure_delete"}},
		{about: "a pattern, and a verb that policy knows", row: "mcp__shop__*:\n  do: [{end: purge, object: tenant, recursive: all}]\n",
			tool: "mcp__shop__tidy", args: map[string]any{"all": true}, effects: []string{"network delete shop tenant recursive"}},
		{about: "a flag that is not given", row: "mcp__shop__*:\n  do: [{end: purge, object: tenant, recursive: all}]\n",
			tool: "mcp__shop__tidy", args: map[string]any{"all": false}, effects: []string{"network delete shop tenant"}, never: []string{"recursive"}},
		{about: "roles of arguments", row: "mcp__shop__*:\n  args: [receipt read, note none]\n", tool: "mcp__shop__a",
			args: map[string]any{"receipt": "/etc/shadow", "note": "x"}, effects: []string{"file_read read /etc/shadow"}},
		{about: "a role instead of a guess", row: "mcp__shop__*:\n  args: [path none]\n", tool: "mcp__shop__delete",
			args: map[string]any{"path": "/etc/shadow"}, never: []string{"/etc/shadow"}},
		{about: "do instead of what the name suggests", row: "mcp__shop__delete_draft:\n  do: []\n", tool: "mcp__shop__delete_draft", never: []string{"delete"}},
		{about: "a case by a value", row: "mcp__shop__*:\n  cases: [{value: {action: drop|purge}, do: [{network: send, object: refund}]}]\n",
			tool: "mcp__shop__a", args: map[string]any{"action": "drop"}, effects: []string{"network send shop refund egress"}},
		{about: "a case that does not hold", row: "mcp__shop__*:\n  cases: [{value: {action: drop|purge}, do: [{network: send, object: refund}]}]\n",
			tool: "mcp__shop__a", args: map[string]any{"action": "list"}, never: []string{"send"}},
		{about: "targets that arguments name", row: "mcp__shop__*:\n  do: [{delete: paths, recursive: \"true\"}, {send: host}]\n", tool: "mcp__shop__a",
			args: map[string]any{"paths": []any{"/etc/a"}, "host": "https://shop.example"}, effects: []string{"file_delete delete /etc/a recursive", "network send egress"}},
		{about: "an argument under its second name", row: "Put:\n  args: [file_path|path write required]\n", tool: "Put",
			args: map[string]any{"path": "/etc/a"}, effects: []string{"file_write write /etc/a"}, never: []string{"opaque"}},
		{about: "a list of texts and objects", row: "Load:\n  args: [\"files[] read required\"]\n", tool: "Load",
			args: map[string]any{"files": []any{"/etc/a", map[string]any{"path": "/etc/b"}}}, effects: []string{"file_read read /etc/a", "file_read read /etc/b"}},
		{about: "a text where a list is expected", row: "Each:\n  args: [\"commands[] shell required\"]\n", tool: "Each",
			args: map[string]any{"commands": "rm -rf /etc/a"}, effects: []string{"file_delete delete /etc/a recursive"}},
		{about: "an open quote does not hide the next command", row: "Each:\n  args: [\"commands[] shell required\"]\n", tool: "Each",
			args: map[string]any{"commands": []any{"echo '", "rm -rf /etc/a", "'"}}, effects: []string{"file_delete delete /etc/a recursive"}},
		{about: "a tool of an agent", row: "Deploy:\n  action: shop.deploy\n  args: [script shell required]\n", tool: "Deploy",
			args: map[string]any{"script": "rm -rf /"}, effects: []string{"file_delete delete / recursive"}},
	} {
		wrong, found, err := TryTool(context.Background(), own(false, c.row), c.tool,
			rows.ToolExample{Args: c.args, Effects: c.effects, Never: c.never, Signals: c.signals})
		if err != nil || len(wrong) > 0 {
			t.Errorf("%s: %v %v, found %v", c.about, err, wrong, found)
		}
	}
}

// Rows of a layer that only adds leave all that was found, and make no tool known.
func TestToolRowsThatAdd(t *testing.T) {
	hostile := "Bash Write Unheard mcp__shop__delete_order:\n  action: safe.read.meta\n  type: message\n  replace: true\n  args: [command none, file_path none, path none, content text]\n" +
		"  do: [{network: send, object: spy}]\n"
	for tool, args := range map[string]map[string]any{
		"Bash": {"command": "rm -rf /"}, "Write": {"file_path": "/etc/passwd", "content": "x"}, "Unheard": {"path": "/etc/shadow"},
		"mcp__shop__delete_order": {"path": "/etc/shadow"},
	} {
		before := read(tool, args, shell.Input{Rows: classifytest.Rows()})
		after := read(tool, args, shell.Input{Rows: own(true, hostile)})
		if after.tool.action != before.tool.action || after.tool.typ != before.tool.typ || after.strange != before.strange {
			t.Errorf("%s: %+v became %+v", tool, before.tool, after.tool)
		}
		if len(after.script.Effects) != len(before.script.Effects)+1 || len(after.script.Opaque) != len(before.script.Opaque) ||
			len(after.contents) != len(before.contents) {
			t.Errorf("%s: effects %v became %v", tool, before.script.Effects, after.script.Effects)
		}
	}
}

// A row that cannot be parsed makes its tool unknown, and no other.
func TestBrokenToolRow(t *testing.T) {
	set := own(false, "Bash:\n  args: {\n")
	if r := read("Bash", map[string]any{"command": "true"}, shell.Input{Rows: set}); !r.strange || !strings.HasPrefix(r.tool.action, "unknown.") {
		t.Errorf("Bash is %+v", r.tool)
	}
	if r := read("Write", map[string]any{"file_path": "a", "content": ""}, shell.Input{Rows: set}); r.strange {
		t.Error("Write is unknown")
	}
}

// Where no policy could be loaded, what a tool writes is not recorded either.
func TestShipped(t *testing.T) {
	write := engine.Event{Phase: engine.PhasePre, Tool: "Write", Args: json.RawMessage(`{"file_path": "/srv/shop/a", "content": "the whole text"}`), CWD: "/srv/shop"}
	for _, c := range []struct {
		rows, shipped, own *rows.Set
		known              bool
	}{
		{nil, nil, nil, false}, {nil, classifytest.Rows(), nil, true}, {classifytest.Rows(), nil, nil, true},
		{nil, classifytest.Rows(), rows.New(nil), false}, // a policy that has no rows
	} {
		k := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: c.rows}
		if c.shipped != nil {
			k.Shipped = func() *rows.Set { return c.shipped }
		}
		e := write
		if c.own != nil {
			e.Rows = c.own
		}
		f, err := k.Classify(context.Background(), e, "/srv/shop")
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(f.Event.Args)
		if err != nil {
			t.Fatal(err)
		}
		if known := f.Action.Name == "filesystem.write"; known != c.known || strings.Contains(string(b), "whole text") == known {
			t.Errorf("%+v: %s with %s", c, f.Action.Name, b)
		}
	}
}

// What a list or an argument with several names must not be is recorded, and nothing else is.
func TestToolArgumentsRefused(t *testing.T) {
	set := own(false, "Each:\n  args: [\"commands[] shell required\"]\nPut:\n  args: [file_path|path write required]\n"+
		"Seek:\n  args: [path|folder search]\n")
	for _, c := range []struct {
		tool, args string
		refused    int
		effects    int
	}{
		{"Each", `{"commands":["ls"]}`, 0, 0},
		{"Each", `{"commands":[]}`, 0, 0},
		{"Each", `{}`, 1, 0},
		{"Each", `{"commands":[1]}`, 1, 0},
		{"Each", `{"commands":[{"command":"ls","args":[1]}]}`, 1, 0},
		{"Each", `{"commands":{"a":"ls"}}`, 1, 0},
		{"Put", `{"path":"/srv/shop/a"}`, 0, 1},
		{"Put", `{}`, 1, 0},
		{"Put", `{"path":["/srv/shop/a"]}`, 1, 0},
		{"Seek", `{"folder":"/srv/shop/b"}`, 0, 1},
		{"Seek", `{}`, 0, 1},
	} {
		cl := &Classifier{World: place.World{Home: exampleHome}, MAC: exampleMAC, Rows: set}
		facts, err := cl.Classify(context.Background(), engine.Event{Phase: engine.PhasePre, Tool: c.tool, Args: json.RawMessage(c.args), CWD: exampleWorkspace}, exampleWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for _, o := range facts.Action.Opaque {
			if o.Reason == "arguments" {
				refused++
			}
		}
		files := 0
		for _, e := range facts.Action.Effects {
			if e.Kind != engine.EffectProcess {
				files++
			}
		}
		if refused != c.refused || files < c.effects {
			t.Errorf("%s %s: %v, effects %v", c.tool, c.args, facts.Action.Opaque, facts.Action.Effects)
		}
	}
}
