package trust

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/engine"
)

// FileName is the name of the trust file; its envelope, FileName + EnvelopeSuffix, is
// in the same folder.
const (
	FileName       = "trust.yaml"
	EnvelopeSuffix = ".dsse.json"
)

// MaxFile bounds the trust file, in bytes.
const MaxFile = 64 << 10

// maxKeys bounds the keys of a trust file: each is tried on each signature.
const maxKeys = 100

// Root is the role whose keys sign the trust file itself.
const Root = "root"

// Document is the trust file: whose signatures count, and for what.
//
//	version: 1
//	expires: 2028-01-01T00:00:00Z
//	keys:
//	  alice: {type: ed25519, public: ssh-ed25519 AAAA… alice}
//	  bob:   {type: ecdsa-p256, public: "-----BEGIN PUBLIC KEY-----…"}
//	roles:
//	  root:    {keys: [alice, bob], threshold: 2}
//	  release: {keys: [alice, bob], threshold: 1}
//	channels:
//	  stable:
//	    names: [acme/agents]
//	    role: release
//	    max_age: 180d
//	    impact: {when: loosened, role: security}
//	revoked: [9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08]
type Document struct {
	Version  int64              `json:"version" yaml:"version"`                     // from 1, and one more with each rotation
	Expires  string             `json:"expires,omitempty" yaml:"expires,omitempty"` // RFC 3339 in UTC; absent: never
	Keys     map[string]Key     `json:"keys" yaml:"keys"`
	Roles    map[string]Role    `json:"roles" yaml:"roles"`
	Channels map[string]Channel `json:"channels" yaml:"channels"`
	Revoked  []string           `json:"revoked,omitempty" yaml:"revoked,omitempty,flow"` // SHA-256 of archives that are no longer accepted, whoever signed them
}

// Key is a public key.
type Key struct {
	Type   string `json:"type" yaml:"type"`     // one of signing.Types
	Public string `json:"public" yaml:"public"` // PEM, or the line of an OpenSSH .pub file
}

// Role is a group of keys, and how many of them have to sign.
type Role struct {
	Keys      []string `json:"keys" yaml:"keys,flow"` // names of keys
	Threshold int64    `json:"threshold" yaml:"threshold"`
	May       []string `json:"may,omitempty" yaml:"may,omitempty,flow"` // additional rights of releases that the role has signed, some of Rights
}

// MayInterventions is the right to define kinds of intervention, which run programs.
const MayInterventions = "interventions"

// Rights lists the rights that a role may have.
func Rights() []string { return []string{MayInterventions} }

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (Role) Vocabulary(key string) []string {
	if key == "may" {
		return Rights()
	}
	return nil
}

// Channel is a line of releases, such as stable: the policies that it contains, and who may release
// them.
type Channel struct {
	Names  []string `json:"names" yaml:"names,flow"`                       // of policies, exact or ending in *
	Role   string   `json:"role" yaml:"role"`                              // that signs the releases
	MaxAge string   `json:"max_age,omitempty" yaml:"max_age,omitempty"`    // how old a release may be, such as 90d or 12h; absent: until the release's own expiry
	Impact *Impact  `json:"impact,omitempty" yaml:"impact,omitempty,flow"` // conditions that require one more role
}

// Impact requires the signatures of a further role if a release may allow more than the previous
// one.
type Impact struct {
	When string `json:"when" yaml:"when"` // one of ImpactWhen
	Role string `json:"role" yaml:"role"`
}

// When an Impact applies.
const (
	WhenLoosened = "loosened" // the attested simulation loosened a decision or may have, covered no decisions, or is missing
	WhenAlways   = "always"
)

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (Key) Vocabulary(key string) []string {
	if key == "type" {
		return signing.Types()
	}
	return nil
}

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (Impact) Vocabulary(key string) []string {
	if key == "when" {
		return []string{WhenLoosened, WhenAlways}
	}
	return nil
}

