package channel

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/notify"
)

// slack posts to an incoming webhook of Slack, or of a service with the same form.
type slack struct{ to *poster }

func newSlack(c Config, from Sources) (sender, error) {
	to, err := newPoster(c, from)
	return &slack{to}, err
}

func (s *slack) send(ctx context.Context, e notify.Entry) error {
	body, err := json.Marshal(map[string]string{"text": "*" + plain(e.Title) + "*\n" + plain(text(e))})
	if err != nil {
		return &notify.Permanent{Err: err}
	}
	return s.to.post(ctx, body, map[string]string{HeaderID: e.ID})
}

// plain escapes what Slack reads as markup: links, and mentions of everybody.
func plain(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
