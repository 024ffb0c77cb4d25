package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/spf13/cobra"
)

func (a *app) policySimulateCommand() *cobra.Command {
	var policy string
	var out output
	cmd := &cobra.Command{
		Use:   "simulate PATH…",
		Short: "What would the policy have said to the calls of these transcripts?",
		Long: "Reads transcripts of agents (files, or folders that are searched for *.jsonl) and\n" +
			"takes every tool call through one policy, with the history that the session had.\n" +
			"Nothing of the machine is looked at: a transcript may come from another one.",
		Example: "  reviewer policy simulate ~/.claude/projects --policy ./policy\n  reviewer policy simulate -f json session.jsonl | jq .totals",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			return a.simulate(cmd.Context(), paths, policy, &out)
		},
	}
	cmd.Flags().StringVar(&policy, "policy", "", "folder of the policy (default: the one that is active here)")
	out.flags(cmd, "table", "json")
	return cmd
}

// simulation is the result as a document.
type simulation struct {
	Actions []simulate.Action `json:"actions"`
	Totals  simulate.Totals   `json:"totals"`
	Sources []source          `json:"sources"`
}

// source is a file that was read, and what of it was not understood.
type source struct {
	Path    string            `json:"path"`
	Session string            `json:"session"`
	Lines   int               `json:"lines"`
	Bad     []harness.BadLine `json:"bad,omitempty"`
	Error   string            `json:"error,omitempty"`
}

func (a *app) simulate(ctx context.Context, paths []string, dir string, out *output) error {
	policy, err := a.choosePolicy(ctx, dir)
	if err != nil {
		return err
	}
	mac, err := passingMAC()
	if err != nil {
		return err
	}
	transcripts, sources, err := a.readTranscripts(paths, masking(mac))
	if err != nil {
		return err
	}
	result := simulation{Actions: []simulate.Action{}, Sources: sources}
	for _, t := range harness.Merge(transcripts) {
		c := &classify.Classifier{World: elsewhere(t), MAC: mac}
		actions, err := simulate.Run(ctx, simulate.Session{ID: t.Session, Events: t.Events}, c, policy, environment())
		if err != nil {
			return err
		}
		result.Actions = append(result.Actions, actions...)
	}
	result.Totals = simulate.Sum(result.Actions)
	err = out.write(a, func(w io.Writer) error { return a.printSimulation(w, out, result) })
	return errors.Join(err, a.reportSources(sources))
}

// elsewhere is a machine of which only the home directory is known, by where
// the session stood.
func elsewhere(t harness.Transcript) classify.World {
	for _, e := range t.Events {
		if home := classify.HomeOf(e.CWD); home != "" {
			return classify.World{Home: home}
		}
	}
	return classify.World{}
}

// transcriptFiles lists the files of the paths, folders searched in order.
func transcriptFiles(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		if p == "-" {
			files = append(files, p)
			continue
		}
		err := filepath.WalkDir(p, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (name == p || strings.HasSuffix(name, ".jsonl")) {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("find transcripts: %w", err)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no transcript in %s: expected files, or folders with *.jsonl", strings.Join(paths, ", "))
	}
	return files, nil
}

// readTranscripts reads every transcript below the paths. One that cannot be
// read is listed among the sources; only where none can is it an error. What
// is told of them is masked.
func (a *app) readTranscripts(paths []string, mask func(string) string) ([]harness.Transcript, []source, error) {
	files, err := transcriptFiles(paths)
	if err != nil {
		return nil, nil, err
	}
	var list []harness.Transcript
	var sources []source
	for _, name := range files {
		t, err := a.readTranscript(name)
		maskTranscript(&t, mask)
		s := source{Path: mask(name), Session: t.Session, Lines: t.Lines, Bad: t.Bad}
		if err != nil {
			s.Error = mask(err.Error())
		} else {
			list = append(list, t)
		}
		sources = append(sources, s)
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("none of %d files could be read; the first: %s", len(files), sources[0].Error)
	}
	return list, sources, nil
}

func (a *app) readTranscript(name string) (harness.Transcript, error) {
	if name == "-" {
		return harness.Harnesses()[0].ReadTranscript(a.stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return harness.Transcript{}, err
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return harness.Transcript{}, err
	}
	for _, h := range harness.Harnesses() {
		if h.IsTranscript(head[:n]) {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return harness.Transcript{}, err
			}
			t, err := h.ReadTranscript(f)
			if t.Session == "" {
				t.Session = strings.TrimSuffix(filepath.Base(name), ".jsonl")
			}
			return t, err
		}
	}
	return harness.Transcript{}, fmt.Errorf("not a transcript of %s", strings.Join(harness.Names(), ", "))
}

func (a *app) printSimulation(w io.Writer, out *output, s simulation) error {
	if out.format == "json" {
		return writeJSON(w, s)
	}
	p := a.paint(out)
	fmt.Fprintf(w, "%s %5s %s %s %s\n", pad("SESSION", 10), "CALL", pad("TOOL", 16), pad("DECISION", 8), "RULES, REASON")
	for _, act := range s.Actions {
		if act.Decision == engine.Allow && act.Error == "" {
			continue
		}
		why := strings.Join(act.Rules, ",")
		if why != "" {
			why += ": "
		}
		fmt.Fprintf(w, "%s %5d %s %s %s\n", pad(oneLine(act.Session, 10), 10), act.Index, pad(oneLine(act.Tool, 16), 16),
			p.verdict(pad(string(act.Decision), 8)), oneLine(why+act.Reason+act.Error, 110))
	}
	fmt.Fprintf(w, "\n%d calls:", s.Totals.Actions)
	for _, v := range slices.Backward(engine.Verdicts()) {
		fmt.Fprintf(w, " %d %s", s.Totals.Decisions[engine.Verdict(v)], p.verdict(v))
	}
	fmt.Fprintf(w, " (allowed calls are not listed)\n")
	return nil
}

// reportSources says on standard error what could not be read.
func (a *app) reportSources(sources []source) error {
	var failed, bad int
	for _, s := range sources {
		if s.Error != "" {
			failed++
			fmt.Fprintf(a.stderr, "reviewer: %s: %s\n", s.Path, s.Error)
		}
		if len(s.Bad) > 0 {
			bad += len(s.Bad)
			fmt.Fprintf(a.stderr, "reviewer: %s:%d: %s (%d lines of this file were not understood)\n", s.Path, s.Bad[0].Line, s.Bad[0].Why, len(s.Bad))
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files could not be read", failed, len(sources))
	}
	return nil
}
