package impact

import (
	"bytes"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// writeJSON writes the Impact itself: schemas/impact.json describes it.
func writeJSON(b *bytes.Buffer, m *simulate.Impact, _ Options) error { return term.WriteJSON(b, m) }

// writeSweepJSON writes the Sweep itself: schemas/sweep.json describes it.
func writeSweepJSON(b *bytes.Buffer, s *simulate.Sweep, _ Options) error { return term.WriteJSON(b, s) }
