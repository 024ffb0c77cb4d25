// Package classify determines what an agent's event means: it turns an
// engine.Event into engine.Facts on which any two organisations would agree.
// Raw bytes are interpreted in memory (shell, PowerShell, paths, URLs, code),
// then every string that leaves is masked and shortened.
//
// An event passes through these steps, each in its own file or package:
//
//	decode    the canonical bytes of the arguments (classify.go)
//	read      the tool's arguments become raw effects (tools.go, tools_mcp.go);
//	          code is interpreted (shell, windows, languages, sql, tasks) with
//	          what is known about programs (programs, operation)
//	resolve   raw effects become effects: real paths, classes, git (place)
//	assemble  effects become the action: types, intent, signals (assemble.go, checks.go)
//	mask      secrets and personal data are replaced (mask), marks made (marks)
//	shorten   what does not fit into a record is shortened (shorten.go)
//
// Packages under classify import only what is before them in this order:
// abstract and operation; sql, mask, place; marks, prompt; shell; languages;
// tasks, windows; programs. Callers import classify alone.
//
// Out of scope: verdicts, scores, thresholds and lists that an organisation
// may want to edit (policy), the session's history (engine), and the wire
// formats of agents (engine/harness). Nothing here runs a program or opens a
// connection; files are examined only through World.
package classify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/marks"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/programs"
	"github.com/agent-reviewer/reviewer/engine/classify/prompt"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/standing"
)

// Version is raised manually when the facts of some event change, so that replays can
// distinguish the facts of different classifiers.
const Version = 32

// Classifier derives facts from events. The same event in the same world has the same
// facts. It has no state and is safe for concurrent use.
type Classifier struct {
	World   place.World
	MAC     func([]byte) string // keyed digest in lower-case hex, at least 16 digits
	Limit   int                 // bytes of facts as JSON; 0: engine.MaxFacts
	Program string              // absolute path of reviewer, which modified calls may use; empty: unknown
	Secrets *rows.Set           // token formats that are always masked, regardless of the policy's rows
	Rows    *rows.Set           // rows for events without rows of a policy; nil: those of Shipped
	Shipped func() *rows.Set    // used if no policy could be loaded, so that records are masked as usual; nil: nothing is known
}

// Classify returns the facts of an event. workspace is the session's fixed folder,
// absolute; empty: none. An error means that the event could not be classified, and the
// caller must not allow the call.
func (c *Classifier) Classify(ctx context.Context, e engine.Event, workspace string) (engine.Facts, error) {
	if c.MAC == nil || len(c.MAC(nil)) < 16 {
		return engine.Facts{}, errors.New("classify event: no MAC of at least 16 hex digits; set Classifier.MAC")
	}
	if err := ctx.Err(); err != nil {
		return engine.Facts{}, fmt.Errorf("classify event: %w", err)
	}
	m := &mask.Masker{Mac: c.MAC, Personal: e.Redact, Formats: mask.FormatsOf(c.rowsOf(e), c.Secrets)}
	facts := engine.Facts{Event: engine.EventFacts{Name: e.Name, Tool: e.Tool, CWD: e.CWD, Mode: e.Mode, PromptID: e.PromptID}}
	switch e.Phase {
	case engine.PhasePrompt:
		f := m.ContentOf(e.Prompt)
		facts.Event.Prompt = &f
		facts.Event.Goal = prompt.GoalOf(c.rowsOf(e), m, e.Prompt, c.marker(m, workspace, e.Session), workspace, c.existing(workspace))
		facts.Event.Goal = withRoots(facts.Event.Goal, m, e.Roots, workspace)
	case engine.PhaseStart:
		if e.Instructions {
			facts.Event.Standing = standing.Facts(c.Instructions(e, workspace), c.MAC, c.marker(m, workspace, e.Session).OfText)
		}
	case engine.PhaseOther:
		if e.Unverified != "" && e.Prompt != "" {
			f := m.ContentOf(e.Prompt)
			facts.Event.Prompt = &f
			facts.Event.Goal = prompt.GoalOf(c.rowsOf(e), m, e.Prompt, c.marker(m, workspace, e.Session), workspace, c.existing(workspace)).Forbids()
		}
	case engine.PhaseStop:
		facts.Event.Says = c.statement(m, e, workspace)
	case engine.PhasePre, engine.PhaseRequest, engine.PhasePost:
		if err := c.action(&facts, m, e, workspace); err != nil {
			return engine.Facts{}, fmt.Errorf("classify %s: %w", abstract.Clip(m.Text(e.Tool), 60), err)
		}
		c.asked(&facts, m, e, workspace)
	}
	maskEvent(&facts.Event, m)
	if e.Phase == engine.PhasePost && e.Result != nil {
		facts.Event.Result = result(c.rowsOf(e), m, e.Result, facts.Action, c.marker(m, workspace, e.Session))
	}
	limit := c.Limit
	if limit == 0 {
		limit = engine.MaxFacts
	}
	shorten(&facts, limit, c.MAC)
	return facts, nil
}

