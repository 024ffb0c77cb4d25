package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// Read reads settings that were checked and merged, as YAML or JSON gives them. Absent keys have
// their zero value, or the default that the schema gives them. What is wrong is left out and reported.
func Read(doc map[string]any) (s Settings, err error) {
	return s, read(doc, reflect.ValueOf(&s).Elem(), "")
}

func read(v any, to reflect.Value, path string) error {
	switch n := v.(type) {
	case nil:
		if to.Kind() == reflect.Struct {
			return readObject(map[string]any{}, to, path) // for the defaults of its keys
		}
		return nil
	case json.Number:
		f, err := n.Float64()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		v = f
	}
	from := reflect.ValueOf(v)
	switch to.Kind() {
	case reflect.Struct:
		return readObject(v, to, path)
	case reflect.Map:
		object, ok := v.(map[string]any)
		if !ok {
			return wrong(path, "an object", v)
		}
		to.Set(reflect.MakeMapWithSize(to.Type(), len(object)))
		var errs []error
		for key, one := range object {
			value := reflect.New(to.Type().Elem()).Elem()
			errs = append(errs, read(one, value, path+"."+key))
			to.SetMapIndex(reflect.ValueOf(key), value)
		}
		return errors.Join(errs...)
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok {
			return wrong(path, "a list", v)
		}
		to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
		var errs []error
		for i, one := range list {
			errs = append(errs, read(one, to.Index(i), path+"."+strconv.Itoa(i)))
		}
		return errors.Join(errs...)
	case reflect.Int64, reflect.Float64:
		if !from.CanInt() && !from.CanFloat() {
			return wrong(path, "a number", v)
		}
		to.Set(from.Convert(to.Type()))
	default: // a boolean, a string, or a value of several types
		if !from.Type().AssignableTo(to.Type()) {
			return wrong(path, "a "+to.Kind().String(), v)
		}
		to.Set(from)
	}
	return nil
}

func readObject(v any, to reflect.Value, path string) error {
	object, ok := v.(map[string]any)
	if !ok {
		return wrong(path, "an object", v)
	}
	var errs []error
	for i := range to.NumField() {
		field := to.Type().Field(i)
		key := field.Tag.Get("json")
		one, there := object[key]
		if otherwise := field.Tag.Get("default"); !there && otherwise != "" {
			one = otherwise == "true" // only booleans have one
		}
		if path != "" {
			key = path + "." + key
		}
		errs = append(errs, read(one, to.Field(i), key))
	}
	return errors.Join(errs...)
}

func wrong(path, expected string, v any) error {
	return fmt.Errorf("setting %s: expected %s, but got %T", path, expected, v)
}
