package main

import (
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// stops looks for stopped sessions in the log.
type stops struct{ store *audit.Store }

func (s stops) Stopped() ([]review.Stopped, error) {
	chains, err := s.store.Stopped()
	if err != nil {
		return nil, err
	}
	var list []review.Stopped
	for _, c := range chains {
		// A session whose log is gone or cannot be read has no workspace to compare.
		if workspace, _, err := s.store.Workspace(c.Key); err == nil && workspace != "" {
			list = append(list, review.Stopped{Key: c.Key, Workspace: workspace, Reason: c.Reason, Final: c.Final,
				Resumed: c.Resumed, By: c.By})
		}
	}
	return list, nil
}

// The time that an agent is given to write the first call of a session to its transcript. Claude
// Code writes several lines at once, which may be after the hook began. The hook waits only if
// another session of the workspace is stopped or was resumed on conditions.
const (
	transcriptWait  = time.Second
	transcriptPause = 20 * time.Millisecond
)

// Await waits for the call in the transcript. Agents that give calls no ids copy no sessions.
func (s stops) Await(e engine.Event) {
	for begin := time.Now(); e.Transcript != "" && e.Call != "" && time.Since(begin) < transcriptWait; time.Sleep(transcriptPause) {
		if transcript.Mentions(e, []string{e.Call}) {
			return
		}
	}
}

// maxCopiedCalls limits the calls of a session that are looked for in a transcript:
// the latest ones. Ids shorter than minCallID are numbers that may occur in any
// session.
const (
	maxCopiedCalls = 64
	minCallID      = 16
)

// Copied searches for the ids of the other session's calls: a copy of a conversation keeps them.
func (s stops) Copied(e engine.Event, of engine.SessionKey) bool {
	var ids []string
	for r, err := range s.store.Records(of, 0) {
		if err != nil {
			break // what could be read is compared
		}
		if r.Phase == engine.PhasePre && len(r.Call) >= minCallID && r.Call != e.Call {
			ids = append(ids, r.Call)
		}
	}
	return transcript.Mentions(e, ids[max(0, len(ids)-maxCopiedCalls):])
}

// Others returns the sessions of the workspace from which another one can take over something.
func (s stops) Others(own engine.SessionKey, workspace string, since int64) ([]review.Other, error) {
	recent, err := s.store.Recent(own, workspace, since)
	if err != nil {
		return nil, err
	}
	var list []review.Other
	for _, o := range recent {
		list = append(list, review.Other{Key: o.Key, Chain: o.Chain, State: o.State})
	}
	return list, nil
}
