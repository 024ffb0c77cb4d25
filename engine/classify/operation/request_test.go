package operation_test

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
)

func TestBodyVerb(t *testing.T) {
	for body, want := range map[string]string{
		`{"query":"mutation { volumeDelete(id: 7) { ok } }"}`:                                        "delete",
		`{"query":"mutation M($a: ID!) { x: deleteProject(id: $a) { id } }"}`:                        "delete",
		`{"query":"mutation { ...F } fragment F on Mutation { destroyAll }"}`:                        "delete",
		`mutation { deleteRef(input: {}) { clientMutationId } }`:                                     "delete",
		`{"jsonrpc":"2.0","method":"volume.delete","params":[7]}`:                                    "delete",
		`{"Changes":[{"Action":"DELETE"}]}`:                                                          "delete",
		"{\"delete\":{\"_index\":\"a\",\"_id\":\"1\"}}\n":                                            "delete",
		"{\"index\":{\"_id\":\"1\"}}\n{\"a\":1}\n{\"delete\":{\"_id\":\"2\"}}\n":                     "delete",
		`<delete><query>*:*</query></delete>`:                                                        "delete",
		`{"query":"{ deletedVolumes { id } }"}`:                                                      "",
		`{"query":"query { deleteCandidates { id } }"}`:                                              "",
		`{"query":"mutation { createVolume(input: {deleteProtection: true, name: \"a\"}) { id } }"}`: "",
		`{"title":"delete the old volume","action":"open"}`:                                          "",
		`{"permissions":{"delete":true}}`:                                                            "",
		`a=delete`:                                                                                   "",
	} {
		if got, _ := operation.BodyVerb(operation.WordsOf(classifytest.Rows()), body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
