package channel

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// mailDialog is a mail server that answers each command as a test says; by default it accepts it.
func mailDialog(t *testing.T, answers map[string]string) (port int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go converse(conn, answers)
		}
	}()
	return int64(listener.Addr().(*net.TCPAddr).Port)
}

func converse(conn net.Conn, answers map[string]string) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	if !say(conn, answers, "greeting", "220 ready") {
		return
	}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		usual := map[string]string{"EHLO": "250-localhost\r\n250 AUTH PLAIN", "AUTH": "235 welcome", "DATA": "354 go"}[verb]
		if usual == "" {
			usual = "250 ok"
		}
		if !say(conn, answers, verb, usual) {
			return
		}
		for verb == "DATA" && err == nil && line != ".\r\n" {
			if line, err = r.ReadString('\n'); line == ".\r\n" && !say(conn, answers, "text", "250 taken") {
				return
			}
		}
	}
}

// say answers; false: the conversation is over.
func say(conn net.Conn, answers map[string]string, to, usual string) bool {
	answer, own := answers[to]
	if !own {
		answer = usual
	}
	switch answer {
	case "hang":
		_, _ = io.Copy(io.Discard, conn) // until the client gives up
	case "close":
	case "endless":
		for {
			if _, err := io.WriteString(conn, strings.Repeat("x", 4096)); err != nil {
				return false
			}
		}
	default:
		_, err := fmt.Fprint(conn, answer+"\r\n")
		return err == nil
	}
	return false
}

func TestAnswersOfMailServers(t *testing.T) {
	for _, tt := range []struct {
		to, answer string
		want       string
	}{
		{"nothing", "", "ok"},
		{"AUTH", "535 5.7.8 bad credentials", "permanent"},
		{"AUTH", "454 4.7.0 temporary failure", "again"},
		{"MAIL", "550 no", "permanent"},
		{"RCPT", "550 5.1.1 no such user", "permanent"},
		{"RCPT", "451 4.7.1 greylisted", "again"},
		{"DATA", "554 no", "permanent"},
		{"text", "552 too large", "permanent"},
		{"text", "421 4.3.0 busy", "again"},
		{"greeting", "554 go away", "permanent"},
		{"greeting", "421 busy", "again"},
		{"greeting", "HTTP/1.1 400 Bad Request", "again"},
		{"greeting", "hang", "again"},
		{"greeting", "endless", "again"},
		{"greeting", "close", "again"},
		{"DATA", "hang", "again"},
		{"text", "close", "again"},
		{"text", "endless", "again"},
	} {
		t.Run(tt.to+" "+tt.answer, func(t *testing.T) {
			t.Parallel()
			c := settings.Channel{Name: "c", Kind: "smtp", Host: "127.0.0.1", Port: mailDialog(t, map[string]string{tt.to: tt.answer}), Security: "none",
				User: "u", SecretEnv: "PASSWORD", From: "r@example.com", To: []string{"ann@example.com", "bob@example.com"}}
			limit := time.Minute
			if tt.answer == "hang" || tt.answer == "endless" {
				limit = time.Second
			}
			err := notify.Send(t.Context(), New([]settings.Channel{c}, sources(t, map[string]string{"PASSWORD": "not-a-real-password"}))[0], request(), limit)
			if got := kindOf(err); got != tt.want {
				t.Errorf("%s (%.200s), want %s", got, fmt.Sprint(err), tt.want)
			}
		})
	}
}
