package bundles

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// ownKindsKey is the setting in which an organisation defines kinds of intervention.
const ownKindsKey = "interventions.kinds"

// mergeOrganisation is the x-merge of settings that only the organisation may set.
const mergeOrganisation = "organisation"

// OwnKinds lists the kinds of intervention that a layer defines, by name. Using them
// needs a signature: see bundles/trust.
func (b *Bundle) OwnKinds() []string { return ownKindsOf(b.Settings) }

// OwnKinds lists the kinds of intervention that the policy has besides the built-in ones.
func (e *Effective) OwnKinds() []string {
	return slices.Sorted(maps.Keys(e.Settings.Interventions.Kinds))
}

// OwnKindsIn is OwnKinds for the files of a layer above the base, without reading the rest.
func OwnKindsIn(files map[string][]byte) ([]string, error) {
	b := Bundle{Layer: Organisation, Files: files}
	err := b.addSettings()
	return b.OwnKinds(), err
}

func ownKindsOf(settings map[string]any) []string {
	return slices.Sorted(maps.Keys(objectAt(settings, "interventions", "kinds")))
}

func objectAt(doc map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		doc, _ = doc[key].(map[string]any)
	}
	return doc
}

// baseHasNoKinds refuses a base layer that defines kinds: only the organisation's
// layer is checked for that right.
func baseHasNoKinds(b *Bundle, settings map[string]any) error {
	if len(ownKindsOf(settings)) == 0 {
		return nil
	}
	return b.where(ownKindsKey).as("settings.layer").wrong("%s: %s", ownKindsKey, onlyOrganisation)
}

const onlyOrganisation = "only the organisation's layer may define kinds of intervention, in a signed bundle"

// notOrganisation is the same about any setting.
func notOrganisation(path string) string {
	if strings.HasPrefix(path, ownKindsKey+".") {
		return onlyOrganisation
	}
	return "only the organisation's layer may set this, in a signed bundle"
}

// kinds checks the kinds that the organisation defines, and that every kind that is
// named exists, after everything is merged.
func (m *merger) kinds(merged map[string]any) {
	own := objectAt(merged, "interventions", "kinds")
	for _, name := range slices.Sorted(maps.Keys(own)) {
		kind, _ := own[name].(map[string]any)
		if why := wrongKind(name, kind); why != "" {
			path := below(ownKindsKey, name)
			m.errs = append(m.errs, m.place(path).wrong("%s: %s", path, why))
		}
	}
	known := append(engine.Interventions(), slices.Sorted(maps.Keys(own))...)
	m.namedKinds("interventions.progressive", list(objectAt(merged, "interventions")["progressive"]), known)
	ladders := objectAt(merged, "interventions", "ladders")
	for _, id := range slices.Sorted(maps.Keys(ladders)) {
		m.namedKinds(below("interventions.ladders", id), list(ladders[id]), known)
	}
	for _, name := range slices.Sorted(maps.Keys(objectAt(merged, "interventions", "severity", "below"))) {
		m.namedKinds(below("interventions.severity.below", name), []any{name}, known)
	}
}

func (m *merger) namedKinds(path string, names []any, known []string) {
	for i, v := range names {
		name := fmt.Sprint(v)
		if slices.Contains(known, name) {
			continue
		}
		near := ""
		if word := engine.Nearest(name, known); word != "" {
			near = fmt.Sprintf("; did you mean %q?", word)
		}
		at := m.place(path, below(path, fmt.Sprint(i)))
		m.errs = append(m.errs, at.wrong("%s: %q is not a kind of intervention; expected one of %s%s", path, name,
			strings.Join(known, ", "), near))
	}
}

// fullPath matches an absolute path of any system: a policy may be checked on a
// different machine from the one on which it is used.
var fullPath = engine.Regexp(`^(/|[A-Za-z]:[\\/]|\\\\)`)

