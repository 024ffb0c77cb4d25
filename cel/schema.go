package cel

import (
	"cmp"
	"fmt"
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"

	"github.com/agent-reviewer/reviewer/engine"
)

// schema is the types of engine.Input by their names in CEL. Field names and
// types come from the Go structs, so that they cannot drift apart.
type schema map[string]structType

type structType struct {
	goType reflect.Type
	fields map[string]engine.JSONField
	names  []string // of the fields, in order
}

func newSchema() schema {
	s := schema{}
	s.add(reflect.TypeFor[engine.Input]())
	return s
}

func (s schema) add(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		s.add(t.Elem())
		return
	case reflect.Struct:
	default:
		return
	}
	if _, known := s[t.String()]; known {
		return
	}
	st := structType{goType: t, fields: map[string]engine.JSONField{}}
	for _, f := range engine.JSONFields(t) {
		st.fields[f.Name], st.names = f, append(st.names, f.Name)
	}
	s[t.String()] = st
	for _, f := range st.fields {
		s.add(f.Type)
	}
}

type variable struct {
	name string
	typ  *types.Type
}

// variables are the fields of Input, flat: `action.types`, not
// `input.action.types`.
func (s schema) variables() []variable {
	var list []variable
	root := s["engine.Input"]
	for _, name := range root.names {
		t := types.StringType
		switch g := root.fields[name].Type; g.Kind() {
		case reflect.Struct:
			t = types.NewObjectType(g.String())
		case reflect.Pointer:
			t = types.NewObjectType(g.Elem().String())
		case reflect.Slice:
			t = types.NewListType(types.StringType)
		}
		list = append(list, variable{name, t})
	}
	return list
}

// declare makes CEL know the types.
func (s schema) declare() cel.EnvOption {
	return func(e *cel.Env) (*cel.Env, error) {
		e, err := ext.NativeTypes(reflect.TypeFor[engine.Input](), ext.ParseStructTag("json"))(e)
		if err != nil {
			return nil, err
		}
		return cel.CustomTypeProvider(provider{e.CELTypeProvider(), e.CELTypeAdapter(), s})(e)
	}
}

// provider changes three things about native types: a field of an object that
// is absent is an error (has() asks first), maps are walked in order, and
// event.args looks the same whether it was just made or read from a log.
type provider struct {
	types.Provider
	adapter types.Adapter
	schema  schema
}

// FindStructFieldType reports how to read a field.
func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	native, ok := p.Provider.FindStructFieldType(name, field)
	f, known := p.schema[name].fields[field]
	if !ok || !known {
		return native, ok
	}
	ft := *native
	switch {
	case f.Type == reflect.TypeFor[map[string]any]():
		ft.GetFrom = arguments
	case f.Type.Kind() == reflect.Map:
		ft.GetFrom = func(obj any) (any, error) {
			v, err := native.GetFrom(obj)
			if m, isMap := p.adapter.NativeToValue(v).(traits.Mapper); isMap {
				return ordered{m}, err
			}
			return v, err
		}
	case f.Type.Kind() == reflect.Pointer:
		ft.GetFrom = func(obj any) (any, error) {
			if !native.IsSet(obj) {
				return nil, fmt.Errorf("%s is absent: check has() first", field)
			}
			return native.GetFrom(obj)
		}
	}
	return &ft, true
}

// arguments reads event.args, the only map of values of any type.
func arguments(obj any) (any, error) {
	switch e := obj.(type) {
	case *engine.EventFacts:
		return argument(e.Args), nil
	case engine.EventFacts:
		return argument(e.Args), nil
	}
	return nil, fmt.Errorf("args of a %T", obj)
}

// variables makes the input available to an expression.
type variables struct {
	in   *engine.Input
	host *Host              // whose names can be used; nil: no names
	made map[string]ref.Val // definitions that were evaluated
}

// ResolveName returns a variable's value.
func (v *variables) ResolveName(name string) (any, bool) {
	switch name {
	case "event":
		return &v.in.Event, true
	case "action":
		return &v.in.Action, true
	case "history":
		return &v.in.History, true
	case "session":
		return &v.in.Session, true
	case "goal":
		return &v.in.Goal, true
	case "time":
		return &v.in.Time, true
	case "facts":
		return v.in.Facts, true
	case "kinds":
		return v.in.Kinds, true
	case "verbs":
		return v.in.Verbs, true
	case "request":
		return cmp.Or(v.in.Request, &engine.RequestFacts{}), true // with empty fields in other phases
	case "phase":
		return types.String(v.in.Phase), true
	case "harness":
		return types.String(v.in.Harness), true
	case "agent":
		return types.String(v.in.Agent), true
	}
	return v.named(name)
}

// Parent returns nil: there is one scope.
func (v *variables) Parent() cel.Activation { return nil }
