package installed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// Watch looks whether an installation still is what it was, records what is not, and tells people, each time once.
type Watch struct {
	Home       string // the state directory
	Places     settings.Places
	Log        *audit.Store
	Workspaces func() []string                                        // whose settings count, too; nil: none
	Restore    func() (lost bool, err error)                          // listens again if the socket was lost; nil: there is none
	Repair     func(ctx context.Context, agent, program string) error // writes the managed hooks of an agent again
	Tell       func(p Problem, kept bool)                             // people; kept: the state directory is there
	Now        func() time.Time                                       // nil: the clock

	mu       sync.Mutex
	begun    bool
	agents   map[string]settings.Agent
	reader   Reader
	state    fs.FileInfo
	programs map[string]fs.FileInfo
	written  int         // as in audit.Installation
	looked   bool        // at the folder of the sessions
	listed   fs.FileInfo // that folder; nil: it is not there
	missing  []Problem
	size     int64             // of the ledger
	told     map[string]bool   // without a state directory
	alone    map[string]bool   // people were told, and it could not be recorded
	failed   map[string]string // text of a problem -> why it was not repaired
}

// Run looks until the context ends. every is the time from one look to the next.
func (w *Watch) Run(ctx context.Context, every func() time.Duration, report func(error)) {
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every()):
			err := w.Look(ctx)
			if now := fmt.Sprint(err); err != nil && now != last {
				report(err)
				last = now
			}
		}
	}
}

// Look looks once.
func (w *Watch) Look(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if list := w.folder(); len(list) > 0 {
		w.tellAlone(list)
		return nil // nothing can be recorded, and a new state directory is not for this process to make
	}
	if err := w.returned(ctx); err != nil {
		return err
	}
	if !w.begun {
		if err := w.adopt(ctx); err != nil {
			return err
		}
		w.begun = true
	}
	found, err := w.Log.Installation()
	if err != nil {
		return err
	}
	list, err := w.problems(found)
	err = errors.Join(err, w.record(ctx, found, list))
	w.size = w.Log.LedgerSize()
	return err
}

// Kept reports whether the state directory is there.
func (w *Watch) Kept() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.folder()) == 0
}

// tellAlone tells people of problems that cannot be recorded, once until they are gone.
func (w *Watch) tellAlone(list []Problem) {
	if w.told == nil {
		w.told = map[string]bool{}
	}
	for _, p := range list {
		if !w.told[p.Text] {
			w.told[p.Text] = true
			w.Tell(p, false)
		}
	}
}

// here returns the places without a project: the state directory has no settings of one.
func (w *Watch) here() settings.Places {
	p := w.Places
	p.Project = w.Home
	return p
}

// returned records what could not be recorded while there was no state directory.
func (w *Watch) returned(ctx context.Context) (failed error) {
	for text := range w.told {
		failed = errors.Join(failed, w.Log.Note(ctx, engine.Note{What: audit.NoteChanged, Detail: text + ". By now, it is there again"}))
	}
	w.told = nil
	return failed
}