// wrongKind reports a problem of a kind's definition; empty: none.
func wrongKind(name string, kind map[string]any) string {
	var ways []string
	for _, key := range []string{"webhook", "webhook_file", "webhook_env", "command"} {
		if kind[key] != nil {
			ways = append(ways, key)
		}
	}
	command := list(kind["command"])
	switch {
	case slices.Contains(engine.Interventions(), name):
		return "this is a built-in kind; give it another name"
	case len(ways) > 1 || len(ways) == 0 && kind["does"] == nil:
		return "give exactly one of webhook, webhook_file, webhook_env and command, or what it does (does), or both"
	case len(command) > 0 && !fullPath().MatchString(fmt.Sprint(command[0])):
		return fmt.Sprintf("command begins with %q; give the absolute path of a program, and its arguments one by one", fmt.Sprint(command[0]))
	case len(command) > 0 && (kind["secret_file"] != nil || kind["secret_env"] != nil || kind["proxy"] != nil):
		return "secret_file, secret_env and proxy are for a webhook; name the variables of a command in env"
	case len(command) == 0 && kind["env"] != nil:
		return "env is for a command"
	case kind["secret_file"] != nil && kind["secret_env"] != nil:
		return "give one of secret_file and secret_env"
	}
	return ""
}

// channels checks the channels for notifications of each layer. What is on this machine, such as files
// with secrets, is not checked: a policy may be checked on another one.
func (m *merger) channels() {
	const path = "interventions.notification_channels"
	for _, l := range m.layers {
		seen := map[string]bool{}
		for i, v := range list(objectAt(l.Settings, "interventions")["notification_channels"]) {
			c, _ := v.(map[string]any)
			name := fmt.Sprint(c["name"])
			why := wrongChannel(c)
			if seen[name] {
				why = "an earlier channel has this name; give it another one"
			}
			seen[name] = true
			if at := below(path, fmt.Sprint(i)); why != "" {
				m.errs = append(m.errs, l.where(at).wrong("%s: channel %s: %s", at, name, why))
			}
		}
	}
}

// wrongChannel reports a problem of a channel's definition; empty: none.
func wrongChannel(c map[string]any) string {
	kind := fmt.Sprint(c["kind"])
	urls, secrets := given(c, "url", "url_file", "url_env"), given(c, "secret_file", "secret_env")
	one := slices.Contains([]string{"telegram", "sms"}, kind) || kind == "slack" && len(secrets) > 0
	switch {
	case len(urls) > 1:
		return "give one of url, url_file and url_env"
	case len(secrets) > 1:
		return "give one of secret_file and secret_env"
	case len(urls) == 0 && kind == "slack" && len(secrets) == 0:
		return "give the address of an incoming webhook in url_file or url_env, or a token of Slack's API in secret_file or secret_env"
	case len(urls) == 0 && slices.Contains([]string{"webhook", "ntfy", "sms"}, kind):
		return "give its address in one of url, url_file and url_env"
	case len(secrets) == 0 && kind == "telegram":
		return "give the token of the bot in secret_file or secret_env"
	case one && len(list(c["to"])) != 1:
		return "give one recipient in to; a second person gets a channel of their own"
	case !encrypted(c["url"]):
		return "url must begin with https:// (http:// is allowed only for this machine)"
	case len(given(c, "after_seconds", "digest_seconds", "per_hour", "quiet")) > 0 && !slices.Contains(list(c["about"]), any("approvals")):
		return "after_seconds, digest_seconds, per_hour and quiet are for approvals; add about: [approvals], or remove them"
	}
	return wrongQuiet(objectAt(c, "quiet"))
}

func given(c map[string]any, keys ...string) []string {
	return slices.DeleteFunc(keys, func(key string) bool { return c[key] == nil })
}