// Trust is a parsed trust file. Its signatures are checked by Open.
type Trust struct {
	Document
	SHA256 string // of the file
	raw    []byte
	keys   map[string]signing.PublicKey // by their names in the file
	until  int64                        // Expires in Unix ms; 0: never
	given  *Channel                     // used for every channel if keys were given explicitly
}

// Parse reads a trust file. It is strict, and reports all semantic errors at once.
func Parse(raw []byte) (*Trust, error) {
	if len(raw) > MaxFile {
		return nil, fmt.Errorf("%s has %d bytes, at most %d", FileName, len(raw), MaxFile)
	}
	t := &Trust{SHA256: signing.SHA256(raw), raw: raw, keys: map[string]signing.PublicKey{}}
	if err := bundles.ReadDocument(FileName, raw, "the trust file", &t.Document); err != nil {
		return nil, err
	}
	errs := append([]error{t.readTimes(), t.readRevoked()}, t.readKeys()...)
	if err := errors.Join(append(errs, append(t.checkRoles(), t.checkChannels()...)...)...); err != nil {
		return nil, err
	}
	return t, nil
}

func wrong(format string, args ...any) error {
	return fmt.Errorf(FileName+": "+format, args...)
}

func (t *Trust) readTimes() error {
	if t.Version < 1 {
		return wrong("version is %d; the first is 1", t.Version)
	}
	if t.Expires == "" {
		return nil
	}
	var m signing.Time
	if err := m.UnmarshalText([]byte(t.Expires)); err != nil || m <= 0 {
		return wrong("expires is %.100q; expected a time in UTC such as 2028-01-31T00:00:00Z", t.Expires)
	}
	t.until = int64(m)
	return nil
}

var digestForm = engine.Regexp(`^[0-9a-f]{64}$`)

func (t *Trust) readRevoked() error {
	for _, digest := range t.Revoked {
		if !digestForm().MatchString(digest) {
			return wrong("revoked has %.100q; expected the SHA-256 of an archive, 64 hex digits, "+
				"as `reviewer policy list -f json` and `sha256sum` show it", digest)
		}
	}
	return nil
}

// CheckChannel refuses a name that no channel of a trust file can have.
func CheckChannel(name string) error { return nameError("channel", name) }

// nameError returns an error unless a name has the form of those of a trust file.
func nameError(what, name string) error {
	if nameForm().MatchString(name) && len(name) <= 64 {
		return nil
	}
	return fmt.Errorf("%.100q is not a valid name for a %s; use at most 64 lower-case letters, digits, and single . _ @ -", name, what)
}

// nameForm is the form of names of keys, roles and channels.
var nameForm = engine.Regexp(`^[a-z0-9]+([_.@-][a-z0-9]+)*$`)

func misnamed[T any](what string, entries map[string]T) []error {
	var errs []error
	if len(entries) == 0 {
		errs = append(errs, wrong("%ss are missing; give at least one", what))
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if err := nameError(what, name); err != nil {
			errs = append(errs, wrong("%w", err))
		}
	}
	return errs
}

// readKeys refuses one key under two names: it would count twice.
func (t *Trust) readKeys() []error {
	errs := misnamed("key", t.Keys)
	if len(t.Keys) > maxKeys {
		return append(errs, wrong("there are %d keys, at most %d", len(t.Keys), maxKeys))
	}
	owner := map[string]string{} // id -> name
	for _, name := range slices.Sorted(maps.Keys(t.Keys)) {
		k, err := signing.ParsePublicKey([]byte(t.Keys[name].Public))
		switch {
		case err != nil:
			errs = append(errs, wrong("keys.%.100q: %w", name, err))
			continue
		case string(k.Type()) != t.Keys[name].Type:
			errs = append(errs, wrong("keys.%.100q has type %s, but the file says %q", name, k.Type(), t.Keys[name].Type))
		case owner[k.ID()] != "":
			errs = append(errs, wrong("%.100q and %.100q are the same key; list it once", owner[k.ID()], name))
		}
		owner[k.ID()], t.keys[name] = name, k
	}
	return errs
}

