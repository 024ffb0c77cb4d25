package guide

import (
	"strings"
	"testing"
)

func TestTopics(t *testing.T) {
	var together strings.Builder
	for _, topic := range Topics() {
		if topic.About == "" || strings.ContainsAny(topic.Name, " /") {
			t.Errorf("topic %q has no line in the table of topics, or is more than a word", topic.Name)
		}
		if topic.Name != "recipes" {
			together.WriteString("\n" + topic.Text)
		}
	}
	if !strings.HasSuffix(reference, together.String()) || strings.Count(reference, "\n| [") != len(Topics())-1 {
		t.Error("the topics together are not the reference")
	}
}
