package simulatecmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sources"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// recordedModes as the value of --grants stands for the permission mode of each call.
const recordedModes = "recorded"

// measureGrants reports how many of the calls that agents asked about are granted by the candidate.
func measureGrants(ctx context.Context, a *cli.App, s *simulation, p *term.Progress) (*simulate.GrantRun, error) {
	e, err := a.PolicyRef(ctx, s.candidate)
	if err != nil {
		return nil, fmt.Errorf("--candidate: %w", err)
	}
	if e, err = e.WithGrants(); err != nil {
		return nil, fmt.Errorf("--candidate: %w", err)
	}
	policy, err := wiring.Compile(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", s.candidate, err)
	}
	set, err := sources.Find(ctx, s.args, sources.Options{
		Stdin: untilDone(ctx, a.Stdin), Read: func(n int64) { p.Bytes.Add(n) }, Env: cli.Environment(), Mask: s.mask,
		Classifier: func(transcript.Transcript) engine.Classifier { return unclassified{} },
	})
	if err != nil {
		return nil, err
	}
	run := &simulate.GrantRun{Policy: policy, Env: cli.Environment(), Prompts: promptsOf(e, s.grants)}
	if s.clientSettings != "" {
		if err := ownRules(a, s.clientSettings, &run.Prompts); err != nil {
			return nil, fmt.Errorf("--client-settings: %w", err)
		}
	}
	known, _ := policy.Rows.(*rows.Set)
	for _, one := range inTime(ctx, s, set) {
		t := transcript.Transcript{Events: one.events}
		c := &classify.Classifier{World: elsewhere(t), MAC: ownMAC(t), Secrets: bundles.BuiltInTokens(), Rows: known}
		if err := run.Session(ctx, one.id, one.events, c); err != nil {
			return nil, err
		}
	}
	if run.Sum.Sessions == 0 {
		return nil, errors.New("--grants: there is no transcript among the sources: logs do not contain what an agent would have asked about")
	}
	return run, nil
}

// unclassified gives no facts: sessions are only read.
type unclassified struct{}

// Classify implements engine.Classifier.
func (unclassified) Classify(context.Context, engine.Event, string) (engine.Facts, error) {
	return engine.Facts{}, nil
}

// Rewrite implements engine.Classifier.
func (unclassified) Rewrite(context.Context, engine.Event, string, []engine.Operation) (json.RawMessage, error) {
	return nil, errors.New("nothing is rewritten")
}

// Mask implements engine.Classifier.
func (unclassified) Mask(text string) string { return text }

// told is a session as its transcript shows it.
type told struct {
	id     string
	events []engine.Event
}

// inTime reads the sessions that were selected, in the order in which they began.
func inTime(ctx context.Context, s *simulation, set *sources.Set) []told {
	var list []told
	for i := range set.Families {
		f := &set.Families[i]
		if !s.portion.hasSession(f.Session) || !s.holds(*f) {
			continue
		}
		for recording := range f.Recorded(ctx) {
			one := told{id: recording.Session}
			for m, err := range recording.Events {
				if err == nil && m.Event != nil && !m.Copied {
					one.events = append(one.events, *m.Event)
				}
			}
			if len(one.events) > 0 {
				list = append(list, one)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b told) int { return cmp.Compare(a.events[0].Time, b.events[0].Time) })
	return list
}

// promptsOf reads from the settings about what agents ask.
func promptsOf(e *bundles.Effective, mode string) simulate.Prompts {
	c := &e.Settings.Grants.Client
	p := simulate.Prompts{Silent: c.Silent, Edits: c.Edits, Programs: c.Programs, EditWith: c.EditPrograms, Usual: c.Usual}
	if mode != recordedModes {
		p.Mode = mode
	}
	return p
}

// ownRules reads the permission rules of a settings file of the agent. A rule that cannot be
// converted exactly is reported: the agent may have asked about fewer calls than the report counts.
func ownRules(a *cli.App, file string, p *simulate.Prompts) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	rules, err := wiring.ReadClientRules(file, raw)
	if err != nil {
		return err
	}
	for _, text := range rules.Remarks {
		fmt.Fprintln(a.Stderr, term.Plain(text))
	}
	p.Rules, p.Ask = rules.Matcher, rules.Ask
	return nil
}

// writeGrants writes the report.
func writeGrants(a *cli.App, s *simulation, run *simulate.GrantRun) error {
	g := &run.Sum
	for _, o := range s.out.List {
		if o.Format != "json" || o.File != "" {
			continue
		}
		raw, err := json.MarshalIndent(struct {
			*simulate.Grants
			Share float64 `json:"share"`
			Bound float64 `json:"bound"`
		}{g, engine.Round6(g.Share()), engine.Round6(g.Bound())}, "", "  ")
		if err == nil {
			_, err = fmt.Fprintf(a.Stdout, "%s\n", raw)
		}
		return err
	}
	page := term.Page{Buffer: &bytes.Buffer{}, Width: a.Columns(&s.out.List[0])}
	grantsPage(&page, run)
	_, err := a.Stdout.Write(page.Bytes())
	return err
}

func grantsPage(page *term.Page, run *simulate.GrantRun) {
	g := &run.Sum
	modes := "as recorded; " + run.Prompts.Usual + " where unknown"
	if run.Prompts.Mode != "" {
		modes = "all assumed to be " + run.Prompts.Mode
	}
	fmt.Fprintf(page, "%s in %s; permission modes: %s\n", term.Counted(int(g.Calls), "call", "calls"),
		term.Counted(int(g.Sessions), "session", "sessions"), modes)
	fmt.Fprintf(page, "asked about by the agent  %d\n", g.Asked)
	fmt.Fprintf(page, "  held up by the policy   %d\n", g.Held)
	fmt.Fprintf(page, "  granted                 %d (%.1f %%)%s\n", g.Granted, 100*g.Share(), counts(g.Proofs))
	fmt.Fprintf(page, "  refused by a person     %d\n", g.Refused)
	if len(g.Lacks) > 0 {
		fmt.Fprintln(page, "not granted, by what is missing for a proof; several things can be")
	}
	for _, why := range byCount(g.Lacks) {
		page.Line(term.Plain(fmt.Sprintf("  %6d  %s", g.Lacks[why], why)))
	}
	fmt.Fprintf(page, "granted and refused       %d; at most %.2f %% of the granted calls (95 %%, Clopper-Pearson)\n",
		g.GrantedRefused, 100*g.Bound())
	for _, text := range g.Examples {
		fmt.Fprintf(page, "  %s\n", engine.ClipJSON(text, page.Width))
	}
	page.Paragraph("", "Method: an agent asks about a call if its permission mode asks (grants.client.silent lists those that do not), and "+
		"the call is more than reading files of the workspace with its own tools or with a program of grants.client.programs; where the "+
		"mode accepts edits, edits of ordinary files in the workspace are not asked about either. "+ownRulesText(run)+
		" A call counts as refused if its transcript says so, whatever the reason. Checkpoints are assumed to succeed.")
}

func ownRulesText(run *simulate.GrantRun) string {
	if run.Prompts.Rules != nil {
		return "Rules of --client-settings come first: the agent does not ask about a call that they allow or deny."
	}
	return "Rules that a person added in the agent are unknown without --client-settings."
}

// byCount lists the keys, the most frequent first.
func byCount(m map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
}

func counts(m map[string]int64) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", key, m[key]))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
