package runcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/auditcmd"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// compare compares the transcripts of the run with the log, and returns a reason to end it. During the
// run only calls with a result count: of others the review may not have ended.
func (o *observer) compare(last bool) (stop string) {
	for _, t := range o.transcripts() {
		r, err := auditcmd.Reconcile(o.p.policy.log, o.p.policy.mac, t)
		if err != nil {
			continue // the log is damaged, which its own commands report
		}
		for _, m := range r.Unreviewed {
			if last || m.Outcome != engine.OutcomePending {
				stop = o.missed(m, stop)
			}
		}
		for _, m := range r.RanDenied {
			o.disobeyed(m)
		}
	}
	return stop
}

// missed takes note of a call without a verdict.
func (o *observer) missed(m transcript.Mismatch, stop string) string {
	call, tool := o.p.mask(m.Call), o.p.mask(m.Tool)
	text := fill(fill(o.p.settings.Run.Texts.Unreviewed, "call", call), "tool", tool)
	if _, known := o.unreviewed[m.Call]; !known {
		o.unreviewed[m.Call] = Unreviewed{Session: o.p.mask(m.Session), Call: call, Tool: tool, Outcome: string(m.Outcome)}
		o.note("unreviewed", fmt.Sprintf("%s %s (%s)", tool, call, m.Outcome), run.Event{})
	}
	if o.p.settings.Run.Unreviewed == "stop" {
		return text
	}
	return stop
}

// disobeyed takes note of a call that ran although it was denied.
func (o *observer) disobeyed(m transcript.Mismatch) {
	if _, known := o.ran[m.Call]; known {
		return
	}
	call, tool := o.p.mask(m.Call), o.p.mask(m.Tool)
	o.ran[m.Call] = Unreviewed{Session: o.p.mask(m.Session), Call: call, Tool: tool, Outcome: string(m.Outcome), Record: m.Record}
	o.note("unreviewed", fmt.Sprintf("%s %s ran although %s denied it", tool, call, m.Record), run.Event{})
}

// transcripts reads those of the run: files that were written since it began, with the events since then.
func (o *observer) transcripts() []transcript.Transcript {
	if o.agent.transcripts == nil {
		return nil
	}
	home, err := o.p.app.UserHome()
	if err != nil {
		return nil
	}
	var list []transcript.Transcript
	for _, pattern := range o.agent.transcripts(home) {
		files, _ := filepath.Glob(pattern) // the pattern is right
		for _, file := range files {
			info, err := os.Stat(file)
			if err == nil && info.Mode().IsRegular() && !info.ModTime().Before(o.began.Add(-time.Second)) {
				read := o.read(file)
				if list = append(list, read...); o.watching && len(read) > 0 {
					o.tail(file)
				}
			}
		}
	}
	return transcript.Merge(list)
}

// read reads one transcript, if it is of this run.
func (o *observer) read(file string) []transcript.Transcript {
	head, err := headOf(file)
	if err != nil {
		return nil
	}
	reader, ok := transcript.Recognise(head)
	if !ok {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	t, _ := reader.Read(f) // what was read before an error is compared
	t.Events = o.since(t.Events)
	if len(t.Events) == 0 {
		return nil
	}
	return []transcript.Transcript{t}
}

// since keeps the events of the run: others are of earlier ones, or of a session elsewhere at the same time.
func (o *observer) since(events []engine.Event) []engine.Event {
	var list []engine.Event
	for _, e := range events {
		if e.Time >= o.began.UnixMilli() && (e.CWD == "" || inside(e.CWD, o.p.dir) || inside(o.p.dir, e.CWD)) {
			list = append(list, e)
		}
	}
	return list
}

func headOf(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, err := f.Read(head)
	return head[:n], err
}
