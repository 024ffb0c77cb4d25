package bundles

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Rows of places and tools that are wrong are refused with the line and what to
// do, in each layer; the others are not.
func TestRowsOfKinds(t *testing.T) {
	for _, c := range []struct{ layer, file, text, want string }{
		{Organisation, "places/a.yaml", "credential:\n  home: .shopcfg\n  examples: {match: [~/.shopcfg/token]}\n", ""},
		{Project, "places/a.yaml", "credential:\n  home: .shopcfg\n", ""},
		{Organisation, "places/a.yaml", "generated:\n  folders: made\n", ""},
		{Organisation, "places/a.yaml", "credentials:\n  home: .shopcfg\n", `did you mean "credential"`},
		{Organisation, "places/a.yaml", "credential:\n  about: nothing\n", "must select paths"},
		{Organisation, "places/a.yaml", "credential:\n  home: .shopcfg .shopcfg\n", "duplicate"},
		{Organisation, "places/a.yaml", "credential:\n  home: ~/.shopcfg\n", "remove that"},
		{Organisation, "places/a.yaml", "credential:\n  system: etc/x\n", "not absolute"},
		{Organisation, "places/a.yaml", "credential:\n  names: a/b\n", "contains a slash"},
		{Organisation, "places/a.yaml", "credential:\n  folders: Shop\n", "lower case"},
		{Organisation, "places/a.yaml", "credential:\n  names: '[a'\n", "not a valid pattern"},
		{Organisation, "places/a.yaml", "credential:\n  extensions: pem\n", "start with a dot"},
		{Organisation, "places/a.yaml", "credential:\n  names: a\n  below: b\n", "add one of these"},
		{Organisation, "places/a.yaml", "credential:\n  also: [{names: a, replace: true}]\n", "an entry may only"},
		{Organisation, "places/a.yaml", "guard:\n  replace: true\n", "stay protected"},
		{Organisation, "places/a.yaml", "credential:\n  name: a\n", `did you mean "names"`},
		{Organisation, "places/a.yaml", "credential:\n  home: a\ncredential:\n  home: b\n", "credential"},
		{Project, "places/a.yaml", "generated:\n  folders: src\n", "organisation's layer"},
		{User, "places/a.yaml", "packages:\n  folders: src\n", "organisation's layer"},
		{User, "places/a.yaml", "credential:\n  replace: true\n", "may not remove anything"},

		{Organisation, "tools/a.yaml", "mcp__shop__refund_order:\n  args: [receipt read]\n  do: [{end: refund, object: order}]\n", ""},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  cases: [{value: {action: drop|purge}, do: [{end: purge, object: tenant, recursive: all}]}]\n", ""},
		{Project, "tools/a.yaml", "Write:\n  do: [{network: send, object: file}]\n", ""},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  prompts: {args: text, days: 30}\n", ""},
		{Project, "tools/a.yaml", "mcp__shop__*:\n  prompts: {args: text}\n", ""},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  prompts: {days: 30}\n", ""},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  prompts: {}\n", "names of arguments"},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  prompts: {args: text, days: -1}\n", "names of arguments"},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  args: [receipt]\n", "its role"},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  args: [receipt raed]\n", `did you mean "read"`},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  args: [receipt read, receipt write]\n", "duplicate"},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  go: serch\n", `did you mean "search"`},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  type: mesage\n", `did you mean "message"`},
		{Organisation, "tools/a.yaml", "mcp__*__refund:\n  do: []\n", "only be at the end"},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  do: [{aims: operands}]\n", "a step of a tool"},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  do: [{read: a, write: b}]\n", "exactly one"},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  do: [{read: a, size: b}]\n", "size: a step of a tool"},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  do: [{end: purge, object: $0}]\n", "name an argument"},
		{Organisation, "tools/a.yaml", "mcp__shop__*:\n  cases: [{sub: a, do: []}]\n", "name arguments"},
		{Project, "tools/a.yaml", "Bash:\n  go: monitor\n", "only adds"},
		{Project, "tools/a.yaml", "Bash:\n  args: [command none]\n", "from the facts"},
		{User, "tools/a.yaml", "Bash:\n  replace: true\n", "only adds"},
		{User, "tools/a.yaml", "mcp__shop__a:\n  do: [{delete: path, reversible: R1}]\n", "remove effects"},

		{Organisation, "programs/checks.yaml", "shopcheck:\n  checks: true\n", ""},
		{Organisation, "programs/a.yaml", "shopcheck:\n  checks: verify\n  cases: [{do: []}]\n", ""},
		{Organisation, "programs/checks.yaml", "shopcheck:\n  checks: verify verify\n", "duplicate"},
		{Organisation, "programs/checks.yaml", "shopcheck:\n  checks: true verify\n", "remove the other words"},
		{Organisation, "programs/checks.yaml", "shopcheck:\n  checks: true\n  reads_only: true\n", "another file"},
		{Organisation, "programs/checks.yaml", "shopcheck:\n  about: x\n", "need checks"},
		{Project, "programs/checks.yaml", "rm:\n  checks: true\n", "only adds"},
	} {
		b, err := Load(folder(c.file, c.text), c.layer)
		if err == nil {
			_, err = Assemble(shippedBundle(t), b)
		}
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %q: %v", c.layer, c.text, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file+":")):
			t.Errorf("%s: %q: %v, want %q", c.layer, c.text, err, c.want)
		}
	}
}

// Without a policy, events are read with the rows of the built-in policy.
func TestShippedRows(t *testing.T) {
	e, err := Assemble(shippedBundle(t))
	if err != nil {
		t.Fatal(err)
	}
	base := e.RowLayers()[:1] // after it come the lists of its data
	if want := rows.New(base).RowsDigest(); want == "" || BuiltInRows().RowsDigest() != want {
		t.Errorf("rows with the digest %q, want %q", BuiltInRows().RowsDigest(), want)
	}
}
