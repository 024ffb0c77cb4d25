package runcmd

import (
	"cmp"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// followed is a session of the run, as far as its log was read.
type followed struct {
	key   engine.SessionKey
	first int64 // when its log began, in Unix milliseconds
	next  int64 // number of the first record that was not read
	since int64 // records from before belong to an earlier run

	counts        ReviewSummary
	blocked       []Blocked
	interventions []Made
	stopped       string // why; empty: it may continue
	declared      bool   // what was declared is in its log
	hosts         map[string]bool
	calls         map[string]calling // by the checkpoint that was taken before each
	rollbacks     []rollback         // that are new
}

// read reads new records.
func (f *followed) read(log *audit.Store) {
	for r, err := range log.Records(f.key, f.next) {
		if err != nil {
			return // the log's own commands report damage
		}
		if r.N < f.next {
			continue
		}
		if r.N == 1 {
			f.first = r.T
		}
		if f.next = r.N + 1; r.T >= f.since {
			f.add(r)
		}
	}
}

func (f *followed) add(r *engine.Record) {
	switch {
	case r.Kind == engine.KindPre:
		f.verdict(r)
	case r.Act != nil && r.Act.Kind == engine.ActCheckpoint:
		f.took(r)
	case r.Act != nil && r.Act.Kind == engine.CheckpointRollback:
		f.wentBack(r)
	case r.Control != nil && r.Control.Do == engine.ControlStop, r.Control != nil && r.Control.Do == engine.ControlAbort:
		f.stopped = cmp.Or(r.Control.Reason, "a person stopped it")
	case r.Control != nil && r.Control.Do == engine.ControlResume:
		f.stopped = ""
	}
	if r.Decision == nil || r.Decision.Intervention == nil || r.Decision.Enforced == engine.Allow {
		return
	}
	kind := r.Decision.Intervention.Kind
	f.interventions = append(f.interventions, Made{Session: f.key.Session, Record: r.ID(), Kind: kind})
	if r.Decision.Stops() {
		f.stopped = cmp.Or(r.Decision.Reason, "policy stopped it")
	}
}

// verdict counts the answer to a call.
func (f *followed) verdict(r *engine.Record) {
	f.counts.Reviewed++
	a := engine.AnswerOf(r)
	switch a.Effect {
	case engine.Warn:
		f.counts.Warned++
	case engine.Modify:
		f.counts.Modified++
	case engine.Ask:
		f.counts.Asked++
	case engine.Block:
		f.counts.Blocked++
		f.block(r)
	default:
		f.counts.Allowed++
	}
	f.named(r)
}

func (f *followed) block(r *engine.Record) {
	b := Blocked{Session: f.key.Session, Record: r.ID()}
	if r.Event != nil {
		b.Tool = r.Event.Tool
	}
	if r.Decision != nil {
		b.Reason = r.Decision.Reason
		for _, rule := range r.Decision.Rules {
			b.Rules = append(b.Rules, rule.ID)
		}
	}
	f.blocked = append(f.blocked, b)
}

// named remembers the hosts that a reviewed call named.
func (f *followed) named(r *engine.Record) {
	if r.Action == nil {
		return
	}
	if f.hosts == nil {
		f.hosts = map[string]bool{}
	}
	for _, host := range r.Action.Hosts {
		f.hosts[host] = true
	}
}