func (t *Trust) checkRoles() []error {
	errs := misnamed("role", t.Roles)
	if _, ok := t.Roles[Root]; !ok {
		errs = append(errs, wrong("the role %s is missing; its keys sign this file", Root))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Roles)) {
		r := t.Roles[name]
		seen := map[string]bool{}
		for _, key := range r.Keys {
			if _, ok := t.Keys[key]; !ok {
				errs = append(errs, wrong("roles.%.100s: unknown key %.100q", name, key))
			}
			if seen[key] {
				errs = append(errs, wrong("roles.%.100s: the key %.100q is listed twice; list it once", name, key))
			}
			seen[key] = true
		}
		if r.Threshold < 1 || r.Threshold > int64(len(seen)) {
			errs = append(errs, wrong("roles.%.100s: threshold is %d; expected 1 to %d, the number of its keys", name, r.Threshold, len(seen)))
		}
		if r.Threshold > signing.MaxSignatures {
			errs = append(errs, wrong("roles.%.100s: threshold is %d; an envelope has at most %d signatures", name, r.Threshold,
				signing.MaxSignatures))
		}
	}
	return errs
}

func (t *Trust) checkChannels() []error {
	errs := misnamed("channel", t.Channels)
	for _, name := range slices.Sorted(maps.Keys(t.Channels)) {
		c := t.Channels[name]
		for _, role := range c.roles() {
			if _, ok := t.Roles[role]; !ok {
				errs = append(errs, wrong("channels.%.100s: unknown role %.100q", name, role))
			}
		}
		if _, ok := ageOf(c.MaxAge); !ok {
			errs = append(errs, wrong("channels.%.100s: max_age is %.100q; expected a duration such as 90d or 12h", name, c.MaxAge))
		}
		if len(c.Names) == 0 {
			errs = append(errs, wrong("channels.%.100s: names is empty; name the policies that it allows, such as acme/agents or acme/*", name))
		}
		for _, n := range c.Names {
			if strings.Contains(strings.TrimSuffix(n, "*"), "*") {
				errs = append(errs, wrong("channels.%.100s: %.100q has a * that is not at its end", name, n))
			}
		}
	}
	return errs
}

// roles lists the roles that a channel names.
func (c Channel) roles() []string {
	if c.Impact == nil {
		return []string{c.Role}
	}
	return []string{c.Role, c.Impact.Role}
}

// carries reports whether the channel has releases of a policy.
func (c Channel) carries(name string) bool {
	return slices.ContainsFunc(c.Names, func(n string) bool {
		prefix, open := strings.CutSuffix(n, "*")
		return n == name || open && strings.HasPrefix(name, prefix)
	})
}

// ageOf reads a duration, which may be in days. Empty: 0, none.
func ageOf(text string) (time.Duration, bool) {
	if text == "" {
		return 0, true
	}
	if number, days := strings.CutSuffix(text, "d"); days {
		n, err := strconv.Atoi(number)
		return time.Duration(n) * 24 * time.Hour, err == nil && n > 0 && n < 36500
	}
	age, err := time.ParseDuration(text)
	return age, err == nil && age > 0
}

// keysOf returns the keys of a role.
func (t *Trust) keysOf(role string) []signing.PublicKey {
	var keys []signing.PublicKey
	for _, name := range t.Roles[role].Keys {
		keys = append(keys, t.keys[name])
	}
	return keys
}

// allKeys returns every key, by name.
func (t *Trust) allKeys() []signing.PublicKey {
	var keys []signing.PublicKey
	for _, name := range slices.Sorted(maps.Keys(t.keys)) {
		keys = append(keys, t.keys[name])
	}
	return keys
}

// KeyName returns the name of a key in the file; empty: unknown key.
func (t *Trust) KeyName(k signing.PublicKey) string {
	for _, name := range slices.Sorted(maps.Keys(t.keys)) {
		if t.keys[name].ID() == k.ID() {
			return name
		}
	}
	return ""
}

// KeyID returns the id of a key by its name in the file.
func (t *Trust) KeyID(name string) string { return t.keys[name].ID() }

// Bytes returns the original bytes of the file.
func (t *Trust) Bytes() []byte { return slices.Clone(t.raw) }
