package releasecmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// maxImpact bounds a report of policy simulate, in bytes.
const maxImpact = 64 << 20

// attested takes from a report of policy simulate what a signature says of it. It
// has to be a whole one, of the policy that is signed.
func attested(file, policy string) (*signing.Simulation, error) {
	raw, err := here.ReadBounded(file, maxImpact)
	if err != nil {
		return nil, err
	}
	m, err := readImpact(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case m.Candidate.Recorded || m.Candidate.Digest != policy:
		return nil, fmt.Errorf("it is of another policy, %s (%s), and not of this archive (%s); simulate with --candidate ARCHIVE",
			m.Candidate.Name, orRecorded(m.Candidate), policy)
	case m.Partial != "" || m.Shard != nil:
		return nil, errors.New("it is of a part only; let the simulation come to its end, and merge shards (reviewer policy simulate merge)")
	case m.Sources.Failed > 0:
		return nil, fmt.Errorf("%d files could not be read then; leave them out, or mend them", m.Sources.Failed)
	}
	if m.Fidelity != nil && m.Fidelity.Err() != nil {
		return nil, fmt.Errorf("recorded decisions did not come out again then: %w", m.Fidelity.Err())
	}
	s := tallied(m)
	s.Baseline, s.Report = orRecorded(m.Baseline), signing.SHA256(raw)
	return s, nil
}

func readImpact(raw []byte) (*simulate.Impact, error) {
	var m simulate.Impact
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("it is no report of policy simulate -f json (nor is that of a --sweep): %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("it goes on behind the report; write it again with policy simulate -f json")
	}
	if m.Version != simulate.ImpactVersion {
		return nil, fmt.Errorf("it is a report of version %d; this reviewer reads %d", m.Version, simulate.ImpactVersion)
	}
	return &m, nil
}

func orRecorded(n simulate.Named) string {
	if n.Recorded {
		return here.RefRecorded
	}
	return n.Digest
}

// tallied counts all decisions, those behind the first other answer of a session
// too: what is left open there must not look like nothing.
func tallied(m *simulate.Impact) *signing.Simulation {
	s := &signing.Simulation{}
	for _, t := range []simulate.Tally{m.Calls, m.Events} {
		n := func(state simulate.State) int64 { return t.States[state] + t.After[state] }
		s.Decisions += t.Total
		s.Tightened += n(simulate.Tightened)
		s.Loosened += n(simulate.Loosened)
		s.Maybe += n(simulate.Maybe)
		s.Unknown += n(simulate.Unknown) + n(simulate.Incomparable)
	}
	s.Changed = s.Tightened + s.Loosened + s.Maybe
	return s
}
