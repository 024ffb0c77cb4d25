package main

import (
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// valid SCHEMA FILE holds a document against what `reviewer schema` prints for it.
func valid(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] valid SCHEMA FILE")
	}
	raw, err := schemaOf(args[0])
	ts.Check(err)
	c, address := jsonschema.NewCompiler(), "https://example.com/"+args[0]+".json" // a relative one depends on the folder of another script
	ts.Check(c.AddResource(address, strings.NewReader(string(raw))))
	schema, err := c.Compile(address)
	ts.Check(err)
	var doc any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &doc))
	if object, ok := doc.(map[string]any); !neg && (!ok || object["v"] != 1.0) {
		ts.Fatalf("%s: the document has no v", args[0])
	}
	if err := schema.Validate(doc); (err != nil) != neg {
		ts.Fatalf("%s: %v", args[0], err)
	}
}
