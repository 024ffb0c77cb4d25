package impact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// maxDocument bounds what is read: an Impact lists at most some hundred sessions
// of some hundred steps, which is a tenth of it.
const maxDocument = 256 << 20

// Document is what Write or WriteSweep made as json: one of the two.
type Document struct {
	Impact *simulate.Impact
	Sweep  *simulate.Sweep
}

// Read reads a document that Write or WriteSweep made as json. It refuses what
// is of another version, has a field more or less, or does not add up: what it
// returns can be added to others.
func Read(r io.Reader) (Document, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return Document{}, err
	case len(raw) > maxDocument:
		return Document{}, fmt.Errorf("more than %d MiB: no report of a simulation is that large", maxDocument>>20)
	case len(bytes.TrimSpace(raw)) == 0:
		return Document{}, errors.New("the file is empty; expected what policy simulate -f json -o FILE writes")
	}
	sweep, err := head(raw)
	if err != nil {
		return Document{}, err
	}
	if sweep {
		s, err := readSweep(raw)
		return Document{Sweep: s}, err
	}
	m, err := readImpact(raw, "")
	return Document{Impact: m}, err
}

// head looks at what says which document this is.
func head(raw []byte) (sweep bool, err error) {
	var top struct {
		Version   *int            `json:"version"`
		Baseline  json.RawMessage `json:"baseline"`
		Candidate json.RawMessage `json:"candidate"`
		Rows      json.RawMessage `json:"rows"`
	}
	if err := json.Unmarshal(raw, &top); err != nil {
		return false, fmt.Errorf("not a whole JSON document: %w; expected what policy simulate -f json -o FILE writes", err)
	}
	switch {
	case top.Version == nil || top.Rows == nil && (top.Baseline == nil || top.Candidate == nil):
		return false, errors.New("JSON, but no report of a simulation; expected what policy simulate -f json -o FILE writes")
	case *top.Version != simulate.ImpactVersion:
		return false, fmt.Errorf("the report has version %d, and this reviewer reads %d: simulate again with this one, or use the reviewer "+
			"that wrote it", *top.Version, simulate.ImpactVersion)
	}
	return top.Rows != nil, nil
}

func readSweep(raw []byte) (*simulate.Sweep, error) {
	var parts struct {
		Version int
		Key     string
		Rows    []struct {
			Value  float64         `json:"value"`
			Impact json.RawMessage `json:"impact"`
		}
	}
	s := &simulate.Sweep{}
	if err := errors.Join(strictly(raw, s), json.Unmarshal(raw, &parts)); err != nil {
		return nil, err
	}
	for i, row := range parts.Rows {
		m, err := readImpact(row.Impact, fmt.Sprintf("rows[%d].impact: ", i))
		if err != nil {
			return nil, err
		}
		s.Rows[i].Impact = m
	}
	return s, nil
}

// readImpact reads one Impact; at says where in the document it stands.
func readImpact(raw []byte, at string) (*simulate.Impact, error) {
	m := &simulate.Impact{}
	if err := strictly(raw, m); err != nil {
		return nil, fmt.Errorf("%s%w", at, err)
	}
	if err := check(m); err != nil {
		return nil, fmt.Errorf("%s%w; the file was changed by hand or damaged: simulate again", at, err)
	}
	return m, nil
}

// strictly decodes a document that has every field of its type, and no other.
func strictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("not a report of a simulation as this reviewer writes it: %w", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	for _, f := range engine.JSONFields(reflect.TypeOf(into).Elem()) {
		if value, given := fields[f.Name]; !f.Omit && (!given || string(value) == "null") {
			return fmt.Errorf("the field %q is missing: not a report of a simulation as this reviewer writes it", f.Name)
		}
	}
	return nil
}

// check finds counts that no simulation makes: adding them up would give a
// result that looks right.
func check(m *simulate.Impact) error {
	if m.Version != simulate.ImpactVersion {
		return fmt.Errorf("version is %d, not %d", m.Version, simulate.ImpactVersion)
	}
	if s := m.Shard; s != nil && (s.Index < 1 || s.Index > s.Of) {
		return fmt.Errorf("shard %d of %d cannot be", s.Index, s.Of)
	}
	if m.Sessions.Changed < 0 || m.Sessions.Changed > m.Sessions.Total {
		return fmt.Errorf("%d of %d sessions are changed", m.Sessions.Changed, m.Sessions.Total)
	}
	if err := checkTally("calls", m.Calls); err != nil {
		return err
	}
	return errors.Join(checkTally("events", m.Events), checkKinds(m.Kinds))
}

func checkTally(name string, t simulate.Tally) error {
	var sum int64
	for _, counts := range []map[simulate.State]int64{t.States, t.After} {
		for state, n := range counts {
			if n < 0 || !slices.Contains(simulate.States(), string(state)) {
				return fmt.Errorf("%s: %d decisions are %q", name, n, state)
			}
			sum += n
		}
	}
	if sum != t.Total {
		return fmt.Errorf("%s: the states add up to %d of %d", name, sum, t.Total)
	}
	if t.Failed < 0 || t.Failed > t.Total {
		return fmt.Errorf("%s: %d of %d failed", name, t.Failed, t.Total)
	}
	for _, c := range t.Matrix {
		if !verdict(c.From) || !verdict(c.To) || c.Count < 0 || c.After < 0 || c.Count+c.After > t.Total {
			return fmt.Errorf("%s: %d decisions go from %q to %q", name, c.Count+c.After, c.From, c.To)
		}
	}
	return nil
}

func checkKinds(kinds []simulate.Kind) error {
	for _, k := range kinds {
		if k.Count < 0 || k.After < 0 || !slices.Contains(simulate.States(), string(k.State)) {
			return fmt.Errorf("kinds: %d changes by %s are %q", k.Count, strings.TrimSpace(k.Rule), k.State)
		}
	}
	return nil
}

func verdict(v engine.Verdict) bool { return slices.Contains(engine.Verdicts(), string(v)) }
