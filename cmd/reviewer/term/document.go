package term

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// DocumentVersion is the "v" of documents that commands write with -f json: fields
// may be added without a new one.
const DocumentVersion = 1

// WriteDocument writes an object as indented JSON, with "v" in front unless it has one.
func WriteDocument(w io.Writer, v any) error {
	var b bytes.Buffer
	if err := WriteJSON(&b, v); err != nil {
		return err
	}
	text := b.Bytes()
	if !bytes.HasPrefix(text, []byte("{")) {
		return fmt.Errorf("%T is not a JSON object", v)
	}
	if !bytes.HasPrefix(text, []byte("{\n  \"v\": ")) {
		var head string
		if rest := text[1:]; bytes.Equal(bytes.TrimSpace(rest), []byte("}")) {
			head, text = fmt.Sprintf("{\n  \"v\": %d\n", DocumentVersion), []byte("}\n")
		} else {
			head, text = fmt.Sprintf("{\n  \"v\": %d,", DocumentVersion), rest
		}
		if _, err := io.WriteString(w, head); err != nil {
			return err
		}
	}
	_, err := w.Write(text)
	return err
}

// WriteList writes a list as a document whose only other field it is.
func WriteList(w io.Writer, name string, list any) error {
	return WriteDocument(w, map[string]any{name: list})
}

// Result writes a document with -f json, and otherwise text for people.
func (o *Output) Result(stdout io.Writer, document any, text func(w io.Writer)) error {
	return o.Write(stdout, func(w io.Writer) error {
		if o.Format == "json" {
			return WriteDocument(w, document)
		}
		text(w)
		return nil
	})
}

// Time is a time in a document that people read: RFC 3339 in UTC, empty for none.
func Time(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format(time.RFC3339)
}
