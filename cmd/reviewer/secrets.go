package main

import (
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// withoutSecrets masks a text as those of calls are masked: the same secret has
// the same name as in the log.
func withoutSecrets(store *audit.Store, text string) (string, error) {
	mac, err := store.MAC()
	if err != nil {
		return "", err
	}
	return masking(mac)(text), nil
}

func masking(mac func([]byte) string) func(string) string {
	c := classify.Classifier{MAC: mac}
	return c.Mask
}

// told masks what a command says of itself: an error may quote what was typed,
// or a file. It needs no state, since there may be none.
func told(text string) string {
	mac, err := passingMAC()
	if err != nil {
		return "something went wrong, and what it is cannot be told without showing secrets: " + err.Error()
	}
	return masking(mac)(text)
}

// toldAll is told for each text of a list, in place.
func toldAll(texts []string) {
	for i := range texts {
		texts[i] = told(texts[i])
	}
}

// maskTranscript takes secrets out of all of a transcript that is told as it
// stands: names, ids, and what is wrong with a line. Ids come out as those of
// the log do, where mask is the log's.
func maskTranscript(t *harness.Transcript, mask func(string) string) {
	t.Session = mask(t.Session)
	for i := range t.Events {
		e := &t.Events[i]
		for _, text := range []*string{&e.Session, &e.Agent, &e.Call, &e.Tool} {
			*text = mask(*text)
		}
	}
	unasked := map[string]bool{}
	for call, is := range t.Unasked {
		unasked[mask(call)] = is
	}
	t.Unasked = unasked
	for i := range t.Bad {
		t.Bad[i].Why = mask(t.Bad[i].Why)
	}
}
