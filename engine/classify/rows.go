package classify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// NewRows reads the rows of a policy's layers, with which events are classified. Rows are
// parsed on demand.
func NewRows(layers []rows.Layer) *rows.Set { return rows.New(layers) }

// The environment in which examples of rows run: an empty home directory of no one.
const (
	exampleHome      = "/home/ana"
	exampleWorkspace = "/srv/shop"
)

// TryExample reports how the result of a command differs from what an example of a row
// expects; empty: it does not. found is the result, a line for each effect.
func TryExample(ctx context.Context, set *rows.Set, ex rows.Example) (wrong, found []string, err error) {
	call := rows.ToolExample{Args: map[string]any{"command": ex.Run}, Effects: ex.Effects, Never: ex.Never, Signals: ex.Signals}
	return TryTool(ctx, set, "Bash", call)
}

// TryTool is TryExample for a call of a tool, for an example of a row of tools/; the tool
// is that of the row if the example names none.
func TryTool(ctx context.Context, set *rows.Set, tool string, ex rows.ToolExample) (wrong, found []string, err error) {
	c := &Classifier{World: place.World{Home: exampleHome}, MAC: exampleMAC, Rows: set}
	args, err := json.Marshal(ex.Args)
	if err != nil {
		return nil, nil, err
	}
	event := engine.Event{Phase: engine.PhasePre, Tool: cmp.Or(ex.Tool, tool), Args: args, CWD: exampleWorkspace}
	facts, err := c.Classify(ctx, event, exampleWorkspace)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range facts.Action.Effects {
		found = append(found, strings.Join(effectWords(e), " "))
	}
	for _, s := range facts.Action.Signals {
		found = append(found, "signal "+string(s))
	}
	has := func(line string) bool {
		return slices.ContainsFunc(found, func(f string) bool { return holdsAll(strings.Fields(f), strings.Fields(line)) })
	}
	for _, line := range ex.Effects {
		if !has(line) {
			wrong = append(wrong, "missing effect: "+line)
		}
	}
	for _, id := range ex.Signals {
		if !has("signal " + id) {
			wrong = append(wrong, "the signal "+id+" is missing")
		}
	}
	for _, line := range ex.Never {
		if has(line) || has("signal "+line) {
			wrong = append(wrong, "unexpected effect: "+line+"")
		}
	}
	return wrong, found, nil
}

// TryToken reports what is wrong with an example of a row of tokens, which must contain a
// secret of the kind, or no secret at all; empty: nothing.
func TryToken(set *rows.Set, kind, text string, match bool) (wrong string, err error) {
	found, err := mask.Tried(set, text)
	kinds := strings.Join(slices.Sorted(maps.Keys(found)), ", ")
	switch {
	case err != nil:
		return "", err
	case match && kinds == "":
		return "no secret is found in it", nil
	case match && kinds != kind:
		return "what is found in it is " + kinds, nil
	case !match && kinds != "":
		return "a secret is found in it, " + kinds, nil
	}
	return "", nil
}

// exampleMAC is a keyed digest with a public key: examples contain no secrets.
func exampleMAC(b []byte) string {
	sum := sha256.Sum256(append([]byte("examples"), b...))
	return hex.EncodeToString(sum[:])
}

// effectWords describes an effect as examples do: kind, verb, target, and other properties.
func effectWords(e engine.Effect) []string {
	words := []string{string(e.Kind), e.Verb}
	for _, text := range []string{e.Short, e.Target, e.Object, e.Host, e.Mode, e.Signal, string(e.Reversibility)} {
		if text != "" && !slices.Contains(words, text) {
			words = append(words, strings.Fields(text)...)
		}
	}
	for _, flag := range []struct {
		name string
		on   bool
	}{{"recursive", e.Recursive}, {"forced", e.Forced}, {"privileged", e.Privileged}, {"egress", e.Egress}, {"persistence", e.Persistence}} {
		if flag.on {
			words = append(words, flag.name)
		}
	}
	return words
}

func holdsAll(words, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(words, w) })
}

// TryPath reports whether a path belongs to the class of a row of places/: the result of an
// example of such a row.
func TryPath(set *rows.Set, class, path string) bool { return place.TryRow(set, class, path) }

// Reclassed returns a function that reports whether a path in a session's workspace has a
// different class by the rows of one set than by those of another.
func Reclassed(then, now *rows.Set) func(home, workspace, path string) bool {
	return place.Reclassed(then, now)
}
