// Package simulatecmd implements `reviewer policy simulate`: it finds sessions and the
// two policies to compare, runs the comparison, and writes cases for what changed.
//
// Out of scope: the comparison itself, and the form of its result.
package simulatecmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/impact"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sources"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/spf13/cobra"
)

// simulation is the flags of `policy simulate`, and their meaning.
type simulation struct {
	out                 term.Outputs
	baseline, candidate string
	candidateFlag       string // that names the candidate, for errors
	sweeps              []string
	grants              string                 // permission mode for --grants; empty: it was not asked for
	clientSettings      string                 // with grants: file of the agent's settings
	given               func(flag string) bool // it is on the command line
	failOn              []string
	saveCases           string
	since               string
	sessions, tools     []string
	until               string
	workspaces, agents  []string
	users               []string
	rules, answers      []string
	show                bool // words and paths of people too
	sample, shard       string
	noFidelity, verbose bool
	parallel            int
	manifest            string

	baselineName, candidateName string // in the report; empty: as they were given

	cluster cluster // where the comparison runs
	inputs  inputs  // where the sessions are

	args      []string          // what to read; never empty once it was read
	own       bool              // the machine's own log, since nothing was named
	key       string            // of the settings that are swept
	tries     [][]bundles.Value // the combinations of their values
	rows      []simulate.SweepRow
	skipped   []simulate.SkippedValue // values of the sweep that the settings cannot have
	budgets   []simulate.Budget
	portion   selection
	selection simulate.Selection
	mask      func(string) string // of what the report names
}

// Command is `reviewer policy simulate`.
func Command(a *cli.App) *cobra.Command {
	s := simulation{candidateFlag: "--candidate"}
	s.inputs.store = &objects.Access{Cloud: a.Cloud}
	cmd := &cobra.Command{
		Use:   "simulate [SOURCE…]",
		Short: "Compare two policies on recorded sessions and show what would change",
		Long: "Replays recorded sessions with two policies, side by side, and shows which calls would have\n" +
			"been decided differently, by which rule, and where each session would first have differed.\n\n" +
			"A SOURCE is a file, a folder, a pattern such as 'logs/**/*.jsonl.zst', or - for\n" +
			"standard input: transcripts of agents, logs of this program, and the output of `audit\n" +
			"export`, plain or compressed, recognised by their contents; or a prefix such as\n" +
			"s3://bucket/logs (docs/engines.md). Without a SOURCE the log of this machine is used.\n\n" +
			"A policy (REF) is a folder, an archive (.tar.gz), git:REV:PATH, active (the one active\n" +
			"here), default (the built-in one), or the first 8 or more digits of a stored policy's digest.\n" +
			"The baseline can also be \"recorded\": the decisions as they were recorded.\n\n" +
			"Decisions in a log are recomputed with the policy that made them, and must reproduce\n" +
			"what was recorded (--no-fidelity skips this). Ctrl-C stops with a report of what was\n" +
			"compared so far.\n\n" +
			"Exit codes: 0 success; 1 could not run, or something could not be read, or interrupted;\n" +
			"2 a --fail-on budget is exceeded, or may be since decisions could not be compared; a\n" +
			"recorded decision does not reproduce; or a log was tampered with; 3 usage error.\n" +
			"docs/simulate.md explains the report, docs/ci.md the budgets.",
		Example: "  reviewer policy simulate --candidate ./policy                  # the log of this machine\n" +
			"  reviewer policy simulate ~/.claude/projects --baseline git:main:policy --candidate policy\n" +
			"  reviewer policy simulate --candidate policy --since 7d --fail-on 'loosened>0' --fail-on '*->block>5'\n" +
			"  reviewer policy simulate --sweep risk.high_threshold=0.6:0.9:0.05 -f html=sweep.html\n" +
			"  reviewer policy simulate logs --shard 1/4 -f json -o part-1.json",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return compareAll(cmd.Context(), a, args, &s) },
	}
	s.flags(cmd)
	s.given = cmd.Flags().Changed
	cmd.AddCommand(simulateMergeCommand(a), simulateManifestCommand(a))
	return cmd
}

