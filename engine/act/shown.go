package act

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Limits of a request: what people read of one call, and the size of its file.
const (
	maxContent   = 24 << 10 // bytes of one string, as JSON
	maxContents  = 72 << 10 // of all of them
	maxMasked    = 96 << 10 // bytes of a string that are masked: a secret that begins before the end of what is shown ends in them
	maxBefore    = 5        // latest actions
	maxLooked    = 40       // records that are read to find them
	maxBeforeLen = 200
)

// contents returns the texts that a call would write, and which parts of them are left
// out. Which arguments are such texts was determined when the call was classified.
func (r *Reviewer) contents(h *handling, of *engine.Record) (list []approval.Content, unseen []string) {
	if of.Action == nil || len(of.Action.Contents) == 0 {
		return nil, nil
	}
	var args any
	if err := json.Unmarshal(h.event.Args, &args); err != nil {
		return nil, []string{"the texts that the call would write: " + err.Error()}
	}
	room := maxContents
	eachText(args, "", func(path, text string) {
		path = r.mask(path)
		if _, is := of.Action.Contents[path]; !is {
			return
		}
		c := approval.Content{Name: path, Bytes: len(text), Text: r.beginning(text, min(maxContent, room))}
		room -= engine.JSONLen(c.Text)
		if list = append(list, c); len(text) > maxMasked || strings.HasSuffix(c.Text, "…") && !strings.HasSuffix(text, "…") {
			unseen = append(unseen, fmt.Sprintf("%s: %d bytes, of which the beginning is shown", path, len(text)))
		}
	})
	return list, unseen
}

// beginning returns the beginning of a string, masked.
func (r *Reviewer) beginning(text string, n int) string {
	if n <= 2 {
		return "…"
	}
	if len(text) > maxMasked {
		text = strings.ToValidUTF8(text[:maxMasked], "")
	}
	return engine.ClipJSON(r.mask(text), n)
}

// eachText calls fn for each string in a tool's arguments, in a fixed order, with the path by
// which the classifier names it.
func eachText(v any, path string, fn func(path, text string)) {
	switch v := v.(type) {
	case string:
		fn(path, v)
	case []any:
		for i, item := range v {
			eachText(item, fmt.Sprintf("%s[%d]", path, i), fn)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			eachText(v[k], strings.TrimPrefix(path+"."+k, "."), fn)
		}
	}
}

// latest describes the latest actions of a session before a record, newest last.
func latest(t history.Tail, n int64) []string {
	var list []string
	for i := n - 1; i > 0 && i >= n-maxLooked && len(list) < maxBefore; i-- {
		rec, err := t.Read(i)
		if err != nil {
			break // what people are not shown decides nothing
		}
		if rec.Kind == engine.KindPre && rec.Event != nil && rec.Action != nil {
			list = append(list, actionOf(rec))
		}
	}
	slices.Reverse(list)
	return list
}

func actionOf(rec *engine.Record) string {
	text := rec.Event.Tool + " " + rec.Action.Resource
	if effect := engine.AnswerOf(rec).Effect; effect.Strictness() > engine.Warn.Strictness() {
		text += " (" + string(effect) + ")"
	}
	return engine.ClipJSON(text, maxBeforeLen)
}
