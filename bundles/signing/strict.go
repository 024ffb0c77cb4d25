package signing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// decodeStrict reads one JSON document into a pointer to a struct: no unknown or
// duplicate field, none in a different case, no missing field, and nothing after the
// document. If readers could interpret a document differently, a signature could be
// valid for two meanings.
func decodeStrict(doc []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return plainJSON(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more than one JSON document; expected one, and nothing after it")
	}
	if err := keysOnce(doc); err != nil {
		return err
	}
	return sameAgain(doc, v)
}

func plainJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends too soon; get the file again")
	}
	return fmt.Errorf("is not as expected: %w", err)
}

// keysOnce refuses a document in which a key occurs twice in one object.
func keysOnce(doc []byte) error {
	d := json.NewDecoder(bytes.NewReader(doc))
	type level struct {
		keys map[any]bool // of an object; nil: a list
		key  bool         // a key comes next
	}
	var open []level
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return plainJSON(err)
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if len(open) > 0 {
			at := &open[len(open)-1]
			if at.key {
				if at.keys[token] {
					return fmt.Errorf("duplicate key %.100q", token)
				}
				at.keys[token] = true
			}
			at.key = at.keys != nil && !at.key
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{map[any]bool{}, true})
		case json.Delim('['):
			open = append(open, level{})
		}
	}
}

// sameAgain refuses a document that is not reproduced by encoding what was decoded,
// except for spaces and the order of keys: encoding/json accepts KEY for key, and
// ignores null.
func sameAgain(doc []byte, v any) error {
	again, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var was, is any
	for _, side := range []struct {
		doc []byte
		to  *any
	}{{doc, &was}, {again, &is}} {
		d := json.NewDecoder(bytes.NewReader(side.doc))
		d.UseNumber()
		if err := d.Decode(side.to); err != nil {
			return plainJSON(err)
		}
	}
	if !reflect.DeepEqual(was, is) {
		return errors.New("a field is missing, empty, or not written exactly as expected; " +
			"expected a document such as reviewer policy sign writes")
	}
	return nil
}
