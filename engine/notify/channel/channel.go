// Package channel sends notifications to people: one file per kind of channel, one
// table. Addresses and keys come from the settings of a person or an organisation, from
// files or from the environment, and never from a project, which an agent can write.
//
// Out of scope: when something is sent, and how often it is tried (package notify).
package channel

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// Sources provides the values that are not in the settings.
type Sources struct {
	Env  func(string) string
	Home string // of the person, for paths that begin with ~/
}

// kinds lists what makes a channel of each kind.
func kinds() map[string]func(settings.Channel, Sources) (sender, error) {
	return map[string]func(settings.Channel, Sources) (sender, error){
		"webhook":  newWebhook,
		"slack":    newSlack,
		"ntfy":     newNtfy,
		"telegram": newTelegram,
		"smtp":     newSMTP,
		"sms":      newSMS,
		"desktop":  newDesktop,
	}
}

// New returns the channels of a configuration. One that cannot be used fails every delivery,
// with the reason: the others work.
func New(list []settings.Channel, from Sources) []notify.Channel {
	var channels []notify.Channel
	seen := map[string]bool{}
	for _, c := range list {
		if seen[c.Name] {
			continue // of two layers, the first one's
		}
		seen[c.Name] = true
		channels = append(channels, &named{c.Name, senderOf(c, from)})
	}
	return channels
}

func senderOf(c settings.Channel, from Sources) sender {
	maker := kinds()[c.Kind]
	if maker == nil {
		return broken(fmt.Errorf("unknown kind of channel %q", c.Kind))
	}
	s, err := maker(c, from)
	if err != nil {
		return broken(err)
	}
	return s
}

// value returns the value of a setting, a file or a variable. Files may end with
// a line break; one that others could read is refused.
func (from Sources) value(what, direct, file, env string) (string, error) {
	switch {
	case direct != "":
		return direct, nil
	case file != "":
		return from.file(what, file)
	case env != "":
		if v := from.Env(env); v != "" {
			return v, nil
		}
		return "", fmt.Errorf("%s: the environment variable %s %w", what, env, errNotSet)
	}
	return "", nil
}

func (from Sources) file(what, path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(from.Home, rest)
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s: %s is not an absolute path", what, path)
	}
	f, err := osfile.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	defer f.Close()
	if err := osfile.Private(f, 0o077); err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	b := make([]byte, 4096)
	n, err := f.Read(b)
	if err != nil {
		return "", fmt.Errorf("%s: read %s: %w", what, path, err)
	}
	return strings.TrimSpace(string(b[:n])), nil
}

var errNotSet = errors.New("is not set")

var errNoURL = errors.New("it has none of url, url_file and url_env")

// address returns the address of a channel.
func address(c settings.Channel, from Sources) (string, error) {
	url, err := from.value("address", c.URL, c.URLFile, c.URLEnv)
	if err == nil && url == "" {
		err = errNoURL
	}
	return url, err
}

// addressOr is address for a service that has one address for everybody.
func addressOr(usual string, c settings.Channel, from Sources) (string, error) {
	url, err := address(c, from)
	if errors.Is(err, errNoURL) {
		return usual, nil
	}
	return url, err
}
