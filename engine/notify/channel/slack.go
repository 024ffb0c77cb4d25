package channel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// slack posts to an incoming webhook of Slack, or of a service with the same form; with a token, it calls
// the method chat.postMessage of Slack's API.
type slack struct {
	to             *poster
	token, channel string
}

const slackAPI = "https://slack.com/api/chat.postMessage"

func newSlack(c settings.Channel, from Sources) (sender, error) {
	token, err := from.value("token", "", c.SecretFile, c.SecretEnv)
	if err != nil {
		return nil, err
	}
	if token == "" {
		to, err := newPoster(c, from)
		return &slack{to: to}, err
	}
	if len(c.To) != 1 {
		return nil, errors.New("with a token, to must contain the id of one Slack channel, such as C0123456789")
	}
	where, err := addressOr(slackAPI, c, from)
	if err != nil {
		return nil, err
	}
	to, err := posterTo(where, c)
	return &slack{to, token, c.To[0]}, err
}

// maxSlack limits a message in bytes; Slack cuts those that are ten times as long.
const maxSlack = 4000

// slackMessage is the document for incoming webhooks and for the API. Links are not fetched for previews: the action of a request
// may name an address that must not be called.
type slackMessage struct {
	Channel string `json:"channel,omitempty"`
	Text    string `json:"text"`
	Links   bool   `json:"unfurl_links"`
	Media   bool   `json:"unfurl_media"`
}

func (s *slack) send(ctx context.Context, e notify.Entry) error {
	m := slackMessage{Channel: s.channel, Text: "```\n" + plain(e.Title+"\n"+textWithin(e, maxSlack)) + "```"}
	if s.token == "" {
		body, err := json.Marshal(m)
		if err != nil {
			return &notify.Permanent{Err: err}
		}
		return s.to.post(ctx, body, map[string]string{HeaderID: e.ID})
	}
	answer, body, err := s.to.ask(ctx, m, map[string]string{HeaderID: e.ID, "Authorization": "Bearer " + s.token})
	if err == nil {
		err = accepted(answer)
	}
	if err != nil {
		return err
	}
	return slackResult(body)
}

// slackResult reads an answer of Slack's API: its code is 200 even if the message was refused.
func slackResult(body []byte) error {
	var result struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	if err := json.Unmarshal(body, &result); err != nil {
		return errors.New("the response is not from Slack's API")
	}
	if result.OK {
		return nil
	}
	err := fmt.Errorf("refused by Slack: %s", cmp.Or(result.Error, "without an error"))
	again := []string{"", "ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"}
	if slices.Contains(again, result.Error) {
		return err
	}
	return &notify.Permanent{Err: err}
}

// plain escapes what Slack reads as markup: links, and mentions of everybody. Nothing else is markup in
// a block of code, which the text cannot end.
func plain(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "```", "'''").Replace(text)
}