// withRoots adds the other folders that the person has open to what a prompt names, except one that contains the
// workspace: whoever opens the whole disk means no place.
func withRoots(g *engine.Goal, m *mask.Masker, roots []string, workspace string) *engine.Goal {
	for _, root := range roots {
		root = path.Clean(place.Slashes(root))
		inside := strings.HasPrefix(place.Slashes(workspace)+"/", strings.TrimRight(root, "/")+"/")
		if inside || !path.IsAbs(root) && !strings.Contains(root, ":/") || g != nil && len(g.Names) >= prompt.MaxGoalNames {
			continue
		}
		if g == nil {
			g = &engine.Goal{}
		}
		g.Names = append(g.Names, m.Text(root))
	}
	return g
}

// asked adds what the person is asked, and what they answered.
func (c *Classifier) asked(facts *engine.Facts, m *mask.Masker, e engine.Event, workspace string) {
	if e.Asked == nil {
		return
	}
	q := *e.Asked
	q.Parts = slices.Clone(q.Parts)
	for i := range q.Parts {
		q.Parts[i].Answer = "" // the question alone is the same before it is answered
	}
	raw, err := json.Marshal(q)
	if err != nil {
		return // strings can be encoded
	}
	facts.Event.Asked = &engine.Asked{MAC: c.MAC(raw)}
	if e.Phase == engine.PhasePre {
		facts.Event.Asked.Offers = prompt.OffersOf(c.rowsOf(e), m, e.Asked, c.existing(workspace))
		return
	}
	if said := prompt.AnswersOf(c.rowsOf(e), m, e.Asked, c.existing(workspace)); len(said) > 0 {
		facts.Event.Goal = &engine.Goal{Statements: said}
	}
}

func maskEvent(e *engine.EventFacts, m *mask.Masker) {
	e.Name, e.Tool, e.CWD, e.Mode, e.PromptID = m.Text(e.Name), m.Text(e.Tool), m.Text(e.CWD), m.Text(e.Mode), m.Text(e.PromptID)
}

// action interprets the call.
func (c *Classifier) action(facts *engine.Facts, m *mask.Masker, e engine.Event, workspace string) error {
	canonical, args, err := decodeArgs(e.Args)
	if err != nil {
		return err
	}
	facts.Args = c.MAC(canonical)
	m.LearnName(e.Tool)
	mask.Learn(m, args)
	in := c.shellInput(e)
	in.Secret, in.Tokens, in.Terminals = m.HoldsSecret, m.Tokens, typedBefore(e.Terminals, m)
	res := place.NewResolver(c.World, workspace, in.Rows)
	res.Secret = m.HoldsSecret
	in.Disk, in.Class, in.Remotes = shell.NewDisk(res), res.Class, res.Remotes
	in.Disk.Since(e.Began)
	r := read(e.Tool, args, in)
	r.nameSent()
	mask.Learn(m, in.Disk.Texts())
	learnTyped(m, r)
	if len(canonical) > 0 && canonical[0] != '{' {
		r.refuse("input")
	}
	a := assemble(r, res)
	a.Loads = loads(r, a)
	if e.Phase == engine.PhasePre {
		a.Code = c.written(r, res, m)
		markShown(a, r, res)
		markKeys(a, r, res, m)
		r.spoken = append(r.spoken, c.givenFiles(a, in.Rows)...)
	}
	masked := maskArguments(m, r)
	facts.Event.Args = masked.object(args, "")
	a.Contents = masked.facts
	a.Resource = resource(r, facts.Event.Args)
	a.Fingerprint = c.MAC(append([]byte(e.Tool+"\x00"), canonical...))[:16]
	a.Tokens = sketch(facts.Event.Args)
	a.Marks = c.marker(m, workspace, e.Session).OfAction(markedTexts(r))
	maskAction(a, m)
	a.Words = prompt.ActionWords(a, facts.Event.Args)
	facts.Action = a
	if e.Phase == engine.PhasePre {
		facts.Prompts = r.promptTexts(c.MAC)
	}
	return nil
}

// shellInput returns what is known about where a call runs.
func (c *Classifier) shellInput(e engine.Event) shell.Input {
	set := c.rowsOf(e)
	in := shell.Input{
		Cwd: abstract.Value{Text: place.Slashes(e.CWD)}, Home: c.World.Home,
		Program: c.Program, Guard: c.World.Guard, State: c.World.State, ListDir: c.listDir(),
		Knows: programs.Knowledge(set), Rows: set, Terminals: e.Terminals,
	}
	if e.CWD == "" {
		in.Cwd = abstract.Value{Sure: abstract.Unknown}
	}
	return in
}

