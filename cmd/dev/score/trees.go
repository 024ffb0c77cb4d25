package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// trees returns the working trees that git listed in a session next to the folder in which it
// began. The hook of a live session finds them on disk, which a replay cannot read.
func trees(t transcript.Transcript, began string) []string {
	asked := map[string]bool{}
	var all []string
	for _, e := range t.Events {
		switch {
		case e.Phase == engine.PhasePre && strings.Contains(string(e.Args), "git worktree list"):
			asked[e.Call] = true
		case e.Phase == engine.PhasePost && asked[e.Call] && e.Result != nil:
			if list := listed(e.Result.Output); slices.Contains(list, began) {
				all = append(all, list...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var listedTree = engine.Regexp(`(?m)^(?:worktree (/.*)|(/\S+) +[0-9a-f]{7,40} .*)$`)

// listed returns the folders in the output of git worktree list, in either of its forms.
func listed(output json.RawMessage) []string {
	var list []string
	for _, text := range texts(output) {
		for _, m := range listedTree().FindAllStringSubmatch(text, -1) {
			list = append(list, m[1]+m[2])
		}
	}
	return list
}

// texts returns the texts in a tool's response.
func texts(output json.RawMessage) []string {
	var value any
	if json.Unmarshal(output, &value) != nil {
		return nil
	}
	return textsIn(value)
}

func textsIn(value any) []string {
	var list []string
	switch v := value.(type) {
	case string:
		list = append(list, v)
	case []any:
		for _, item := range v {
			list = append(list, textsIn(item)...)
		}
	case map[string]any:
		for _, item := range v {
			list = append(list, textsIn(item)...)
		}
	}
	return list
}
