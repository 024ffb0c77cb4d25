package trust

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/engine"
)

// Addition is a key to add to a trust file, with its rights.
type Addition struct {
	Name      string // of the key
	Public    string // its text: PEM, or OpenSSH's line
	Roles     []string
	Threshold int64               // of these roles; 0: unchanged, or 1 for a new one
	Channels  map[string][]string // name of a channel -> policies in it; releases of a new channel are signed by the first role other than root
	Expires   string              // of the file; empty: unchanged
}

// Begin returns an empty document for the first trust file.
func Begin() *Document {
	return &Document{Keys: map[string]Key{}, Roles: map[string]Role{}, Channels: map[string]Channel{}}
}

// Next returns a copy for the next version.
func (t *Trust) Next() *Document {
	d := t.Document
	d.Keys, d.Roles, d.Channels = maps.Clone(d.Keys), maps.Clone(d.Roles), maps.Clone(d.Channels)
	return &d
}

// Add adds a key to the document. The version stays unchanged.
func (d *Document) Add(a Addition) error {
	k, err := signing.ParsePublicKey([]byte(a.Public))
	if err != nil {
		return err
	}
	key := Key{Type: string(k.Type()), Public: strings.TrimSpace(a.Public)}
	if old, there := d.Keys[a.Name]; there && !sameKey(old, k) {
		return fmt.Errorf("%s already has another key %s; give this one another name with --name", FileName, a.Name)
	}
	d.Keys[a.Name] = key
	for _, name := range a.Roles {
		d.Roles[name] = d.Roles[name].with(a.Name, a.Threshold)
	}
	if a.Expires != "" {
		d.Expires = a.Expires
	}
	return d.addChannels(a)
}

// Remove removes a key from the document and its roles.
func (d *Document) Remove(name string) error {
	if _, there := d.Keys[name]; !there {
		return fmt.Errorf("%s has no key %s; it has %s", FileName, name, strings.Join(slices.Sorted(maps.Keys(d.Keys)), ", "))
	}
	delete(d.Keys, name)
	for id, role := range d.Roles {
		if !slices.Contains(role.Keys, name) {
			continue
		}
		role.Keys = slices.DeleteFunc(slices.Clone(role.Keys), func(k string) bool { return k == name })
		if int64(len(role.Keys)) < role.Threshold {
			return fmt.Errorf("without %s the role %s has %s and needs %s; add another key to the role first", name, id,
				engine.Counted(len(role.Keys), "key", "keys"), engine.Counted(role.Threshold, "signature", "signatures"))
		}
		d.Roles[id] = role
	}
	return nil
}

func sameKey(old Key, k signing.PublicKey) bool {
	o, err := signing.ParsePublicKey([]byte(old.Public))
	return err == nil && o.ID() == k.ID()
}

func (r Role) with(key string, threshold int64) Role {
	if !slices.Contains(r.Keys, key) {
		r.Keys = append(slices.Clone(r.Keys), key)
	}
	if threshold > 0 {
		r.Threshold = threshold
	}
	r.Threshold = max(r.Threshold, 1)
	return r
}

func (d *Document) addChannels(a Addition) error {
	for _, name := range slices.Sorted(maps.Keys(a.Channels)) {
		c, there := d.Channels[name]
		if !there {
			i := slices.IndexFunc(a.Roles, func(r string) bool { return r != Root })
			if i < 0 {
				return fmt.Errorf("the channel %s is new; name the role that signs its releases, such as --role release", name)
			}
			c.Role = a.Roles[i]
		}
		c.Names = slices.Clone(c.Names)
		for _, policy := range a.Channels[name] {
			if !slices.Contains(c.Names, policy) {
				c.Names = append(c.Names, policy)
			}
		}
		d.Channels[name] = c
	}
	return nil
}

// Encode returns the document as a file that Parse reads.
func (d *Document) Encode(version int64) ([]byte, error) {
	next := *d
	next.Version = version
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(next); err != nil {
		return nil, fmt.Errorf("write %s: %w", FileName, err)
	}
	_, err := Parse(b.Bytes())
	return b.Bytes(), err
}