func (s *simulation) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	cli.PolicyVar(f, &s.baseline, "baseline", active.RefRecorded,
		"`REF` of the policy to compare with (for a sweep: the candidate, unchanged)")
	cli.PolicyVar(f, &s.candidate, "candidate", active.RefActive, "`REF` of the policy to try")
	f.StringArrayVar(&s.sweeps, "sweep", nil, "try the candidate with each value of a setting: `KEY=FROM:TO:STEP`, or KEY=VALUE|VALUE; "+
		"may be repeated: each combination")
	f.StringVar(&s.grants, "grants", "", "instead of comparing, report how many of the agent's own questions the candidate would grant "+
		"(grant: proven); `MODE`: assume this permission mode for all calls, or recorded")
	f.Lookup("grants").NoOptDefVal = recordedModes
	f.StringVar(&s.clientSettings, "client-settings", "", "with --grants: a settings `FILE` of Claude Code, "+
		"with the permission rules that the user added")
	f.StringArrayVar(&s.failOn, "fail-on", nil, failOnUsage)
	f.StringVar(&s.saveCases, "save-cases", "",
		"write the smallest example of each kind of change into this folder (`DIR`), as cases for `policy test`")
	f.StringVar(&s.since, "since", "",
		"count only what happened since this `TIME`: "+cli.TimeForms+"; earlier events serve as history")
	f.StringVar(&s.until, "until", "", "count only what happened before this `TIME`, in the same forms as --since")
	f.StringArrayVar(&s.workspaces, "workspace", nil, "count only sessions in the folder `DIR` or below it; may be repeated")
	f.StringArrayVar(&s.users, "user", nil,
		"count only sessions in the home directory of the user `NAME`, such as /home/NAME; may be repeated")
	f.StringArrayVar(&s.agents, "agent", nil, "count only sessions of the agent `NAME`, such as claude-code; may be repeated")
	f.StringArrayVar(&s.rules, "rule", nil, "count only decisions in which the rule `ID` fires with either policy; may be repeated")
	f.StringArrayVar(&s.answers, "answer", nil, "count only stops to which people reacted like this (`WORD`): "+
		strings.Join(simulate.Reactions(), ", ")+"; may be repeated")
	f.BoolVar(&s.show, "show", false, showUsage)
	f.StringArrayVar(&s.sessions, "session", nil, "only sessions whose id starts with `ID`; may be repeated")
	f.StringArrayVar(&s.tools, "tool", nil, "count only calls of the tool `NAME`; may be repeated")
	f.StringVar(&s.sample, "sample", "", "only this `SHARE` of the sessions, such as 10% or 1/10; always the same sessions")
	f.StringVar(&s.shard, "shard", "", "only the `i/n`-th part of the sessions, for `simulate merge`; "+
		"auto or auto/n: the part of this task of a Slurm array, Kubernetes Indexed Job or AWS Batch array")
	f.StringVar(&s.manifest, "manifest", "", "read the inputs that this `FILE` of `simulate manifest` lists, as they were then")
	f.BoolVar(&s.noFidelity, "no-fidelity", false, "do not recompute recorded decisions")
	f.IntVarP(&s.parallel, "parallel", "p", 0, "number of sessions to process at a time (default: the number of processors)")
	f.BoolVarP(&s.verbose, "verbose", "v", false, "list everything, and show the running time")
	f.StringVar(&s.baselineName, "baseline-name", "", "`NAME` of the baseline in the report (default: its REF)")
	f.StringVar(&s.candidateName, "candidate-name", "", "`NAME` of the candidate in the report (default: its REF)")
	s.cluster.flags(cmd)
	s.out.Flags(cmd, impact.Formats()...)
}

const showUsage = "in html, github and sarif, show commands and paths of people too; in text, calls whose example is not shown"

