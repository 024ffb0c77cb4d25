package simulatecmd

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// addExamples adds the smallest example of each kind of change. Kinds whose session
// cannot be read again have none.
func (r *comparing) addExamples(ctx context.Context) {
	m := r.sums[0]
	if len(m.Kinds) == 0 {
		return
	}
	read := anywhere(r.comparison.Rows)
	x := &simulate.Exampler{
		Comparison: r.comparison, Neutral: newNeutral(r.baseline, r.candidate).events, Text: func(e engine.Event) string { return r.mask(eventText(e)) },
		Classifier: func(session string, events []engine.Event) engine.Classifier {
			return read(transcript.Transcript{Session: session, Events: events})
		},
	}
	wanted := map[string][]int{}
	for i, k := range m.Kinds {
		m.Kinds[i].Example.Example = &simulate.Example{Before: k.Example.Index}
		wanted[k.Example.Session] = append(wanted[k.Example.Session], i)
	}
	for _, session := range slices.Sorted(maps.Keys(wanted)) {
		if ctx.Err() != nil {
			return
		}
		if recording, err := r.open(ctx, session); err == nil {
			examplesIn(ctx, x, recording, m, wanted[session])
		}
	}
}

// examplesIn reads a session up to the last of some decisions.
func examplesIn(ctx context.Context, x *simulate.Exampler, recording simulate.RecordedSession, m *simulate.Impact, kinds []int) {
	var events []engine.Event
	for moment, err := range recording.Events {
		if err != nil {
			return
		}
		e, ok := simulate.EventOf(moment)
		if !ok {
			continue
		}
		events = append(events, e)
		kinds = slices.DeleteFunc(kinds, func(i int) bool {
			w := &m.Kinds[i].Example
			if w.ID != moment.Record.ID() {
				return false
			}
			w.Example = x.Find(ctx, events, *w)
			if m.Kinds[i].Rule == simulate.ByEnforcement {
				w.Example.Reason = w.Reason // names a setting, and nothing of the call
			}
			return true
		})
		if len(kinds) == 0 {
			return
		}
	}
}

// eventText describes an event of an example: a prompt, the command or the path of a
// call, or its arguments; for a result, whether it failed.
func eventText(e engine.Event) string {
	const most = 160
	switch {
	case e.Result != nil && e.Result.Failed:
		return "failed"
	case e.Result != nil:
		return ""
	case e.Prompt != "":
		return term.OneLine(e.Prompt, most)
	}
	var args map[string]any
	if json.Unmarshal(e.Args, &args) != nil {
		return ""
	}
	for _, key := range []string{"command", "cmd", "file_path", "path", "url", "query"} {
		if text, ok := args[key].(string); ok {
			return term.OneLine(text, most)
		}
	}
	return term.OneLine(string(e.Args), most)
}
