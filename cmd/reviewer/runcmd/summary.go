package runcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/run/tree"
)

// Summary is what a run leaves: the contract with programs that start it.
type Summary struct {
	V             int            `json:"v"`
	Result        string         `json:"result"`           // ended, blocked_by_reviewer, stopped, limit; left: a watch ended first
	Reason        string         `json:"reason,omitempty"` // why it was stopped, or which limit it reached
	Limit         string         `json:"limit,omitempty"`  // name of the limit
	Exit          int            `json:"exit"`             // of the command; for a signal, 128 plus its number; -1 is unknown
	ExitCode      int            `json:"exit_code"`        // of `reviewer run`
	Command       []string       `json:"command"`
	Agent         string         `json:"agent,omitempty"` // as `reviewer agents` names it
	Profile       string         `json:"profile"`
	Workspace     string         `json:"workspace"`
	Began         string         `json:"began"` // RFC 3339 in UTC
	Usage         Usage          `json:"usage"`
	Ways          tree.Ways      `json:"ways"` // what found and limited the processes
	Sessions      []string       `json:"sessions"`
	ReviewSummary ReviewSummary  `json:"review_summary"`
	Blocked       []Blocked      `json:"blocked_actions"`
	Interventions []Made         `json:"interventions"`
	Unreviewed    []Unreviewed   `json:"unreviewed"` // calls of the transcript without a verdict in the log
	RanDenied     []Unreviewed   `json:"ran_denied"` // calls that ran although the log denied them
	Files         Files          `json:"files"`
	Leftover      []tree.Process `json:"leftover"`               // processes that still ran when the command had ended
	Stuck         []tree.Process `json:"stuck"`                  // processes that could not be ended
	Unexpected    int            `json:"unexpected_connections"` // that no reviewed call named
	Events        []run.Event    `json:"events"`
	BrokenLines   int            `json:"broken_lines,omitempty"` // of the agent's stream
}

// Usage is what a run used.
type Usage struct {
	Seconds      float64 `json:"seconds"`
	CPUSeconds   float64 `json:"cpu_seconds"`
	PeakMemoryMB float64 `json:"peak_memory_mb"`
	Processes    int     `json:"processes"` // the most at the same time
	WrittenMB    float64 `json:"written_mb"`
	Tokens       int64   `json:"tokens"`   // that the model wrote, if the agent reports it
	CostUSD      float64 `json:"cost_usd"` // if the agent reports it
}

// ReviewSummary counts the answers to calls.
type ReviewSummary struct {
	Reviewed int `json:"reviewed_count"`
	Allowed  int `json:"allowed_count"`
	Warned   int `json:"warned_count"`
	Modified int `json:"modified_count"`
	Asked    int `json:"asked_count"`
	Blocked  int `json:"blocked_count"`
}

// Blocked is a call that did not run.
type Blocked struct {
	Session string   `json:"session"`
	Record  string   `json:"record"`
	Tool    string   `json:"tool"`
	Reason  string   `json:"reason,omitempty"`
	Rules   []string `json:"rules,omitempty"`
}

// Made is an intervention.
type Made struct {
	Session string `json:"session"`
	Record  string `json:"record"`
	Kind    string `json:"kind"`
}

// Unreviewed is a call that the agent's transcript and the log do not agree about.
type Unreviewed struct {
	Session string `json:"session"`
	Call    string `json:"call"`
	Tool    string `json:"tool"`
	Outcome string `json:"outcome"`
	Record  string `json:"record,omitempty"` // that denied it
}

// ResultBlocked is the result of a run that ended by itself after something was blocked.
const ResultBlocked = "blocked_by_reviewer"

// Documents lists the documents of this command.
func Documents() []cli.Document {
	return []cli.Document{{Command: "run", Title: "the summary of a run, as --summary writes it", Of: Summary{}}}
}

// summary completes what the supervisor knows with what the log says.
func (o *observer) summary(out run.Outcome) *Summary {
	s := &Summary{V: 1, Result: out.Result, Reason: o.p.mask(out.Reason), Limit: out.Limit, Exit: out.Exit,
		Command: o.p.masked(o.p.command), Agent: o.p.agent,
		Profile: o.p.profile, Workspace: o.p.dir, Began: out.Began.UTC().Format(time.RFC3339), Ways: out.Ways,
		Sessions: []string{}, Blocked: []Blocked{}, Interventions: []Made{},
		Unreviewed: listed(o.unreviewed), RanDenied: listed(o.ran), Leftover: orNone(out.Leftover), Stuck: orNone(out.Stuck),
		Events:     orNone(o.events),
		Unexpected: o.unexpected, BrokenLines: o.stream.broken}
	s.Usage = Usage{Seconds: out.Ended.Sub(out.Began).Seconds(), CPUSeconds: out.Usage.CPU.Seconds(),
		PeakMemoryMB: float64(out.Usage.Peak) / (1 << 20),
		Processes:    out.Most, WrittenMB: float64(out.Usage.Written) / (1 << 20), Tokens: out.Tokens.Output, CostUSD: out.Tokens.Cost}
	for _, f := range o.sessions {
		if f.next > 1 {
			s.add(f)
		}
	}
	if s.Result == run.ResultEnded && s.ReviewSummary.Blocked > 0 {
		s.Result = ResultBlocked
	}
	return s
}

