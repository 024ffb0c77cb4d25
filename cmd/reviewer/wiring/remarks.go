package wiring

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// Remarks lists warnings about a policy, each as file:line: what.
func Remarks(e *bundles.Effective, now time.Time) []string {
	all, known := e.Remarks(), classify.Actions(classify.NewRows(e.RowLayers()))
	for _, l := range e.Layers {
		for _, r := range l.Rules {
			all = append(all, strangeActions(l.Layer+"/"+r.Place("match", 0), r.Match.Actions, known)...)
		}
		for _, list := range l.Access {
			for _, r := range list.Rules {
				all = append(all, strangeActions(l.Layer+"/"+r.Place("actions", 0), r.Actions, known)...)
			}
		}
	}
	for _, end := range Endings(e, now.UnixMilli()) {
		all = append(all, fmt.Sprintf("%s/%s:%d: %s", end.Layer, end.File, end.Line, end))
	}
	return all
}

// strangeActions warns about patterns that match no tool's action: a rule that denies
// one would deny nothing.
func strangeActions(place string, patterns, known []string) []string {
	var all []string
	for _, p := range patterns {
		if fitsAction(p, known) {
			continue
		}
		remark := fmt.Sprintf("%s: no known tool has the action %q", place, p)
		if near := engine.Nearest(p, known); near != "" {
			remark += fmt.Sprintf("; did you mean %q?", near)
		}
		all = append(all, remark)
	}
	return all
}

func fitsAction(pattern string, known []string) bool {
	prefix, more := strings.CutSuffix(pattern, "*")
	return slices.ContainsFunc(known, func(name string) bool {
		family, open := strings.CutSuffix(name, "*")
		return name == pattern || more && strings.HasPrefix(name, prefix) || open && strings.HasPrefix(prefix, family)
	})
}
