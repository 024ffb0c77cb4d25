package audit

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Exporter writes records in the format of another tool.
type Exporter interface {
	Export(w io.Writer, records iter.Seq2[*engine.Record, error]) error
}

// ExportFormats lists the names that NewExporter takes.
func ExportFormats() []string { return []string{"json", "jsonl", "csv"} }

// NewExporter returns the exporter of a format.
func NewExporter(format string) (Exporter, error) {
	switch format {
	case "json":
		return JSON{}, nil
	case "jsonl":
		return JSON{Lines: true}, nil
	case "csv":
		return CSV{}, nil
	}
	return nil, fmt.Errorf("unknown export format %q; expected one of %s", format, strings.Join(ExportFormats(), ", "))
}

// JSON writes whole records, each with its id: an array, or one record per line.
type JSON struct{ Lines bool }

// Export stops at the first record that cannot be read; what was written until
// then is not a valid array, so it cannot be mistaken for the whole.
func (j JSON) Export(w io.Writer, records iter.Seq2[*engine.Record, error]) error {
	out := bufio.NewWriter(w)
	begin, between, end := "[\n", ",\n", "\n]\n"
	if j.Lines {
		begin, between, end = "", "\n", "\n"
	}
	sep, count := begin, 0
	for r, err := range records {
		if err != nil {
			return err
		}
		b, err := json.Marshal(struct {
			ID string `json:"id"`
			*engine.Record
		}{r.ID(), r})
		if err != nil {
			return fmt.Errorf("export record %s: %w", r.ID(), err)
		}
		out.WriteString(sep) // an error stays with the writer until Flush
		out.Write(b)
		sep = between
		count++
	}
	if count == 0 && j.Lines {
		end = ""
	}
	if count == 0 && !j.Lines {
		end = "[]\n"
	}
	out.WriteString(end)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// CSV writes a table with a header row, for spreadsheets: no cell is
// interpreted as a formula.
type CSV struct{}

// Export writes one row per record, the newest last.
func (CSV) Export(w io.Writer, records iter.Seq2[*engine.Record, error]) error {
	out := csv.NewWriter(w)
	columns := []string{"id", "time", "session", "agent", "kind", "tool", "name", "resource", "decision", "effect", "mode",
		"rules", "risk", "reason", "form"}
	if err := out.Write(columns); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	for r, err := range records {
		if err != nil {
			return err
		}
		row := csvRow(r)
		for i := range row {
			row[i] = plainCell(row[i])
		}
		if err := out.Write(row); err != nil {
			return fmt.Errorf("export record %s: %w", r.ID(), err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

func csvRow(r *engine.Record) []string {
	var tool, name, resource, decision, effect, mode, rules, risk, reason, form string
	if r.Event != nil {
		tool = r.Event.Tool
	}
	if r.Action != nil {
		name, resource = r.Action.Name, r.Action.Resource
	}
	if d := r.Decision; d != nil {
		decision, rules, reason = string(d.Decision), strings.Join(d.RuleIDs(), " "), d.Reason
		if d.Risk != nil {
			risk = strconv.FormatFloat(d.Risk.Score, 'f', -1, 64)
		}
	}
	if r.Answer != nil {
		effect, mode = string(r.Answer.Effect), string(r.Answer.Mode)
	}
	if r.Rewritten != nil && r.Rewritten.Action != nil {
		form = r.Rewritten.Action.Resource
	}
	return []string{r.ID(), time.UnixMilli(r.T).UTC().Format("2006-01-02T15:04:05.000Z07:00"), r.Session, r.Agent,
		string(r.Kind), tool, name, resource, decision, effect, mode, rules, risk, otherReason(r, reason), form}
}

// otherReason describes in a word a record that is not a decision.
func otherReason(r *engine.Record, reason string) string {
	switch {
	case reason != "":
		return reason
	case r.Answer != nil && r.Answer.Failure != "":
		return r.Answer.Failure
	case r.Control != nil:
		return strings.TrimSpace(r.Control.Do + decidedBy(r.Control) + " " + r.Control.Reason)
	case r.Act != nil:
		return strings.TrimSpace(r.Act.Kind + " " + r.Act.Result)
	case r.Note != nil:
		return strings.TrimSpace(r.Note.What + " " + r.Note.Detail)
	}
	return ""
}

// decidedBy names who answered the question about a call that waited; empty: it is another choice.
func decidedBy(c *engine.Control) string {
	switch d := c.Decided; {
	case d == nil:
		return ""
	case d.Who == engine.DecidedPerson:
		return " of " + c.Record + " by " + c.By + " (" + d.Channel + ")"
	default:
		return " of " + c.Record + " by " + d.Who
	}
}

// plainCell keeps a spreadsheet from computing what an agent wrote.
func plainCell(s string) string {
	if s != "" && strings.IndexByte("=+-@\t\r", s[0]) >= 0 {
		return "'" + s
	}
	return s
}
