package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// telegram calls the method sendMessage of Telegram's Bot API.
type telegram struct {
	to   *poster
	chat string
}

const telegramAPI = "https://api.telegram.org"

var errToken = errors.New("its token is not the token of a Telegram bot, such as 123456:ABC…; give it in secret_file or secret_env")

func newTelegram(c settings.Channel, from Sources) (sender, error) {
	token, err := from.value("token", "", c.SecretFile, c.SecretEnv)
	if err != nil {
		return nil, err
	}
	if ok, _ := regexp.MatchString(`^[0-9]+:[A-Za-z0-9_-]+$`, token); !ok {
		return nil, errToken
	}
	if len(c.To) != 1 {
		return nil, errors.New("to must contain the id of one chat")
	}
	base, err := addressOr(telegramAPI, c, from)
	if err != nil {
		return nil, err
	}
	to, err := posterTo(strings.TrimSuffix(base, "/")+"/bot"+token+"/sendMessage", c)
	return &telegram{to, c.To[0]}, err
}

// maxTelegram is a little less than the limit of the API, 4096 units of UTF-16.
const maxTelegram = 4000

// telegramMessage is a call of sendMessage. It has no parse_mode: markup stays plain text.
type telegramMessage struct {
	Chat     string           `json:"chat_id"`
	Text     string           `json:"text"`
	Entities []telegramEntity `json:"entities"`
	Preview  struct {
		Off bool `json:"is_disabled"`
	} `json:"link_preview_options"`
}

type telegramEntity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"` // units of UTF-16
}

func (b *telegram) send(ctx context.Context, e notify.Entry) error {
	m := telegramMessage{Chat: b.chat, Text: strings.TrimSpace(cut(e.Title+"\n"+textWithin(e, maxTelegram-len(e.Title)), maxTelegram))}
	// A block of code has no links, mentions or commands.
	m.Entities = []telegramEntity{{"pre", 0, len(utf16.Encode([]rune(m.Text)))}}
	m.Preview.Off = true
	answer, body, err := b.to.ask(ctx, m, map[string]string{HeaderID: e.ID})
	if err != nil {
		return err
	}
	var result struct {
		OK          bool   `json:"ok"`
		Description string `json:"description"`
		Parameters  struct {
			After int `json:"retry_after"`
		} `json:"parameters"`
	}
	wrong := json.Unmarshal(body, &result)
	if err := accepted(answer); err != nil {
		if after := result.Parameters.After; after > 0 {
			return later(err, strconv.Itoa(after), time.Now())
		}
		return err
	}
	switch {
	case wrong != nil:
		return errors.New("the response is not from Telegram's API")
	case !result.OK:
		return fmt.Errorf("refused by Telegram: %.100s", result.Description)
	}
	return nil
}
