package engine

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
)

// SchemaDraft is the JSON Schema dialect of Schema: draft 7, the newest one
// that Rego's type checker reads.
const SchemaDraft = "http://json-schema.org/draft-07/schema#"

// Schema returns the JSON Schema of the documents that v's type encodes to:
// field names from json tags, fields without omitempty required, no others
// allowed, closed vocabularies as enums. Named structs become definitions.
func Schema(v any, title string) map[string]any {
	s := schemaMaker{defs: map[string]any{}, types: map[string]reflect.Type{}}
	root := s.object(indirect(reflect.TypeOf(v)))
	root["$schema"], root["title"] = SchemaDraft, title
	if len(s.defs) > 0 {
		root["definitions"] = s.defs
	}
	return root
}

// SchemaJSON returns Schema as indented JSON with a final newline; the same
// bytes for the same type.
func SchemaJSON(v any, title string) ([]byte, error) {
	b, err := json.MarshalIndent(Schema(v, title), "", "  ")
	return append(b, '\n'), err
}

type schemaMaker struct {
	defs  map[string]any
	types map[string]reflect.Type // name of a definition -> its type
}

func (s schemaMaker) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, embedded := range embeddedIn(t) {
		part := s.object(embedded)
		maps.Copy(properties, part["properties"].(map[string]any))
		required = append(required, part["required"].([]string)...)
	}
	for _, f := range JSONFields(t) {
		properties[f.Name] = s.field(t, f)
		if !f.Omit {
			required = append(required, f.Name)
		}
	}
	return map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	}
}

// embeddedIn lists the structs whose fields are encoded as fields of the struct
// that embeds them. Documents that policy reads have none.
func embeddedIn(t reflect.Type) []reflect.Type {
	var list []reflect.Type
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("json") == "" {
			list = append(list, f.Type)
		}
	}
	return list
}

func (s schemaMaker) field(t reflect.Type, f JSONField) map[string]any {
	schema := s.schema(f.Type)
	values := fieldValues(t, f.Name)
	switch {
	case values == nil:
	case f.Type.Kind() == reflect.Slice:
		schema["items"] = map[string]any{"type": "string", "enum": values}
	default:
		schema["enum"] = values
	}
	return schema
}

func (s schemaMaker) schema(t reflect.Type) map[string]any {
	if values := Values(t); values != nil {
		return map[string]any{"type": "string", "enum": values}
	}
	if t == reflect.TypeFor[json.RawMessage]() { // an object of unspecified form
		return map[string]any{"type": "object"}
	}
	if t.Kind() == reflect.Int64 && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) { // such as a time
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.schema(t.Elem())
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": s.schema(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.schema(t.Elem())}
	case reflect.Struct:
		return s.ref(t)
	}
	return map[string]any{} // any value
}

// ref puts a named struct among the definitions.
func (s schemaMaker) ref(t reflect.Type) map[string]any {
	name := s.name(t)
	if _, known := s.defs[name]; !known {
		s.defs[name] = nil // stops recursive types
		s.defs[name] = s.object(t)
	}
	return map[string]any{"$ref": "#/definitions/" + name}
}

// name returns the name of a type's definition: that of the type, with its package
// in front where a type of another package has that name already.
func (s schemaMaker) name(t reflect.Type) string {
	name := strings.ToLower(t.Name()[:1]) + t.Name()[1:]
	if other, taken := s.types[name]; taken && other != t {
		name = path.Base(t.PkgPath()) + t.Name()
	}
	s.types[name] = t
	return name
}

// JSONField is a field of a struct as encoding/json encodes it.
type JSONField struct {
	Name  string
	Type  reflect.Type
	Index int  // of the Go field
	Omit  bool // omitempty
}

// JSONFields lists the fields of a struct type that encode to JSON, in order.
// Embedded structs are ignored: the documents that policy reads have none.
func JSONFields(t reflect.Type) []JSONField {
	var fields []JSONField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || name == "" {
			continue
		}
		omit := slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "omitempty" || o == "omitzero" })
		fields = append(fields, JSONField{Name: name, Type: f.Type, Index: i, Omit: omit})
	}
	return fields
}

// EachStruct calls visit for every struct type that a type contains, itself
// included, with the fields that encode to JSON.
func EachStruct(t reflect.Type, visit func(t reflect.Type, fields []JSONField)) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(t.Elem())
		case reflect.Struct:
			if seen[t] {
				return
			}
			seen[t] = true
			fields := JSONFields(t)
			visit(t, fields)
			for _, f := range fields {
				walk(f.Type)
			}
		}
	}
	walk(t)
}