func (s *Summary) add(f *followed) {
	s.Sessions = append(s.Sessions, f.key.Session)
	s.Blocked, s.Interventions = append(s.Blocked, f.blocked...), append(s.Interventions, f.interventions...)
	r, c := &s.ReviewSummary, f.counts
	r.Reviewed, r.Allowed, r.Warned = r.Reviewed+c.Reviewed, r.Allowed+c.Allowed, r.Warned+c.Warned
	r.Modified, r.Asked, r.Blocked = r.Modified+c.Modified, r.Asked+c.Asked, r.Blocked+c.Blocked
}

func (p *plan) masked(words []string) []string {
	words = slices.Clone(words)
	for i := range words {
		words[i] = p.mask(words[i])
	}
	return words
}

func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func listed(calls map[string]Unreviewed) []Unreviewed {
	list := []Unreviewed{}
	for _, call := range slices.Sorted(maps.Keys(calls)) {
		list = append(list, calls[call])
	}
	return list
}

// exitCode is that of `reviewer run`.
func (s *Summary) exitCode(base int) int {
	switch {
	case s.Result == run.ResultLimit:
		return base + exitLimit
	case s.Result == run.ResultStopped:
		return base + exitStopped
	case s.Result == ResultBlocked && s.Exit <= 0:
		return base + exitBlocked
	case s.Exit == run.ExitUnknown:
		return 0
	}
	return s.Exit
}

// write writes the summary to a file, completely or not at all.
func (s *Summary) write(file string) error {
	if file == "" {
		return nil
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".summary-*")
	if err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is not complete
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}

// print writes the summary for people.
func (s *Summary) print(w io.Writer) {
	took := time.Duration(s.Usage.Seconds*10) * time.Second / 10
	if s.Exit == run.ExitUnknown {
		fmt.Fprintf(w, "\nreviewer watch: %s, %s after it began\n", s.Result, took)
	} else {
		fmt.Fprintf(w, "\nreviewer run: %s after %s, exit code %d of the command\n", s.Result, took, s.Exit)
	}
	if s.Reason != "" {
		fmt.Fprintf(w, "  because: %s\n", term.OneLine(s.Reason, 400))
	}
	r := s.ReviewSummary
	fmt.Fprintf(w, "  calls: %d reviewed, %d blocked, %d asked about, %d changed, %d warned, %d not reviewed\n", r.Reviewed, r.Blocked,
		r.Asked, r.Modified, r.Warned, len(s.Unreviewed)+len(s.RanDenied))
	for _, b := range s.Blocked {
		fmt.Fprintf(w, "  blocked: %s %s %s\n", b.Record, b.Tool, term.OneLine(b.Reason, 100))
	}
	for _, m := range s.Interventions {
		fmt.Fprintf(w, "  intervention: %s %s\n", m.Record, m.Kind)
	}
	for _, e := range s.Events {
		fmt.Fprintf(w, "  %s: %s\n", e.Kind, term.OneLine(e.Text, 140))
	}
	s.printUsage(w)
}

func (s *Summary) printUsage(w io.Writer) {
	u := s.Usage
	fmt.Fprintf(w, "  used: %.1f s of CPU, %.0f MiB of memory at most, %s, %.0f MiB written", u.CPUSeconds, u.PeakMemoryMB,
		term.Counted(u.Processes, "process", "processes"), u.WrittenMB)
	if u.Tokens > 0 {
		fmt.Fprintf(w, ", %s", term.Counted(int(u.Tokens), "token", "tokens"))
	}
	if u.CostUSD > 0 {
		fmt.Fprintf(w, ", $%.2f", u.CostUSD)
	}
	if s.BrokenLines > 0 {
		fmt.Fprintf(w, "\n  stream: %s of the agent's output could not be read; more may have been used",
			term.Counted(s.BrokenLines, "line", "lines"))
	}
	fmt.Fprintf(w, "\n  processes were found by %s; memory limited by %s, their number by %s\n", s.Ways.Track, s.Ways.Memory, s.Ways.Processes)
	if s.Files.Failure != "" {
		fmt.Fprintf(w, "  files: unknown: %s\n", s.Files.Failure)
		return
	}
	f := s.Files
	fmt.Fprintf(w, "  files: %d created, %d changed, %d deleted; checkpoint %s\n", f.Created, f.Changed, f.Deleted, f.Checkpoint)
}
