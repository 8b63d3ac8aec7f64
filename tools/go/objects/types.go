package main

import (
	"reflect"
	"strconv"
	"strings"
)

// field is a field of a struct, as `tools/go/types` writes it.
type field struct {
	JSON      string `json:"json,omitempty"`
	Go        string `json:"go"`
	Type      string `json:"type"`
	Inline    bool   `json:"inline,omitempty"`
	OmitEmpty bool   `json:"omitempty,omitempty"`
	OmitZero  bool   `json:"omitzero,omitempty"`
	Number    int    `json:"number,omitempty"`
}

// declared is a type with a name: a struct, or another name for a type.
type declared struct {
	Fields *[]field `json:"fields,omitempty"`
	Of     string   `json:"of,omitempty"`
}

// tag has the name of a field in JSON, and the options of its tag.
func tag(of reflect.StructField) (name string, options map[string]bool, ok bool) {
	text, ok := of.Tag.Lookup("json")
	words := strings.Split(text, ",")
	options = map[string]bool{}
	for _, option := range words[1:] {
		options[option] = true
	}
	return words[0], options, ok && of.IsExported() && words[0] != "-"
}

// isInline says whether the fields of an embedded struct count as those of the struct around it.
func isInline(of reflect.StructField) bool {
	name, _, _ := tag(of)
	return of.Anonymous && name == ""
}

// addType describes a type and those that it is made of.
func (out *output) addType(of reflect.Type) {
	if of.Name() == "" || of.PkgPath() == "" {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			out.addType(of.Elem())
		}
		return
	}
	if out.Types[typeName(of)] != nil {
		return
	}
	described := &declared{}
	out.Types[typeName(of)] = described
	switch of.Kind() {
	case reflect.Struct:
		fields := []field{}
		for i := range of.NumField() {
			member := of.Field(i)
			name, options, ok := tag(member)
			if !ok {
				continue
			}
			described := field{
				JSON: name, Go: member.Name, Type: typeName(member.Type), Inline: isInline(member),
				OmitEmpty: options["omitempty"], OmitZero: options["omitzero"],
			}
			if numbers := strings.Split(member.Tag.Get("protobuf"), ","); len(numbers) > 1 {
				described.Number, _ = strconv.Atoi(numbers[1])
			}
			fields = append(fields, described)
			out.addType(member.Type)
		}
		described.Fields = &fields
	case reflect.Slice:
		described.Of = "[]" + typeName(of.Elem())
		out.addType(of.Elem())
	case reflect.Map:
		described.Of = "map[" + typeName(of.Key()) + "]" + typeName(of.Elem())
		out.addType(of.Elem())
	default:
		described.Of = of.Kind().String()
	}
}

// typeName writes a type as Go does, with the full path of packages.
func typeName(of reflect.Type) string {
	switch {
	case of.Name() != "" && of.PkgPath() != "":
		return of.PkgPath() + "." + of.Name()
	case of.Name() != "":
		return of.Name()
	case of.Kind() == reflect.Pointer:
		return "*" + typeName(of.Elem())
	case of.Kind() == reflect.Slice:
		return "[]" + typeName(of.Elem())
	case of.Kind() == reflect.Map:
		return "map[" + typeName(of.Key()) + "]" + typeName(of.Elem())
	}
	return of.String()
}
