package simulatecmd

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// plainMask masks secrets in the parts of a report that do not come from records. All
// of a kind get the same name: reports of the same sessions are the same bytes on
// every machine, and a name computed without a key could be guessed.
func plainMask() func(string) string {
	same := strings.Repeat("0", 2*sha256.Size)
	return cli.Masking(func([]byte) string { return same })
}

// anywhere classifies a transcript from an unknown machine, with the rows of a policy.
func anywhere(read engine.Rows) func(transcript.Transcript) engine.Classifier {
	set, _ := read.(*rows.Set)
	return func(t transcript.Transcript) engine.Classifier {
		return &classify.Classifier{World: elsewhere(t), MAC: ownMAC(t), Secrets: bundles.BuiltInTokens(), Rows: set}
	}
}

// elsewhere is a machine of which only the home directory is known, from the session's
// directory.
func elsewhere(t transcript.Transcript) classify.System {
	for _, e := range t.Events {
		if home := classify.HomeOf(e.CWD); home != "" {
			return classify.System{Home: home}
		}
	}
	return classify.System{}
}

// ownMAC is a digest whose key is the transcript itself: parts of one comparison
// that are made on several machines name a secret alike, and finding the secret of a
// name needs the transcript, which contains it anyway.
func ownMAC(t transcript.Transcript) func([]byte) string {
	h := sha256.New()
	for _, e := range t.Events {
		var output []byte
		if e.Result != nil {
			output = e.Result.Output
		}
		for _, part := range [][]byte{[]byte(e.Call), e.Args, []byte(e.Prompt), output, []byte(strconv.FormatInt(e.Time, 10))} {
			h.Write(part)
			h.Write([]byte{0})
		}
	}
	key := h.Sum([]byte(t.Session))
	return func(b []byte) string {
		m := hmac.New(sha256.New, key)
		m.Write(b)
		return hex.EncodeToString(m.Sum(nil))
	}
}
