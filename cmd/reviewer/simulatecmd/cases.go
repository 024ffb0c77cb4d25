package simulatecmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/auditcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// saveCases makes a case file from the example of each kind of change, under a
// folder: the session up to it, and the candidate's decision about it. open opens a
// session again. It returns the files, sorted. Nothing is written if a file already
// exists with different contents.
func saveCases(ctx context.Context, a *cli.App, dir string, m *simulate.Impact, open func(session string) (simulate.RecordedSession, error),
	baseline, candidate *bundles.Effective) ([]string, error) {
	s := caseSaver{
		app: a, impact: m, open: open, runner: trial.NewRunner(cli.Environment(), candidate.Layers...),
		files: map[string][]byte{}, names: map[string]bool{},
	}
	if baseline != nil {
		s.before = trial.NewRunner(cli.Environment(), baseline.Layers...)
	}
	for session, kinds := range witnessesBySession(m.Kinds) {
		if err := s.session(ctx, session, kinds); err != nil {
			return nil, fmt.Errorf("save cases: session %s: %w", session, err)
		}
	}
	saved, err := writeCases(dir, s.files)
	if err != nil {
		return nil, fmt.Errorf("save cases: %w", err)
	}
	return saved, nil
}

// witnessesBySession yields the kinds of change of which the candidate's answer is
// known, so that each session is read once; in a fixed order.
func witnessesBySession(kinds []simulate.Kind) func(yield func(string, []simulate.Kind) bool) {
	of := map[string][]simulate.Kind{}
	var order []string
	for _, k := range kinds {
		known := k.State == simulate.Tightened || k.State == simulate.Loosened || k.State == simulate.Maybe
		if !known || k.Example.To == "" {
			continue
		}
		if of[k.Example.Session] == nil {
			order = append(order, k.Example.Session)
		}
		of[k.Example.Session] = append(of[k.Example.Session], k)
	}
	return func(yield func(string, []simulate.Kind) bool) {
		for _, session := range order {
			if !yield(session, of[session]) {
				return
			}
		}
	}
}

// caseSaver makes case files of kinds of change.
type caseSaver struct {
	app    *cli.App
	impact *simulate.Impact
	open   func(session string) (simulate.RecordedSession, error)
	runner *trial.Runner     // of the candidate
	before *trial.Runner     // of the baseline; nil: what was recorded
	files  map[string][]byte // name of the case -> its file
	names  map[string]bool   // that are taken
}

func (s *caseSaver) session(ctx context.Context, session string, kinds []simulate.Kind) error {
	recording, err := s.open(session)
	if err != nil {
		return err
	}
	records, err := witnessRecords(recording, kinds)
	if err != nil {
		return err
	}
	home, err := homeIn(s.app, recording, records)
	if err != nil {
		return err
	}
	for _, k := range kinds {
		err := s.kind(ctx, home, records, k)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // the others are still useful
			fmt.Fprintf(s.app.Stderr, "reviewer: no case for record %s: %s\n", k.Example.ID, cli.Masked(err.Error()))
		}
	}
	return nil
}

// witnessRecords reads a session up to the last of some decisions.
func witnessRecords(recording simulate.RecordedSession, kinds []simulate.Kind) ([]*engine.Record, error) {
	wanted := map[string]bool{}
	for _, k := range kinds {
		wanted[k.Example.ID] = true
	}
	var records []*engine.Record
	for m, err := range recording.Events {
		if err != nil {
			return nil, err
		}
		records = append(records, m.Record)
		if delete(wanted, m.Record.ID()); len(wanted) == 0 {
			return records, nil
		}
	}
	return nil, errors.New("a compared decision no longer exists; did the file change in the meantime?")
}

// homeIn returns the home directory of the session's user, from the session's
// directory, or this machine's.
func homeIn(a *cli.App, recording simulate.RecordedSession, records []*engine.Record) (string, error) {
	for _, r := range records {
		if r.Event == nil {
			continue
		}
		if home := classify.HomeOf(r.Event.CWD); home != "" {
			return home, nil
		}
	}
	if !recording.Audit {
		return "", nil
	}
	return a.UserHome()
}

// kind makes the case for one kind of change.
func (s *caseSaver) kind(ctx context.Context, home string, records []*engine.Record, k simulate.Kind) error {
	records = records[:1+slices.IndexFunc(records, func(r *engine.Record) bool { return r.ID() == k.Example.ID })]
	best, part, why, err := s.part(ctx, home, records, k)
	if err != nil {
		return err
	}
	if len(best.Case.Events) == 0 {
		return fmt.Errorf("it needs the earlier part of the session, whose %d records exceed the %d that a case can contain",
			len(records), maxStory)
	}
	if why != "" {
		best.Case.Todo = "not everything was recorded: " + why
	}
	text, err := cases.Write(s.about(k, leftOut(part, records), best), best.Case)
	if err != nil {
		return err
	}
	s.files[s.name(k)] = text
	return nil
}

// part makes a case of the records that show a kind of change, and returns what
// differs when it runs. It has no events if only a part that is too long shows the
// change.
func (s *caseSaver) part(ctx context.Context, home string, records []*engine.Record, k simulate.Kind) (
	best cases.Excerpt, of []*engine.Record, why string, err error) {
	for _, part := range parts(records, k.Example) {
		x, fails, err := s.cut(ctx, home, part, k)
		if err != nil {
			return best, nil, "", err
		}
		if fails == "" || len(part) == len(records) {
			best, of, why = x, part, fails
		}
		if fails == "" {
			break
		}
	}
	if why != "" || len(of) != len(records) {
		return best, of, why, nil
	}
	of = s.shorter(ctx, home, records, k)
	best, why, err = s.cut(ctx, home, of, k)
	return best, of, why, err
}