// encrypted reports whether nobody can read what is sent to an address; one that is not in the settings
// is checked when it is used.
func encrypted(address any) bool {
	text, ok := address.(string)
	if !ok {
		return true
	}
	u, err := url.Parse(text)
	if err != nil {
		return strings.HasPrefix(text, "https://") // with the placeholders of a template
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

func wrongQuiet(quiet map[string]any) string {
	if quiet == nil {
		return ""
	}
	if quiet["from"] == quiet["to"] {
		return "quiet begins and ends at the same time; give another end, or remove it"
	}
	if zone, ok := quiet["zone"].(string); ok {
		if _, err := time.LoadLocation(zone); err != nil {
			return fmt.Sprintf("quiet.zone: %q is not a time zone, such as Europe/Berlin", zone)
		}
	}
	return ""
}

// deadRungs reports parts of a layer's ladders that can never be reached with the merged settings.
func (e *Effective) deadRungs(l *Bundle, rules map[string]Rule, report func(id, why string)) {
	if l.Layer == Base && len(e.Layers) > 1 {
		return // what other layers change about its ladders is meant
	}
	merged := objectAt(e.Document, "interventions")
	ladders := objectAt(l.ownSettings(), "interventions", "ladders")
	for _, id := range slices.Sorted(maps.Keys(ladders)) {
		rungs := list(ladders[id])
		if why := e.neverClimbed(rules[id]); id != "*" && why != "" {
			report(id, why)
			continue
		}
		for i, kind := range rungs {
			name := fmt.Sprint(kind)
			switch off, is := merged[name].(bool); {
			case is && !off:
				report(id, fmt.Sprintf("%s is never used, since interventions.%s is false; remove it, or turn the kind on", name, name))
			case e.stopsBy(name) && i < len(rungs)-1 && id != "*" && e.alwaysStops(rules[id]):
				report(id, fmt.Sprintf("%v is never used, since %s stops the session before it; move %s to the end", rungs[i+1], name, name))
			}
		}
	}
}

// stopsBy reports whether a kind of intervention stops the session.
func (e *Effective) stopsBy(name string) bool {
	return name == engine.EmergencyStop || slices.Contains(e.Settings.Interventions.Kinds[name].Does, engine.DoesStop)
}

// neverClimbed reports why the ladder of a rule is never used; empty: it is, or the rule is written in Rego.
func (e *Effective) neverClimbed(r Rule) string {
	merged := &e.Settings.Interventions
	mode := cmp.Or(e.Settings.Rules.Enforcement[r.ID], r.Enforcement)
	warns := r.Decision == string(engine.Warn) || mode == string(engine.Warn) || e.Settings.Enforcement == string(engine.Warn)
	switch {
	case r.ID == "":
		return ""
	case merged.Strategy == "progressive":
		return "this ladder is never used, since interventions.strategy is progressive; change interventions.progressive"
	case slices.Contains(merged.Immediate, r.ID):
		return fmt.Sprintf("this ladder is never used, since %s is in interventions.immediate; remove one of the two", r.ID)
	case r.Decision == "":
		return fmt.Sprintf("this ladder is never used, since %s has no decision; give its row decision: warn", r.ID)
	case mode == "observe":
		return fmt.Sprintf("this ladder is never used, since %s is only recorded; set rules.enforcement.%s", r.ID, r.ID)
	case !warns && !slices.Contains(merged.Stops.Repeated, r.ID):
		return fmt.Sprintf("this ladder is never used, since %s decides %s, and interventions are made with warnings; use a rule that warns",
			r.ID, r.Decision)
	}
	return ""
}

// alwaysStops reports whether each finding of a rule has a level for which a ladder stops the session.
func (e *Effective) alwaysStops(r Rule) bool {
	merged := &e.Settings.Interventions
	levels := []string{r.Severity}
	if len(r.Levels) > 0 {
		levels = nil
		for _, l := range r.Levels {
			levels = append(levels, l.Level)
		}
	}
	milder := func(level string) bool { return !slices.Contains(merged.Stops.Levels, level) }
	return r.ID != "" && merged.HardStop && e.Settings.Enforcement == "enforce" && !slices.ContainsFunc(levels, milder)
}
