package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// denial is a call that a person refused, or stopped.
type denial struct {
	File  string          `json:"file"` // of the session
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	Text  string          `json:"input_text"` // if only a string is known
	Kind  string          `json:"kind"`
}

func (d denial) check() error {
	if d.Tool == "" || d.Kind == "" {
		return errors.New("no tool or kind")
	}
	return nil
}

// Denials counts how the policy treats the calls that people refused. Many refusals
// only mean "not now", so no policy stops all of them.
type Denials struct {
	Kinds []Refusals `json:"kinds"`
}

// Refusals is a row of Denials.
type Refusals struct {
	Kind     string                 `json:"kind"`
	Calls    int                    `json:"calls"`
	Unknown  int                    `json:"unknown"` // not found in a session that is read
	Verdicts map[engine.Verdict]int `json:"verdicts"`
}

// denialsOf finds the calls in the sessions, and their verdicts.
func denialsOf(list []denial, files map[string][]string, all []played) Denials {
	sessions := map[string]*played{}
	for i := range all {
		sessions[all[i].Session] = &all[i]
	}
	taken := map[string]bool{}
	var d Denials
	for _, one := range list {
		i := slices.IndexFunc(d.Kinds, func(r Refusals) bool { return r.Kind == one.Kind })
		if i < 0 {
			i = len(d.Kinds)
			d.Kinds = append(d.Kinds, Refusals{Kind: one.Kind, Verdicts: map[engine.Verdict]int{}})
		}
		row := &d.Kinds[i]
		row.Calls++
		effect, found := one.verdict(files[path.Clean(one.File)], sessions, taken)
		if !found {
			row.Unknown++
			continue
		}
		row.Verdicts[effect]++
	}
	slices.SortFunc(d.Kinds, func(a, b Refusals) int { return strings.Compare(a.Kind, b.Kind) })
	return d
}

// verdict returns the verdict on the call: among those that did not run, if it is among them,
// else among all calls of its tool with the same input.
func (d denial) verdict(ids []string, sessions map[string]*played, taken map[string]bool) (engine.Verdict, bool) {
	for _, id := range ids {
		p := sessions[id]
		if p == nil {
			continue
		}
		for _, c := range p.candidates() {
			key := fmt.Sprint(id, " ", c.call)
			if taken[key] || c.tool != d.Tool && d.Tool != "?" || !d.is(c.args) || c.call >= len(p.Calls) {
				continue
			}
			taken[key] = true
			return p.Calls[c.call].Effect, true
		}
	}
	return "", false
}

// candidates are the session's calls, those that did not run before the others.
func (p *played) candidates() []refused {
	list := slices.Clone(p.Said)
	for i, c := range p.Calls {
		list = append(list, refused{c.Tool, c.Command, i})
	}
	return list
}

// is reports whether arguments match those of the call.
func (d denial) is(args string) bool {
	if len(d.Input) > 0 {
		a, errA := engine.Canonical(d.Input)
		b, errB := engine.Canonical([]byte(args))
		return errA == nil && errB == nil && string(a) == string(b)
	}
	return d.Text != "" && tellsOf(d.Text, args)
}

// tellsOf reports whether a string contains the main argument of a call, ignoring white
// space.
func tellsOf(text, args string) bool {
	var known map[string]any
	if json.Unmarshal([]byte(args), &known) != nil {
		return false
	}
	for _, name := range []string{"command", "url", "query", "pattern", "file_path", "content", "description", "plan"} {
		value, _ := known[name].(string)
		if value = strings.Join(strings.Fields(value), " "); value == "" {
			continue
		}
		shown := strings.Join(strings.Fields(text), " ")
		return strings.Contains(shown, value) || len(shown) > 60 && strings.HasSuffix(shown, value[:min(len(value), 60)]) ||
			len(value) > 200 && strings.Contains(shown, value[:200])
	}
	return false
}

func (d Denials) print(w io.Writer) {
	if len(d.Kinds) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s %6s %6s %6s %6s %6s %6s  %s\n", cell("REFUSED by people: what the policy does", 52), "calls", "block", "ask",
		"modify", "warn", "allow", "not found")
	for _, row := range d.Kinds {
		n := row.Verdicts
		fmt.Fprintf(w, "%s %6d %6d %6d %6d %6d %6d  %d\n", cell("  "+row.Kind, 52), row.Calls, n[engine.Block], n[engine.Ask],
			n[engine.Modify], n[engine.Warn], n[engine.Allow], row.Unknown)
	}
}