const failOnUsage = "exit with 2 if a budget is exceeded: `FROM->TO>N` (verdicts, or *) or STATE>N; may be repeated"

// compareAll runs a comparison, writes the report, and then reports problems.
func compareAll(ctx context.Context, a *cli.App, args []string, s *simulation) error {
	defer limitMemory()() // listing thousands of sessions makes as much garbage as comparing them
	start := time.Now()
	if err := s.read(a, args, start); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends at once
	ctx, s.inputs.stop = context.WithCancelCause(ctx)
	defer s.inputs.stop(nil)
	if err := s.inputs.prepare(ctx, s); err != nil {
		return writeFailed(a, &s.out, "policy simulate", err)
	}

	p := a.ShowProgress(start)
	defer p.End()
	if s.cluster.on != "" {
		return onCluster(ctx, a, s, p)
	}
	if s.grants != "" {
		run, err := measureGrants(ctx, a, s, p)
		p.End()
		if err != nil {
			return writeFailed(a, &s.out, "policy simulate", err)
		}
		return writeGrants(a, s, run)
	}
	r, err := prepare(ctx, a, s, p)
	if err == nil {
		p.Above(func() { s.begin(a) })
		if err = r.run(ctx); err == nil {
			err = checkFired(s.rules, r.sums)
		}
		if err == nil && s.key == "" {
			r.addExamples(ctx)
		}
	} else if ctx.Err() != nil {
		err = fmt.Errorf("%s before anything was compared", reasonOf(ctx))
	}
	p.End()
	if err == nil {
		err = s.inputs.keepable(s, r.sums)
	}
	if err != nil {
		return writeFailed(a, &s.out, "policy simulate", err)
	}
	if err := writeImpacts(a, s, r.sums, r.speed()); err != nil {
		return err
	}
	return errors.Join(keepCases(context.WithoutCancel(ctx), a, s, r), s.verdict(a, r.sums))
}

// verdict is the error that the command exits with. A task of a batch system succeeds if
// its report is complete, or it would be run again; the merge reports the findings.
func (s *simulation) verdict(a *cli.App, sums []*simulate.Impact) error {
	err := verdictOf(a, s.budgets, sums)
	if strings.HasPrefix(s.shard, autoShard) && sums[0].Partial == "" {
		return nil
	}
	return err
}

// read parses the flags, before anything is done.
func (s *simulation) read(a *cli.App, args []string, now time.Time) error {
	if err := errors.Join(s.out.Read(), s.together()); err != nil {
		return err
	}
	s.mask = plainMask()
	if s.parallel == 0 {
		s.parallel = runtime.GOMAXPROCS(0)
	}
	if err := s.readSelection(now, a.Env); err != nil {
		return err
	}
	if err := errors.Join(s.readBudgets(), s.cluster.check(s, args)); err != nil {
		return err
	}
	if len(s.sweeps) > 0 {
		if !s.given("baseline") { // recorded decisions are not a useful baseline for a sweep
			s.baseline = s.candidate
		}
		if err := s.readSweeps(); err != nil {
			return err
		}
	}
	if s.args = args; s.manifest != "" {
		s.args = []string{s.manifest}
	}
	if len(s.args) > 0 {
		return s.inputs.check(s, args)
	}
	home, err := a.StateHome()
	s.args, s.own = []string{home}, true
	return err
}

// readSweeps reads the settings that are swept, and their values.
func (s *simulation) readSweeps() error {
	var lists [][]bundles.Value
	var keys []string
	for _, text := range s.sweeps {
		values, err := parseValues(text)
		if err != nil {
			return cli.Usage("--sweep %w", err)
		}
		if slices.Contains(keys, values[0].Key) {
			return cli.Usage("--sweep %s: the setting is swept twice", values[0].Key)
		}
		lists, keys = append(lists, values), append(keys, values[0].Key)
	}
	if s.key, s.tries = strings.Join(keys, ", "), combinations(lists); s.tries == nil {
		return cli.Usage("--sweep: the settings have more than %d combinations of values", maxSweep)
	}
	return nil
}

