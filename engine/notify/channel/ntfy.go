package channel

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// ntfy publishes to a topic of a server of ntfy, as JSON: headers would need another encoding.
type ntfy struct {
	to          *poster
	topic, auth string
}

var errTopic = errors.New("its URL must be that of a topic, such as https://ntfy.example.com/my-topic")

func newNtfy(c settings.Channel, from Sources) (sender, error) {
	where, err := address(c, from)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(where)
	if err != nil {
		return nil, errTopic
	}
	end := strings.LastIndexByte(u.Path, '/')
	n := &ntfy{topic: u.Path[end+1:]}
	if ok, _ := regexp.MatchString(`^[A-Za-z0-9_-]{1,64}$`, n.topic); !ok {
		return nil, errTopic
	}
	secret, err := from.value("token", "", c.SecretFile, c.SecretEnv)
	if err != nil {
		return nil, err
	}
	n.auth = authorization(c.User, secret)
	u.Path, u.RawPath, u.RawQuery, u.Fragment = u.Path[:end+1], "", "", ""
	n.to, err = posterTo(u.String(), c)
	return n, err
}

// authorization is a header for a token, or for a user name with a password; empty: there is
// no secret.
func authorization(user, secret string) string {
	switch {
	case secret == "":
		return ""
	case user == "":
		return "Bearer " + secret
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+secret))
}

// maxNtfy is a little less than the limit of servers, 4096 bytes: longer messages become files.
const maxNtfy = 4000

func (n *ntfy) send(ctx context.Context, e notify.Entry) error {
	header := map[string]string{HeaderID: e.ID}
	if n.auth != "" {
		header["Authorization"] = n.auth
	}
	priority := 4
	if e.Kind == notify.KindTest {
		priority = 3
	}
	answer, body, err := n.to.ask(ctx, map[string]any{
		"topic": n.topic, "title": cut(oneLine(e.Title), 250), "message": textWithin(e, maxNtfy), "priority": priority,
	}, header)
	if err == nil {
		err = accepted(answer)
	}
	if err != nil {
		return err
	}
	var result struct{ ID, Event string }
	if json.Unmarshal(body, &result) != nil || result.ID == "" || result.Event != "message" {
		return errors.New("the response is not from an ntfy server")
	}
	return nil
}
