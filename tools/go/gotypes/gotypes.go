// Package gotypes describes Go types by reflection, in the form that `cargo xtask codegen` reads.
package gotypes

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Field is a field of a struct.
type Field struct {
	JSON      string `json:"json,omitempty"`
	Go        string `json:"go"`
	Type      string `json:"type"`
	Inline    bool   `json:"inline,omitempty"`
	OmitEmpty bool   `json:"omitempty,omitempty"`
	OmitZero  bool   `json:"omitzero,omitempty"`
	// Number is the field's number in protocol buffers.
	Number int `json:"number,omitempty"`
}

// Type is a type with a name: a struct, or another name for a type.
type Type struct {
	Fields *[]Field `json:"fields,omitempty"`
	Of     string   `json:"of,omitempty"`
}

// Types has types by their names.
type Types map[string]*Type

// Add describes a type and all types that it consists of.
func (types Types) Add(of reflect.Type) {
	if !isNamed(of) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			types.Add(of.Elem())
		}
		return
	}
	if types[Name(of)] != nil {
		return
	}
	described := &Type{}
	types[Name(of)] = described
	switch of.Kind() {
	case reflect.Struct:
		fields := []Field{}
		for i := range of.NumField() {
			if field, ok := describe(of.Field(i)); ok {
				fields = append(fields, field)
				types.Add(of.Field(i).Type)
			}
		}
		described.Fields = &fields
	case reflect.Slice:
		described.Of = "[]" + Name(of.Elem())
		types.Add(of.Elem())
	case reflect.Map:
		described.Of = "map[" + Name(of.Key()) + "]" + Name(of.Elem())
		types.Add(of.Elem())
	default:
		described.Of = of.Kind().String()
	}
}

// describe describes a field; false for one that JSON does not have.
func describe(of reflect.StructField) (Field, bool) {
	name, options, ok := Tag(of)
	if !ok {
		return Field{}, false
	}
	described := Field{JSON: name, Go: of.Name, Type: Name(of.Type), Inline: IsInline(of)}
	for _, option := range options {
		described.OmitEmpty = described.OmitEmpty || option == "omitempty"
		described.OmitZero = described.OmitZero || option == "omitzero"
	}
	if numbers := strings.Split(of.Tag.Get("protobuf"), ","); len(numbers) > 1 {
		described.Number, _ = strconv.Atoi(numbers[1])
	}
	return described, true
}

// Tag gives the name of a field in JSON and the options of its tag; false for a field that JSON does not have. An embedded struct needs
// no tag: its fields count as those of the struct around it, unless it writes itself, as a time does.
func Tag(of reflect.StructField) (name string, options []string, ok bool) {
	tag, ok := of.Tag.Lookup("json")
	ok = ok || of.Anonymous && of.Type.Kind() == reflect.Struct && !of.Type.Implements(marshaler)
	parts := strings.Split(tag, ",")
	return parts[0], parts[1:], ok && of.IsExported() && parts[0] != "-"
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// IsInline says whether the fields of an embedded struct count as fields of the struct around it.
func IsInline(of reflect.StructField) bool {
	name, _, _ := Tag(of)
	return of.Anonymous && name == ""
}

// Name writes a type as Go does, with the full paths of packages.
func Name(of reflect.Type) string {
	switch {
	case isNamed(of):
		return of.PkgPath() + "." + of.Name()
	case of.Name() != "":
		return of.Name()
	case of.Kind() == reflect.Pointer:
		return "*" + Name(of.Elem())
	case of.Kind() == reflect.Slice:
		return "[]" + Name(of.Elem())
	case of.Kind() == reflect.Map:
		return "map[" + Name(of.Key()) + "]" + Name(of.Elem())
	}
	return of.String()
}

func isNamed(of reflect.Type) bool { return of.Name() != "" && of.PkgPath() != "" }
