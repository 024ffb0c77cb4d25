package impact

import (
	"bytes"
	"encoding/json"

	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// writeJSON writes the Impact itself: schemas/impact.json describes it.
func writeJSON(b *bytes.Buffer, m *simulate.Impact, _ Options) error { return encode(b, m) }

// writeSweepJSON writes the Sweep itself: schemas/sweep.json describes it.
func writeSweepJSON(b *bytes.Buffer, s *simulate.Sweep, _ Options) error { return encode(b, s) }

func encode(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
