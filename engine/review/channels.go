package review

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Fit changes an answer to the strongest one that the agent carries out at this event,
// and records what it does not offer: a question that nobody would be asked must not
// let the call run.
func Fit(rec *engine.Record, channels engine.Channels) {
	if channels == nil || rec.Answer == nil {
		return
	}
	if want := wanted(rec); want != "" && !channels.Can(want, rec.Phase) {
		used, _ := channels.Strongest(want, rec.Phase)
		rec.Answer.Unmet = append(rec.Answer.Unmet, engine.Unmet{Want: want, Used: used})
		if rec.Phase == engine.PhasePre && used == engine.WayDeny {
			rec.Answer.Effect = engine.Block
		}
	}
	// A stop is carried out at another event if the agent never ends a turn at this one: the session stays stopped.
	if rec.Decision.Stops() && len(channels.Of(engine.WayStop).Phases) == 0 {
		used, _ := channels.Strongest(engine.WayStop, rec.Phase)
		rec.Answer.Unmet = append(rec.Answer.Unmet, engine.Unmet{Want: engine.WayStop, Used: used})
	}
}

// wanted returns the way that an answer needs; empty: none. Text for an agent that
// wants to stop is for the person, unless the agent is to continue.
func wanted(rec *engine.Record) engine.Way {
	switch effect := rec.Answer.Effect; {
	case effect == engine.Allow:
		return ""
	case rec.Phase == engine.PhasePre && effect != engine.Warn:
		return WayOf(effect)
	case rec.Decision.Stops():
		return "" // see Fit
	case rec.Phase == engine.PhaseStop && !engine.AnswerOf(rec).GoOn:
		return ""
	}
	return engine.WayContext
}

// WayOf returns the way of a verdict before a call.
func WayOf(v engine.Verdict) engine.Way {
	switch v {
	case engine.Warn:
		return engine.WayContext
	case engine.Modify:
		return engine.WayModify
	case engine.Ask:
		return engine.WayAsk
	}
	return engine.WayDeny
}

// Queues reports whether the question about a call waits for a person outside the agent.
func (p *Policy) Queues(rec *engine.Record, channels engine.Channels) bool {
	if rec.Phase != engine.PhasePre || rec.Answer.Effect != engine.Ask {
		return false
	}
	asks := channels == nil || channels.Can(engine.WayAsk, engine.PhasePre)
	alone := !asks || slices.Contains(p.Settings.UnattendedModes, rec.Event.Mode)
	queue := p.Settings.Approvals.Queue
	return queue == QueueAlways || queue == QueueUnattended && alone
}
