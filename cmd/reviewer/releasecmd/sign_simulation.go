package releasecmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// maxImpact bounds a report of policy simulate, in bytes.
const maxImpact = 64 << 20

// simulationOf extracts the statement's part from a report of policy simulate. The
// report must be complete, and about the policy that is signed.
func simulationOf(file, policy string) (*signing.Simulation, error) {
	raw, err := active.ReadBounded(file, maxImpact)
	if err != nil {
		return nil, err
	}
	m, err := readImpact(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case m.Candidate.Recorded || m.Candidate.Digest != policy:
		return nil, fmt.Errorf("it is about another policy, %s (%s), not this archive (%s); simulate with --candidate ARCHIVE",
			m.Candidate.Name, orRecorded(m.Candidate), policy)
	case m.Partial != "" || m.Shard != nil:
		return nil, errors.New("it is incomplete; let the simulation finish, and merge shards (reviewer policy simulate merge)")
	case m.Sources.Failed > 0:
		return nil, fmt.Errorf("%s could not be read; leave them out, or fix them", engine.Counted(m.Sources.Failed, "file", "files"))
	}
	if m.Fidelity != nil && m.Fidelity.Divergence() != nil {
		return nil, fmt.Errorf("recorded decisions did not reproduce: %w", m.Fidelity.Divergence())
	}
	s := countAll(m)
	s.Baseline, s.Report = orRecorded(m.Baseline), signing.SHA256(raw)
	return s, nil
}

func readImpact(raw []byte) (*simulate.Impact, error) {
	var m simulate.Impact
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("it is not a report of policy simulate -f json (reports of a --sweep do not count): %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is more data after the report; write it again with policy simulate -f json")
	}
	if m.Version != simulate.ImpactVersion {
		return nil, fmt.Errorf("the report has version %d; this reviewer reads version %d", m.Version, simulate.ImpactVersion)
	}
	return &m, nil
}

func orRecorded(n simulate.Named) string {
	if n.Recorded {
		return active.RefRecorded
	}
	return n.Digest
}

// countAll counts all decisions, including those after the first difference of a
// session, so that uncertain changes are not omitted.
func countAll(m *simulate.Impact) *signing.Simulation {
	l := m.Loosening()
	s := &signing.Simulation{Decisions: l.Decisions, Loosened: l.Loosened, Maybe: l.Maybe, Unknown: l.Unknown}
	if len(l.Settings) > 0 {
		s.Loosened = l.Decisions
	}
	for _, t := range []simulate.Tally{m.Calls, m.Events} {
		s.Tightened += t.States[simulate.Tightened] + t.After[simulate.Tightened]
	}
	s.Changed = min(s.Tightened+s.Loosened+s.Maybe, s.Decisions)
	return s
}
