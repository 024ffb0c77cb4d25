package review

import "github.com/agent-reviewer/reviewer/engine"

// fit changes an answer to the strongest one that the agent carries out at this event,
// and records what it does not offer: a question that nobody would be asked must not
// let the call run.
func (r *Reviewer) fit(rec *engine.Record) {
	if r.Channels == nil || rec.Answer == nil {
		return
	}
	if want := wanted(rec); want != "" && !r.Channels.Can(want, rec.Phase) {
		used, _ := r.Channels.Strongest(want, rec.Phase)
		rec.Answer.Unmet = append(rec.Answer.Unmet, engine.Unmet{Want: want, Used: used})
		if rec.Phase == engine.PhasePre && used == engine.WayDeny {
			rec.Answer.Effect = engine.Block
		}
	}
	r.fitStop(rec)
}

// fitStop records how a stop is carried out if the agent never ends a turn at this event. If
// it does at another event, the stop is carried out there: the session stays stopped.
func (r *Reviewer) fitStop(rec *engine.Record) {
	if !rec.Decision.Stops() || len(r.Channels.Of(engine.WayStop).Phases) > 0 {
		return
	}
	used, _ := r.Channels.Strongest(engine.WayStop, rec.Phase)
	rec.Answer.Unmet = append(rec.Answer.Unmet, engine.Unmet{Want: engine.WayStop, Used: used})
}

// wanted returns the way that an answer needs; empty: none. Text for an agent that
// wants to stop is for the person, unless the agent is to continue.
func wanted(rec *engine.Record) engine.Way {
	switch effect := rec.Answer.Effect; {
	case effect == engine.Allow:
		return ""
	case rec.Phase == engine.PhasePre && effect != engine.Warn:
		return wayOf(effect)
	case rec.Decision.Stops():
		return "" // see fitStop
	case rec.Phase == engine.PhaseStop && !engine.AnswerOf(rec).GoOn:
		return ""
	}
	return engine.WayContext
}

// wayOf returns the way of a verdict before a call.
func wayOf(v engine.Verdict) engine.Way {
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