// Values lists the closed vocabulary of a named string type, nil if it has
// none.
func Values(t reflect.Type) []string {
	if t.Kind() != reflect.String {
		return nil
	}
	switch t {
	case reflect.TypeFor[Phase]():
		return Phases()
	case reflect.TypeFor[Type]():
		return Types()
	case reflect.TypeFor[Signal]():
		return append(Signals(), LegacySignals()...)
	case reflect.TypeFor[Outcome]():
		return Outcomes()
	case reflect.TypeFor[EffectKind]():
		return EffectKinds()
	case reflect.TypeFor[Certainty]():
		return Certainties()
	case reflect.TypeFor[Location]():
		return Locations()
	case reflect.TypeFor[Class]():
		return Classes()
	case reflect.TypeFor[Reversibility]():
		return Reversibilities()
	case reflect.TypeFor[Trouble]():
		return Troubles()
	case reflect.TypeFor[Claim]():
		return Claims()
	case reflect.TypeFor[Intent]():
		return Intents()
	case reflect.TypeFor[ConstraintKind]():
		return ConstraintKinds()
	case reflect.TypeFor[StatementKind]():
		return StatementKinds()
	case reflect.TypeFor[Label]():
		return Labels()
	case reflect.TypeFor[FlowKind]():
		return FlowKinds()
	case reflect.TypeFor[ExfilPath]():
		return ExfilPaths()
	case reflect.TypeFor[Verdict]():
		return Verdicts()
	case reflect.TypeFor[Kind]():
		return Kinds()
	case reflect.TypeFor[Way]():
		return wayNames()
	case reflect.TypeFor[AnswerMode]():
		return []string{string(ModeEnforced), string(ModeObserve), string(ModeDegraded), string(ModeDuplicate)}
	}
	return nil
}

// FieldValues lists the values that a field of a document's struct, or its
// items if it is a list, may have; nil: any. Structs of other packages declare
// theirs in a method Vocabulary(field string) []string.
func FieldValues(t reflect.Type, f JSONField) []string {
	if values := fieldValues(t, f.Name); values != nil {
		return values
	}
	if f.Type.Kind() == reflect.Slice {
		return Values(f.Type.Elem())
	}
	return Values(f.Type)
}

// fieldValues contains the vocabularies of fields that are plain strings, and of
// an intent, which is empty where an event is not an action.
func fieldValues(t reflect.Type, name string) []string {
	if v, ok := reflect.Zero(t).Interface().(interface{ Vocabulary(string) []string }); ok {
		return v.Vocabulary(name)
	}
	switch t.Name() + "." + name {
	case "Input.facts":
		return FactNames()
	case "Action.intent":
		return append([]string{""}, Types()...)
	case "Opaque.reason":
		return OpaqueReasons()
	case "Growth.resource":
		return Resources()
	case "Effect.ledger":
		return LedgerStates()
	case "Effect.exists":
		return []string{"yes", "no"}
	case "TimeFacts.weekday":
		return Weekdays()
	case "HistoryFacts.progression":
		return []string{FollowsBuildsOn, "explores", FollowsRepeats, FollowsContradicts}
	case "HistoryFacts.follows":
		return []string{FollowsContradicts, FollowsRepeats, FollowsBuildsOn}
	}
	return nil
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// Nearest returns the word of a list that was probably meant: at most two edits
// away (one for words of up to four letters), or the only one with it as a
// prefix; empty if none.
func Nearest(word string, list []string) string {
	best, least := "", min(3, 1+(len(word)+1)/3)
	for _, w := range list {
		if d := distance(strings.ToLower(word), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	if best != "" || len(word) < 4 {
		return best
	}
	for _, w := range list {
		if strings.HasPrefix(w, word) {
			if best != "" {
				return ""
			}
			best = w
		}
	}
	return best
}

// Suggest quotes an unknown word and names the one that was probably meant, else
// all known ones.
func Suggest(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf("%q; did you mean %q?", word, near)
	}
	known = slices.DeleteFunc(slices.Clone(known), func(w string) bool { return w == "" })
	if len(known) == 0 {
		return fmt.Sprintf("%q; there are none", word)
	}
	return fmt.Sprintf("%q; expected one of %s", word, strings.Join(known, ", "))
}

// distance returns the number of letters to insert, delete, replace or
// transpose to get from a to b.
func distance(a, b string) int {
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