func (s *simulation) readBudgets() error {
	for _, text := range s.failOn {
		b, err := simulate.ParseBudget(text)
		if err != nil {
			return cli.Usage("--fail-on: %w", err)
		}
		s.budgets = append(s.budgets, b)
	}
	return nil
}

// together refuses flags that cannot be combined.
func (s *simulation) together() error {
	switch {
	case s.parallel < 0:
		return cli.Usage("--parallel %d: expected a number of sessions, or 0 for the number of processors", s.parallel)
	case s.clientSettings != "" && s.grants == "":
		return cli.Usage("--client-settings is only for --grants")
	case s.candidate == active.RefRecorded:
		return cli.Usage("--candidate recorded: a candidate must be a policy; only the baseline can be recorded (--baseline recorded)")
	case len(s.sweeps) > 0 && len(s.failOn) > 0:
		return cli.Usage("--sweep and --fail-on: a budget applies to a single candidate; put the chosen value into its settings, and run again")
	case len(s.sweeps) > 0 && slices.ContainsFunc(s.out.List, func(o term.Output) bool { return o.Format == "sarif" }):
		return cli.Usage("sarif lists the effects of one policy change, but a sweep has many; " +
			"use -f json, -f github or -f html, or simulate one value")
	case len(s.sweeps) > 0 && s.saveCases != "":
		return cli.Usage("--sweep and --save-cases: cases need a single candidate; put the chosen value into its settings, and run again")
	}
	return nil
}

// readSelection reads which sessions and calls are compared.
func (s *simulation) readSelection(now time.Time, getenv func(string) string) (err error) {
	if s.selection.Since, err = cli.SinceTime(s.since, now); err != nil {
		return err
	}
	if _, age := cli.TimeSpan(s.since); s.shard != "" && age {
		return cli.Usage("--since %s: each shard would start at a different time; give a fixed date or time, such as %s", s.since,
			time.UnixMilli(s.selection.Since).Format(time.RFC3339))
	}
	if s.sample != "" {
		if s.portion.share, err = parseSample(s.sample); err != nil {
			return err
		}
	}
	if s.shard != "" {
		if s.portion.shard, err = shardOf(s.shard, getenv); err != nil {
			return err
		}
	}
	if s.selection.Until, err = cli.FlagTime("--until", s.until, now); err != nil {
		return err
	}
	if s.selection.Until > 0 && s.selection.Until <= s.selection.Since {
		return cli.Usage("--until %s is not after --since %s, so nothing would be counted", s.until, s.since)
	}
	for _, word := range s.answers {
		if !slices.Contains(simulate.Reactions(), word) {
			return cli.Usage("--answer %s: expected one of %s", word, strings.Join(simulate.Reactions(), ", "))
		}
	}
	if err := s.readFolders(); err != nil {
		return err
	}
	for _, id := range s.sessions {
		if id == "" {
			return cli.Usage("--session: expected the id of a session, or a prefix of it")
		}
	}
	s.selection.Sessions, s.selection.Tools = sortedOnce(s.sessions, s.mask), sortedOnce(s.tools, s.mask)
	s.selection.Sample = shareText(s.portion.share)
	if slices.Contains(s.users, "") {
		return cli.Usage("--user: expected the name of a user")
	}
	s.selection.Users = sortedOnce(s.users, s.mask)
	s.selection.Agents, s.selection.Rules = sortedOnce(s.agents, s.mask), sortedOnce(s.rules, s.mask)
	s.selection.Answers = sortedOnce(s.answers, s.mask)
	return nil
}

// readFolders makes the folders of --workspace absolute, as records have them.
func (s *simulation) readFolders() error {
	for _, dir := range s.workspaces {
		if dir == "" {
			return cli.Usage("--workspace: expected a folder")
		}
		full, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("--workspace %s: %w", dir, err)
		}
		s.selection.Workspaces = append(s.selection.Workspaces, s.mask(filepath.ToSlash(full)))
	}
	slices.Sort(s.selection.Workspaces)
	s.selection.Workspaces = slices.Compact(s.selection.Workspaces)
	return nil
}

