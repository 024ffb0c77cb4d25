package channel

import (
	"cmp"

	"github.com/agent-reviewer/reviewer/engine/notify"
)

// Kind is one custom kind of intervention of an organisation: the settings interventions.kinds,
// which only a signed bundle may have.
type Kind struct {
	Name        string   `json:"-"`
	Command     []string `json:"command"`
	Env         []string `json:"env"`
	Webhook     string   `json:"webhook"`
	WebhookFile string   `json:"webhook_file"`
	WebhookEnv  string   `json:"webhook_env"`
	SecretFile  string   `json:"secret_file"`
	SecretEnv   string   `json:"secret_env"`
	Proxy       string   `json:"proxy"`
}

// executors lists the ways in which a kind of an organisation's own is carried out.
func executors() []executor {
	return []executor{
		{func(k Kind) bool { return len(k.Command) > 0 }, newCommand},
		{func(k Kind) bool { return cmp.Or(k.Webhook, k.WebhookFile, k.WebhookEnv) != "" }, newOwnWebhook},
	}
}

type executor struct {
	does func(Kind) bool
	make func(Kind, Sources) (notify.Channel, error)
}

// Own returns the channels of custom kinds of intervention that start a program or call a webhook, by
// name. One that cannot be used fails every delivery, with the reason.
func Own(kinds map[string]Kind, from Sources) map[string]notify.Channel {
	own := map[string]notify.Channel{}
	for name, k := range kinds {
		k.Name = name
		for _, e := range executors() {
			if !e.does(k) {
				continue
			}
			c, err := e.make(k, from)
			if err != nil {
				c = &named{name, broken(err)}
			}
			own[name] = c
			break
		}
	}
	return own
}

func newOwnWebhook(k Kind, from Sources) (notify.Channel, error) {
	s, err := newWebhook(Config{Name: k.Name, URL: k.Webhook, URLFile: k.WebhookFile, URLEnv: k.WebhookEnv, SecretFile: k.SecretFile,
		SecretEnv: k.SecretEnv, Proxy: k.Proxy}, from)
	return &named{k.Name, s}, err
}
