package channel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// sms calls the HTTP API of a service that sends short messages. The settings have the call as a template:
// method, address, headers and body, with {to}, {text}, {id} and {secret}.
type sms struct {
	to      *poster // its url is the template
	c       settings.Channel
	secret  string
	escape  func(string) string // for the body
	content string              // its type
}

func newSMS(c settings.Channel, from Sources) (sender, error) {
	where, err := address(c, from)
	if err != nil {
		return nil, err
	}
	secret, err := from.value("secret", "", c.SecretFile, c.SecretEnv)
	if err != nil {
		return nil, err
	}
	s := &sms{c: c, secret: secret}
	if err := s.check(where); err != nil {
		return nil, err
	}
	if s.to, err = posterTo(where, c); err != nil {
		return nil, err
	}
	s.content = cmp.Or(s.header("Content-Type"), guessed(c.Body))
	s.escape = escaping(s.content)
	if body := s.body(notify.Entry{ID: "x", Title: "\"\n"}); strings.Contains(s.content, "json") && !json.Valid([]byte(body)) {
		return nil, errors.New("its body is not JSON; write placeholders between quotes, as in \"{text}\"")
	}
	return s, nil
}

// placeholder matches what is replaced, and what looks like it.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[a-z_]+\}`) })

// check refuses a template that could not be filled in safely.
func (s *sms) check(where string) error {
	if len(s.c.To) != 1 {
		return errors.New("to must contain one number; give each person a channel")
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(where, "https://"), "/")
	if placeholder().MatchString(host) {
		return errors.New("its URL must not contain a placeholder in the host name")
	}
	texts := []string{where, s.c.Body}
	for name, value := range s.c.Headers {
		if strings.Contains(value, "{text}") {
			return fmt.Errorf("header %s must not contain {text}: put it into the body or the URL", name)
		}
		texts = append(texts, value)
	}
	for _, text := range texts {
		for _, name := range placeholder().FindAllString(text, -1) {
			if _, known := s.values(notify.Entry{})[name]; !known {
				return fmt.Errorf("it has the unknown placeholder %s; known are {to}, {text}, {id} and {secret}", name)
			}
		}
	}
	if !strings.Contains(where+s.c.Body, "{text}") {
		return errors.New("neither its URL nor its body contains {text}")
	}
	return nil
}

func (s *sms) values(e notify.Entry) map[string]string {
	text := short(e, cmp.Or(int(s.c.Length), usualSMS))
	return map[string]string{"{to}": s.c.To[0], "{text}": text, "{id}": e.ID, "{secret}": s.secret}
}

// usualSMS is the length of three short messages in the usual encoding.
const usualSMS = 459

// filled returns a template with its placeholders replaced, all at once: what a value contains is
// never a placeholder.
func (s *sms) filled(template string, e notify.Entry, escape func(string) string) string {
	values := s.values(e)
	return placeholder().ReplaceAllStringFunc(template, func(name string) string { return escape(values[name]) })
}

func (s *sms) body(e notify.Entry) string { return s.filled(s.c.Body, e, s.escape) }

func (s *sms) header(name string) string {
	for key, value := range s.c.Headers {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

func guessed(body string) string {
	body = strings.TrimSpace(body)
	if at := placeholder().FindStringIndex(body); strings.HasPrefix(body, "[") || strings.HasPrefix(body, "{") && (at == nil || at[0] > 0) {
		return "application/json; charset=utf-8"
	}
	return "application/x-www-form-urlencoded"
}

// escaping returns how a value is written in a body of a type.
func escaping(content string) func(string) string {
	switch {
	case strings.Contains(content, "json"):
		return func(text string) string {
			raw, _ := json.Marshal(text) // of a string, it does not fail
			return string(raw[1 : len(raw)-1])
		}
	case strings.Contains(content, "form-urlencoded"):
		return url.QueryEscape
	case strings.Contains(content, "xml"):
		return func(text string) string { return xmlEscaper.Replace(text) }
	}
	return func(text string) string { return text }
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

func inAddress(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func (s *sms) send(ctx context.Context, e notify.Entry) error {
	header := map[string]string{HeaderID: e.ID, "Content-Type": s.content}
	for name, value := range s.c.Headers {
		header[name] = s.filled(value, e, func(text string) string { return text })
	}
	if s.c.User != "" {
		header["Authorization"] = authorization(s.c.User, s.secret)
	}
	answer, err := s.to.send(ctx, cmp.Or(s.c.Method, http.MethodPost), s.filled(s.to.url, e, inAddress), []byte(s.body(e)), header)
	if err != nil {
		return err
	}
	body, err := read(answer)
	if err == nil || answer.StatusCode >= 300 {
		err = accepted(answer)
	}
	if err == nil && !strings.Contains(string(body), s.c.Expect) {
		err = errors.New("the response does not contain the text of the setting expect")
	}
	return err
}

// short is a notification with a limited number of characters. The command with which to
// decide comes first, so that it is never cut.
func short(e notify.Entry, most int) string {
	if e.Approval == nil {
		return clip(oneLine(e.Title+"; "+e.Next), most)
	}
	r := e.Approval
	head := fmt.Sprintf("%s until %s; `%s`: ", e.Title, r.Deadline, e.Next)
	return clip(oneLine(head+r.Action), most)
}

// clip shortens a string to a number of characters.
func clip(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
