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

// Document is a JSON document of Write or WriteSweep: one of the two.
type Document struct {
	Impact *simulate.Impact
	Sweep  *simulate.Sweep
}

// Read reads a JSON document of Write or WriteSweep. It refuses another version,
// unknown or missing fields, and counts that do not add up: its results can be merged.
func Read(r io.Reader) (Document, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return Document{}, err
	case len(raw) > maxDocument:
		return Document{}, fmt.Errorf("larger than %d MiB, so not a simulation report", maxDocument>>20)
	case len(bytes.TrimSpace(raw)) == 0:
		return Document{}, errors.New("the file is empty; expected the output of policy simulate -f json -o FILE")
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

// head reads the fields that identify the document.
func head(raw []byte) (sweep bool, err error) {
	var top struct {
		Version   *int            `json:"version"`
		Baseline  json.RawMessage `json:"baseline"`
		Candidate json.RawMessage `json:"candidate"`
		Rows      json.RawMessage `json:"rows"`
	}
	if err := json.Unmarshal(raw, &top); err != nil {
		return false, fmt.Errorf("not a complete JSON document: %w; expected the output of policy simulate -f json -o FILE", err)
	}
	switch {
	case top.Version == nil || top.Rows == nil && (top.Baseline == nil || top.Candidate == nil):
		return false, errors.New("JSON, but not a simulation report; expected the output of policy simulate -f json -o FILE")
	case *top.Version != simulate.ImpactVersion:
		return false, fmt.Errorf("the report has version %d, and this reviewer reads version %d: simulate again, or use the reviewer "+
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
	s := &simulate.Sweep{V: simulate.ImpactVersion}
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

// readImpact reads one Impact; at is its place in the document.
func readImpact(raw []byte, at string) (*simulate.Impact, error) {
	m := &simulate.Impact{V: simulate.ImpactVersion}
	if err := strictly(raw, m); err != nil {
		return nil, fmt.Errorf("%s%w", at, err)
	}
	if err := check(m); err != nil {
		return nil, fmt.Errorf("%s%w; the file was changed by hand or damaged: simulate again", at, err)
	}
	return m, nil
}

// strictly decodes a document that has every field of its type, and no other. Reports
// from before "v" was added have "version" only.
func strictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("not a simulation report of this version of reviewer: %w", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	for _, f := range engine.JSONFields(reflect.TypeOf(into).Elem()) {
		if value, given := fields[f.Name]; !f.Omit && f.Name != "v" && (!given || string(value) == "null") {
			return fmt.Errorf("the field %q is missing: not a simulation report of this version of reviewer", f.Name)
		}
	}
	return nil
}

// check refuses impossible counts, which would make a merged result wrong without
// notice.
func check(m *simulate.Impact) error {
	if m.Version != simulate.ImpactVersion {
		return fmt.Errorf("version is %d, not %d", m.Version, simulate.ImpactVersion)
	}
	if s := m.Shard; s != nil && (s.Index < 1 || s.Last() > s.Of || s.To != 0 && s.To <= s.Index) {
		return fmt.Errorf("shard %s is impossible", *s)
	}
	if m.Sessions.Changed < 0 || m.Sessions.Changed > m.Sessions.Total {
		return fmt.Errorf("%d of %s are changed", m.Sessions.Changed, engine.Counted(m.Sessions.Total, "session", "sessions"))
	}
	if m.Sessions.Unattended < 0 || m.Sessions.Unattended > m.Sessions.Total {
		return fmt.Errorf("%d of %s are unattended", m.Sessions.Unattended, engine.Counted(m.Sessions.Total, "session", "sessions"))
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
				return fmt.Errorf("%s: %s are %q", name, engine.Counted(n, "decision", "decisions"), state)
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
			return fmt.Errorf("%s: %s from %q to %q", name, engine.Counted(c.Count+c.After, "decision", "decisions"), c.From, c.To)
		}
	}
	return nil
}

func checkKinds(kinds []simulate.Kind) error {
	for _, k := range kinds {
		if k.Count < 0 || k.After < 0 || !slices.Contains(simulate.States(), string(k.State)) {
			return fmt.Errorf("kinds: %s by %s are %q", engine.Counted(k.Count, "change", "changes"), strings.TrimSpace(k.Rule), k.State)
		}
	}
	return nil
}

func verdict(v engine.Verdict) bool { return slices.Contains(engine.Verdicts(), string(v)) }
