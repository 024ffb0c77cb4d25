package cases

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// Write formats cases as a file: a list whose rows start in the first column, below the
// lines of a comment. Parse returns the same cases.
func Write(comments []string, list ...Case) ([]byte, error) {
	var b bytes.Buffer
	for _, line := range comments {
		fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(line, "\n", " "))
	}
	w := &writer{}
	rows := &yaml.Node{Kind: yaml.SequenceNode}
	for _, c := range list {
		rows.Content = append(rows.Content, w.value(reflect.ValueOf(c.withoutDefaults())))
	}
	if w.err != nil {
		return nil, fmt.Errorf("write cases: %w", w.err)
	}
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(rows); err != nil {
		return nil, fmt.Errorf("write cases: %w", err)
	}
	return b.Bytes(), e.Close()
}

// withoutDefaults omits the values that are defaults.
func (c Case) withoutDefaults() Case {
	for _, field := range []struct {
		of    *string
		usual string
	}{{&c.Workspace, defaultWorkspace}, {&c.Home, defaultHome}, {&c.Now, defaultNow}} {
		if *field.of == field.usual {
			*field.of = ""
		}
	}
	return c
}

// writer converts Go values to YAML, the reverse of decoder.
type writer struct{ err error }

// written is a type with its own form in YAML.
type written interface {
	write(w *writer) *yaml.Node
}

func (w *writer) value(v reflect.Value) *yaml.Node {
	switch {
	case !v.IsValid():
		return w.scalar(nil)
	case v.Kind() == reflect.Pointer, v.Kind() == reflect.Interface:
		return w.value(v.Elem())
	}
	if own, ok := v.Interface().(written); ok {
		return own.write(w)
	}
	switch v.Kind() {
	case reflect.Struct:
		return w.object(v)
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range slices.Sorted(maps.Keys(keysOf(v))) {
			n.Content = append(n.Content, w.scalar(key), w.value(v.MapIndex(reflect.ValueOf(key))))
		}
		return flat(n)
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			n.Content = append(n.Content, w.value(v.Index(i)))
		}
		return flat(n)
	}
	return w.scalar(v.Interface())
}

func keysOf(v reflect.Value) map[string]bool {
	keys := map[string]bool{}
	for _, k := range v.MapKeys() {
		keys[k.String()] = true
	}
	return keys
}

func (w *writer) object(v reflect.Value) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range engine.JSONFields(v.Type()) {
		if field := v.Field(f.Index); !unsaid(field) {
			n.Content = append(n.Content, w.scalar(f.Name), w.value(field))
		}
	}
	return flat(n)
}

// unsaid reports whether a value equals that of an omitted key. An empty list does not: it
// expects that there is nothing.
func unsaid(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.IsNil()
	}
	return v.IsZero()
}

func (w *writer) scalar(v any) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(v); err != nil {
		w.err = err
	}
	return n
}

// flat puts short nodes on one line, as a person would.
func flat(n *yaml.Node) *yaml.Node {
	const width = 100
	if length(n) <= width {
		n.Style = yaml.FlowStyle
	}
	return n
}

// length estimates the length of a node on one line; it is very large for nodes that need
// several lines.
func length(n *yaml.Node) int {
	if n.Kind == yaml.ScalarNode {
		if strings.Contains(n.Value, "\n") {
			return 1 << 20
		}
		return len(n.Value) + 2
	}
	sum := 2
	for _, c := range n.Content {
		sum += length(c)
	}
	return sum
}

// write formats a case with a line for each of its parts; todo follows the name.
func (c Case) write(w *writer) *yaml.Node {
	todo := c.Todo
	c.Todo = ""
	n := w.object(reflect.ValueOf(c))
	n.Style = 0
	if todo != "" {
		n.Content = slices.Insert(n.Content, 2, w.scalar("todo"), w.scalar(todo))
	}
	for i := 0; i < len(n.Content); i += 2 {
		if key := n.Content[i].Value; key == "events" || key == "cases" || key == "files" && length(n.Content[i+1]) > 60 {
			n.Content[i+1].Style = 0
		}
	}
	return n
}

// write formats a string, null for a folder, or the path that this is another name of.
func (f File) write(w *writer) *yaml.Node {
	switch {
	case f.Folder:
		return w.scalar(nil)
	case reflect.DeepEqual(f, File{Content: f.Content}):
		return w.scalar(f.Content)
	}
	return w.object(reflect.ValueOf(f))
}

// write formats the event; the tool is a key if the call has a short form.
func (e Event) write(w *writer) *yaml.Node {
	tool, args := e.Tool, e.Args
	text, short := e.shorten()
	if short {
		e.Tool, e.Args = "", nil
	}
	n := w.object(reflect.ValueOf(e))
	if short {
		n.Content = append([]*yaml.Node{w.scalar(tool), w.scalar(text)}, n.Content...)
	} else if tool != "" && args == nil {
		n.Content = append(n.Content, w.scalar("args"), &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle})
	}
	n.Style = 0
	return flat(n)
}

// shorten returns the main argument of a call that has no arguments but those of its short
// form.
func (e Event) shorten() (text string, ok bool) {
	argument, rest := mainArgument(e.Tool)
	text, ok = e.Args[argument].(string)
	whole := path.IsAbs(text) && path.Clean(text) == text
	if !ok || !isTool(e.Tool) || argument == pathArgument && !e.short && !whole {
		return "", false
	}
	usual := maps.Clone(rest)
	if usual == nil {
		usual = map[string]any{}
	}
	usual[argument] = text
	return text, text != "" && reflect.DeepEqual(usual, e.Args)
}

// failedResult is the error of a call about which only the failure is known.
const failedResult = "exit status 1"

// write formats ok, failed, or the outcome in detail.
func (r Result) write(w *writer) *yaml.Node {
	switch {
	case reflect.DeepEqual(r, Result{}):
		return w.scalar("ok")
	case reflect.DeepEqual(r, Result{Failed: failedResult}):
		return w.scalar("failed")
	}
	return w.object(reflect.ValueOf(r))
}

// write formats a row: the call, followed by its expectations.
func (r Row) write(w *writer) *yaml.Node {
	e := r.Event
	expect := e.Expect
	e.Expect = nil
	n := e.write(w)
	if r.Name != "" {
		n.Content = append([]*yaml.Node{w.scalar("name"), w.scalar(r.Name)}, n.Content...)
	}
	if expect != nil {
		n.Content = append(n.Content, w.object(reflect.ValueOf(*expect)).Content...)
	}
	if r.Todo != "" {
		n.Content = append(n.Content, w.scalar("todo"), w.scalar(r.Todo))
	}
	n.Style = yaml.FlowStyle
	return n
}

// write formats a string or arguments.
func (f Form) write(w *writer) *yaml.Node {
	if f.Text != "" {
		return w.scalar(f.Text)
	}
	return w.value(reflect.ValueOf(f.Args))
}
