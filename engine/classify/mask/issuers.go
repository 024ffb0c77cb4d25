package mask

import (
	"slices"
	"strings"
)

// This file has the forms of tokens with several parts. Each function gets the text
// after the prefix that its row names.

// anthropicForm is a kind of key with its version, and characters that end in AA: API
// keys have 95.
func anthropicForm(rest string) bool {
	kind, secret, _ := strings.Cut(rest, "-")
	name := strings.TrimRight(kind, "0123456789")
	if name == "" || len(kind)-len(name) != 2 || !strings.HasSuffix(secret, "AA") || !drawn(secret) {
		return false
	}
	if name == "api" || name == "admin" {
		return len(secret) == 95
	}
	return len(secret) >= 80
}

// sourcegraphForm is 40 hexadecimal digits, or those after the id of an
// instance.
func sourcegraphForm(rest string) bool {
	if instance, secret, ok := strings.Cut(rest, "_"); ok {
		if instance != "local" && (len(instance) != 16 || !hexDigits(instance)) {
			return false
		}
		rest = secret
	}
	return len(rest) == 40 && hexDigits(rest) && drawn(rest)
}

// notionForm begins with eleven digits.
func notionForm(rest string) bool {
	return len(rest) == 46 && Digits(rest[:11]) == 11 && !filler(rest[11:])
}

// sentryForm is JSON in base64 and a secret of 43 characters.
func sentryForm(rest string) bool {
	i := strings.LastIndexByte(rest, '_')
	return strings.HasPrefix(rest, "eyJ") && i > 20 && len(rest)-i-1 == 43 && !filler(rest)
}

// sumoForm is an access id.
func sumoForm(v string) bool { return strings.HasPrefix(v, "su") && HasDigit(v) && !filler(v) }

// uuidForm is 32 hexadecimal digits in the groups of a UUID.
func uuidForm(v string) bool {
	groups := strings.Split(v, "-")
	return len(groups) == 5 && len(groups[0]) == 8 && len(groups[4]) == 12 && hexDigits(strings.Join(groups, "")) && !repetitive(v)
}

// slackChecks has the forms of Slack's tokens. The numbers are those of teams, apps
// and users.
var slackChecks = map[string]func(string) bool{
	"slack":        slackOld,
	"slack_app":    slackApp,
	"slack_bot":    slackBot,
	"slack_config": slackConfig,
	"slack_user":   slackUser,
}

// slackNumber reports whether a part is an id of Slack.
func slackNumber(s string, least int) bool {
	return len(s) >= least && len(s) <= 14 && Digits(s) == len(s)
}

// slackBot is two numbers and a secret, or in the older form one number and a
// secret.
func slackBot(rest string) bool {
	parts := strings.SplitN(rest, "-", 3)
	switch {
	case filler(rest) || len(parts) < 2 || !slackNumber(parts[0], 8):
		return false
	case len(parts) == 2:
		digits := len(parts[1]) - len(strings.TrimLeft(parts[1], "0123456789"))
		return len(parts[1]) >= 18 && len(parts[1]) <= 26 || digits >= 10
	}
	return slackNumber(parts[1], 10) && len(parts[2]) >= 10 && !filler(parts[2])
}

// slackUser is three numbers and a secret.
func slackUser(rest string) bool {
	parts := strings.SplitN(rest, "-", 4)
	return len(parts) == 4 && len(parts[3]) >= 28 && len(parts[3]) <= 34 && !filler(parts[3]) &&
		!slices.ContainsFunc(parts[:3], func(p string) bool { return !slackNumber(p, 10) })
}

// slackApp is a version, the id of an app, a number and a secret.
func slackApp(rest string) bool {
	parts := strings.Split(rest, "-")
	return len(parts) == 4 && len(parts[0]) == 1 && Digit(parts[0][0]) && len(parts[1]) >= 9 && slackNumber(parts[2], 10) &&
		len(parts[3]) >= 32 && hexDigits(parts[3]) && !filler(parts[3])
}

// slackConfig is a version and a long secret in capitals; refresh tokens of users look
// the same.
func slackConfig(rest string) bool {
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "b-"), "p-")
	version, secret, ok := strings.Cut(rest, "-")
	if !ok || len(version) != 1 {
		return slackUser(rest)
	}
	return Digit(version[0]) && len(secret) >= 140 && Run(secret, 0, len(secret), upperDigit) == len(secret) && !filler(secret)
}

// slackOld is the number of a team or a user and then, after a dash, a part
// with letters; only the oldest form has no number.
func slackOld(rest string) bool {
	number, secret, ok := strings.Cut(rest, "-")
	if !ok || strings.Trim(number, "0123456789") != "" {
		return !ok && HasDigit(rest) && mixed(rest)
	}
	if len(number) == 1 { // a version
		return HasDigit(secret) && !filler(secret)
	}
	return len(number) >= 6 && !numeric(secret) && !filler(secret)
}