// rowsOf returns the rows used to classify an event.
func (c *Classifier) rowsOf(e engine.Event) *rows.Set {
	if set, ok := e.Rows.(*rows.Set); ok {
		return set
	}
	if c.Rows == nil && c.Shipped != nil {
		return c.Shipped()
	}
	return c.Rows
}

// decodeArgs returns the canonical bytes of a call's arguments, and the arguments if they
// are an object. Missing arguments count as an empty object.
func decodeArgs(raw json.RawMessage) ([]byte, map[string]any, error) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	canonical, err := engine.Canonical(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("read arguments: %w", err)
	}
	v, err := engine.DecodeStrict(canonical)
	if err != nil {
		return nil, nil, fmt.Errorf("read arguments: %w", err)
	}
	args, _ := v.(map[string]any)
	return canonical, args, nil
}

// listDir returns the function with which the interpreter reads directories.
func (c *Classifier) listDir() func(string) ([]string, error) {
	if c.World.ReadDir == nil {
		return nil
	}
	return func(dir string) ([]string, error) {
		list, err := c.World.ReadDir(dir, place.MaxNames+1)
		if err != nil {
			return nil, err
		}
		if len(list) > place.MaxNames {
			return nil, place.ErrTooLong
		}
		names := make([]string, len(list))
		for i, e := range list {
			names[i] = e.Name()
		}
		slices.Sort(names)
		return names, nil
	}
}

// result describes the result of a call; a is the call's action, nil if unknown.
func result(set *rows.Set, m *mask.Masker, r *engine.Result, a *engine.Action, k *marks.Marker) *engine.ResultFacts {
	f := &engine.ResultFacts{Outcome: engine.OutcomeRan, Interrupted: r.Interrupted, MS: max(r.DurationMS, 0)}
	switch {
	case r.Refused:
		f.Outcome = engine.OutcomeDenied
	case r.Failed:
		f.Outcome = engine.OutcomeFailed
	}
	text := outputText(r.Output)
	if f.Outcome != engine.OutcomeRan {
		f.Class = errorClass(m.Text(abstract.Clip(r.Error, maxError)))
		if f.Outcome == engine.OutcomeFailed {
			f.Trouble = prompt.TroubleOf(set, r.Error, a != nil && a.Check)
		}
		if text == "" {
			text = r.Error
		}
	}
	content := m.ContentOf(text)
	f.Content = &content
	if lists := a != nil && listsProcesses(set, a); lists || a != nil && len(a.Starts) > 0 {
		f.Processes, f.Ports = processesIn(text, lists)
	}
	if k != nil {
		if own := ownHosts(set, a); own != nil && !marks.ReadsSecrets(a) {
			f.Marks, f.Names = k.OfAnswer(text, own)
		} else {
			f.Marks = k.OfOutput(text, a)
			f.Names = namesOf(k, text, a)
		}
		if asked := marks.AsksForSecret(a); asked || len(content.Secrets) > 0 {
			f.Secrets = k.OfFound(text, asked)
		}
	}
	return f
}

// namesOf returns the marks of what a response from outside merely names.
func namesOf(k *marks.Marker, text string, a *engine.Action) []string {
	if a == nil || marks.ReadsSecrets(a) || !slices.Contains(a.Types, engine.TypeMCPCall) &&
		!slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return e.Kind == engine.EffectNetwork && !e.Loopback }) {
		return nil
	}
	return k.OfNames(text)
}

// maxError limits the text of an error that is used to find its class, in bytes: the
// first lines.
const maxError = 16 << 10

