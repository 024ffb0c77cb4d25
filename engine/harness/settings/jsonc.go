package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// plainJSON returns a text of the same length without comments and, if the agent allows them, without commas
// before a closing bracket. A text that cannot be read stays as it is.
func plainJSON(raw []byte, commas bool) []byte {
	v, err := hujson.Parse(raw)
	if err != nil {
		return raw
	}
	plain := v.Clone()
	plain.Standardize()
	if !commas && slices.ContainsFunc(slices.Collect(v.All()), endsWithComma) {
		return raw
	}
	return plain.Pack()
}

// endsWithComma reports whether a comma follows the last thing in an object or a list.
func endsWithComma(v *hujson.Value) bool {
	switch v := v.Value.(type) {
	case *hujson.Object:
		return len(v.Members) > 0 && v.Members[len(v.Members)-1].Value.AfterExtra != nil
	case *hujson.Array:
		return len(v.Elements) > 0 && v.Elements[len(v.Elements)-1].AfterExtra != nil
	}
	return false
}

// commented reports whether a text is JSON with comments.
func commented(raw []byte) bool {
	v, err := hujson.Parse(raw)
	return err == nil && !v.IsStandard()
}

// printOver returns the text of settings that had comments: what differs from the new settings is replaced,
// and everything else stays, byte for byte.
func printOver(old []byte, top object) ([]byte, error) {
	v, err := hujson.Parse(old)
	if err != nil {
		return nil, fmt.Errorf("read settings with comments: %w", err)
	}
	p := patch{doc: &v, unit: indentation(&v)}
	if err := p.object("", 1, plainJSON(old, true), top.bytes()); err != nil {
		return nil, fmt.Errorf("edit settings with comments: %w", err)
	}
	return v.Pack(), nil
}

// indentation is that of the first line of a document which has one, else two spaces.
func indentation(v *hujson.Value) string {
	if o, ok := v.Value.(*hujson.Object); ok && len(o.Members) > 0 {
		before := o.Members[0].Name.BeforeExtra
		if i := bytes.LastIndexByte(before, '\n'); i >= 0 && i+1 < len(before) {
			return string(before[i+1:])
		}
	}
	return "  "
}

// patch changes a document in place.
type patch struct {
	doc  *hujson.Value
	unit string
}

// object makes the object at a pointer (RFC 6901) the same as another one.
func (p patch) object(at string, depth int, was, is json.RawMessage) error {
	old, err := parseObject(was)
	if err != nil {
		return err
	}
	now, err := parseObject(is)
	if err != nil {
		return err
	}
	for _, m := range old {
		if now.index(m.key) < 0 {
			err = errors.Join(err, p.apply("remove", at+pointer(m.key), depth, nil))
		}
	}
	for _, m := range now {
		path := at + pointer(m.key)
		if i := old.index(m.key); i < 0 {
			err = errors.Join(err, p.apply("add", path, depth, m.value))
		} else {
			err = errors.Join(err, p.value(path, depth, old[i].value, m.value))
		}
	}
	return err
}

// value makes the value at a pointer the same as another one.
func (p patch) value(at string, depth int, was, is json.RawMessage) error {
	_, notObject := parseObject(was)
	_, noObject := parseObject(is)
	old, notList := parseList(bytes.TrimSpace(was))
	now, noList := parseList(is)
	switch {
	case sameJSON(was, is):
		return nil
	case notObject == nil && noObject == nil:
		return p.object(at, depth+1, was, is)
	case notList == nil && noList == nil && len(old) > 0 && len(now) > 0:
		return p.list(at, depth+1, old, now)
	}
	return p.apply("replace", at, depth, is)
}

// list makes a list the same as another one: what both begin and end with stays.
func (p patch) list(at string, depth int, old, now []json.RawMessage) error {
	first := 0
	for first < min(len(old), len(now)) && sameJSON(old[first], now[first]) {
		first++
	}
	last := 0
	for last < min(len(old), len(now))-first && sameJSON(old[len(old)-1-last], now[len(now)-1-last]) {
		last++
	}
	old, now = old[first:len(old)-last], now[first:len(now)-last]
	var err error
	for i, raw := range now {
		path := at + "/" + strconv.Itoa(first+i)
		if i < len(old) {
			err = errors.Join(err, p.value(path, depth, old[i], raw))
		} else {
			err = errors.Join(err, p.apply("add", path, depth, raw))
		}
	}
	for i := len(old) - 1; i >= len(now); i-- {
		err = errors.Join(err, p.apply("remove", at+"/"+strconv.Itoa(first+i), depth, nil))
	}
	return err
}

// apply carries out one operation of RFC 6902. What is added begins a line.
func (p patch) apply(op, at string, depth int, value json.RawMessage) error {
	if value == nil {
		value = json.RawMessage("null") // not read: something is removed
	}
	indent := strings.Repeat(p.unit, depth)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, value, indent, p.unit); err != nil {
		return err
	}
	raw, err := encoded(at)
	if err != nil {
		return err
	}
	if err := p.doc.Patch(fmt.Appendf(nil, `[{"op": %q, "path": %s, "value": %s}]`, op, raw, &pretty)); err != nil {
		return err
	}
	if op == "add" {
		p.onItsLine(at, "\n"+indent)
	}
	return nil
}

// onItsLine puts what was added on a line of its own, after the comments of the line before.
func (p patch) onItsLine(at, start string) {
	parent := at[:strings.LastIndexByte(at, '/')]
	whole := p.doc.Find(parent)
	if whole == nil {
		return
	}
	end := hujson.Extra(start[:len(start)-len(p.unit)])
	switch c := whole.Value.(type) {
	case *hujson.Object:
		last := &c.Members[len(c.Members)-1] // members are added at the end
		last.Name.BeforeExtra = startLine(last.Name.BeforeExtra, start)
		last.Value.BeforeExtra = hujson.Extra(" ")
		c.AfterExtra = startLine(c.AfterExtra, string(end))
	case *hujson.Array:
		i, err := strconv.Atoi(at[len(parent)+1:])
		if err != nil {
			return
		}
		c.Elements[i].BeforeExtra = startLine(c.Elements[i].BeforeExtra, start)
		if i == len(c.Elements)-1 {
			c.AfterExtra = startLine(c.AfterExtra, string(end))
		}
	}
}

// startLine appends the start of a line to the space and the comments before something.
func startLine(before hujson.Extra, start string) hujson.Extra {
	return append(bytes.TrimRight(before, " \t\r\n"), start...)
}

// pointer is the part of a pointer for a key.
func pointer(key string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

func sameJSON(a, b json.RawMessage) bool { return bytes.Equal(compact(a), compact(b)) }