// adopt records the hooks that are there at the first look, where the ledger knows nothing about a file.
func (w *Watch) adopt(ctx context.Context) error {
	found, err := w.Log.Installation()
	if err != nil {
		return err
	}
	p := w.here()
	for _, agent := range settings.Agents() {
		for _, f := range w.reader.Read(agent, p).Files {
			known := func(h engine.Hooks) bool { return h.Agent == agent.Name && h.File == f.Path }
			h := hooksOf(agent.Name, f, w.Home)
			if h != nil && f.Path != cli.RegistryPlace && !slices.ContainsFunc(found.Hooks, known) && !found.Removed[[2]string{h.Agent, h.Layer}] {
				if err := w.Log.Note(ctx, engine.Note{What: audit.NoteHooks, Detail: h.Agent + " in " + h.File, Hooks: h}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// problems finds everything that is not as it was.
func (w *Watch) problems(found *audit.Installation) (list []Problem, err error) {
	if w.Restore != nil {
		if lost, err := w.Restore(); lost {
			list = append(list, w.socket(err))
		}
	}
	var seen []string
	for _, h := range found.Hooks {
		agent, known := w.agent(h.Agent)
		if !known {
			continue // of another version
		}
		list = append(list, w.hooks(agent, h)...)
		if !slices.Contains(seen, h.Agent) {
			seen = append(seen, h.Agent)
			list = append(list, w.switches(agent)...)
		}
	}
	list = append(list, w.programsOf(found)...)
	gone, err := w.sessions()
	for i, p := range append(list, gone...) {
		p.Text = bounded(cli.Masked(p.Text))
		if i < len(list) {
			list[i] = p
		} else {
			list = append(list, p)
		}
	}
	return list, err
}

// agent finds an agent. Describing all of them takes longer than everything else.
func (w *Watch) agent(name string) (agent settings.Agent, known bool) {
	if w.agents == nil {
		w.agents = map[string]settings.Agent{}
		for _, a := range settings.Agents() {
			w.agents[a.Name] = a
		}
	}
	agent, known = w.agents[name]
	return agent, known
}

func (w *Watch) socket(err error) Problem {
	path := filepath.Join(w.Home, "run")
	lost := "the socket of the resident process in " + path + " was removed or replaced"
	if err != nil {
		return Problem{About: Socket, Path: path, Text: fmt.Sprintf("%s, and it cannot listen there again (%v), so hooks are slow: run "+
			"`reviewer doctor resident`", lost, err)}
	}
	return Problem{About: Socket, Path: path, Event: true, Text: fmt.Sprintf("%s (%s); it listens there again. If that was not "+
		"you, a program tried to take its place", lost, code.Clock(w.now().UnixMilli()))}
}

// maxText bounds the text of a problem: a record has few thousand bytes.
const maxText = 1500

func bounded(text string) string {
	if len(text) > maxText {
		return strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// record notes what is new and what is gone. Managed hooks are written again first.
func (w *Watch) record(ctx context.Context, found *audit.Installation, list []Problem) (failed error) {
	note := func(what, text string) bool {
		err := w.Log.Note(ctx, engine.Note{What: what, Detail: text})
		failed = errors.Join(failed, err)
		return err == nil
	}
	here, untried := map[string]bool{}, w.failed
	w.failed = map[string]string{}
	for _, p := range list {
		what := audit.NoteBroken
		if p.layer == settings.LayerManaged && w.Repair != nil {
			p, what = w.repaired(ctx, p, untried)
		} else if p.Event {
			what = audit.NoteChanged
		}
		_, happened := found.Events[p.Text]
		if !p.Event {
			here[p.Text] = true
		}
		if p.Event && happened || !p.Event && slices.Contains(found.Broken, p.Text) {
			continue
		}
		recorded := note(what, p.Text)
		if !w.alone[p.Text] {
			w.Tell(p, true)
		}
		if w.alone == nil {
			w.alone = map[string]bool{}
		}
		w.alone[p.Text] = !recorded
	}
	for _, text := range found.Broken {
		if !here[text] {
			note(audit.NoteWhole, text)
		}
	}
	return failed
}

// repaired writes managed hooks again. failed is why that was not possible at the last look: it is tried again once the problem was
// gone or is another one.
func (w *Watch) repaired(ctx context.Context, p Problem, failed map[string]string) (Problem, string) {
	why, tried := failed[p.Text]
	if !tried {
		err := w.Repair(ctx, p.Agent, p.program)
		if err == nil {
			p.Event = true
			p.Text = bounded(fmt.Sprintf("the managed hooks were written again (%s): %s", code.Clock(w.now().UnixMilli()), p.Text))
			return p, audit.NoteRepaired
		}
		why = cli.Masked(err.Error())
	}
	w.failed[p.Text] = why
	p.Text = bounded(fmt.Sprintf("%s; they are managed, and this process could not write them: %s", p.Text, why))
	return p, audit.NoteBroken
}

func (w *Watch) now() time.Time {
	if w.Now != nil {
		return w.Now()
	}
	return time.Now()
}

// AtPrompt returns what a person is told about the installation when they write to an agent: what is not as it was, each
// time, and what happened or is gone again, once. Empty: nothing. What cannot be read is for doctor to report.
func AtPrompt(ctx context.Context, log *audit.Store) string {
	found, err := log.Installation()
	if err != nil {
		return ""
	}
	var list []string
	for _, text := range found.Broken {
		list = append(list, "reviewer: "+text)
	}
	for _, text := range found.Untold() {
		if log.Note(ctx, engine.Note{What: audit.NoteTold, Detail: text}) != nil || slices.Contains(found.Broken, text) {
			continue // the next prompt reports it, or the list already does
		}
		if found.Events[text].Gone {
			text += ". By now, this is as before again"
		}
		list = append(list, "reviewer: "+text)
	}
	return strings.Join(list, "\n")
}

// Installed records the hooks that an installation has written to a file, if they are not what the ledger has.
func Installed(ctx context.Context, log *audit.Store, agent settings.Agent, p settings.Places, layer, path string) error {
	l, ok := layerOf(agent.Layers(p), engine.Hooks{Layer: layer, File: path})
	if !ok {
		return nil // the file is for something else
	}
	f, err := (&Reader{}).File(l, path)
	if err != nil {
		return err
	}
	found, err := log.Installation()
	if err != nil {
		return err
	}
	h := hooksOf(agent.Name, f, filepath.Clean(log.Dir))
	if h == nil || slices.ContainsFunc(found.Hooks, func(o engine.Hooks) bool { return reflect.DeepEqual(o, *h) }) {
		return nil
	}
	return log.Note(ctx, engine.Note{What: audit.NoteHooks, Detail: h.Agent + " in " + h.File, Hooks: h})
}
