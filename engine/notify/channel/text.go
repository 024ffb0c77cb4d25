package channel

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine/notify"
)

// textWithin is a notification as plain text, up to a number of bytes; 0: any number. What
// a person needs in order to decide comes first, so that it is never cut: half of the space
// for the action, its deadline, and the command with which to decide.
func textWithin(e notify.Entry, most int) string {
	var b strings.Builder
	switch {
	case e.Approval != nil:
		writeRequest(&b, *e.Approval, most/2)
		b.WriteString("decide on the machine: " + e.Next + "\n")
	case e.Digest != nil:
		b.WriteString("decide on the machine: " + e.Next + "\n")
		writeDigest(&b, *e.Digest)
	default:
		b.WriteString(e.Text + "\n")
	}
	for _, row := range [][2]string{
		{"session", e.Session}, {"agent", e.Harness}, {"workspace", e.Workspace}, {"rule", e.Issue}, {"time", e.Time},
	} {
		writeRow(&b, row[0], row[1])
	}
	switch {
	case e.Approval != nil:
		writeDetails(&b, *e.Approval)
		b.WriteString(e.Text + "\n")
	case e.Digest != nil:
		b.WriteString(e.Text + "\n")
	case e.Next != "":
		b.WriteString("More: " + e.Next + "\n")
	}
	return cut(b.String(), most)
}

func writeRow(b *strings.Builder, name, value string) {
	if value != "" {
		fmt.Fprintf(b, "%s: %s\n", name, value)
	}
}

// writeRequest writes what a person decides about.
func writeRequest(b *strings.Builder, r notify.Request, most int) {
	b.WriteString(cut(r.Action, most) + "\n\n")
	writeRow(b, "answer until", r.Deadline)
	writeRow(b, "risk", r.Level)
	writeRow(b, "undo", r.Undo)
	writeRow(b, "question", r.ID)
}

// writeDetails writes the rest of a request.
func writeDetails(b *strings.Builder, r notify.Request) {
	for _, list := range []struct {
		name  string
		texts []string
	}{{"would touch", r.Effects}, {"reasons", r.Reasons}, {"about this message", r.Notes}} {
		if len(list.texts) == 0 {
			continue
		}
		b.WriteString(list.name + ":\n")
		for _, text := range list.texts {
			b.WriteString("- " + oneLine(text) + "\n")
		}
	}
}

func writeDigest(b *strings.Builder, d notify.Digest) {
	for _, r := range d.Requests {
		fmt.Fprintf(b, "- %s until %s", r.ID, r.Deadline)
		if r.Level != "" {
			b.WriteString(", risk " + r.Level)
		}
		b.WriteString(": " + oneLine(r.Action) + "\n")
	}
	if d.More > 0 {
		fmt.Fprintf(b, "- and %d more\n", d.More)
	}
}

// cut shortens a string to a number of bytes, without a broken character at its end; 0: any number.
func cut(text string, most int) string {
	if most <= 0 || len(text) <= most {
		return text
	}
	const sign = "…"
	end := max(0, most-len(sign))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + sign
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
