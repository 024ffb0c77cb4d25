package channel

import (
	"cmp"
	"slices"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// executors lists the ways in which a kind of an organisation's own is carried out.
func executors() []executor {
	return []executor{
		{func(k settings.Kind) bool { return len(k.Command) > 0 }, newCommand},
		{func(k settings.Kind) bool { return cmp.Or(k.Webhook, k.WebhookFile, k.WebhookEnv) != "" }, newOwnWebhook},
	}
}

type executor struct {
	does func(settings.Kind) bool
	make func(name string, k settings.Kind, from Sources) (notify.Channel, error)
}

// Tells reports whether a kind starts a program or calls a webhook.
func Tells(k settings.Kind) bool {
	return slices.ContainsFunc(executors(), func(e executor) bool { return e.does(k) })
}

// Own returns the channels of custom kinds of intervention that start a program or call a webhook, by
// name. One that cannot be used fails every delivery, with the reason.
func Own(kinds map[string]settings.Kind, from Sources) map[string]notify.Channel {
	own := map[string]notify.Channel{}
	for name, k := range kinds {
		for _, e := range executors() {
			if !e.does(k) {
				continue
			}
			c, err := e.make(name, k, from)
			if err != nil {
				c = &named{name, broken(err)}
			}
			own[name] = c
			break
		}
	}
	return own
}

func newOwnWebhook(name string, k settings.Kind, from Sources) (notify.Channel, error) {
	s, err := newWebhook(settings.Channel{Name: name, URL: k.Webhook, URLFile: k.WebhookFile, URLEnv: k.WebhookEnv, SecretFile: k.SecretFile,
		SecretEnv: k.SecretEnv, Proxy: k.Proxy}, from)
	return &named{name, s}, err
}