// cut makes a case of records, and returns what differs when it runs.
func (s *caseSaver) cut(ctx context.Context, home string, records []*engine.Record, k simulate.Kind) (cases.Excerpt, string, error) {
	x, err := cases.CutExpecting(caseTitle(k), home, records, records[len(records)-1].N, decided(k.Example.To, k.Example.ToRules))
	if err != nil {
		return x, "", err
	}
	fails, err := auditcmd.Differences(ctx, s.runner, x)
	return x, fails, err
}

// maxStory bounds the records of a session in a case, because longer cases are hard to
// read and slow to run.
const maxStory = 400

// parts returns the records that a case can consist of: the call alone, or all of the
// session before it. The call alone suffices to show that something is stopped; that
// something is allowed may depend on the events before it.
func parts(records []*engine.Record, w simulate.Step) [][]*engine.Record {
	switch {
	case len(records) > maxStory:
		return [][]*engine.Record{alone(records)}
	case tightens(w):
		return [][]*engine.Record{alone(records), records}
	}
	return [][]*engine.Record{records, alone(records)}
}

// leftOut describes the parts of the session that a case omits.
func leftOut(part, all []*engine.Record) string {
	switch len(part) {
	case len(all):
		return ""
	case len(alone(all)):
		return "The session before it is left out: the result is the same without it."
	}
	return "Parts of the session before it are left out: the result is the same without them."
}

// alone keeps only the opening of a session, its last record and the other records of
// that call.
func alone(records []*engine.Record) []*engine.Record {
	last := records[len(records)-1]
	var part []*engine.Record
	for _, r := range records {
		if r.Kind == engine.KindOpen || r == last || r.Kind == engine.KindPre && r.Call != "" && r.Call == last.Call {
			part = append(part, r)
		}
	}
	return part
}

// decided is the decision of a policy. A milder answer than a denial may be due to a
// policy that only observes.
func decided(v engine.Verdict, rules []string) cases.Expect {
	e := cases.Expect{RulesExactly: slices.Clone(rules)}
	if v == engine.Block || v == engine.Modify {
		e.Decision = v
	} else {
		e.Answer = v
	}
	return e
}

// caseTitle names a case by what is called.
func caseTitle(k simulate.Kind) string {
	what := cmp.Or(term.OneLine(k.Example.Resource, 60), k.Example.Tool, string(k.Example.Phase))
	return what
}

// about returns the comment above a case: its origin, and both decisions.
func (s *caseSaver) about(k simulate.Kind, short string, x cases.Excerpt) []string {
	w := k.Example
	lines := []string{
		fmt.Sprintf("Generated by policy simulate: record %s, %s UTC.", w.ID, auditcmd.UTC(w.Time)),
		fmt.Sprintf("%s decided %s; %s decides %s.", cli.Masked(s.impact.Baseline.Name), verdictBy(w.From, w.FromRules), cli.Masked(s.impact.Candidate.Name), verdictBy(w.To, w.ToRules)),
	}
	if short != "" {
		lines = append(lines, short)
	}
	if w.Missing != "" {
		lines = append(lines, "It may differ: "+w.Missing+".")
	}
	if len(x.Lost) > 0 {
		lines = append(lines, "Not recorded, so missing here: "+strings.Join(x.Lost, "; ")+".")
	}
	return lines
}

func verdictBy(v engine.Verdict, rules []string) string {
	if len(rules) == 0 {
		return string(v)
	}
	return fmt.Sprintf("%s (%s)", v, strings.Join(rules, ", "))
}

// name returns the file name: the rule and the change; it is stable.
func (s *caseSaver) name(k simulate.Kind) string {
	parts := []string{strings.Trim(k.Rule, "()"), string(k.From), string(k.To)}
	if k.Phase != engine.PhasePre {
		parts = append(parts, string(k.Phase))
	}
	if k.State == simulate.Maybe {
		parts = append(parts, string(k.State))
	}
	base := strings.Map(inFileNames, strings.Join(parts, "-"))
	name := base
	for n := 2; s.names[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	s.names[name] = true
	return name
}

// inFileNames keeps the characters that are valid in file names everywhere.
func inFileNames(r rune) rune {
	if r < 0x80 && (r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
		return r
	}
	return '_'
}

// writeCases writes each case to a folder of its own: stock OPA, which loads a
// policy's folder whole, refuses two lists in one.
func writeCases(dir string, files map[string][]byte) ([]string, error) {
	var saved []string
	there := map[string]bool{}
	for name, text := range files {
		file := filepath.Join(dir, name, name+".yaml")
		saved = append(saved, file)
		old, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case !bytes.Equal(old, text):
			return nil, fmt.Errorf("%s already exists with different contents; nothing was written: move it away, or name another folder", file)
		default:
			there[file] = true
		}
	}
	slices.Sort(saved)
	for _, file := range saved {
		if there[file] {
			continue
		}
		if err := createFile(file, files[strings.TrimSuffix(filepath.Base(file), ".yaml")]); err != nil {
			return nil, err
		}
	}
	return saved, nil
}

// createFile writes a new file.
func createFile(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