// resource returns the text that identifies the call for access rules.
func resource(r *toolReader, masked map[string]any) string {
	for _, name := range r.tool.resource {
		if s := argumentText(masked, name); s != "" {
			return s
		}
	}
	b, err := engine.CanonicalOf(masked)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// argumentText returns an argument that is a string; of a list (commands[], files[].path), its
// texts, one per line. Empty: it is neither.
func argumentText(args map[string]any, name string) string {
	name, key, listed := strings.Cut(name, "[]")
	list, isList := args[name].([]any)
	if !listed || !isList {
		s, _ := args[name].(string)
		return s
	}
	var lines []string
	for _, item := range list {
		if o, is := item.(map[string]any); is && key != "" {
			item = o[strings.TrimPrefix(key, ".")]
		}
		s, is := item.(string)
		if !is {
			return ""
		}
		lines = append(lines, s)
	}
	return strings.Join(lines, "\n")
}

func maskAction(a *engine.Action, m *mask.Masker) {
	a.Name, a.Resource, a.ToolVerb = m.Text(a.Name), m.Text(a.Resource), m.Text(a.ToolVerb)
	maskCommands(a.Commands, m)
	maskCommands(a.PossibleCommands, m)
	a.Paths, a.Loads = m.Texts(a.Paths), m.Texts(a.Loads)
	folded := m.Folded()
	for i, h := range a.Hosts {
		a.Hosts[i] = m.Host(folded, h)
	}
	maskEffects(a.Effects, m, folded)
	maskEffects(a.Possible, m, folded)
	if a.Terminals != nil {
		for i := range a.Terminals.Lines {
			l := &a.Terminals.Lines[i]
			l.Terminal, l.Before, l.Parts = m.Text(l.Terminal), m.Text(l.Before), m.Texts(l.Parts)
		}
	}
	maskStarts(a.Starts, m)
	for i := range a.Makes {
		a.Makes[i].Name, a.Makes[i].Host, a.Makes[i].Server = m.Text(a.Makes[i].Name), m.Text(a.Makes[i].Host), m.Text(a.Makes[i].Server)
	}
	a.Remotes = m.Texts(a.Remotes)
	for i := range a.Flows {
		f := &a.Flows[i]
		f.Name, f.Host, f.Image = m.Text(f.Name), m.Host(folded, f.Host), m.Text(f.Image)
	}
	for i := range a.Opaque {
		a.Opaque[i].Where = m.Text(a.Opaque[i].Where)
	}
}

func maskCommands(list []engine.Command, m *mask.Masker) {
	for i := range list {
		c := &list[i]
		c.Name, c.Sub, c.Flags, c.Operands = m.Text(c.Name), m.Texts(c.Sub), m.Texts(c.Flags), m.Texts(c.Operands)
		c.Options = m.Texts(c.Options)
	}
}

func maskEffects(list []engine.Effect, m *mask.Masker, folded *mask.Masker) {
	for i := range list {
		e := &list[i]
		e.Target, e.Short, e.Host, e.Server = m.Text(e.Target), m.Text(e.Short), m.Text(e.Host), m.Text(e.Server)
		if e.Kind == engine.EffectNetwork {
			e.Target, e.Short = m.Host(folded, e.Target), m.Host(folded, e.Short)
		}
	}
}

// marker returns a Marker for a session in a workspace. The names of the session's folders
// and of the current branch are not marks.
func (c *Classifier) marker(m *mask.Masker, workspace, session string) *marks.Marker {
	looks := marks.MaxLooks
	branch := sync.OnceValue(func() string { return c.branch(workspace) })
	return &marks.Marker{Mac: c.MAC, Masks: m, Known: func(s string) bool {
		if workspace != "" && (place.Within(workspace, s) || s == path.Base(workspace) || strings.Contains("/"+workspace+"/", "/"+s+"/")) {
			return true
		}
		if session != "" && s == session || strings.Contains("/"+branch()+"/", "/"+s+"/") {
			return true
		}
		if workspace == "" || c.World.Lstat == nil || strings.ContainsAny(s, " \x00@:") || strings.HasPrefix(s, "~") || len(s) > 255 ||
			strings.HasPrefix(s, "/") || looks <= 0 {
			return false
		}
		looks--
		_, err := c.World.Lstat(workspace + "/" + s)
		return err == nil
	}}
}

// branch returns the name of the checked-out branch of a workspace; empty if there is none,
// or if it is unknown.
func (c *Classifier) branch(workspace string) string {
	if workspace == "" || c.World.ReadFile == nil {
		return ""
	}
	b, err := c.World.ReadFile(workspace+"/.git/HEAD", 4096)
	if err != nil {
		return ""
	}
	name, _ := strings.CutPrefix(strings.TrimSpace(string(b)), "ref: refs/heads/")
	return name
}

// Mask removes secrets from a string that is not part of an event, such as an error message.
func (c *Classifier) Mask(text string) string {
	m := &mask.Masker{Mac: c.MAC, Formats: mask.FormatsOf(c.Rows, c.Secrets)}
	m.Remember(text)
	return m.Text(text)
}

// existing returns a function that reports whether a bare word of a prompt names something in the workspace.
func (c *Classifier) existing(workspace string) func(string) bool {
	return func(word string) bool {
		if workspace == "" || c.World.Lstat == nil || !filepath.IsLocal(word) {
			return false
		}
		_, err := c.World.Lstat(filepath.Join(workspace, word))
		return err == nil
	}
}

// Instructions reads the instruction files that apply in a workspace for the agent of an event.
func (c *Classifier) Instructions(e engine.Event, workspace string) []standing.File {
	m := &mask.Masker{Mac: c.MAC, Personal: e.Redact, Formats: mask.FormatsOf(c.rowsOf(e), c.Secrets)}
	r := standing.Reader{World: c.World, Rows: c.rowsOf(e), Masker: m, Workspace: workspace, Harness: e.Harness}
	return r.Files()
}