// begin prints what is compared, if a person reads the report.
func (s *simulation) begin(a *cli.App) {
	names := make([]string, len(s.args))
	for i, arg := range s.args {
		names[i] = term.OneLine(s.mask(arg), 80)
	}
	where := strings.Join(names[:min(len(names), 3)], ", ")
	if len(names) > 3 {
		where += fmt.Sprintf(" and %d more", len(names)-3)
	}
	if s.own {
		where = "the log of this machine, " + where
	}
	baseline := s.baseline
	if baseline == active.RefRecorded {
		baseline = "what was recorded"
	}
	candidate := term.OneLine(s.mask(s.candidate), 80)
	switch {
	case len(s.sweeps) > 1:
		candidate += fmt.Sprintf(" at %s of %s", term.Counted(len(s.rows), "combination", "combinations"), s.key)
	case s.key != "":
		candidate += fmt.Sprintf(" at %s of %s", term.Counted(len(s.rows), "value", "values"), s.key)
	}
	text := fmt.Sprintf("comparing %s with %s, over %s", term.OneLine(s.mask(baseline), 80), candidate, where)
	for _, o := range s.out.List {
		if o.Format == "text" && o.File == "" {
			page := term.Page{Buffer: &bytes.Buffer{}, Width: a.Columns(&o)}
			page.Paragraph("", text)
			fmt.Fprintf(a.Stdout, "%s\n", page.Bytes())
			return
		}
	}
	if s.own || s.verbose {
		fmt.Fprintf(a.Stderr, "reviewer: %s\n", text)
	}
}

// findSources finds the sessions.
func findSources(ctx context.Context, a *cli.App, s *simulation, read engine.Rows, p *term.Progress) (*sources.Set, error) {
	set, err := sources.Find(ctx, s.args, sources.Options{
		Stdin: untilDone(ctx, a.Stdin), Read: func(n int64) { p.Bytes.Add(n) }, Env: cli.Environment(),
		Classifier: anywhere(read), Mask: s.mask,
		Objects: s.inputs.store, Listed: s.inputs.listed, Part: s.portion.shard != nil && s.inputs.listed != nil, Stop: s.inputs.stop,
	})
	if err != nil && s.own {
		return nil, fmt.Errorf("nothing is recorded on this machine (%w); name a source, such as ~/.claude/projects", err)
	}
	if err != nil {
		return nil, err
	}
	if s.portion.whole {
		return set, nil // the session may be in another shard
	}
	return set, s.anyAsked(set)
}

// untilDone reads from an input that may block, until the context ends.
func untilDone(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	begin := sync.OnceFunc(func() {
		go func() {
			_, err := io.Copy(in, r)
			in.CloseWithError(err)
		}()
	})
	return readerFunc(func(b []byte) (int, error) {
		begin() // only on demand: it may be a person's terminal
		return out.Read(b)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// anyAsked returns an error if --session matches no session: an empty report would not
// show that an id is wrong.
func (s *simulation) anyAsked(set *sources.Set) error {
	example := ""
	if len(set.Families) == 0 {
		return nil // of a shard
	}
	for _, f := range set.Families {
		if s.holds(f) {
			return nil
		}
		example = f.Session
	}
	return fmt.Errorf("--session %s: none of %s has this prefix; there is, for example, %s",
		strings.Join(s.sessions, ", "), term.Counted(len(set.Families), "session", "sessions"), s.mask(example))
}

// holds reports whether a family has a requested session. Sessions on standard input
// are unknown before they are read.
func (s *simulation) holds(f sources.Family) bool {
	return slices.Contains(s.args, "-") || slices.ContainsFunc(f.Sessions, s.selection.Holds)
}
