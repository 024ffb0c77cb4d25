package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrDuplicateKey means that an object contains a key twice: two readers could
// take two different values, so the document is rejected.
var ErrDuplicateKey = errors.New("duplicate key")

// maxDepth limits the nesting of JSON that is read; an agent's arguments are a
// few levels deep.
const maxDepth = 200

// Canonical returns the bytes of a JSON document in the form of RFC 8785: keys
// sorted by UTF-16, no white space, numbers as ECMAScript prints them. It
// refuses duplicate keys, invalid UTF-8, and more than 200 levels.
func Canonical(raw []byte) ([]byte, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("document is not valid UTF-8")
	}
	v, err := DecodeStrict(raw)
	if err != nil {
		return nil, err
	}
	return appendCanonical(nil, v, 0)
}

// CanonicalOf returns the canonical bytes of what json.Marshal makes of v. A value of the types of decoded JSON or YAML does
// not go through JSON for it: a policy's settings are large.
func CanonicalOf(v any) ([]byte, error) {
	if b, err := appendCanonical(nil, v, 0); err == nil {
		return b, nil
	}
	raw, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	return Canonical(raw)
}

// Digest returns the SHA-256 of a value's canonical bytes as 64 hex digits.
func Digest(v any) (string, error) {
	b, err := CanonicalOf(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// DecodeStrict decodes exactly one JSON document to maps, slices, strings,
// bools, nil and json.Number, and refuses duplicate keys and deep nesting.
func DecodeStrict(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("unexpected text after the document")
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("document is nested deeper than %d levels", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, noEOF(err)
	}
	switch t {
	case json.Delim('{'):
		return decodeObject(d, depth)
	case json.Delim('['):
		return decodeArray(d, depth)
	}
	return t, nil
}

func decodeObject(d *json.Decoder, depth int) (any, error) {
	m := map[string]any{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, noEOF(err)
		}
		k, ok := t.(string)
		if !ok {
			return nil, errors.New("object key is not a string")
		}
		if _, twice := m[k]; twice {
			return nil, fmt.Errorf("%w %q", ErrDuplicateKey, k)
		}
		if m[k], err = decodeValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return m, noEOF(err)
}

func decodeArray(d *json.Decoder, depth int) (any, error) {
	list := []any{}
	for d.More() {
		v, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, noEOF(err)
}

func noEOF(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the document is incomplete: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// appendCanonical refuses what json.Marshal would change: types that marshal themselves, nil maps and invalid UTF-8.
func appendCanonical(b []byte, v any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("document is nested deeper than %d levels", maxDepth)
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		if utf8.ValidString(v) {
			return appendString(b, v), nil
		}
	case int:
		return appendNumber(b, json.Number(strconv.Itoa(v)))
	case float64:
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			return append(b, formatFloat(v)...), nil
		}
	case json.Number:
		if json.Valid([]byte(v)) {
			return appendNumber(b, v)
		}
	case []any:
		if v != nil {
			return appendArray(b, v, depth)
		}
	case map[string]any:
		if v != nil {
			return appendObject(b, v, depth)
		}
	}
	return nil, fmt.Errorf("value of type %T has no canonical form", v)
}

func appendArray(b []byte, list []any, depth int) ([]byte, error) {
	b = append(b, '[')
	var err error
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendCanonical(b, v, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendObject(b []byte, m map[string]any, depth int) ([]byte, error) {
	b = append(b, '{')
	for i, k := range slices.SortedFunc(maps.Keys(m), compareUTF16) {
		if i > 0 {
			b = append(b, ',')
		}
		if !utf8.ValidString(k) {
			return nil, errors.New("object key is not valid UTF-8")
		}
		var err error
		if b, err = appendCanonical(append(appendString(b, k), ':'), m[k], depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// compareUTF16 orders keys as RFC 8785 requires: by UTF-16 code units. It
// differs from byte order only where a key contains characters beyond U+FFFF.
func compareUTF16(a, b string) int {
	if isBMP(a) && isBMP(b) {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func isBMP(s string) bool {
	for _, r := range s {
		if r > 0xFFFF {
			return false
		}
	}
	return true
}

const hexDigits = "0123456789abcdef"

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 0x20:
			b = append(b, c)
		case strings.IndexByte("\b\t\n\f\r", c) >= 0:
			b = append(b, '\\', "btn.fr"[c-8])
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(b, '"')
}

// appendNumber prints a number as ECMAScript does. An integer below 2^53 keeps
// its digits; everything else goes through a double, as RFC 8785 requires.
func appendNumber(b []byte, n json.Number) ([]byte, error) {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil && i > -1<<53 && i < 1<<53 {
		return strconv.AppendInt(b, i, 10), nil
	}
	f, err := n.Float64()
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("number %.40s is out of range", string(n))
	}
	return append(b, formatFloat(f)...), nil
}

func formatFloat(f float64) string {
	if f == 0 {
		return "0"
	}
	abs := math.Abs(f)
	if abs >= 1e-6 && abs < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exp, _ := strings.Cut(s, "e")
	sign := exp[:1]
	return mantissa + "e" + sign + strings.TrimLeft(exp[1:], "0")
}

// Marshal is json.Marshal without HTML escapes and without the final newline.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
