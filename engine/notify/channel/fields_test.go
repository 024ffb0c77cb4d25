package channel

import (
	"encoding/base64"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

var updateFields = flag.Bool("update-fields", false, "write the table of docs/notifications.md")

// fields names what a message about a question says, and a word that only this part of it has.
func fields() [][2]string {
	return [][2]string{
		{"question id", "id-word"}, {"action, masked", "action-word"}, {"what it would touch", "effect-word"}, {"reasons", "reason-word"},
		{"level of risk", "level-word"}, {"whether it can be undone", "undo-word"}, {"deadline", "2026-11-24T12:03:00Z"}, {"what is left out", "note-word"},
		{"session", "session-word"}, {"agent", "harness-word"}, {"name of the workspace", "workspace-word"}, {"time", "2026-11-24T12:00:00Z"},
		{"path of the workspace", "home-word"}, {"approval code", "code-word"},
	}
}

func wordy() notify.Entry {
	return notify.Ask(notify.Request{ID: "id-word", Action: "action-word", Effects: []string{"effect-word"}, Reasons: []string{"reason-word"}, Level: "level-word",
		Undo: "undo-word", Deadline: "2026-11-24T12:03:00Z", Notes: []string{"note-word"}},
		time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC), "harness-word", "session-word", "/home-word/workspace-word")
}

// The documentation says, for each kind of channel, what leaves the machine. The table is written from
// what a server of each kind got.
func TestFields(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program for the screen is a shell script")
	}
	kinds, got := []string{"webhook", "slack", "ntfy", "telegram", "smtp", "sms", "desktop"}, map[string]string{"smtp": mailed(t), "desktop": displayed(t)}
	for _, s := range services() {
		if seen := receive(t, s, wordy()); got[s.kind] == "" {
			got[s.kind] = seen
		}
	}
	table := "| | " + strings.Join(kinds, " | ") + " |\n|---" + strings.Repeat("|---", len(kinds)) + "|\n"
	for _, f := range fields() {
		row := "| " + f[0]
		for _, kind := range kinds {
			said := "-"
			if strings.Contains(got[kind], f[1]) {
				said = "yes"
			}
			row += " | " + said
		}
		table += row + " |\n"
	}
	inDocument(t, filepath.Join("..", "..", "..", "docs", "notifications.md"), table)
}

func mailed(t *testing.T) string {
	port, mails := mailServer(t, nil)
	c := settings.Channel{Kind: "smtp", Host: "127.0.0.1", Port: port, Security: "none", From: "r@example.com", To: []string{"ann@example.com"}}
	if err := New([]settings.Channel{c}, sources(t, nil))[0].Send(t.Context(), wordy()); err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(<-mails, "\r\n\r\n")
	text, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\r\n.\r\n", "", "\r\n", "").Replace(body))
	if err != nil {
		t.Fatal(err)
	}
	return head + string(text)
}

func displayed(t *testing.T) string {
	dir := t.TempDir()
	program := filepath.Join(dir, "show")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" > "+dir+"/shown\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := New([]settings.Channel{{Kind: "desktop", Program: program}}, sources(t, nil))[0].Send(t.Context(), wordy()); err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile(filepath.Join(dir, "shown"))
	if err != nil {
		t.Fatal(err)
	}
	return string(shown)
}

// inDocument compares a table with that of a document, or writes it.
func inDocument(t *testing.T, path, table string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const end = "<!-- end of fields -->"
	head, rest, ok := strings.Cut(string(raw), "-update-fields -->\n")
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", path)
	}
	want := head + "-update-fields -->\n" + table + end + tail
	if *updateFields {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(raw) {
		t.Errorf("%s does not say what leaves the machine; run go test ./engine/notify/channel -run TestFields -update-fields", path)
	}
}
