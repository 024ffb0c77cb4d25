package operation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

func TestEnding(t *testing.T) {
	words := WordsOf(classifytest.Rows())
	for name, want := range map[string][2]string{
		"delete": {"delete", ""}, "delete-db-instance": {"delete", "db-instance"}, "deleteIndex": {"delete", "index"},
		"volume_delete": {"delete", "volume"}, "doDelete": {"delete", "do"}, "terminate-instances": {"delete", "instance"},
		"schedule-key-deletion": {"delete", "key"}, "_delete_by_query": {"delete", "by-query"}, "pg:reset": {"reset", "pg"},
		"removeUser": {"remove", "user"}, "archive": {"archive", ""}, "disable-alarm-actions": {"disable", "alarm-action"},
		"undelete": {"", ""}, "deleted": {"", ""}, "dropdown": {"", ""}, "restore-deleted": {"", ""}, "list": {"", ""},
		"describe-instances": {"", ""}, "preset": {"", ""}, "put-lifecycle": {"", ""},
	} {
		verb, noun := words.Ending(name)
		if diff := cmp.Diff(want, [2]string{verb, noun}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
